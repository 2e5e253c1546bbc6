package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/learners"
)

// checkTable judges what learners of one table must have in common: there is one, no two have
// the same name, and parameters of the same name are all switches or none, since a command has
// one flag for them.
func checkTable(all []*learners.Definition) error {
	if len(all) == 0 {
		return errors.New("the table of learners is empty, wanted at least one")
	}
	names, switches := map[string]bool{}, map[string]bool{}
	for _, d := range all {
		if names[d.Name] {
			return fmt.Errorf("found two learners of the name %q, wanted one", d.Name)
		}
		names[d.Name] = true
		for _, p := range d.New().Definition().Parameters {
			if was, ok := switches[p.Name]; ok && was != (p.Kind() == reflect.Bool) {
				return fmt.Errorf("parameter %s of learner %s: a switch here or with another learner, want "+
					"one kind", p.Name, d.Name)
			}
			switches[p.Name] = p.Kind() == reflect.Bool
		}
	}
	return nil
}

var (
	nameForm      = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	parameterForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

func checkDefinition(s subject) error {
	for what, text := range map[string]string{"summary": s.Summary, "paper": s.Paper, "step": s.Step} {
		if text == "" || strings.TrimSpace(text) != text || strings.Contains(text, "\n") {
			return fmt.Errorf("%s is %q, wanted a line of text", what, text)
		}
	}
	if !nameForm.MatchString(s.Name) {
		return fmt.Errorf("name is %q, wanted lower-case letters and digits", s.Name)
	}
	if s.MaxSteps < 1 {
		return fmt.Errorf("at most %d steps, wanted 1 or more", s.MaxSteps)
	}
	if len(s.Weights) == 0 {
		return errors.New("no rule for the weights, wanted the default one first")
	}
	known := []learners.Rule{learners.Last, learners.Average, learners.Best, learners.BestAverage}
	for i, r := range s.Weights {
		if !slices.Contains(known, r) || slices.Contains(s.Weights[:i], r) {
			return fmt.Errorf("rules for the weights are %v, wanted some of %v, each once", s.Weights, known)
		}
	}
	if s.New == nil {
		return errors.New("no function for the defaults")
	}
	p := s.New()
	if v := reflect.ValueOf(p); v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("parameters are a %T, wanted a pointer to a struct", p)
	}
	if d := p.Definition(); d == nil || d.Name != s.Name {
		return fmt.Errorf("the parameters' own definition is %+v, wanted that of %s", d, s.Name)
	}
	if s.New() == p && reflect.TypeOf(p).Elem().Size() > 0 { // all empty structs may be at one place
		return errors.New("two calls of New return the same parameters, wanted fresh ones")
	}
	if err := learners.Check(p); err != nil {
		return fmt.Errorf("the defaults do not pass Check: %w", err)
	}
	return nil
}

// fields returns the JSON of p by parameter.
func fields(p learners.Params) (map[string]string, error) {
	text, err := learners.Marshal(p)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the JSON of parameters: got %s, want an object: %w", text, err)
	}
	all := map[string]string{}
	for name, value := range raw {
		all[name] = string(value)
	}
	return all, nil
}

// tries are values that some parameters take.
var tries = []string{"1", "2", "0.5", "true", "false", "x"}

// fieldsOf returns the exported fields of a struct, with the fields of embedded structs in their
// place.
func fieldsOf(v reflect.Value) (all []reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Type().Field(i); {
		case f.Anonymous:
			all = append(all, fieldsOf(reflect.Indirect(v.Field(i)))...)
		case f.IsExported():
			all = append(all, v.Field(i))
		}
	}
	return all
}

// parameterFields returns how many fields of the defaults of d are parameters: not any that is 0
// and has to be, as Check has it.
func parameterFields(s subject) (n int) {
	for i, f := range fieldsOf(reflect.ValueOf(s.New()).Elem()) {
		p := s.New()
		changed := fieldsOf(reflect.ValueOf(p).Elem())[i]
		if f.IsZero() {
			switch {
			case f.CanFloat():
				changed.SetFloat(0.5)
			case f.CanInt():
				changed.SetInt(1)
			case f.Kind() == reflect.String:
				changed.SetString("x")
			}
			if !changed.IsZero() && learners.Check(p) != nil {
				continue
			}
		}
		n++
	}
	return n
}

// checkParameters judges the declarations: one for each field, which it alone sets.
func checkParameters(s subject) error {
	defaults, err := fields(s.New())
	if err != nil {
		return err
	}
	all := s.New().Definition().Parameters
	if n := parameterFields(s); n != len(all) || n != len(defaults) {
		return fmt.Errorf("parameters: got %d with %d names, want one for each of the %d fields",
			len(all), len(defaults), n)
	}
	for i, p := range all {
		if !parameterForm.MatchString(p.Name) || p.Sentence == "" {
			return fmt.Errorf("parameter %q: %q: want a name of lower-case words and a sentence", p.Name,
				p.Sentence)
		}
		for _, text := range append([]string{p.String()}, tries...) {
			if err := setOne(s, defaults, i, text); err != nil {
				return fmt.Errorf("parameter %s, set to %q: %w", p.Name, text, err)
			}
		}
	}
	return nil
}

// setOne sets parameter i of the defaults, which changes its own value in the JSON and no other.
func setOne(s subject, defaults map[string]string, i int, text string) error {
	p := s.New()
	own := p.Definition().Parameters[i]
	byDefault := own.String()
	if err := own.Set(text); err != nil {
		if text == byDefault {
			return fmt.Errorf("its own default is refused: %w", err)
		}
		return nil
	}
	changed := own.String() != byDefault
	now, err := fields(p)
	if err != nil {
		return err
	}
	for name, was := range defaults {
		if wanted := name == own.Name && changed; (now[name] != was) != wanted {
			return fmt.Errorf("field %s of the JSON went from %s to %s", name, was, now[name])
		}
	}
	return nil
}

func checkJSON(s subject) error {
	for i := range s.New().Definition().Parameters {
		for _, text := range tries {
			p := s.New()
			if p.Definition().Parameters[i].Set(text) != nil || learners.Check(p) != nil {
				continue
			}
			written, err := learners.Marshal(p)
			if err != nil {
				return fmt.Errorf("parameters that Check passes have no JSON: %w", err)
			}
			back, err := s.Parse(written)
			if err != nil {
				return fmt.Errorf("JSON %s does not come back: %w", written, err)
			}
			if again, err := learners.Marshal(back); err != nil || string(again) != string(written) {
				return fmt.Errorf("JSON %s comes back as %s, %v", written, again, err)
			}
		}
	}
	for _, bad := range []string{"", "{", "[]", `"x"`, "7", `{"no-such-field":1}`, "{}{}", "{} x"} {
		if s.taken(bad) {
			return fmt.Errorf("JSON %q is taken for parameters", bad)
		}
	}
	for _, each := range s.New().Definition().Parameters {
		if bad := fmt.Sprintf(`{%q:{"a":[]}}`, each.Name); s.taken(bad) {
			return fmt.Errorf("JSON %s is taken for parameters", bad)
		}
	}
	return nil
}

func (s subject) taken(text string) bool {
	_, err := s.Parse([]byte(text))
	return err == nil
}

// checkNumbers sets every number to a value that is not finite, in a text and in the field itself.
func checkNumbers(s subject) error {
	for i, each := range s.New().Definition().Parameters {
		for _, text := range []string{"NaN", "+Inf", "-Inf", "1e999"} {
			own := &s.New().Definition().Parameters[i]
			if each.Kind() == reflect.Float64 && own.Set(text) == nil {
				return fmt.Errorf("parameter %s takes %s", each.Name, text)
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range numbers(reflect.ValueOf(s.New()).Elem()) {
			p := s.New()
			numbers(reflect.ValueOf(p).Elem())[i].SetFloat(bad)
			if learners.Check(p) == nil {
				return fmt.Errorf("parameters %+v: Check passes them", p)
			}
			if l, err := fit.Start(background, p, s.overlapping().on(s.engine)); err == nil {
				return errors.Join(fmt.Errorf("parameters %+v: Start begins a run", p), l.Close())
			}
		}
	}
	return nil
}

// numbers returns the floating-point fields, including the fields of structs inside.
func numbers(v reflect.Value) (all []reflect.Value) {
	for _, f := range fieldsOf(v) {
		switch {
		case f.CanFloat():
			all = append(all, f)
		case f.Kind() == reflect.Struct:
			all = append(all, numbers(f)...)
		}
	}
	return all
}
