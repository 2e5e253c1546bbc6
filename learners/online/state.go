package online

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online/lanes"
)

// state is where a run stands between two examples.
type state struct {
	seen   int64          // examples, those of earlier passes included
	random rand.PCG       // the run's random numbers
	w      *lanes.Weights // nil before the first pass
	// late is what the average of W over the examples seen falls short of W, times their number: an
	// update that comes after t examples is missing t times from the sum of all W. Only the updates
	// themselves touch it. Nil without an average; whoever adds flushes it.
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
	if !finite(next) {
		return errors.New("online: found weights too large for float32; normalise the features")
	}
	copy(w.W, next)
	return nil
}

// head is how a saved state begins. The weights and what their average needs follow, if there is
// an average of any example, and the SHA-256 of all that.
type head struct {
	Seen   int64
	Random [20]byte
}

// Save implements learners.Learner. Without an average the weights are those that the host keeps.
func (l *run) Save() ([]byte, error) {
	h := head{Seen: l.state.seen}
	random, err := l.state.random.MarshalBinary()
	if err != nil {
		return nil, err
	}
	copy(h.Random[:], random)
	saved, err := binary.Append(nil, binary.LittleEndian, h)
	if err == nil && l.averages(h.Seen) {
		size := l.problem.Q * l.problem.X.D
		w, late := make([]float32, size), make([]float64, size)
		l.state.w.Get(w)
		l.state.late.Get(late)
		if saved, err = binary.Append(saved, binary.LittleEndian, w); err == nil {
			saved, err = binary.Append(saved, binary.LittleEndian, late)
		}
	}
	return learners.Seal(saved), err
}

// averages says whether a state after so many examples has weights of its own.
func (l *run) averages(seen int64) bool { return seen > 0 && !l.NoAverage }

// Restore implements learners.Learner.
func (l *run) Restore(saved []byte) error {
	var h head
	damaged := errors.New("online: found a damaged state of a run")
	body, whole := learners.Unseal(saved)
	if !whole {
		return damaged
	}
	read, err := binary.Decode(body, binary.LittleEndian, &h)
	if err != nil {
		return fmt.Errorf("%w: %w", damaged, err)
	}
	if h.Seen < 0 || h.Seen > 1<<53 || h.Seen%int64(l.problem.X.N) != 0 {
		return fmt.Errorf("%w: %d examples seen, wanted passes over %d", damaged, h.Seen, l.problem.X.N)
	}
	s := state{seen: h.Seen}
	if err := s.random.UnmarshalBinary(h.Random[:]); err != nil {
		return fmt.Errorf("%w: %w", damaged, err)
	}
	rest, wanted := body[read:], 0
	size := l.problem.Q * l.problem.X.D
	if l.averages(h.Seen) {
		wanted = 12 * size
	}
	if len(rest) != wanted {
		return fmt.Errorf("%w: found %d bytes of weights, wanted %d", damaged, len(rest), wanted)
	}
	if wanted > 0 {
		w, late := make([]float32, size), make([]float64, size)
		sparse := l.problem.X.Sparse()
		s.w = lanes.New(l.problem.Q, l.problem.X.D, sparse)
		s.late = lanes.NewLate(l.problem.Q, l.problem.X.D, sparse)
		read, err := binary.Decode(rest, binary.LittleEndian, w)
		if err == nil {
			_, err = binary.Decode(rest[read:], binary.LittleEndian, late)
		}
		s.w.Set(w)
		s.late.Set(late)
		if err != nil || !finite(w) || slices.ContainsFunc(late,
			func(v float64) bool { return v-v != 0 }) {
			return fmt.Errorf("%w: found weights that are no numbers", damaged)
		}
	}
	l.state = s
	return nil
}
