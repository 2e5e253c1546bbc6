// Package online is the family of linear learners that see one example after another. Whenever
// an example is taken for another class, or nearly, it is added to the weights of its own class
// and taken off those of others:
//
//	w_r ← w_r + τ_r·x  for each class r.
//
// The learners differ in τ alone, which a policy chooses from the scores of the example. The
// loop is the same for all: the order of the examples, the average of all weights on the way,
// what a pass tells, and what it takes to go on later.
//
// Passes are the host's, whatever the engine, which only counts predictions: an update may change
// what the next example does, so examples cannot be shared out. Clause 20 of the contract fixes
// the bits.
package online

import (
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// policy is what one algorithm does with an example.
type policy interface {
	// steps writes τ, a number for each class, for an example with scores s; τ is 0 before. It
	// says whether there is anything to add.
	steps(tau, s []float32, e *example) bool
}

// teller is a policy that has something to tell of each pass.
type teller interface {
	begin(inverse []float64, q int) // a pass over q classes; C⁻¹ is nil if labels are right
	see(y int, s []float32)         // the label and the scores of an example, when it is its turn
	fields() []learners.Field
}

// example is what a policy may ask of an example beside its scores.
type example struct {
	y      int        // its label
	norm2  float32    // ‖x‖² (clause 1)
	weight float64    // how many examples it counts for
	random *rand.Rand // of the run
}

// learner is one of the family in the middle of a run.
type learner struct {
	Params
	*base.Scored // without a Scorer for a stream
	policy       policy
	tells        teller    // nil if the policy is none
	inverse      []float64 // C⁻¹, Q×Q; nil without C
	weights      []float64 // of examples by label
	norms2       []float32 // ‖x‖² of each example; nil before the first pass

	order  []int32 // of the examples in a pass
	before int     // examples of a stream before those of the problem
	state  state   // between two passes
	next   state   // in the middle of one
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x6f6e6c696e65 // "online"

// start loads the problem's examples and begins a run.
func start(problem *learners.Problem, p *Params) (learners.Learner, error) {
	return base.StartScored(p, problem, func(s *base.Scored) (learners.Learner, error) {
		return newRun(s, p)
	})
}

// newRun begins a run on examples that are loaded, or of a stream.
func newRun(scored *base.Scored, p *Params) (*learner, error) {
	l := &learner{Params: *p, Scored: scored, policy: p.algorithm.policy(p),
		order: make([]int32, scored.Problem.X.N)}
	l.tells, _ = l.policy.(teller)
	l.state.random = *rand.NewPCG(scored.Problem.Seed, stream)
	return l, l.correct()
}

// arrange puts the examples into the order of the next pass.
func (l *learner) arrange(random *rand.Rand) {
	for i := range l.order {
		l.order[i] = int32(i)
	}
	if !l.NoShuffle {
		random.Shuffle(len(l.order), func(i, j int) { l.order[i], l.order[j] = l.order[j], l.order[i] })
	}
}

// predicted returns the prediction from finite scores (clause 4).
func predicted(scores []float32) int {
	best := 0
	for r, s := range scores {
		if s > scores[best] {
			best = r
		}
	}
	return best
}
