package noisyperceptron

import (
	"context"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Blum are the parameters of the modified perceptron.
type Blum struct {
	// Margin is σ, 0 to 1: the sine of the angle with the plane of w that an example needs to count.
	Margin float64
}

// NewBlum returns the default parameters.
func NewBlum() *Blum { return &Blum{} }

func (p *Blum) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "blum",
		Summary: "a perceptron that turns w until its estimated mistakes lie in its plane; one for " +
			"each class",
		Paper: "Blum, Frieze, Kannan & Vempala, A polynomial-time algorithm for learning noisy linear " +
			"threshold functions, Algorithmica 22 (1998), Section 4, without the removal of outliers",
		Step:     step,
		MaxSteps: maxSteps,
		Weights:  []learners.Rule{learners.Best, learners.Last},
		New:      func() learners.Params { return NewBlum() },
		Parameters: []learners.Parameter{learners.Float("margin", &p.Margin, learners.Range{Most: 1},
			"sine of the angle with the plane between two classes that an example needs to count")},
		Start: func(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
			return start(problem, turner{p.Margin, problem.Seed})
		},
		Loads: learners.LoadsEvaluator,
	}
}

// stream keeps random numbers apart from others of the same seed; class r has stream+r.
const stream = 0x626c756d << 16 // "blum"

// turner is Algorithm 3 of Louche's thesis with the sum of the mistakes as x_up. Weights have
// length 1: only their direction counts in the paper, and one length makes those of classes
// comparable.
type turner struct {
	sigma float64
	seed  uint64
}

// ready begins weights that are 0 at random.
func (t turner) ready(w []float32, r int) bool {
	if length(w) > 0 {
		return false
	}
	rng := rand.New(rand.NewPCG(t.seed, stream+uint64(r)))
	for j := range w {
		w[j] = rng.Float32() - 0.5
	}
	normalise(w)
	return true
}

func (t turner) margin(w []float32) float64 { return t.sigma * length(w) }

// move takes from w what it has of the mistakes' direction.
func (t turner) move(w, mistakes []float32) {
	normalise(mistakes)
	along := numerics.Dot(w, mistakes)
	for j, v := range mistakes {
		w[j] = numerics.FMA(-along, v, w[j])
	}
	if !(length(w) > 0) { // it was opposite to its mistakes
		copy(w, mistakes)
	}
	normalise(w)
}

// normalise makes the length of v 1, which is above 0.
func normalise(v []float32) {
	size := length(v)
	for j, x := range v {
		v[j] = float32(float64(x) / size)
	}
}
