// Package online is the family of linear learners that see one example after another. Whenever
// an example is taken for another class, or nearly, it is added to the weights of its own class
// and subtracted from the weights of others:
//
//	w_r ← w_r + τ_r·x  for each class r.
//
// The learners differ in τ alone, which a policy chooses from the scores of the example. The
// loop is the same for all: the order of the examples, the average of all weights on the way,
// what a pass reports, and what it needs to continue later.
//
// Passes are the host's, whatever the engine, which only counts predictions: an update may change
// what the next example does, so examples cannot be shared out. Clause 20 of the contract fixes
// the bits.
package online

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// policy is what one algorithm does with an example.
type policy interface {
	// steps writes τ, a number for each class, for an example with scores s; τ is 0 before. It
	// says whether there is anything to add.
	steps(tau, s []float32, e *example) bool
}

// example is what a policy may ask of an example besides its scores.
type example struct {
	y      int        // its label
	norm2  float32    // ‖x‖² (clause 1)
	weight float64    // how many examples it counts for
	random *rand.Rand // of the run
}

// learner is one of the family in the middle of a run.
type learner struct {
	Params
	*base.Scored
	policy  policy
	risk    *risk     // of COPA, which tells it of each pass; nil of others
	inverse []float64 // C⁻¹, Q×Q; nil without C
	weights []float64 // of examples by label
	norms2  []float32 // ‖x‖² of each example; nil before the first pass

	order []int32 // of the examples in a pass
	state state   // between two passes
	next  state   // in the middle of one
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x6f6e6c696e65 // "online"

// newRun begins a run on examples that are loaded.
func newRun(scored *base.Scored, p *Params) (*learner, error) {
	l := &learner{Params: *p, Scored: scored, policy: p.algorithm.policy(p),
		order: make([]int32, scored.Problem.X.N)}
	if c, ok := l.policy.(*copa); ok {
		l.risk = &c.risk
	}
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

// state is a run's state between two examples.
type state struct {
	seen   int64          // examples, earlier passes included
	random rand.PCG       // the run's random numbers
	w      *lanes.Weights // nil before the first pass
	// late is what the average of W over the examples seen falls short of W, times their number: an
	// update that comes after t examples is missing t times from the sum of all W. Only the updates
	// themselves touch it. Nil without an average; the caller of Add flushes it.
	late *lanes.Late
	row  []float32 // Q×D, row-major: what result found; nil before
}

// begin sets s to the state from before a pass. w are the host's weights: the weights of from
// if there is no average, and otherwise where the first pass begins. Examples may be sparse.
func (s *state) begin(from *state, w engine.Weights, average, sparse bool) {
	s.seen, s.random = from.seen, from.random
	if s.w == nil {
		s.w = lanes.New(w.Q, w.D, sparse)
	}
	if average && s.late == nil {
		s.late = lanes.NewLate(w.Q, w.D, sparse)
	}
	if average && from.seen > 0 {
		s.w.Copy(from.w)
		s.late.Copy(from.late)
		return
	}
	if from.row != nil && slices.Equal(from.row, w.W) { // which from.w has, packed
		s.w.Copy(from.w)
	} else {
		s.w.Set(w.W)
	}
	if s.late != nil {
		s.late.Copy(nil)
	}
}

// result writes the weights after a pass, or their average, to w. It is an error if they are not
// finite.
func (s *state) result(w engine.Weights) error {
	if s.row == nil {
		s.row = make([]float32, len(w.W))
	}
	next := s.row
	s.w.Get(next)
	if s.late != nil {
		s.late.Average(next, float64(s.seen))
	}
	if err := base.CheckFinite("online", next, ""); err != nil {
		return err
	}
	copy(w.W, next)
	return nil
}

// Save implements learners.Learner: how many examples were seen, the random numbers and, with an
// average of any example, the weights and what their average needs. Else the host keeps weights.
func (l *learner) Save() ([]byte, error) {
	all := []any{l.state.seen, &l.state.random}
	if l.averages(l.state.seen) {
		size := l.Problem.Q * l.Problem.X.D
		w, late := make([]float32, size), make([]float64, size)
		l.state.w.Get(w)
		l.state.late.Get(late)
		all = append(all, w, late)
	}
	return base.Pack(all...)
}

// averages says whether a state after seen examples has weights of its own.
func (l *learner) averages(seen int64) bool { return seen > 0 && !l.NoAverage }

func (l *learner) Restore(saved []byte) error {
	var next state
	s := base.Unpack(saved)
	whole := s.Read(&next.seen, &next.random)
	if n := int64(l.Problem.X.N); next.seen < 0 || next.seen > 1<<53 || next.seen%n != 0 {
		s.Refuse(fmt.Errorf("%d examples seen, wanted passes over %d", next.seen, n))
	}
	if whole && l.averages(next.seen) {
		q, d, sparse := l.Problem.Q, l.Problem.X.D, l.Problem.X.Sparse()
		w, late := make([]float32, q*d), make([]float64, q*d)
		if s.Read(w, late) && !(base.Finite(w) && base.Finite(late)) {
			s.Refuse(errors.New("found weights that are no numbers"))
		}
		next.w, next.late = lanes.New(q, d, sparse), lanes.NewLate(q, d, sparse)
		next.w.Set(w)
		next.late.Set(late)
	}
	if err := s.End("online"); err != nil {
		return err
	}
	l.state = next
	return nil
}

// rowOf returns example i of x, sharing memory.
func rowOf(x dataset.Examples, i int) lanes.Row {
	columns, values := x.Entries(i)
	return lanes.Row{Columns: columns, Values: values}
}

// norms2 returns ‖x‖² of all examples (clause 1).
func norms2(x dataset.Examples) ([]float32, error) {
	all := make([]float32, x.N)
	parallel.Ranges(x.N, 1+100000/(1+x.D), func(from, to int) {
		for i := from; i < to; i++ {
			all[i] = numerics.SquaredNorm(x.Entries(i))
		}
	})
	for i, v := range all {
		if v-v != 0 {
			return nil, fmt.Errorf("online: found example %d of the data, whose squared length is "+
				"too large for float32; normalise the features", i+1)
		}
	}
	return all, nil
}
