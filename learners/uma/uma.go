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
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// learner is UMA in the middle of a run.
type learner struct {
	Params
	cells   engine.Cells
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
	l.doubtWrong(problem.Rows())
	return l, nil
}

// newRun begins a run on cells, which it closes at its end.
func newRun(p Params, cells engine.Cells, inverse *confusion.Inverse, seed uint64) *learner {
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
		l.unit = math.Sqrt(base.SquaredLength(w.W) / float64(w.Q)) // of the rows, on average
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
	random, err := l.pcg.MarshalBinary()
	if err != nil {
		return nil, err
	}
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
