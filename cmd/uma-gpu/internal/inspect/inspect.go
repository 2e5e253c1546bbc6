// Package inspect is the command that tells what a model goes by.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Options are the options of the command.
type Options struct {
	app.Common
	Model app.Model
	Top   int
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "inspect",
		Usage: "tell what a model goes by: features with the largest weights, noise, where it comes from",
		Description: "Of each class the features whose weights are largest, for or against it, with " +
			"two weights: of the\n" +
			"prepared feature, by which they are ranked (standardised features have one unit), and of " +
			"the raw one, by\n" +
			"which the score moves when the feature grows by 1, but for a scaling of all scores to rows " +
			"of length 1.\n" +
			"A model with a kernel map has no weights of features, and only the norms are told. Whole " +
			"matrices of the\n" +
			"noise, and annotators, are for uma-gpu confusion show.\n\n" +
			"Example: uma-gpu inspect --model m.npz --top 5",
		Flags: app.Flags(o.Model.Flag(),
			app.Range(&cli.IntFlag{Name: "top", Value: 10, Destination: &o.Top,
				Usage: "tell `N` features of each class"}, 0, math.MaxInt),
			o.JSONFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Inspection is what inspect --json prints.
type Inspection struct {
	Model       string         `json:"model"`
	Features    int            `json:"features"`
	Kernel      *kernelSummary `json:"kernel,omitempty"`
	Classes     []classSummary `json:"classes"`
	Temperature *float32       `json:"temperature"` // null for none
	// of the training examples, by C; null for none
	EstimatedError *float64         `json:"estimated_error"`
	Given          *noiseSummary    `json:"given,omitempty"` // the noise that the training was told of
	Learned        *noiseSummary    `json:"learned,omitempty"`
	Annotators     int              `json:"annotators,omitempty"`
	Provenance     model.Provenance `json:"provenance"`
}

// kernelSummary is a kernel map without its numbers.
type kernelSummary struct {
	Function   kernel.Function `json:"function"`
	Cosine     bool            `json:"cosine"`
	Landmarks  int             `json:"landmarks"`
	Components int             `json:"components"`
	Explained  float64         `json:"explained"` // share of the variance in feature space
}

// classSummary tells of the weights of a class.
type classSummary struct {
	Class string  `json:"class"`
	Norm  float64 `json:"norm"` // of the row of W
	// Constant is the score of raw features that are all 0, before rows are scaled. It is null, and
	// Top empty, of a model with a kernel map.
	Constant *float64        `json:"constant"`
	Top      []featureWeight `json:"top,omitempty"`
}

// featureWeight is a feature with its weights for one class.
type featureWeight struct {
	Feature  string  `json:"feature"` // its name, or its position from 1
	Prepared float32 `json:"prepared"`
	Raw      float64 `json:"raw"`
}

// noiseSummary is a confusion matrix in short.
type noiseSummary struct {
	Right     float64        `json:"right"`                      // mean of the diagonal
	Condition float64        `json:"condition_number,omitempty"` // 0 if not known
	Largest   []ConfusedPair `json:"largest"`                    // off the diagonal, the largest first
}

// ConfusedPair is an entry of C.
type ConfusedPair struct {
	True  string  `json:"true"`
	Noisy string  `json:"noisy"`
	P     float64 `json:"p"` // P(noisy | true)
}

// Run prints what a model goes by.
func Run(_ context.Context, o *Options) error {
	m, err := model.Load(o.Model.Path)
	if err != nil {
		return err
	}
	r := Inspection{Model: o.Model.Path, Features: m.Meta.Features.Count,
		EstimatedError: m.Meta.EstimatedError,
		Provenance:     m.Meta.Provenance()}
	if t := m.Meta.Temperature; t != 0 {
		r.Temperature = &t
	}
	if k := m.Meta.Kernel; k != nil {
		r.Kernel = &kernelSummary{k.Function, k.Cosine, k.Landmarks, k.Components, k.Explained}
	}
	r.Classes = summarise(m, o.Top)
	if m.Confusion != nil {
		r.Given = summariseNoise(m.Confusion, m.Meta.Classes)
		r.Given.Condition = m.Meta.Condition
	}
	if m.Learned != nil {
		r.Learned, r.Annotators = summariseNoise(m.Learned.Confusion, m.Meta.Classes),
			len(m.Learned.Annotators)
	}
	return o.Print(r, r.print)
}

// summarise tells of each class, and of its first features by the size of their weights.
func summarise(m *model.Model, top int) []classSummary {
	d := m.Meta.Features.Count
	raw, constants, err := m.Raw() // an error of a model whose columns are no features
	list := make([]classSummary, m.Q)
	for r := range list {
		w := m.W[r*m.D : (r+1)*m.D]
		squares := 0.0
		for _, v := range w {
			squares += float64(v) * float64(v)
		}
		list[r] = classSummary{Class: m.Meta.Classes[r], Norm: math.Sqrt(squares)}
		if err != nil {
			continue
		}
		list[r].Constant = &constants[r]
		places := make([]int, d)
		for j := range places {
			places[j] = j
		}
		slices.SortStableFunc(places, func(a, b int) int {
			return cmp.Compare(math.Abs(float64(w[b])), math.Abs(float64(w[a])))
		})
		for _, j := range places[:min(top, d)] {
			list[r].Top = append(list[r].Top, featureWeight{featureName(m, j), w[j], raw[r*d+j]})
		}
	}
	return list
}

func featureName(m *model.Model, j int) string {
	if names := m.Meta.Features.Names; len(names) > 0 {
		return names[j]
	}
	return fmt.Sprint(j + 1)
}

// mostPairs is how many entries of a confusion matrix are told.
const mostPairs = 5

func summariseNoise(p []float64, classes []string) *noiseSummary {
	q := len(classes)
	s := &noiseSummary{Largest: []ConfusedPair{}}
	for noisy := range q {
		for truth := range q {
			v := p[noisy*q+truth]
			if noisy == truth {
				s.Right += v / float64(q)
			} else if v > 0 {
				s.Largest = append(s.Largest, ConfusedPair{classes[truth], classes[noisy], v})
			}
		}
	}
	slices.SortStableFunc(s.Largest, func(a, b ConfusedPair) int { return cmp.Compare(b.P, a.P) })
	s.Largest = slices.Clip(s.Largest[:min(mostPairs, len(s.Largest))])
	return s
}
