package main

import (
	"flag"
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

func learnersCommand() *cli.Command {
	return &cli.Command{
		Name:      "learners",
		Usage:     "list the learners, or describe one with its parameters",
		ArgsUsage: "[NAME]",
		Description: "Each learner has flags of its own, which train and bench take together with --learner NAME.\n\n" +
			"Example: uma-gpu learners uma",
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
		Name: d.Name, Summary: d.Summary, Paper: d.Paper, Step: d.Step, MaxSteps: d.MaxSteps, Weights: d.Weights,
		Parameters: []parameterReport{},
	}
	flagsOf(d.New()).VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		r.Parameters = append(r.Parameters,
			parameterReport{strings.TrimSpace("--" + f.Name + " " + value), f.DefValue, usage})
	})
	return r
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

// flagsOf returns the flags that set p.
func flagsOf(p learners.Params) *flag.FlagSet {
	fs := flag.NewFlagSet(p.Definition().Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	p.Flags(fs)
	return fs
}

// learnerFlags choose a learner. Those of single learners are hidden: the command learners
// tells them.
func learnerFlags() []cli.Flag {
	var names []string
	own := map[string]bool{}
	flags := []cli.Flag{nil}
	for _, d := range catalog.All() {
		names = append(names, d.Name)
		flagsOf(d.New()).VisitAll(func(f *flag.Flag) {
			if own[f.Name] {
				return
			}
			own[f.Name] = true
			if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
				flags = append(flags, &cli.BoolFlag{Name: f.Name, Hidden: true})
			} else {
				flags = append(flags, &cli.StringFlag{Name: f.Name, Hidden: true})
			}
		})
	}
	flags[0] = &cli.StringFlag{Name: "learner", Value: names[0],
		Usage: "`NAME` of the learner; uma-gpu learners NAME tells its flags"}
	return flags
}

// without returns the flags but for the one of that name, which a command has for something else;
// the learner's parameter keeps its default.
func without(flags []cli.Flag, name string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}

// chooseLearner returns the parameters that the flags of learnerFlags ask for; those that no
// flag sets are base's, with which a training began, or the defaults if that is nil.
func chooseLearner(c *cli.Context, base learners.Params) (learners.Params, error) {
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
	about, fs := p.Definition(), flagsOf(p)
	for _, name := range app.FlagNames(learnerFlags()[1:]) {
		if !c.IsSet(name) || app.Visible(c, name) {
			continue
		}
		if fs.Lookup(name) == nil {
			return nil, app.Usagef(c, "--%s is a flag of learner %s, not of %s", name, app.OrList(learnersWith(name)), about.Name)
		}
		then := fs.Lookup(name).Value.String()
		if err := setParameter(fs.Lookup(name), fmt.Sprint(c.Value(name))); err != nil {
			return nil, app.Usagef(c, "--%s is %q, wanted %s", name, c.String(name), wanted(fs.Lookup(name).Value, err))
		}
		if now := fs.Lookup(name).Value.String(); base != nil {
			if err := asBegun(c, name, now, then); err != nil {
				return nil, err
			}
		}
	}
	if err := p.Check(); err != nil {
		return nil, app.Usagef(c, "%v", err)
	}
	return p, nil
}

// setParameter sets a learner's parameter; a whole number may be written like 1e6.
func setParameter(f *flag.Flag, text string) error {
	if whole, ok := f.Value.(flag.Getter); ok {
		if _, ok := whole.Get().(int); ok {
			n, err := app.ParseCount(text)
			if err != nil {
				return err
			}
			text = strconv.Itoa(n)
		}
	}
	return f.Value.Set(text)
}

// wanted says what a flag takes, whose value did not take what it was given.
func wanted(v flag.Value, err error) string {
	if g, ok := v.(flag.Getter); ok {
		switch g.Get().(type) {
		case float64, float32:
			return "a number"
		case int, int64, uint, uint64:
			return "a whole number"
		}
	}
	return "another value: " + err.Error()
}

// learnersWith names the learners that have a flag.
func learnersWith(name string) (names []string) {
	for _, d := range catalog.All() {
		if flagsOf(d.New()).Lookup(name) != nil {
			names = append(names, d.Name)
		}
	}
	return names
}
