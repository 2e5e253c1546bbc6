// Package nearest is the classifier by the nearest class mean: its offset is in the bias column.
package nearest

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// Params are the parameters of the nearest-mean classifier: none.
type Params struct{}

// Defaults returns the parameters.
func Defaults() *Params { return &Params{} }

var definition = &learners.Definition{
	Name:     "nearest",
	Shared:   true,
	Summary:  "the nearest class mean, its offset in the bias column; one reading of the data",
	Paper:    "Rocchio, Relevance feedback in information retrieval (1971)",
	Step:     "the means of all classes; there is no second one",
	MaxSteps: 2,
	Weights:  []learners.Rule{learners.Last},
	New:      func() learners.Params { return Defaults() },
}

func (*Params) Definition() *learners.Definition { return definition }

func (*Params) Parameters() []learners.Parameter { return nil }

func (*Params) Check() error { return nil }

func (*Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	return classmean.Begin(problem, definition.Name, func(s *classmean.Sums, w engine.Weights) error {
		return means(s, w, problem.Bias)
	})
}

// means writes the mean m of each class to its row of w. With a bias column, which is 1 in every
// example, that weight is -‖m‖²/2 over the other columns: the largest score is the nearest mean.
func means(s *classmean.Sums, w engine.Weights, bias bool) error {
	sums, err := s.ByLabel()
	if err != nil {
		return err
	}
	priors := s.Priors()
	for c := range w.Q {
		row := w.Row(c)
		s.Unmix(row, sums, c)
		for j := range row {
			row[j] *= float32(1 / priors[c])
		}
		if bias {
			row[w.D-1] = float32(-base.SquaredLength(row[:w.D-1]) / 2)
		}
	}
	return nil
}
