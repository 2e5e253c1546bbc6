package umagpu

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Parameter declares a field of requests that has one value: its flag, help, completion, JSON,
// Python keyword and check follow from the one declaration.
type Parameter struct {
	Name     string   // in JSON, and in Python
	Group    string   // the heading of help
	Value    string   // what help calls the value, such as N
	Sentence string   // what it is
	Default  string   // what its zero value stands for; "" for nothing
	Range    Range    // of numbers
	Choices  []string // of texts; nil for any

	field reflect.Value // of one request; invalid in a declaration
}

// Range is the numbers that a parameter may have, as learners' parameters have it.
type Range = learners.Range

const below1 = learners.Below1

// Wanted says in words which values p may have.
func (p *Parameter) Wanted() string {
	if p.Choices != nil {
		return quote.Or(p.Choices)
	}
	what := "a number"
	if p.Value == "SECONDS" {
		what = "a time, such as 10s or 5m,"
	}
	switch p.kind() {
	case reflect.Slice:
		if p.field.Type().Elem().Kind() == reflect.String {
			return "texts with commas between"
		}
		what = "numbers"
	case reflect.String, reflect.Map:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64:
		what = "a whole number"
	}
	return what + " " + p.Range.Words()
}

// kind is the kind of the value: what it points to, or the elements of a list.
func (p *Parameter) kind() reflect.Kind {
	t := p.field.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind()
}

// Into returns a pointer to the field.
func (p *Parameter) Into() any { return p.field.Addr().Interface() }

// Check returns the fault of a value out of its range; nil of none, and of the zero value.
func (p *Parameter) Check() error { return first(p.check()) }

// Set sets the field from a text: a list has commas between its values, a whole number may be
// written like 1e6, and SECONDS like 5m. The error is a *Fault.
func (p *Parameter) Set(text string) error {
	wrong := func() error { return invalid(p.Name, strconv.Quote(text), p.Wanted()) }
	v := p.field
	if v.Kind() == reflect.Pointer {
		v = reflect.New(v.Type().Elem()).Elem()
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if u.UnmarshalText([]byte(text)) != nil {
			return wrong()
		}
	} else {
		switch p.kind() {
		case reflect.String:
			v.SetString(text)
		case reflect.Slice:
			if v.SetZero(); p.setList(text) != nil {
				return wrong()
			}
			return first(p.held())
		case reflect.Bool:
			on, err := strconv.ParseBool(text)
			if err != nil {
				return wrong()
			}
			v.SetBool(on)
		default:
			number, err := strconv.ParseFloat(text, 64)
			if d, failed := time.ParseDuration(text); p.Value == "SECONDS" && failed == nil {
				number, err = d.Seconds(), nil
			}
			whole := p.kind() != reflect.Float64
			if err != nil || whole && (number != math.Trunc(number) || math.Abs(number) > 1<<53) {
				return wrong()
			}
			switch p.kind() {
			case reflect.Int:
				v.SetInt(int64(number))
			case reflect.Uint64:
				seed, err := strconv.ParseUint(text, 10, 64) // all 64 bits of a seed
				if err != nil {
					return wrong()
				}
				v.SetUint(seed)
			default:
				v.SetFloat(number)
			}
		}
	}
	if p.field.Kind() == reflect.Pointer {
		v = v.Addr()
	}
	p.field.Set(v)
	return first(p.held())
}

// setList sets a list of texts or numbers.
func (p *Parameter) setList(text string) error {
	if text == "" {
		return nil
	}
	list := strings.Split(text, ",")
	if p.field.Type().Elem().Kind() == reflect.String {
		p.field.Set(reflect.ValueOf(list))
		return nil
	}
	var numbers []float64
	for _, part := range list {
		number, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return err
		}
		numbers = append(numbers, number)
	}
	p.field.Set(reflect.ValueOf(numbers))
	return nil
}

// check returns the fault of a value out of its range; nil of none, and of the zero value.
func (p *Parameter) check() *Fault {
	if p.field.IsZero() {
		return nil
	}
	return p.held()
}

// held returns the fault of a value, which may be zero, out of its range.
func (p *Parameter) held() *Fault {
	v := p.field
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	ok, got := true, ""
	switch {
	case v.Kind() == reflect.String:
		ok, got = p.Choices == nil || slices.Contains(p.Choices, v.String()), strconv.Quote(v.String())
	case v.CanInt():
		ok, got = p.Range.Holds(float64(v.Int())), fmt.Sprint(v.Int())
	case v.CanFloat():
		ok, got = p.Range.Holds(v.Float()), fmt.Sprint(v.Float())
	case v.Type() == reflect.TypeFor[[]float64]():
		for k := range v.Len() {
			if number := v.Index(k).Float(); !p.Range.Holds(number) {
				ok, got = false, fmt.Sprint(number)
			}
		}
	}
	if ok {
		return nil
	}
	return invalid(p.Name, got, p.Wanted())
}

// Parameters returns the parameters of a request, in the order of its fields, bound to it. A
// request is a pointer to a struct of this package.
func Parameters(request any) (all []*Parameter) {
	each(reflect.ValueOf(request).Elem(), func(name string, field reflect.Value) {
		if at := slices.IndexFunc(declared, func(p Parameter) bool { return p.Name == name }); at >= 0 {
			p := declared[at]
			p.field = field
			all = append(all, &p)
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

// checkParameters returns the first fault of a parameter of a request.
func checkParameters(request any) error {
	for _, p := range Parameters(request) {
		if f := p.check(); f != nil {
			return f
		}
	}
	return nil
}
