package umagpu

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Parameter declares a field of requests that has one value: its flag, help, completion, JSON,
// Python keyword and check follow from the one declaration.
type Parameter = learners.Parameter

// Range is the numbers that a parameter may have.
type Range = learners.Range

const below1 = learners.Below1

// Parameters returns the parameters of a request, in the order of its fields, bound to it. A
// request is a pointer to a struct of this package.
func Parameters(request any) (all []Parameter) {
	each(reflect.ValueOf(request).Elem(), func(name string, field reflect.Value) {
		if at := slices.IndexFunc(declared, func(p Parameter) bool { return p.Name == name }); at >= 0 {
			all = append(all, declared[at].On(field.Addr().Interface()))
		}
	})
	return all
}

// each calls use with the JSON names and the values of the fields of a struct and of the structs in
// it.
func each(v reflect.Value, use func(name string, field reflect.Value)) {
	for k := range v.NumField() {
		about := v.Type().Field(k)
		name, _, _ := strings.Cut(about.Tag.Get("json"), ",")
		switch field := v.Field(k); {
		case name == "-" || !about.IsExported():
		case field.Kind() == reflect.Struct:
			each(field, use)
		default:
			use(name, field)
		}
	}
}

// checkParameters returns the first fault of a parameter of a request. Zero values stand for
// defaults.
func checkParameters(request any) error {
	for _, p := range Parameters(request) {
		if !p.IsZero() {
			if err := p.Check(); err != nil {
				return parameterFault(err)
			}
		}
	}
	return nil
}

// parameterFault returns the error of a parameter as a Fault; nil if it is nil.
func parameterFault(err error) error {
	if wrong := (*learners.ParameterError)(nil); errors.As(err, &wrong) {
		return &Fault{Kind: Invalid, Option: wrong.Parameter, Got: wrong.Got, Want: wrong.Want,
			Advice: wrong.Advice}
	}
	return err
}
