package training

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

func NewLearners() *cli.Command {
	return &cli.Command{
		Name:      "learners",
		Usage:     "list the learners, or describe one with its parameters",
		ArgsUsage: "[NAME]",
		Description: "Each learner has flags of its own, which train and bench take together with " +
			"--learner NAME.\n\nExample: uma-gpu learners uma",
		Flags:  []cli.Flag{app.JSONFlag()},
		Action: listLearners,
	}
}

// learnerReport is what learners --json prints of a learner.
type learnerReport struct {
	Name       string            `json:"name"`
	Summary    string            `json:"summary"`
	Paper      string            `json:"paper"`
	Step       string            `json:"step"`
	MaxSteps   int               `json:"max_steps"`
	Weights    []learners.Rule   `json:"weights"`
	Parameters []parameterReport `json:"parameters"`
}

type parameterReport struct {
	Flag    string `json:"flag"`
	Default string `json:"default"`
	Usage   string `json:"usage"`
}

func listLearners(c *cli.Context) error {
	if c.Args().Len() > 1 {
		return app.Usagef(c, "unexpected argument %q", c.Args().Get(1))
	}
	w := c.App.Writer
	if !c.Args().Present() {
		var all []learnerReport
		for _, d := range catalog.All() {
			all = append(all, reportLearner(d))
		}
		if c.Bool("json") {
			return app.PrintJSON(w, all)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, r := range all {
			fmt.Fprintf(t, "%s\t%s\n", r.Name, r.Summary)
		}
		return t.Flush()
	}
	d, err := catalog.Find(c.Args().First())
	if err != nil {
		return app.Usagef(c, "%v", err)
	}
	r := reportLearner(d)
	if c.Bool("json") {
		return app.PrintJSON(w, r)
	}
	return r.print(w)
}

func reportLearner(d *learners.Definition) learnerReport {
	r := learnerReport{
		Name: d.Name, Summary: d.Summary, Paper: d.Paper, Step: d.Step, MaxSteps: d.MaxSteps,
		Weights:    d.Weights,
		Parameters: []parameterReport{},
	}
	for _, p := range d.New().Parameters() {
		r.Parameters = append(r.Parameters, parameterReport{
			strings.TrimSpace("--" + parameterFlag(p.Name) + " " + placeholder(p)), p.String(), usageOf(p)})
	}
	return r
}

// parameterFlag returns the name of the flag that sets a learner's parameter.
func parameterFlag(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }

// ParameterOf returns the parameter of p that a flag sets.
func ParameterOf(p learners.Params, flag string) (learners.Parameter, bool) {
	return learners.Lookup(p, strings.ReplaceAll(flag, "-", "_"))
}

// placeholder returns what help has in place of a parameter's value.
func placeholder(p learners.Parameter) string {
	switch p.Kind {
	case learners.Switch:
		return ""
	case learners.Whole:
		return "N"
	case learners.Number:
		return "NUMBER"
	}
	return strings.ToUpper(parameterFlag(p.Name)[strings.LastIndexByte(parameterFlag(p.Name), '-')+1:])
}

// usageOf returns what a parameter is, and which values it takes.
func usageOf(p learners.Parameter) string {
	text := p.Sentence
	switch p.Kind {
	case learners.Whole, learners.Number:
		text += ", " + p.Wanted
	case learners.Word:
		var values, choices []string
		for _, c := range p.Choices {
			values = append(values, c.Value)
			choices = append(choices, c.Value+" ("+c.About+")")
		}
		if p.Wanted == app.OrList(values) {
			text += ": " + app.OrList(choices)
		} else { // other values, too
			text += ": " + p.Wanted + "; " + strings.Join(choices, ", ")
		}
	}
	return text
}

func (r learnerReport) print(w io.Writer) error {
	rules := []string{string(r.Weights[0]) + " (default)"}
	for _, rule := range r.Weights[1:] {
		rules = append(rules, string(rule))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\t%s\n", r.Name, r.Summary)
	fmt.Fprintf(t, "from\t%s\n", r.Paper)
	fmt.Fprintf(t, "a step is\t%s; --max-steps is %d unless given\n", r.Step, r.MaxSteps)
	fmt.Fprintf(t, "--weights\t%s\n", strings.Join(rules, ", "))
	for _, p := range r.Parameters {
		fmt.Fprintf(t, "%s\t%s (default: %s)\n", p.Flag, p.Usage, p.Default)
	}
	return t.Flush()
}

// LearnerFlags choose a learner. Those of single learners are hidden: the command learners
// tells them.
func LearnerFlags() []cli.Flag {
	var names []string
	own := map[string]bool{}
	flags := []cli.Flag{nil}
	for _, d := range catalog.All() {
		names = append(names, d.Name)
		for _, p := range d.New().Parameters() {
			name := parameterFlag(p.Name)
			switch {
			case own[name]:
			case p.Kind == learners.Switch:
				flags = append(flags, &cli.BoolFlag{Name: name, Hidden: true})
			default:
				flags = append(flags, &cli.StringFlag{Name: name, Hidden: true})
			}
			own[name] = true
		}
	}
	flags[0] = &cli.StringFlag{Name: "learner", Value: names[0],
		Usage: "`NAME` of the learner; uma-gpu learners NAME tells its flags"}
	return flags
}

// Without returns the flags but for the one of that name, which a command has for something else;
// the learner's parameter keeps its default.
func Without(flags []cli.Flag, name string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}

// ChooseLearner returns the parameters that the flags of learnerFlags ask for; those that no
// flag sets are base's, with which a training began, or the defaults if that is nil.
func ChooseLearner(c *cli.Context, base learners.Params) (learners.Params, error) {
	p := base
	if p == nil || c.IsSet("learner") {
		d, err := catalog.Find(c.String("learner"))
		if err != nil {
			return nil, app.Usagef(c, "--learner: %v", err)
		}
		if p == nil {
			p = d.New()
		} else if err := asBegun(c, "learner", d.Name, p.Definition().Name); err != nil {
			return nil, err
		}
	}
	about := p.Definition()
	for _, name := range app.FlagNames(LearnerFlags()[1:]) {
		if !c.IsSet(name) || app.Visible(c, name) {
			continue
		}
		parameter, ok := ParameterOf(p, name)
		if !ok {
			return nil, app.Usagef(c, "--%s is a flag of learner %s, not of %s", name,
				app.OrList(learnersWith(name)), about.Name)
		}
		then := parameter.String()
		if err := setParameter(parameter, fmt.Sprint(c.Value(name))); err != nil {
			return nil, app.Usagef(c, "--%s is %q, wanted %s", name, c.String(name), parameter.Wanted)
		}
		if now := parameter.String(); base != nil {
			if err := asBegun(c, name, now, then); err != nil {
				return nil, err
			}
		}
	}
	var wrong *learners.ParameterError
	if err := p.Check(); errors.As(err, &wrong) {
		return nil, app.Usagef(c, "--%s: got %s, want %s", parameterFlag(wrong.Parameter), wrong.Got,
			wrong.Want)
	} else if err != nil {
		return nil, app.Usagef(c, "%v", err)
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

// learnersWith names the learners that have a flag.
func learnersWith(name string) (names []string) {
	for _, d := range catalog.All() {
		if _, ok := ParameterOf(d.New(), name); ok {
			names = append(names, d.Name)
		}
	}
	return names
}
