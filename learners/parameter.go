package learners

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

// Parameter declares one parameter of a learner, bound to its field. Flags, help, completion, JSON
// and checks are made from it.
type Parameter struct {
	Name     string // in JSON: lower-case words with underscores between them
	Kind     Kind
	Sentence string   // what the parameter is, for help
	Wanted   string   // the values that it may have, in words; "" for a Switch
	Choices  []Choice // all values of a Word, or the words allowed besides numbers

	field any                    // pointer to the value, for JSON
	text  func() (string, error) // of the value
	// whether text is allowed; writes it to the field if keep is set
	read func(text string, keep bool) error
}

// Kind is the kind of values that a parameter has.
type Kind int

// The kinds.
const (
	Switch Kind = iota // true or false
	Whole              // a whole number
	Number
	Word // one of Choices, or another text
)

// Choice is a value of a parameter, and what it means.
type Choice struct{ Value, About string }

// Range is the finite numbers of at least Least, above it if Open is set; and of at most Most,
// unless that is 0.
type Range struct {
	Least, Most float64
	Open        bool
}

// Below1 is the Most of numbers that are less than 1.
const Below1 = 1 - 1e-9

// Holds reports whether the range has a number.
func (r Range) Holds(v float64) bool {
	return v >= r.Least && v <= cmp.Or(r.Most, math.MaxFloat64) && !(r.Open && v == r.Least)
}

// Words returns the range to write after "a number".
func (r Range) Words() string {
	least := fmt.Sprintf("of at least %v", r.Least)
	if r.Open {
		least = fmt.Sprintf("above %v", r.Least)
	}
	switch {
	case r.Most == 0:
		return least
	case r.Most == Below1:
		return least + " and below 1"
	case r.Open:
		return fmt.Sprintf("%s, to %v", least, r.Most)
	}
	return fmt.Sprintf("from %v to %v", r.Least, r.Most)
}

// Float returns the parameter whose value is the number in field.
func Float[T float32 | float64](name string, field *T, r Range, sentence string) Parameter {
	bits := 64
	if _, ok := any(*field).(float32); ok {
		bits = 32
	}
	p := declare(name, Number, field, sentence, func(text string) (T, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return T(v), err == nil && r.Holds(v) && r.Holds(float64(T(v)))
	}, func(v T) string { return strconv.FormatFloat(float64(v), 'g', -1, bits) })
	p.Wanted = "a number " + r.Words()
	return p
}

// Int returns the parameter whose value is the whole number in field, from least to most.
func Int(name string, field *int, least, most int, sentence string) Parameter {
	p := declare(name, Whole, field, sentence, func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= least && v <= most
	}, strconv.Itoa)
	p.Wanted = fmt.Sprintf("a whole number of at least %d", least)
	if most != math.MaxInt {
		p.Wanted = fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	return p
}

// Bool returns the parameter that field switches on.
func Bool(name string, field *bool, sentence string) Parameter {
	return declare(name, Switch, field, sentence, func(text string) (bool, bool) {
		v, err := strconv.ParseBool(text)
		return v, err == nil
	}, strconv.FormatBool)
}

// OneOf returns the parameter whose value in field is one of the choices: pairs of a value and what
// it means.
func OneOf[T ~string](name string, field *T, sentence string, choices ...T) Parameter {
	var all []Choice
	var values []string
	for pair := range slices.Chunk(choices, 2) {
		all = append(all, Choice{string(pair[0]), string(pair[1])})
		values = append(values, string(pair[0]))
	}
	p := declare(name, Word, field, sentence, func(text string) (T, bool) {
		return T(text), slices.Contains(values, text)
	}, func(v T) string { return string(v) })
	p.Wanted, p.Choices = quote.Or(values), all
	return p
}

// Text returns the parameter whose value in field has a text of its own. MarshalText and
// UnmarshalText return errors for values that are not allowed.
func Text[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](name string, field P, wanted, sentence string, choices ...Choice) Parameter {
	return Parameter{
		Name: name, Kind: Word, Sentence: sentence, Wanted: wanted, Choices: choices, field: field,
		text: func() (string, error) {
			text, err := any(*field).(encoding.TextMarshaler).MarshalText()
			return string(text), err
		},
		read: func(text string, keep bool) error {
			v := P(new(T))
			err := v.UnmarshalText([]byte(text))
			if err == nil && keep {
				*field = *v
			}
			return err
		},
	}
}

// declare returns the parameter in field, with the functions between values and texts.
func declare[T any](name string, kind Kind, field *T, sentence string, parse func(string) (T, bool),
	text func(T) string) Parameter {
	return Parameter{Name: name, Kind: kind, Sentence: sentence, field: field,
		text: func() (string, error) { return text(*field), nil },
		read: func(text string, keep bool) error {
			v, ok := parse(text)
			if !ok {
				return fmt.Errorf("found %.60q", text)
			}
			if keep {
				*field = v
			}
			return nil
		}}
}

// String returns the value.
func (p Parameter) String() string {
	text, _ := p.text()
	return text
}

// Set reads the value from a text. Its error is a *ParameterError.
func (p Parameter) Set(text string) error {
	if p.read(text, true) != nil {
		return &ParameterError{Parameter: p.Name, Got: fmt.Sprintf("%.60q", text), Want: p.wanted()}
	}
	return nil
}

// check returns an error if the value is not a wanted one.
func (p Parameter) check() error {
	text, err := p.text()
	if err == nil && p.read(text, false) == nil {
		return nil
	}
	if p.Kind == Word {
		text = fmt.Sprintf("%.60q", text)
	}
	return &ParameterError{Parameter: p.Name, Got: text, Want: p.wanted()}
}

func (p Parameter) wanted() string {
	if p.Kind == Switch {
		return "true or false"
	}
	return p.Wanted
}

// ParameterError says that the value of a parameter is not allowed, or not with another one's.
type ParameterError struct {
	Learner, Parameter string
	Got, Want          string
	Advice             string // what to do; may be empty
}

// Error returns the error in the library's words.
func (e *ParameterError) Error() string {
	name := strings.ReplaceAll(e.Parameter, "_", " ")
	text := fmt.Sprintf("%s: got %s, want %s", name, e.Got, e.Want)
	if e.Learner != "" {
		text = e.Learner + ": " + text
	}
	if e.Advice != "" {
		text += " (" + e.Advice + ")"
	}
	return text
}

// Check returns a *ParameterError if the value of a parameter of p is not allowed, by itself or
// with another's.
func Check(p Params) error {
	d := p.Definition()
	for _, each := range d.Parameters {
		if err := each.check(); err != nil {
			err.(*ParameterError).Learner = d.Name
			return err
		}
	}
	if d.Check == nil {
		return nil
	}
	return d.Check()
}

// Lookup returns the parameter of p with the given name; false if there is none.
func Lookup(p Params, name string) (Parameter, bool) {
	for _, each := range p.Definition().Parameters {
		if each.Name == name {
			return each, true
		}
	}
	return Parameter{}, false
}

// Marshal returns the parameters as a JSON object, in the order of their declaration.
func Marshal(p Params) ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, each := range p.Definition().Parameters {
		value, err := json.Marshal(each.field)
		if err != nil {
			return nil, fmt.Errorf("parameter %s of learner %s: %w", each.Name, p.Definition().Name, err)
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%q:%s", each.Name, value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// Parse returns the learner's parameters that text, the JSON object of a model file, holds.
// Those that it lacks have their defaults; unknown ones are an error.
func (d *Definition) Parse(text []byte) (Params, error) {
	var values map[string]json.RawMessage
	if err := wire.Strict(text, &values); err != nil {
		return nil, fmt.Errorf("parameters of learner %s: %w", d.Name, err)
	}
	p := d.New()
	for _, each := range p.Definition().Parameters {
		value, ok := values[each.Name]
		delete(values, each.Name)
		if !ok {
			continue
		}
		if err := wire.Strict(value, each.field); err != nil {
			return nil, fmt.Errorf("parameter %s of learner %s: %w", each.Name, d.Name, err)
		}
	}
	for name := range values {
		return nil, fmt.Errorf("parameters of learner %s: found unknown parameter %.60q", d.Name, name)
	}
	return p, Check(p)
}
