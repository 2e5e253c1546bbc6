// Package learners is the command that lists the learners and their parameters.
package learners

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

func New(run func(context.Context, *app.Common) error) *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:      "learners",
		Usage:     "list the learners, or describe one with its parameters",
		ArgsUsage: "[NAME]",
		Description: `Each learner has its own flags, which train takes together with --learner NAME.

Example: uma-gpu learners uma`,
		Flags:  []cli.Flag{o.JSONFlag()},
		Action: app.Action(o, run),
	}
}

// description is what learners --json prints of a learner.
type description struct {
	Name       string          `json:"name"`
	Summary    string          `json:"summary"`
	Paper      string          `json:"paper"`
	Step       string          `json:"step"`
	MaxSteps   int             `json:"max_steps"`
	Weights    []learners.Rule `json:"weights"`
	Parameters []parameter     `json:"parameters"`
}

type parameter struct {
	Flag    string `json:"flag"`
	Default string `json:"default"`
	Usage   string `json:"usage"`
}

// Run lists the learners, or describes the one that an argument names.
func Run(_ context.Context, o *app.Common) error {
	switch len(o.Args) {
	case 0:
		var listed []description
		for _, d := range catalog.All() {
			listed = append(listed, describe(d))
		}
		return o.PrintTable(listed, func(row app.Row) {
			for _, d := range listed {
				row("%s\t%s", d.Name, d.Summary)
			}
		})
	case 1:
	default:
		return app.Usage("unexpected argument %q", o.Args[1])
	}
	found, err := catalog.Find(o.Args[0])
	if err != nil {
		var known []*cli.Command // which the cli package compares with a name
		for _, d := range catalog.All() {
			known = append(known, &cli.Command{Name: d.Name})
		}
		return app.Usage("%v. %s", err, cli.SuggestCommand(known, o.Args[0]))
	}
	d := describe(found)
	return o.PrintTable(d, func(row app.Row) {
		row("%s\t%s", d.Name, d.Summary)
		row("from\t%s", d.Paper)
		row("a step is\t%s; --max-steps is %d unless given", d.Step, d.MaxSteps)
		rules := app.Texts(d.Weights)
		rules[0] += " (default)"
		row("--weights\t%s", strings.Join(rules, ", "))
		for _, p := range d.Parameters {
			row("%s\t%s (default: %s)", p.Flag, p.Usage, p.Default)
		}
	})
}

func describe(d *learners.Definition) description {
	r := description{Name: d.Name, Summary: d.Summary, Paper: d.Paper, Step: d.Step,
		MaxSteps: d.MaxSteps, Weights: d.Weights, Parameters: []parameter{}}
	for _, p := range d.Parameters {
		flag := app.FlagOf(p.Name)
		r.Parameters = append(r.Parameters, parameter{
			strings.TrimSpace("--" + flag + " " + p.Value), p.String(), usage(p)})
	}
	return r
}

// usage describes a parameter and its values.
func usage(p learners.Parameter) string {
	switch {
	case p.Value == "": // a switch
		return p.Sentence
	case p.Choices == nil:
		return p.Sentence + ", " + p.Wanted()
	}
	var choices []string
	for k, value := range p.Choices {
		choices = append(choices, value+" ("+p.Meanings[k]+")")
	}
	if p.Want == "" {
		return p.Sentence + ": " + quote.Or(choices)
	}
	return p.Sentence + ": " + p.Want + "; " + strings.Join(choices, ", ") // others too
}
