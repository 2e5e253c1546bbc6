// Package inspect is the command that describes a model.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	app.Common
	Model app.Model
	Top   int
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := &Options{Top: 10}
	return &cli.Command{
		Name:  "inspect",
		Usage: "describe a model: largest weights, noise, provenance",
		Description: `Lists for each class the prepared features with the largest weights, for or against the class. A
model with a kernel map has no feature weights; only norms are shown. Of trees the columns are listed
by importance; of a mixture its members are described, one after another. Then come the confusion
matrices that the training was given or has learned, with standard errors, and the best and worst
annotators.

Example: uma-gpu inspect --model m.npz --top 5`,
		Flags: app.Flags(o.Model.Flag(),
			app.Flag(&o.Top, umagpu.Parameter{Name: "top", Value: "N",
				Sentence: "number of features to list for each class"}),
			o.JSONFlag()),
		Action: app.Action(o, run),
	}
}

// Inspection is what inspect --json prints.
type Inspection struct {
	Model       string         `json:"model"`
	Features    int            `json:"features"`
	Preparation string         `json:"preparation"`
	Kernel      *kernelSummary `json:"kernel,omitempty"`
	Classes     []classSummary `json:"classes,omitempty"` // of weights
	Trees       *treesSummary  `json:"trees,omitempty"`
	Members     []Inspection   `json:"members,omitempty"` // of a mixture
	Share       float64        `json:"share,omitempty"`   // of a member
	Temperature *float32       `json:"temperature"`       // null for none
	// on the training examples, corrected by C; null for none
	EstimatedError *float64         `json:"estimated_error"`
	Noise          string           `json:"noise"` // where the confusion matrix came from
	Provenance     model.Provenance `json:"provenance"`
	*Matrices                       // nil of a member

	classes []string
}

// Matrices are the noise of the training labels, [p][q] = P(noisy = p | true = q).
type Matrices struct {
	Given      [][]float64        `json:"given,omitempty"`
	Learned    [][]float64        `json:"learned,omitempty"`
	Error      [][]float64        `json:"standard_error,omitempty"` // of learned
	Annotators []umagpu.Annotator `json:"annotators,omitempty"`     // the best first
}

type kernelSummary struct {
	Function   kernel.Function `json:"function"`
	Landmarks  int             `json:"landmarks"`
	Components int             `json:"components"`
	Explained  float64         `json:"explained"` // share of the variance in feature space
}

type classSummary struct {
	Class string          `json:"class"`
	Norm  float64         `json:"norm"`          // of the row of W
	Top   []featureWeight `json:"top,omitempty"` // empty for a model with a kernel map
}

type featureWeight struct {
	Feature string  `json:"feature"` // its name, or its position from 1
	Weight  float32 `json:"weight"`  // of the prepared feature
}

// Run describes a model.
func Run(_ context.Context, o *Options) error {
	m, err := model.Load(o.Model.Path)
	if err != nil {
		return err
	}
	r := inspection(m, o.Model.Path, o.Top)
	r.Matrices = noiseOf(m)
	return o.Print(r, func(w io.Writer) error { return r.text(w) })
}

// inspection describes a model.
func inspection(m *model.Model, path string, top int) Inspection {
	r := Inspection{Model: path, classes: m.Meta.Classes, Features: m.Meta.Features.Count,
		EstimatedError: m.Meta.EstimatedError,
		Provenance:     m.Meta.Provenance, Preparation: m.Meta.Preparation.Steps.String()}
	if t := m.Meta.Temperature; t != 0 {
		r.Temperature = &t
	}
	if k := m.Meta.Kernel; k != nil {
		r.Kernel = &kernelSummary{k.Function, k.Landmarks, k.Components, k.Explained}
	}
	switch {
	case m.Members != nil:
		for k, member := range m.Members {
			r.Members = append(r.Members, inspection(member, fmt.Sprintf("member %d of %s", k+1, path),
				top))
			r.Members[k].Share = m.Meta.Shares[k]
		}
	case m.Trees != nil:
		r.Trees = summariseTrees(m, top)
	default:
		r.Classes = summarise(m, top)
	}
	switch r.Noise = "none: the labels were trusted"; {
	case m.Meta.Annotators != nil:
		r.Noise = fmt.Sprintf("learned, of %d annotators", len(m.Meta.Annotators))
	case m.Learned != nil:
		r.Noise = "estimated"
	case m.Confusion != nil:
		r.Noise = fmt.Sprintf("given, condition number %.4g", m.Meta.Condition)
	}
	return r
}

// noiseOf returns the matrices of a model.
func noiseOf(m *model.Model) *Matrices {
	q, l := m.Q, m.Learned
	r := &Matrices{Given: app.Rows(m.Confusion, q)}
	if l == nil {
		return r
	}
	r.Learned, r.Error = app.Rows(l.Confusion, q), app.Rows(l.Error, q)
	for k, a := range m.Meta.Annotators {
		one := confusion.Annotator{P: l.Matrices[k*q*q : (k+1)*q*q]}
		r.Annotators = append(r.Annotators, umagpu.Annotator{Name: a.Name, Labels: a.Labels,
			Right: one.Right(q), Confusion: app.Rows(one.P, q)})
	}
	slices.SortStableFunc(r.Annotators, func(a, b umagpu.Annotator) int {
		return cmp.Compare(b.Right, a.Right)
	})
	return r
}

func (r Inspection) text(w io.Writer) error {
	for _, rows := range []func(app.Row){r.rows, r.classRows, r.Trees.rows} {
		if err := app.Table(w, rows); err != nil {
			return err
		}
	}
	for _, member := range r.Members {
		fmt.Fprintln(w)
		if err := member.text(w); err != nil {
			return err
		}
	}
	return r.Matrices.text(w, r.classes)
}

// text prints the matrices.
func (n *Matrices) text(w io.Writer, classes []string) error {
	if n == nil {
		return nil
	}
	if n.Given != nil {
		fmt.Fprintln(w, "\ngiven: P(noisy = row | true = column)")
		if err := app.PrintEstimated(w, classes, n.Given, nil); err != nil {
			return err
		}
	}
	if n.Learned == nil {
		return nil
	}
	labels := "noisy"
	if n.Annotators != nil {
		labels = "vote of the annotators"
	}
	fmt.Fprintf(w, "\nlearned: P(%s = row | true = column), ± standard error\n", labels)
	if err := app.PrintEstimated(w, classes, n.Learned, n.Error); err != nil || n.Annotators == nil {
		return err
	}
	return app.PrintAnnotators(w, n.Annotators)
}

// summarise returns the classes with the top features by weight.
func summarise(m *model.Model, top int) []classSummary {
	d := m.Meta.Features.Count
	list := make([]classSummary, m.Q)
	for r := range list {
		w := m.W[r*m.D : (r+1)*m.D]
		squares := 0.0
		for _, v := range w {
			squares += float64(v) * float64(v)
		}
		list[r] = classSummary{Class: m.Meta.Classes[r], Norm: math.Sqrt(squares)}
		if m.Meta.Kernel != nil {
			continue
		}
		all := make([]featureWeight, d)
		for j := range all {
			all[j] = featureWeight{strconv.Itoa(j + 1), w[j]}
			if names := m.Meta.Features.Names; len(names) > 0 {
				all[j].Feature = names[j]
			}
		}
		slices.SortStableFunc(all, func(a, b featureWeight) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		list[r].Top = slices.Clone(all[:min(top, d)])
	}
	return list
}

func (r Inspection) rows(row app.Row) {
	p := r.Provenance
	row("model\t%s", r.Model)
	if r.Share > 0 {
		row("share\t%.3f", r.Share)
	}
	row("classes\t%d", len(r.classes))
	row("features\t%d, prepared by %s", r.Features, r.Preparation)
	if k := r.Kernel; k != nil {
		row("kernel\t%s, %d components of %d landmarks, %.4g %% of the variance",
			k.Function.Kind, k.Components, k.Landmarks, 100*k.Explained)
	}
	if n := len(r.Members); n > 0 {
		row("learner\ta mixture of %d models, below, seed %d", n, p.Seed)
	} else {
		row("learner\t%s, seed %d", p.Learner, p.Seed)
		row("parameters\t%s", p.Parameters)
		row("weights\t%s of %d steps (%s)", p.Weights, p.Steps, p.Stop)
		if p.From != "" {
			row("initial weights\tSHA-256 %s", p.From)
		}
		if r.EstimatedError != nil {
			row("training error\t%.4f", min(max(*r.EstimatedError, 0), 1))
		}
	}
	if r.Temperature != nil {
		row("temperature\t%.4g", *r.Temperature)
	} else {
		row("temperature\tnone, so no probabilities; uma-gpu calibrate fits one")
	}
	row("data\tSHA-256 %s", cmp.Or(p.DataSHA256, "unknown"))
	device := p.Device.Kind
	if p.Device.Name != "" {
		device += ", " + p.Device.Name
	}
	row("device\t%s", device)
	row("versions\tuma-gpu %s, numerics contract %d", cmp.Or(p.ToolVersion, "unknown"),
		p.ContractVersion)
	row("noise\t%s", r.Noise)
}

func (r Inspection) classRows(row app.Row) {
	if r.Classes == nil {
		return
	}
	row("\nclass\t‖w‖\tfeature\tweight")
	for _, c := range r.Classes {
		head := fmt.Sprintf("%s\t%.4g", app.Shorten(c.Class), c.Norm)
		for _, f := range c.Top {
			row("%s\t%s\t%+.4g", head, f.Feature, f.Weight)
			head = "\t"
		}
		if len(c.Top) == 0 {
			row("%s\t\t", head)
		}
	}
}
