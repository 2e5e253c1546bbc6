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
	Name       string
	Parameters []string // names of the flags of parameters

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
	l.Parameters = usual[1:]
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
			if slices.Contains(without, name) || slices.Contains(l.Parameters, name) {
				continue
			}
			if l.Parameters = append(l.Parameters, name); p.Kind == learners.Switch {
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

// Choose returns the learner that the flags ask for, with its parameters.
func (l *Learner) Choose() (learners.Params, error) {
	d, err := Find("learner", l.Name)
	if err != nil {
		return nil, err
	}
	p := d.New()
	for _, name := range l.Parameters {
		if !l.common.Given(name) {
			continue
		}
		parameter, ok := Parameter(p, name)
		if !ok {
			return nil, app.Usage("--%s is a flag of learner %s, not of %s", name,
				app.OrList(names(name)), d.Name)
		}
		text := l.common.Text(name)
		if err := setParameter(parameter, text); err != nil {
			return nil, app.Usage("--%s is %q, wanted %s", name, text, parameter.Wanted)
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
