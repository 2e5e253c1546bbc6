package online

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// state is where a run stands between two examples.
type state struct {
	seen   int64          // examples, those of earlier passes included
	random rand.PCG       // the run's random numbers
	w      *lanes.Weights // nil before the first pass
	// late is what the average of W over the examples seen falls short of W, times their number: an
	// update that comes after t examples is missing t times from the sum of all W. Only the updates
	// themselves touch it. Nil without an average; the caller of Add flushes it.
	late *lanes.Late
	row  []float32 // Q×D, row-major: what result found; nil before
}

// begin makes s the state before a pass, that of from. w are the host's weights: those of from
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
