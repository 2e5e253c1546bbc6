package noisyperceptron

import (
	"context"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Bylander are the parameters of Bylander's perceptron: none.
type Bylander struct{}

// NewBylander returns the parameters.
func NewBylander() *Bylander { return &Bylander{} }

var bylander = define("bylander",
	"the perceptron of two classes on the estimated sum of its mistakes; of more, one for each class",
	"Bylander, Learning linear threshold functions in the presence of classification noise, COLT 1994",
	[]learners.Rule{learners.BestAverage, learners.Best, learners.Average, learners.Last},
	func() learners.Params { return NewBylander() })

// Definition implements learners.Params.
func (*Bylander) Definition() *learners.Definition { return bylander }

// Parameters implements learners.Params.
func (*Bylander) Parameters() []learners.Parameter { return nil }

// Check implements learners.Params.
func (*Bylander) Check() error { return nil }

// Start implements learners.Params.
func (*Bylander) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	return start(problem, adder{})
}

// adder adds the mistakes to the weights.
type adder struct{}

func (adder) ready([]float32, int) bool { return false }
func (adder) margin([]float32) float64  { return 0 }

func (adder) move(w, mistakes []float32) bool {
	if !mistaken(w, mistakes) {
		return false
	}
	for j, v := range mistakes {
		w[j] += v
	}
	return true
}
