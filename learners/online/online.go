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
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
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
	*learners.Scored
	policy  policy
	risk    *risk     // of COPA, which tells it of each pass; nil of others
	inverse []float64 // C⁻¹, Q×Q; nil without C
	weights []float64 // of examples by label
	norms2  []float32 // ‖x‖² of each example; nil before the first pass
	columns []int32   // 0 … D-1, of dense examples
	state   state
}

// state is a run's state between two passes.
type state struct {
	seen   int64    // examples, of all passes
	random rand.PCG // the run's random numbers

	// With an average, once examples were seen: W after the last example, and what the average of W
	// over the examples seen falls short of W, times their number. An update that comes after t
	// examples is missing t times from the sum of all W. Only the updates themselves touch it.
	w    *matrix[float32]
	late *matrix[float64]
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x6f6e6c696e65 // "online"

// newRun begins a run on examples that are loaded.
func newRun(scored *learners.Scored, p *Params) (*learner, error) {
	l := &learner{Params: *p, Scored: scored, policy: p.algorithm.policy(p)}
	if c, ok := l.policy.(*copa); ok {
		l.risk = &c.risk
	}
	if x := scored.Problem.X; !x.Sparse() {
		l.columns = lists.UpTo[int32](x.D)
	}
	l.state.random = *rand.NewPCG(scored.Problem.Seed, stream)
	return l, l.correct()
}

// Step implements learners.Learner: a pass over all examples. It is the last one if it finds
// nothing to add to W.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
		return s, err
	}
	if l.norms2 == nil {
		if l.norms2, err = norms2(l.Problem.X); err != nil {
			return s, err
		}
	}
	next, mistakes, updates, err := l.pass(ctx, w)
	if err != nil {
		return s, err
	}
	if updates == 0 {
		return learners.Step{Done: true}, nil
	}
	found := next.w.numbers()
	if l.NoAverage {
		next.w = nil
	} else {
		for i, v := range next.late.numbers() {
			found[i] = float32(float64(found[i]) - v/float64(next.seen))
		}
	}
	if err := learners.CheckFinite("online", found, ""); err != nil {
		return s, err
	}
	copy(w.W, found)
	l.state = next
	s.Changed = learners.AllClasses(w.Q)
	s.Fields = []learners.Field{{Name: "mistakes", Value: mistakes}, {Name: "updates", Value: updates}}
	if l.risk != nil {
		s.Fields = append(s.Fields, l.risk.fields()...)
	}
	return s, nil
}

// pass shows all examples to the policy, and returns the state after them, how many were predicted
// wrongly before they were learned from, and how many changed W.
func (l *learner) pass(ctx context.Context, w engine.Weights) (next state, mistakes, updates int,
	err error) {
	next = state{seen: l.state.seen, random: l.state.random}
	random := rand.New(&next.random)
	order := lists.UpTo[int32](l.Problem.X.N)
	if !l.NoShuffle {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	switch {
	case l.state.w != nil:
		next.w, next.late = l.state.w.clone(), l.state.late.clone()
	case l.NoAverage:
		next.w = packed(w.Q, w.W)
	default:
		next.w, next.late = packed(w.Q, w.W), newMatrix[float64](w.Q, w.D)
	}
	if l.risk != nil {
		l.risk.begin(l.inverse, w.Q)
	}
	e := example{random: random}
	tau, scores := make([]float32, w.Q), make([]float32, w.Q)
	for at, i := range order {
		if at%1024 == 0 && ctx.Err() != nil {
			return next, 0, 0, ctx.Err()
		}
		x := l.row(int(i))
		fastest.scores(scores, next.w, x)
		if !learners.Finite(scores) {
			return next, 0, 0, fmt.Errorf("online: found scores that are too large for float32 at example "+
				"%d of the data; normalise the features", i+1)
		}
		e.y, e.norm2 = int(l.Problem.Y[i]), l.norms2[i]
		e.weight = l.weights[e.y]
		if predicted(scores) != e.y {
			mistakes++
		}
		if l.risk != nil {
			l.risk.see(e.y, scores)
		}
		clear(tau)
		if l.policy.steps(tau, scores, &e) && learners.Finite(tau) {
			updates++
			fastest.addTo(next.w, tau, x)
			if next.late != nil && next.seen > 0 {
				fastest.addLate(next.late, float64(next.seen), tau, x)
			}
		}
		next.seen++
	}
	return next, mistakes, updates, nil
}

// row returns example i, sharing memory.
func (l *learner) row(i int) row {
	columns, values := l.Problem.X.Entries(i)
	if columns == nil {
		columns = l.columns
	}
	return row{columns, values}
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

// Save implements learners.Learner: how many examples were seen, the random numbers and, with an
// average of any example, the weights and what their average needs. Else the host keeps weights.
func (l *learner) Save() ([]byte, error) {
	all := []any{l.state.seen, &l.state.random}
	if l.state.w != nil {
		all = append(all, l.state.w.numbers(), l.state.late.numbers())
	}
	return learners.Pack(all...)
}

func (l *learner) Restore(saved []byte) error {
	var next state
	s := learners.Unpack(saved)
	whole := s.Read(&next.seen, &next.random)
	if n := int64(l.Problem.X.N); next.seen < 0 || next.seen > 1<<53 || next.seen%n != 0 {
		s.Refuse(fmt.Errorf("%d examples seen, wanted passes over %d", next.seen, n))
	}
	if q := l.Problem.Q; whole && next.seen > 0 && !l.NoAverage {
		w, late := make([]float32, q*l.Problem.X.D), make([]float64, q*l.Problem.X.D)
		if s.Read(w, late) && !(learners.Finite(w) && learners.Finite(late)) {
			s.Refuse(errors.New("found weights that are no numbers"))
		}
		next.w, next.late = packed(q, w), packed(q, late)
	}
	if err := s.End("online"); err != nil {
		return err
	}
	l.state = next
	return nil
}
