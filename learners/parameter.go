package learners

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

// Parameter declares a value of a learner or of a request, bound to its field. Flags, help,
// completion, JSON, Python keywords and checks are made from it.
type Parameter struct {
	Name     string // in JSON and Python: lower-case words with underscores between them
	Group    string // the heading of help
	Value    string // what help calls the value, such as N; of SECONDS also 5m; "" for a switch
	Sentence string // what it is
	Default  string // what help calls the value unless one is given; "" for the value itself
	Range    Range  // of numbers
	// Choices are all texts, or the words allowed besides what Want says; nil for any text.
	Choices  []string
	Meanings []string // of Choices; nil for none
	Want     string   // the values in words; "" for what the other fields say

	field reflect.Value // invalid in a declaration
}

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
	least := "of at least " + number(r.Least)
	if r.Open {
		least = "above " + number(r.Least)
	}
	switch {
	case r.Most == 0:
		return least
	case r.Most == Below1:
		return least + " and below 1"
	case r.Open:
		return least + ", to " + number(r.Most)
	}
	return "from " + number(r.Least) + " to " + number(r.Most)
}

// number writes a number without an exponent if it is whole and not astronomic.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Float returns the parameter whose value is the number in field.
func Float[T float32 | float64](name string, field *T, r Range, sentence string) Parameter {
	return Parameter{Name: name, Value: "NUMBER", Sentence: sentence, Range: r}.On(field)
}

// Int returns the parameter whose value is the whole number in field, from least to most.
func Int(name string, field *int, least, most int, sentence string) Parameter {
	r := Range{Least: float64(least), Most: float64(most)}
	if most == math.MaxInt {
		r.Most = 0
	}
	return Parameter{Name: name, Value: "N", Sentence: sentence, Range: r}.On(field)
}

// Bool returns the parameter that field switches on.
func Bool(name string, field *bool, sentence string) Parameter {
	return Parameter{Name: name, Sentence: sentence}.On(field)
}

// OneOf returns the parameter whose value in field is one of the choices: pairs of a value and what
// it means.
func OneOf[T ~string](name string, field *T, sentence string, choices ...T) Parameter {
	p := Parameter{Name: name, Value: "RULE", Sentence: sentence}
	for pair := range slices.Chunk(choices, 2) {
		p.Choices = append(p.Choices, string(pair[0]))
		p.Meanings = append(p.Meanings, string(pair[1]))
	}
	return p.On(field)
}

// Text returns the parameter whose value in field has a text of its own, or is the word choice,
// which means about. MarshalText and UnmarshalText return errors for values that are not allowed.
func Text(name string, field encoding.TextUnmarshaler, want, sentence string, choices ...string,
) Parameter {
	p := OneOf(name, new(string), sentence, choices...)
	p.Want = want
	return p.On(field)
}

// On returns the parameter bound to a field, a pointer to the value.
func (p Parameter) On(field any) Parameter {
	p.field = reflect.ValueOf(field).Elem()
	return p
}

// Into returns a pointer to the field.
func (p *Parameter) Into() any { return p.field.Addr().Interface() }

// IsZero reports whether the value is the zero one, which stands for a default in requests.
func (p *Parameter) IsZero() bool { return p.field.IsZero() }

// Kind is the kind of the value, or of what it points to: a bool, int, uint64, float64 or slice,
// else a string, which values with a text of their own are too.
func (p *Parameter) Kind() reflect.Kind {
	t := p.field.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return reflect.String
	}
	return cmp.Or(map[reflect.Kind]reflect.Kind{reflect.Float32: reflect.Float64,
		reflect.Map: reflect.String}[t.Kind()], t.Kind())
}

// Wanted says in words which values p may have.
func (p *Parameter) Wanted() string {
	what := "a number"
	switch kind := p.Kind(); {
	case p.Want != "":
		return p.Want
	case p.Choices != nil:
		return quote.Or(p.Choices)
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.String:
		return "a text"
	case kind == reflect.Slice && p.field.Type().Elem().Kind() == reflect.String:
		return "texts with commas between"
	case kind == reflect.Slice:
		what = "numbers"
	case kind == reflect.Int, kind == reflect.Uint64:
		what = "a whole number"
	case p.Value == "SECONDS":
		what = "a number of seconds"
	}
	return what + " " + p.Range.Words()
}

// String returns the value as Set reads it.
func (p Parameter) String() string {
	text, _ := p.text()
	return text
}

func (p *Parameter) text() (string, error) {
	v := p.field
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	case []string:
		return strings.Join(value, ","), nil
	case []float64:
		var texts []string
		for _, f := range value {
			texts = append(texts, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return strings.Join(texts, ","), nil
	}
	if v.CanFloat() {
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	}
	return fmt.Sprint(v.Interface()), nil
}

// Set reads the value from a text: a list has commas between its values, a whole number may be
// written like 1e6. The error is a *ParameterError, and the value is then as before.
func (p *Parameter) Set(text string) error {
	v, err := p.parse(text)
	if err == nil {
		p.field.Set(v)
	}
	return err
}

// Check returns a *ParameterError if the value is not a wanted one.
func (p *Parameter) Check() error {
	text, err := p.text()
	if err != nil {
		return p.wrong(fmt.Sprintf("%.60q", text))
	}
	_, err = p.parse(text)
	return err
}

func (p *Parameter) wrong(got string) error {
	return &ParameterError{Parameter: p.Name, Got: got, Want: p.Wanted()}
}

// parse returns the value that a text says.
func (p *Parameter) parse(text string) (all reflect.Value, err error) {
	all = reflect.New(p.field.Type()).Elem()
	v := all
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	wrong := p.wrong(fmt.Sprintf("%.60q", text))
	if own, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if own.UnmarshalText([]byte(text)) != nil {
			return all, wrong
		}
		return all, nil
	}
	switch v.Kind() {
	case reflect.String:
		if p.Choices != nil && !slices.Contains(p.Choices, text) {
			return all, wrong
		}
		v.SetString(text)
	case reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return all, wrong
		}
		v.SetBool(on)
	case reflect.Uint64: // all 64 bits of a seed
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return all, wrong
		}
		v.SetUint(n)
	case reflect.Slice:
		for part := range strings.SplitSeq(text, ",") {
			if text == "" {
				break
			}
			one := reflect.New(v.Type().Elem()).Elem()
			if one.Kind() != reflect.String {
				part = strings.TrimSpace(part)
			}
			item := *p
			item.field = one
			if one, err = item.parse(part); err != nil {
				return all, p.wrong(err.(*ParameterError).Got)
			}
			v.Set(reflect.Append(v, one))
		}
	default:
		n, err := strconv.ParseFloat(text, 64)
		exact, inexact := strconv.ParseInt(text, 10, 64) // beyond 2^53 too
		if d, none := time.ParseDuration(text); p.Value == "SECONDS" && none == nil {
			n, err = d.Seconds(), nil
		}
		part := v.CanInt() && inexact != nil && (n != math.Trunc(n) || math.Abs(n) > 1<<53)
		switch {
		case err != nil || part:
			return all, wrong
		case v.CanInt() && inexact == nil:
			v.SetInt(exact)
		case v.CanInt():
			v.SetInt(int64(n))
		default:
			v.SetFloat(n)
		}
		if !p.Range.Holds(n) || v.CanFloat() && !p.Range.Holds(v.Float()) {
			return all, p.wrong(strconv.FormatFloat(n, 'g', -1, 64))
		}
	}
	return all, nil
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
		if err := each.Check(); err != nil {
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
		value, err := json.Marshal(each.Into())
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
		if err := wire.Strict(value, each.Into()); err != nil {
			return nil, fmt.Errorf("parameter %s of learner %s: %w", each.Name, d.Name, err)
		}
	}
	for name := range values {
		return nil, fmt.Errorf("parameters of learner %s: found unknown parameter %.60q", d.Name, name)
	}
	return p, Check(p)
}
