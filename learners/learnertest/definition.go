package learnertest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/learners"
)

// CheckTable judges what learners of one table must have in common: there is one, no two have
// the same name, and flags of the same name are of the same kind, since a command has both.
func CheckTable(all []*learners.Definition) error {
	if len(all) == 0 {
		return errors.New("the table of learners is empty, wanted at least one")
	}
	names, kinds := map[string]bool{}, map[string]bool{}
	for _, d := range all {
		if names[d.Name] {
			return fmt.Errorf("found two learners of the name %q, wanted one", d.Name)
		}
		names[d.Name] = true
		var err error
		flags(d.New()).VisitAll(func(f *flag.Flag) {
			is := isBool(f)
			if was, ok := kinds[f.Name]; ok && was != is {
				err = fmt.Errorf("flag %s takes a value with learner %s or another, wanted one kind", f.Name, d.Name)
			}
			kinds[f.Name] = is
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// flags returns the flags that set p.
func flags(p learners.Params) *flag.FlagSet {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	p.Flags(fs)
	return fs
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

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
	if err := p.Check(); err != nil {
		return fmt.Errorf("the defaults do not pass Check: %w", err)
	}
	return nil
}

// fields returns the JSON of p by field.
func fields(p learners.Params) (map[string]string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("parameters %+v: %w", p, err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the JSON of parameters is %s, wanted an object: %w", text, err)
	}
	all := map[string]string{}
	for name, value := range raw {
		all[name] = string(value)
	}
	return all, nil
}

// tries are values that some flags take.
var tries = []string{"1", "2", "0.5", "true", "false", "x"}

func checkFlags(s subject) error {
	defaults, err := fields(s.New())
	if err != nil {
		return err
	}
	names := map[string]bool{}
	flags(s.New()).VisitAll(func(f *flag.Flag) {
		names[strings.ReplaceAll(f.Name, "-", "_")] = true
		if f.Usage == "" && err == nil {
			err = fmt.Errorf("flag %s has no help", f.Name)
		}
		for _, text := range append([]string{f.DefValue}, tries...) {
			if e := setOne(s, defaults, f, text); e != nil && err == nil {
				err = fmt.Errorf("flag %s, set to %q: %w", f.Name, text, e)
			}
		}
	})
	if err != nil {
		return err
	}
	a, b := slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(defaults))
	if !slices.Equal(a, b) {
		return fmt.Errorf("flags are those of fields %q, the JSON has %q; wanted the same", a, b)
	}
	return nil
}

// setOne sets one flag of the defaults, which changes that field and no other.
func setOne(s subject, defaults map[string]string, f *flag.Flag, text string) error {
	p := s.New()
	fs := flags(p)
	if err := fs.Set(f.Name, text); err != nil {
		if text == f.DefValue {
			return fmt.Errorf("its own default is refused: %w", err)
		}
		return nil
	}
	if p.Check() != nil {
		return nil // and need not have a JSON
	}
	now, err := fields(p)
	if err != nil {
		return err
	}
	own, changed := strings.ReplaceAll(f.Name, "-", "_"), fs.Lookup(f.Name).Value.String() != f.DefValue
	for name, was := range defaults {
		if wanted := name == own && changed; (now[name] != was) != wanted {
			return fmt.Errorf("field %s of the JSON went from %s to %s", name, was, now[name])
		}
	}
	return nil
}

func checkJSON(s subject) error {
	for _, name := range flagNames(s) {
		for _, text := range append([]string{""}, tries...) {
			p := s.New()
			if text != "" && flags(p).Set(name, text) != nil || p.Check() != nil {
				continue
			}
			written, err := json.Marshal(p)
			if err != nil {
				return fmt.Errorf("parameters that Check passes have no JSON: %w", err)
			}
			back, err := s.Parse(written)
			if err != nil {
				return fmt.Errorf("JSON %s does not come back: %w", written, err)
			}
			again, err := json.Marshal(back)
			if err != nil || string(again) != string(written) {
				return fmt.Errorf("JSON %s comes back as %s, %v", written, again, err)
			}
		}
	}
	for _, bad := range []string{"", "{", "[]", `"x"`, "7", `{"no-such-field":1}`, "{}{}", "{} x"} {
		if _, err := s.Parse([]byte(bad)); err == nil {
			return fmt.Errorf("JSON %q is taken for parameters", bad)
		}
	}
	defaults, err := fields(s.New())
	if err != nil {
		return err
	}
	for name := range defaults {
		if bad := fmt.Sprintf(`{%q:{"a":[]}}`, name); s.taken(bad) {
			return fmt.Errorf("JSON %s is taken for parameters", bad)
		}
	}
	return nil
}

func (s subject) taken(text string) bool {
	_, err := s.Parse([]byte(text))
	return err == nil
}

// flagNames returns the names of all flags, and "" for none.
func flagNames(s subject) []string {
	names := []string{""}
	flags(s.New()).VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// checkNumbers sets every flag of a number to what is none.
func checkNumbers(s subject) error {
	defaults, err := fields(s.New())
	if err != nil {
		return err
	}
	for name, value := range defaults {
		if value == "" || !strings.ContainsAny(value[:1], "-0123456789") {
			continue
		}
		for _, text := range []string{"NaN", "+Inf", "-Inf", "1e999"} {
			p := s.New()
			if flags(p).Set(strings.ReplaceAll(name, "_", "-"), text) != nil {
				continue
			}
			if p.Check() == nil {
				return fmt.Errorf("%s is %s, and Check passes it", name, text)
			}
			if l, err := p.Start(background, overlapping().on(s.engine)); err == nil {
				return errors.Join(fmt.Errorf("%s is %s, and Start begins a run", name, text), l.Close())
			}
		}
	}
	return nil
}
