// Package uma is UMA, the unconfused ultraconservative multiclass algorithm:
// Algorithm 2 of Louche & Ralaivola, Machine Learning 99 (2015), with the
// perceptron step, and with steps that correct more than one mistake. It learns a
// linear classifier from labels corrupted by a known confusion matrix C.
//
// For each predicted class p the examples are summed by noisy label and the sums multiplied by C⁻¹.
// Row q of the product, z_pq, estimates the sum of those examples whose true class is q although p
// was predicted: a mistake to correct, although no label can be trusted. With C = identity UMA is
// the plain batch perceptron.
package uma

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

type learner struct {
	Params
	cells   *engine.Cells
	n, d, q int
	inverse *confusion.Inverse
	b       []float32 // float32(C⁻¹)
	pcg     *rand.PCG
	rng     *rand.Rand // on pcg

	begun      bool              // W is not 0 any more, so α counts (clause 4)
	unit       float64           // of α: 1, or the length of W that clause 18 says, at the last Count
	assignment engine.Assignment // of the last Count
	priors     []float64         // π̂, from the first assignment

	choice
	labelNoise
	before []float32 // W before this step, if it corrects more than one pair
	room   int       // numbers that the update vectors have that it computes at once
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x756d61 // "uma"

func (p *Params) start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	cells, inverse, err := problem.LoadCells()
	if err != nil {
		return nil, err
	}
	l := newRun(*p, cells, inverse, problem.Seed)
	l.doubtWrong(problem.X)
	return l, nil
}

// newRun begins a run on cells, which it closes at its end.
func newRun(p Params, cells *engine.Cells, inverse *confusion.Inverse, seed uint64) *learner {
	n, d, q := cells.Shape()
	pcg := rand.NewPCG(seed, stream)
	return &learner{
		Params: p, cells: cells, inverse: inverse, b: inverse.Float32(), pcg: pcg, rng: rand.New(pcg),
		n: n, d: d, q: q, choice: choice{norms: make([]float32, q*q)}, room: room,
	}
}

// Count implements learners.Learner: line 4 of Algorithm 2, for all p at once.
func (l *learner) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	l.begun = l.begun || slices.ContainsFunc(w.W, func(v float32) bool { return v != 0 })
	if l.begun { // else the scores are 0 as they were when loaded
		if err := l.cells.Rescore(w, changed); err != nil {
			return nil, err
		}
	}
	l.unit = 1
	if l.Alpha != 0 && l.AlphaUnit == UnitWeights {
		l.unit = math.Sqrt(learners.SquaredLength(w.W) / float64(w.Q)) // of the rows, on average
	}
	if l.assignment, err = l.cells.Assign(l.margin(1)); err != nil {
		return nil, err
	}
	if l.priors == nil {
		labels := make([]int64, l.q)
		for i, c := range l.assignment.Predicted {
			labels[i%l.q] += c
		}
		l.priors = l.inverse.Priors(labels, l.n)
	}
	return slices.Clone(l.assignment.Predicted), nil
}

// margin is α as it counts now for an example, or a sum of them, of the given length: 0
// while W = 0, or no first step would be possible (clauses 4, 8 and 18).
func (l *learner) margin(length float64) float32 {
	switch {
	case !l.begun:
		return 0
	case l.AlphaUnit == UnitWeights:
		return float32(float64(l.Alpha) * l.unit * length)
	}
	return l.Alpha
}

func (l *learner) Close() error { return l.cells.Close() }

// saved is the JSON of a run's state: what else there is follows from the labels and the weights.
type saved struct {
	Begun  bool   `json:"begun"`
	Random []byte `json:"random"` // the state of the generator
}

func (l *learner) Save() ([]byte, error) {
	random, _ := l.pcg.MarshalBinary() // which never fails
	return json.Marshal(saved{l.begun, random})
}

func (l *learner) Restore(text []byte) error {
	var s saved
	err := json.Unmarshal(text, &s)
	if err == nil {
		err = l.pcg.UnmarshalBinary(s.Random)
	}
	if err != nil {
		return fmt.Errorf("uma: found a damaged state of a run: %w", err)
	}
	l.begun = s.Begun
	return nil
}

// Rules by which the pair (p,q) of a step is chosen (section 3.5 of the paper, clause 7).
const (
	SelectError     = "error"     // largest ‖z_pq‖: the most errors
	SelectConfusion = "confusion" // largest ‖z_pq‖/π̂_q: the most errors for the size of the class
	SelectRandom    = "random"    // any pair with ‖z_pq‖ > Tol
)

// Steps: how many update vectors a step adds to the weights (clause 17).
const (
	StepPair   = "pair"   // the chosen z_pq: Algorithm 2
	StepRegion = "region" // the mistakes in the chosen pair's region p
	StepAll    = "all"    // all that are mistakes
)

// What α counts in.
const (
	UnitWeights = "weights" // root mean square length of the rows of W (clause 18)
	UnitScore   = "score"   // the score's own, which grows with W (clauses 4 and 8)
)

// Params are the parameters of UMA. Defaults returns those to start from.
type Params struct {
	Step      string  // StepPair, StepRegion or StepAll
	Select    string  // SelectError, SelectConfusion or SelectRandom
	Alpha     float32 // margin α ≥ 0 of the regions and of the error set, in AlphaUnit
	AlphaUnit string  // UnitWeights or UnitScore
	Tol       float64 // pairs with ‖z_pq‖ ≤ Tol are left alone; ≥ 0
	// Doubt is how many times as long as the wrong labels alone make it on average an update
	// vector must be, or it is left alone (clause 18); ≥ 0. It needs a confusion matrix.
	Doubt float64
}

// Defaults returns the default parameters, which docs/weights.md measures. An example of
// length 1 weighs 1/n in an update vector, so the default tolerance overlooks none.
func Defaults() *Params {
	return &Params{Step: StepAll, Select: SelectError, AlphaUnit: UnitWeights, Tol: 1e-9, Doubt: 1}
}

// Definition implements learners.Params. Files from before there were steps of several kinds,
// units, and doubts lack these: theirs were pair, score and 0.
func (p *Params) Definition() *learners.Definition {
	step := learners.OneOf("step", &p.Step, "the mistakes that a step corrects",
		StepAll, "every estimated mistake",
		StepRegion, "the mistakes of one predicted class",
		StepPair, "one, as in the paper")
	unit := learners.OneOf("alpha_unit", &p.AlphaUnit, "unit of alpha",
		UnitWeights, "length of the weights of a class, on average",
		UnitScore, "the score itself, which grows with the weights")
	doubt := learners.Float("doubt", &p.Doubt, learners.Range{},
		"update vectors are left alone that "+
			"are at most this many times as long as wrong labels alone would make them")
	return &learners.Definition{
		Name: "uma",
		Summary: "a perceptron that unmixes the noisy classes by the inverse of C; with no C, the " +
			"batch perceptron",
		Paper: "Louche & Ralaivola, Unconfused ultraconservative multiclass algorithms, Machine " +
			"Learning 99 (2015), Algorithm 2",
		Step:     "an update of W by all mistakes, or by one kind of mistakes",
		MaxSteps: 512,
		Weights:  []learners.Rule{learners.BestAverage, learners.Best, learners.Average, learners.Last},
		New:      func() learners.Params { return Defaults() },

		Parameters: []learners.Parameter{
			step,
			learners.OneOf("select", &p.Select,
				"rule for the pair of classes to correct; steps that correct all have none",
				SelectError, "the largest estimated mistake",
				SelectConfusion, "the largest for the size of its class",
				SelectRandom, "any mistake"),
			learners.Float("alpha", &p.Alpha, learners.Range{},
				"margin that an example needs to count as predicted"),
			unit,
			learners.Float("tol", &p.Tol, learners.Range{},
				"length of an update vector up to which its mistake is left alone"),
			doubt,
		},
		Start: p.start,
	}
}
