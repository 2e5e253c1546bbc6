// Package svm is the linear support vector machine, for right labels: it keeps examples away from
// the planes between classes by a margin of 1. An example within the margin costs C times what it
// lacks. Each class is learned against the rest, or all classes at once (Crammer and Singer):
//
//	½‖w_r‖² + C·Σ_i ℓ(1 - ±⟨w_r,x_i⟩)                    ℓ(ξ) = max(0,ξ), or its square
//	½‖W‖²   + C·Σ_i max_r(⟨w_r,x_i⟩ - ⟨w_y,x_i⟩ + [r ≠ y])
//
// Both are solved by descent in the dual, or with the hinge loss by cutting planes (oneSlack).
// Descent takes one example after another in random order (Hsieh et al. 2008, Keerthi et al.
// 2008), as LIBLINEAR's -s 3, 1 and 4 do: w_r = Σ_i α_ir·x_i, and each α_i in turn becomes the best
// one while the others stay. Examples whose α stayed at a bound wait until the rest are done.
// There is one solution, so every run begins at α = 0, whatever weights it is given.
//
// The constant feature (learners.Problem.Bias) has a penalty like any other, as in LIBLINEAR.
// Passes are the host's; the engine counts predictions. All is float64, in a fixed order, each
// product rounded before it is added, until W is rounded to float32.
package svm

import (
	"context"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// Losses: the cost of missing a part ξ of the margin, times C.
const (
	Hinge   = "hinge"   // ξ
	Squared = "squared" // ξ²
)

// How more than two classes are told apart.
const (
	OVR = "ovr" // one-versus-rest: each class by itself against the others
	All = "all" // all classes at once (Crammer and Singer)
)

// Solvers: how the solution is found, which is the same for both.
const (
	Descent = "descent" // in the dual, one example after another (Hsieh et al., Keerthi et al.)
	// cutting planes with one slack for all examples (Joachims et al.), of the hinge loss
	Planes = "planes"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Cost         float64 // C of the objective, 1e-100 to 1e100
	Loss         string
	Multiclass   string
	ClassWeights learners.ClassWeights
	Solver       string

	// Tolerance is how far the conditions of the solution may be from being met, in units of the
	// margin, above 0; of Planes by which share of it the objective may be above the least there is,
	// below 1.
	Tolerance float64
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params {
	return &Params{Cost: 1, Loss: Squared, Multiclass: OVR, ClassWeights: learners.Equal,
		Solver: Descent, Tolerance: 0.01}
}

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name:    "svm",
		Summary: "linear support vector machine: keeps a margin between classes, for right labels",
		Paper: "Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008, " +
			"Algorithms 1 and 3; all classes at once: Keerthi et al., A sequential dual method for large " +
			"scale multi-class linear SVMs, KDD 2008; cutting planes: Joachims, Finley & Yu, " +
			"Cutting-plane training of structural SVMs, Machine Learning 77, 2009, Algorithm 3",
		Step:     "passes over four times the number of examples, or a cutting plane",
		MaxSteps: 250,
		Weights:  []learners.Rule{learners.Last, learners.Best},
		New:      func() learners.Params { return Defaults() },

		Loads:        learners.LoadsScorer,
		Passes:       true,
		IgnoresNoise: true,

		Parameters: []learners.Parameter{
			learners.Float("cost", &p.Cost, learners.Range{Least: 1 / mostCost, Most: mostCost},
				"what an example costs that misses its margin by 1, against the size of the weights"),
			learners.OneOf("loss", &p.Loss, "cost of the part of the margin that is missing",
				Hinge, "the part itself", Squared, "its square"),
			learners.OneOf("multiclass", &p.Multiclass, "how more than two classes are told apart",
				OVR, "each class by itself against the rest",
				All, "all classes at once, with the hinge loss"),
			base.Weighting(&p.ClassWeights),
			learners.OneOf("solver", &p.Solver, "how the solution is found",
				Descent, "one example after another",
				Planes, "cutting planes, with the hinge loss"),
			learners.Float("tolerance", &p.Tolerance, learners.Range{Open: true},
				"how far the conditions of the solution may be from being met, in units of the margin; with "+
					"planes, the share of the objective that may be in excess, below 1"),
		},
		Check: p.check,
		Start: base.StartScored("svm", func(s *base.Scored) (learners.Learner, error) {
			l := &learner{Params: *p, Scored: s}
			return l, l.begin()
		}),
	}
}

func (p *Params) check() error {
	wrong := func(parameter, got, want string) error {
		return &learners.ParameterError{Learner: "svm", Parameter: parameter, Got: got,
			Want: want}
	}
	switch {
	case p.Multiclass == All && p.Loss != Hinge:
		return wrong("multiclass", "all with loss squared", "loss hinge with it")
	case p.Solver == Planes && p.Loss != Hinge:
		return wrong("solver", "planes with loss squared", "loss hinge with it")
	case p.Solver == Planes && p.Tolerance >= 1:
		return wrong("tolerance", fmt.Sprint(p.Tolerance),
			"a share of the objective, below 1, with solver planes")
	}
	return nil
}

// mostCost keeps dual variables, and sums of them, far from the ends of float64.
const mostCost = 1e100

type learner struct {
	Params
	*base.Scored
	machines []machine
	begun    bool // of cutting planes: the engine has scored the last weights
}

// machine is one of the problems into which a run falls, in the middle of its solution.
type machine interface {
	// unmet returns how far the conditions of the solution are from being met, and whether that is
	// near enough, for all examples.
	unmet() (violation float64, done bool)

	// weights writes the weights of the machine to rows of w, and returns which.
	weights(w engine.Weights) (classes []int)

	// saved returns the state of the machine.
	saved() []any

	// restore reads it, and refuses what no run would have saved.
	restore(s *base.SavedState)
}

// descender is a machine that improves α of all examples that are not left out, once each, in a
// pass. It returns how many it has looked at.
type descender interface{ pass() (visited int64) }

// stream keeps random numbers apart from others of the same seed: machine r has stream+r.
const stream = 0x73766d << 16 // "svm"

// What asks for memory.
const (
	descentMemory = "the dual variables and weights of a support vector machine"
	planesMemory  = "the cutting planes and weights of a support vector machine"
)

// begin makes the machines: one of all classes at once, one of two classes, or one of each class.
func (l *learner) begin() error {
	x, y, q := l.Problem.X, l.Problem.Y, l.Problem.Q
	need, what := memory.Sum(memory.Product(x.N, q, 16), memory.Product(x.D, q, 8),
		memory.Product(x.N, 12)), descentMemory
	if l.Solver == Planes {
		need, what = memory.Sum(memory.Product(x.N, q, 16), memory.Product(x.D, q, 24)), planesMemory
	}
	if err := memory.Check(need, what); err != nil {
		return err
	}
	costs := l.ClassWeights.Of(float64(len(y)), learners.CountLabels(y, q))
	for k := range costs {
		costs[k] *= l.Cost
	}
	e := newExamples(x, y, costs)
	machine := func(class int, mirrored bool) machine {
		switch {
		case l.Solver == Planes:
			return newOneSlack(e, class, q, mirrored, &l.Params)
		case class < 0:
			return newCrammerSinger(e, q, &l.Params, l.Problem.Seed)
		}
		return newOVR(e, class, mirrored, &l.Params, l.Problem.Seed)
	}
	switch {
	case l.Multiclass == All:
		l.machines = append(l.machines, machine(-1, false))
	case q == 2: // class 0 is the mirror image
		l.machines = append(l.machines, machine(1, true))
	default:
		for r := range q {
			l.machines = append(l.machines, machine(r, false))
		}
	}
	return nil
}

// Step implements learners.Learner: passes of each machine that is not done, or one more plane.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
		return s, err
	}
	var left []machine
	for _, m := range l.machines {
		if _, done := m.unmet(); !done {
			left = append(left, m)
		}
	}
	if l.Solver == Planes {
		s, err = l.cut(left, w)
	} else {
		s = l.descend(left, w)
	}
	if err == nil {
		err = base.CheckFinite("svm", w.W, ", or take a lower cost")
	}
	return s, err
}

// looks is how often a step may look at each example: the loop counts predictions of all of them
// after it, and most passes look at few.
const looks = 4

func (l *learner) descend(left []machine, w engine.Weights) (s learners.Step) {
	if len(left) == 0 {
		return learners.Step{Done: true}
	}
	enough := looks * int64(l.Problem.X.N)
	parallel.Tasks(len(left), func(k int) {
		visited, done := int64(0), false
		for visited < enough && !done {
			visited += left[k].(descender).pass()
			_, done = left[k].unmet()
		}
	})
	most, unfinished := 0.0, 0
	for _, m := range left {
		violation, done := m.unmet()
		most = max(most, violation)
		if !done {
			unfinished++
		}
		s.Changed = append(s.Changed, m.weights(w)...)
	}
	if unfinished > 0 {
		s.Doubts = base.EndInDoubt("allow more steps, or take a lower cost",
			"svm: ended before the solution: the conditions are met to %.2g, wanted %.2g", most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "violation", Value: most},
		{Name: "unfinished", Value: unfinished}}
	return s
}

// cut finds one more plane for each machine that is left, by the scores that the loop counts
// predictions by.
func (l *learner) cut(left []machine, w engine.Weights) (s learners.Step, err error) {
	if !l.begun { // the first weights are 0, whatever those are that the run was given
		if err := l.Scorer.Rescore(engine.NewWeights(w.Q, w.D), learners.AllClasses(w.Q)); err != nil {
			return s, err
		}
	}
	planes, losses := make([]plane, len(left)), make([]float64, len(left))
	err = base.EachScores(l.Scorer, func(i int, scores []float32) error {
		for k, m := range left {
			losses[k] += m.(*oneSlack).miss(&planes[k], i, scores)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	l.begun = true
	failed := make([]error, len(left))
	parallel.Tasks(len(left), func(k int) {
		failed[k] = left[k].(*oneSlack).improve(planes[k], losses[k])
	})
	if err := errors.Join(failed...); err != nil {
		return s, err
	}
	stuck, unfinished, found, worst := 0, 0, 0, 0.0
	for _, m := range l.machines {
		o := m.(*oneSlack)
		found += len(o.planes) - 1
		worst = max(worst, o.gap)
		switch {
		case o.stuck:
			stuck++
		case !o.done:
			unfinished++
			s.Changed = append(s.Changed, o.weights(w)...)
		}
	}
	const wanted = "the objective may be %.2g of it above the least, wanted %.2g"
	switch {
	case unfinished > 0:
		s.Doubts = base.EndInDoubt("allow more steps, or take a lower cost",
			"svm: ended before the solution: "+wanted, worst, l.Tolerance)
	case stuck > 0:
		s.Doubts = base.EndInDoubt("take a greater tolerance",
			"svm: ended where scores of float32 tell no more: "+wanted, worst, l.Tolerance)
	}
	if unfinished == 0 {
		return learners.Step{Done: true, Doubts: s.Doubts}, nil
	}
	s.Fields = []learners.Field{{Name: "gap", Value: worst}, {Name: "planes", Value: found},
		{Name: "unfinished", Value: unfinished}}
	return s, nil
}

func (l *learner) Save() ([]byte, error) {
	var all []any
	for _, m := range l.machines {
		all = append(all, m.saved()...)
	}
	return base.Pack(all...)
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *learner) Restore(saved []byte) error {
	s := base.Unpack(saved)
	for _, m := range l.machines {
		m.restore(s)
		if o, ok := m.(*oneSlack); ok {
			l.begun = l.begun || len(o.planes) > 1
		}
	}
	return s.End("svm")
}
