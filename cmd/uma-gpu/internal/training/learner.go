package training

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Learner are the options that choose a learner and set its parameters.
type Learner struct {
	Name string

	names  []string // of the flags of parameters
	common *app.Common
}

// Flags returns the flags of all learners, without those that mean something else in a command.
// Help shows the flags of the default learner; the command learners lists the others.
func (l *Learner) Flags(o *app.Common, without ...string) []cli.Flag {
	return l.flags(o, catalog.All(), without)
}

// UsualFlags returns the flags that matter most. Other parameters have their defaults.
func (l *Learner) UsualFlags(o *app.Common) []cli.Flag {
	usual := []string{"learner", "correction", "learn-confusion", "l2"}
	all := l.flags(o, catalog.All()[:1], nil)
	l.names = usual[1:]
	return slices.DeleteFunc(all, func(f cli.Flag) bool {
		return !slices.Contains(usual, f.Names()[0])
	})
}

func (l *Learner) flags(o *app.Common, of []*learners.Definition, without []string) []cli.Flag {
	l.common = o
	flags := []cli.Flag{app.Text(&l.Name, "learner", catalog.All()[0].Name,
		"`NAME` of the learner; uma-gpu learners NAME tells its flags")}
	for k, d := range of {
		for _, p := range d.Parameters {
			name := FlagName(p.Name)
			if slices.Contains(without, name) || slices.Contains(l.names, name) {
				continue
			}
			if l.names = append(l.names, name); p.Kind == learners.Switch {
				flags = append(flags, &cli.BoolFlag{Name: name, Hidden: k > 0, Usage: p.Sentence})
				continue
			}
			flags = append(flags, &cli.StringFlag{Name: name, Hidden: k > 0, DefaultText: p.String(),
				Usage: "`" + ValueName(p) + "`: " + p.Sentence + ": " + p.Wanted})
		}
	}
	return app.Grouped("Learner", flags)
}

// ValueName is what help has in place of a parameter's value.
func ValueName(p learners.Parameter) string {
	switch p.Kind {
	case learners.Switch:
		return ""
	case learners.Whole:
		return "N"
	case learners.Number:
		return "NUMBER"
	}
	return "RULE"
}

// Chosen reports whether a flag of a parameter is given.
func (l *Learner) Chosen() bool { return slices.ContainsFunc(l.names, l.common.Given) }

// FlagName returns the name of the flag that sets a parameter.
func FlagName(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }

// Parameter returns the parameter of p that a flag sets.
func Parameter(p learners.Params, flag string) (learners.Parameter, bool) {
	return learners.Lookup(p, strings.ReplaceAll(flag, "-", "_"))
}

// Find returns the learner of a name that a flag, or an argument if flag is "", gives.
func Find(flag, name string) (*learners.Definition, error) {
	d, err := catalog.Find(name)
	if err == nil {
		return d, nil
	}
	if flag != "" {
		return nil, app.Usage("--%s: %v", flag, err)
	}
	return nil, app.Usage("%v", err)
}

// names returns the learners that have all these flags.
func names(flags ...string) (all []string) {
	for _, d := range catalog.All() {
		own := d.New()
		if !slices.ContainsFunc(flags, func(flag string) bool {
			_, has := Parameter(own, flag)
			return !has
		}) {
			all = append(all, d.Name)
		}
	}
	return all
}

// Choose returns the parameters that the flags ask for. Where no flag is given they are base's, of
// a training to go on with, which flags must not change; defaults if base is nil.
func (l *Learner) Choose(base learners.Params) (learners.Params, error) {
	p := base
	if p == nil || l.common.Given("learner") {
		d, err := Find("learner", l.Name)
		if err != nil {
			return nil, err
		}
		if p == nil {
			p = d.New()
		} else if err := AsBegun("learner", d.Name, p.Definition().Name); err != nil {
			return nil, err
		}
	}
	for _, name := range l.names {
		if !l.common.Given(name) {
			continue
		}
		parameter, ok := Parameter(p, name)
		if !ok {
			return nil, app.Usage("--%s is a flag of learner %s, not of %s", name,
				app.OrList(names(name)), p.Definition().Name)
		}
		then, text := parameter.String(), l.common.Text(name)
		if err := setParameter(parameter, text); err != nil {
			return nil, app.Usage("--%s is %q, wanted %s", name, text, parameter.Wanted)
		}
		if base != nil {
			if err := AsBegun(name, parameter.String(), then); err != nil {
				return nil, err
			}
		}
	}
	var wrong *learners.ParameterError
	if err := learners.Check(p); errors.As(err, &wrong) {
		return nil, app.Usage("--%s: got %s, want %s", FlagName(wrong.Parameter), wrong.Got, wrong.Want)
	} else if err != nil {
		return nil, app.Usage("%v", err)
	}
	return p, nil
}

// setParameter sets a learner's parameter; a whole number may be written like 1e6.
func setParameter(p learners.Parameter, text string) error {
	if p.Kind == learners.Whole {
		n, err := app.ParseCount(text)
		if err != nil {
			return err
		}
		text = strconv.Itoa(n)
	}
	return p.Set(text)
}

// AsBegun compares a flag that is given again with the training to go on with.
func AsBegun(flag string, now, then any) error {
	if now == then {
		return nil
	}
	return app.Usage("--%s is %v, wanted %v as the training to go on with began", flag, now, then)
}
