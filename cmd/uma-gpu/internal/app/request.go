package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/wire"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// FlagOf returns the name of the flag of a parameter, and of a learner's.
func FlagOf(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }

// Flag returns the flag of a value of a command in the field into, a pointer.
func Flag(into any, p umagpu.Parameter) cli.Flag {
	p = p.On(into)
	return flagOf(&p, p.Set)
}

// ParameterFlags returns a flag for each parameter of a request, or for the named ones in this
// order, below their headings. A request is a pointer to a struct of package umagpu.
func ParameterFlags(request any, names ...string) (flags []cli.Flag) {
	all := umagpu.Parameters(request)
	if names != nil {
		at := func(p umagpu.Parameter) int { return slices.Index(names, p.Name) }
		all = slices.DeleteFunc(all, func(p umagpu.Parameter) bool { return at(p) < 0 })
		slices.SortFunc(all, func(a, b umagpu.Parameter) int { return at(a) - at(b) })
	}
	for _, p := range all {
		flags = append(flags, flagOf(&p, p.Set))
	}
	return flags
}

// aliases are second names of flags.
var aliases = map[string][]string{"max_steps": {"epochs"}}

// flagOf returns the flag of a parameter; enter takes its text.
func flagOf(p *umagpu.Parameter, enter func(text string) error) cli.Flag {
	name := FlagOf(p.Name)
	if p.Kind() == reflect.Bool {
		return SwitchFlag{&cli.BoolFlag{Name: name, Aliases: aliases[p.Name], Usage: p.Sentence,
			Category: p.Group}, enter, false}
	}
	usage := "`" + p.Value + "`: " + p.Sentence
	if p.Choices != nil {
		usage += ": " + p.Wanted()
	}
	f := &cli.StringFlag{Name: name, Aliases: aliases[p.Name], Usage: usage, Category: p.Group,
		DefaultText: cmp.Or(p.Default, p.String())}
	return Checked(f, func(c *cli.Context) error {
		if !c.IsSet(name) {
			return nil
		}
		err := enter(c.String(name))
		if wrong := (*learners.ParameterError)(nil); errors.As(err, &wrong) {
			return Usage("--%s: got %s, want %s", name, wrong.Got, wrong.Want)
		}
		return err
	})
}

// LearnerFlags returns the flags of the parameters of all learners, or of the named ones, which
// enter s. OfLearner keeps the flags of one learner.
func LearnerFlags(s *umagpu.Settings, names ...string) (flags []cli.Flag) {
	seen := map[string]bool{}
	for _, d := range catalog.All() {
		for _, p := range d.Parameters {
			if seen[p.Name] || names != nil && !slices.Contains(names, p.Name) {
				continue
			}
			seen[p.Name] = true
			flags = append(flags, learnerFlag(s, p))
		}
	}
	return flags
}

// OfLearner returns the flags without the parameters that the learner of a command line lacks.
func OfLearner(flags []cli.Flag, words []string) []cli.Flag {
	d, err := catalog.Find(learnerOf(words))
	if err != nil {
		return flags // the command says what is wrong
	}
	own := d.New()
	return slices.DeleteFunc(flags, func(f cli.Flag) bool {
		_, has := learners.Lookup(own, strings.ReplaceAll(f.Names()[0], "-", "_"))
		checked, _ := f.(CheckedFlag)
		on, _ := f.(SwitchFlag)
		return !has && (on.learner || checked.learner)
	})
}

// learnerOf returns the name of the learner of a command line.
func learnerOf(words []string) string {
	name := catalog.All()[0].Name
	for k, word := range words {
		if value, ok := strings.CutPrefix(word, "--learner="); ok {
			name = value
		} else if word == "--learner" && k+1 < len(words) {
			name = words[k+1]
		}
	}
	return name
}

// learnersWith names the learners that have a parameter.
func learnersWith(name string) (names []string) {
	for _, d := range catalog.All() {
		if _, has := learners.Lookup(d.New(), name); has {
			names = append(names, d.Name)
		}
	}
	return names
}

// learnerFlag returns the flag of a parameter of learners, which enters s as JSON has it.
func learnerFlag(s *umagpu.Settings, p learners.Parameter) cli.Flag {
	kind := p.Kind()
	if p.Group = "Learner"; p.Choices == nil && kind != reflect.Bool {
		p.Sentence += ": " + p.Wanted()
	}
	f := flagOf(&p, func(text string) error {
		var value any = text
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			value = number
		} else if kind == reflect.Bool {
			value = text == "true"
		}
		s.Parameters = maps.Clone(s.Parameters)
		if s.Parameters == nil {
			s.Parameters = map[string]any{}
		}
		s.Parameters[p.Name] = value
		return nil
	})
	if on, ok := f.(SwitchFlag); ok {
		on.learner = true
		return on
	}
	checked := f.(CheckedFlag)
	checked.learner = true
	return checked
}

// SwitchFlag is a switch that calls set, by true or false, if it is given.
type SwitchFlag struct {
	*cli.BoolFlag
	set     func(text string) error
	learner bool // it is a parameter of learners
}

// RequestFlag is the flag of a file that has the options of a command.
type RequestFlag struct {
	FileFlag
	options any
}

// RequestFlag returns the flag --request, whose file has the options of the command as JSON: a
// struct with input (files, and how they are read), request (of package umagpu) and output. What
// --json prints has them too, as its request. Flags override them.
func (o *Common) RequestFlag(options any) cli.Flag {
	return RequestFlag{FileFlag{Text(new(string), "request", "", "take options from `FILE`.json, "+
		"such as --json prints; flags override them"), false}, options}
}

// load fills the options of a command from the file of --request.
func (f RequestFlag) load(c *cli.Context) error {
	path := c.String(f.Name)
	if path == "" {
		return nil
	}
	given := map[string]string{}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && !several(f) {
			given[name] = fmt.Sprint(c.Value(name))
		}
	}
	text, err := Awaited(c.Context, path, osfile.Read)
	if err != nil {
		return err
	}
	var result struct {
		Request struct{ Request, Input, Output json.RawMessage }
	}
	if json.Unmarshal(text, &result) == nil && result.Request.Input != nil {
		var whole struct{ Request json.RawMessage }
		if err := json.Unmarshal(text, &whole); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text = whole.Request
	}
	if err := wire.Strict(text, f.options); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, value := range given {
		if err := c.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Compute returns where a request computes: on the device, if allow, unless it is nil, finds that
// the work fits in memory. Its notes become notes of the command.
func (d *Device) Compute(n Notes, allow func(engine.Device, host.Work) error) umagpu.Compute {
	return umagpu.Compute{
		Open: func(w host.Work) (*engine.Engine, error) {
			e, err := d.Open(n, w)
			if err != nil {
				return nil, err
			}
			if allow == nil {
				return e, nil
			}
			if err := allow(e.Device(), w); err != nil {
				return nil, errors.Join(err, e.Close())
			}
			return e, nil
		},
		Note: func(note umagpu.Note) {
			text := umagpu.Phrase(note.Text, umagpu.SpellFlag)
			if note.Warning {
				n.Warn("%s", text)
			} else {
				n.Say("%s", text)
			}
		},
	}
}

// told is a fault in the words of the command line.
type told struct {
	text string
	*umagpu.Fault
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.Fault }

// Advised returns an error with advice in the words of the command line.
func Advised(err error, advice string) error {
	f := (*umagpu.Fault)(nil)
	if !errors.As(err, &f) {
		return fmt.Errorf("%w; %s", err, advice)
	}
	known := *f
	if known.Advice = advice; f.Cause != nil {
		known.Cause = fmt.Errorf("%w; %s", f.Cause, advice)
	}
	return &known
}

// dataOptions are options of requests that the data of a command have.
var dataOptions = []string{"data", "labels", "votes"}

// tell returns an error with its fault in the words of the command line: a usage error of an
// option, or one that names the file. Rows are counted from 1.
func tell(c *cli.Context, err error) error {
	f := (*umagpu.Fault)(nil)
	if !errors.As(err, &f) || errors.As(err, new(*told)) {
		return err
	}
	if f.Kind == umagpu.Ended {
		return cmp.Or(Interrupted(c.Context), err)
	}
	path, known := pathOf(c, f.Option), *f
	usage := path == "" && (f.Kind == umagpu.Invalid || f.Kind == umagpu.Conflict)
	switch {
	case f.Kind == umagpu.Device:
		path = ""
	case path != "":
		known.Option = ""
	}
	known.Cause = Advise(f.Cause)
	text := strings.Replace(err.Error(), f.Error(), known.Phrase(umagpu.SpellFlag, 1), 1)
	if usage {
		return Usage("%s", text)
	}
	if path != "" && !strings.Contains(text, path+": ") {
		text = path + ": " + text
	}
	return &told{text, f}
}

// pathOf returns the file that has an option of a request; "" for none.
func pathOf(c *cli.Context, option string) string {
	if slices.Contains(dataOptions, option) || option == "" {
		option = "data"
	}
	for _, f := range c.Command.Flags {
		if f.Names()[0] == FlagOf(option) {
			if f, ok := f.(FileFlag); ok && !f.Written {
				return cmp.Or(c.String(f.Name), c.String("data"))
			}
			return ""
		}
	}
	return ""
}
