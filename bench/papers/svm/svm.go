// Package svm is the linear support vector machine, for right labels: it keeps examples away from
// the planes between classes by a margin of 1. An example within the margin costs C times what it
// lacks, or its square. Each class is learned against the rest:
//
//	½‖w_r‖² + C·Σ_i ℓ(1 - ±⟨w_r,x_i⟩)                    ℓ(ξ) = max(0,ξ), or its square
//
// The solution is found by descent in the dual, as by LIBLINEAR's -s 3 and 1. It takes one example
// after another in random order (Hsieh et al. 2008): w_r = Σ_i α_ir·x_i, and each α_i in turn
// becomes the best one while the others stay. Examples whose α stayed at a bound wait until the
// rest are done. There is one solution, so every run begins at α = 0, whatever weights it is given.
//
// The constant feature (learners.Problem.Bias) has a penalty like any other, as in LIBLINEAR.
// Passes are the host's; the engine counts predictions. All is float64, in a fixed order, each
// product rounded before it is added, until W is rounded to float32.
package svm

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Losses: the cost of missing a part ξ of the margin, times C.
const (
	Hinge   = "hinge"   // ξ
	Squared = "squared" // ξ²
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Cost         float64 // C of the objective, 1e-100 to 1e100
	Loss         string
	ClassWeights learners.ClassWeights

	// Tolerance is how far the conditions of the solution may be from being met, in units of the
	// margin, above 0.
	Tolerance float64
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params {
	return &Params{Cost: 1, Loss: Squared, ClassWeights: learners.Equal, Tolerance: 0.01}
}

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name:    "svm",
		Summary: "linear support vector machine: keeps a margin between classes, for right labels",
		Paper: "Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008, " +
			"Algorithms 1 and 3",
		Step:     "passes over four times the number of examples",
		MaxSteps: 250,
		Weights:  []learners.Rule{learners.Last, learners.Best},
		New:      func() learners.Params { return Defaults() },

		Loads:        learners.LoadsScorer,
		IgnoresNoise: true,

		Parameters: []learners.Parameter{
			learners.Float("cost", &p.Cost, learners.Range{Least: 1 / mostCost, Most: mostCost},
				"what an example costs that misses its margin by 1, against the size of the weights"),
			learners.OneOf("loss", &p.Loss, "cost of the part of the margin that is missing",
				Hinge, "the part itself", Squared, "its square"),
			learners.Weighting(&p.ClassWeights),
			learners.Float("tolerance", &p.Tolerance, learners.Range{Open: true},
				"how far the conditions of the solution may be from being met, in units of the margin"),
		},
		Start: learners.StartScored("svm", func(s *learners.Scored) (learners.Learner, error) {
			l := &learner{Params: *p, Scored: s}
			return l, l.begin()
		}),
	}
}

// mostCost keeps dual variables, and sums of them, far from the ends of float64.
const mostCost = 1e100

type learner struct {
	Params
	*learners.Scored
	machines []*machine // one for each class; of two classes the second's, whose mirror is the first's
}

// stream keeps random numbers apart from others of the same seed: machine r has stream+r.
const stream = 0x73766d << 16 // "svm"

func (l *learner) begin() error {
	x, y, q := l.Problem.X, l.Problem.Y, l.Problem.Q
	need := memory.Sum(memory.Product(x.N, q, 16), memory.Product(x.D, q, 8), memory.Product(x.N, 12))
	err := memory.Check(need, "the dual variables and weights of a support vector machine")
	if err != nil {
		return err
	}
	costs := l.ClassWeights.Of(float64(len(y)), learners.CountLabels(y, q))
	for k := range costs {
		costs[k] *= l.Cost
	}
	e := newExamples(x, y, costs)
	if q == 2 {
		l.machines = []*machine{newMachine(e, 1, true, &l.Params, l.Problem.Seed)}
		return nil
	}
	for r := range q {
		l.machines = append(l.machines, newMachine(e, r, false, &l.Params, l.Problem.Seed))
	}
	return nil
}

// looks is how often a step may look at each example: the loop counts predictions of all of them
// after it, and most passes look at few.
const looks = 4

// Step implements learners.Learner: passes of each machine that is not done.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
		return s, err
	}
	var left []*machine
	for _, m := range l.machines {
		if !m.done {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return learners.Step{Done: true}, nil
	}
	enough := looks * int64(l.Problem.X.N)
	parallel.Tasks(len(left), func(k int) {
		for visited := int64(0); visited < enough && !left[k].done; {
			visited += left[k].pass()
		}
	})
	most, unfinished := 0.0, 0
	for _, m := range left {
		most = max(most, m.violation)
		if !m.done {
			unfinished++
		}
		s.Changed = append(s.Changed, m.weights(w)...)
	}
	if unfinished > 0 {
		s.Doubts = learners.EndInDoubt("allow more steps, or take a lower cost",
			"svm: ended before the solution: the conditions are met to %.2g, wanted %.2g", most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "violation", Value: most},
		{Name: "unfinished", Value: unfinished}}
	return s, learners.CheckFinite("svm", w.W, ", or take a lower cost")
}

func (l *learner) Save() ([]byte, error) {
	var all []any
	for _, m := range l.machines {
		all = append(all, m.saved()...)
	}
	return learners.Pack(all...)
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *learner) Restore(saved []byte) error {
	s := learners.Unpack(saved)
	for _, m := range l.machines {
		m.restore(s)
	}
	return s.End("svm")
}
