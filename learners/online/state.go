package online

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// state is where a run stands between two examples.
type state struct {
	seen   int64    // examples, those of earlier passes included
	random rand.PCG // the run's random numbers
	w      engine.Weights
	// late is what the average of W over the examples seen falls short of W, times their
	// number, row-major: an update that comes after t examples is missing t times from the sum
	// of all W. Only the updates themselves touch it. Nil without an average.
	late []float64
}

// begin makes s the state before a pass, that of from. w are the host's weights: those of from
// if there is no average, and otherwise where the first pass begins.
func (s *state) begin(from *state, w engine.Weights, average bool) {
	s.seen, s.random = from.seen, from.random
	if s.w.W == nil {
		s.w = engine.NewWeights(w.Q, w.D)
	}
	if average && s.late == nil {
		s.late = make([]float64, w.Q*w.D)
	}
	if average && from.seen > 0 {
		copy(s.w.W, from.w.W)
		copy(s.late, from.late)
		return
	}
	clear(s.late)
	for i, v := range w.W {
		if v == 0 { // -0 would become 0 by some updates, and stay by others
			v = 0
		}
		s.w.W[i] = v
	}
}

// add adds τ_r times the example x to each row of W. Zeros of x change nothing, so that it does
// not matter which of them are stored.
func (s *state) add(tau []float32, x row) {
	for r, t := range tau {
		if t != 0 {
			x.addTo(s.w.Row(r), t)
		}
	}
	if s.late == nil || s.seen == 0 {
		return
	}
	for r, t := range tau {
		if t != 0 {
			x.addLate(s.late[r*s.w.D:(r+1)*s.w.D], float64(s.seen)*float64(t))
		}
	}
}

// result writes the weights after a pass, or their average, to w. It is an error if they are not finite.
func (s *state) result(w engine.Weights) error {
	if !finite(s.w.W) {
		return errors.New("online: found weights too large for float32; normalise the features")
	}
	if s.late == nil {
		copy(w.W, s.w.W)
		return nil
	}
	for i, v := range s.w.W {
		w.W[i] = float32(float64(v) - s.late[i]/float64(s.seen))
	}
	if !finite(w.W) { // never: they lie among the weights on the way
		return errors.New("online: found an average of weights too large for float32; normalise the features")
	}
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
		if saved, err = binary.Append(saved, binary.LittleEndian, l.state.w.W); err == nil {
			saved, err = binary.Append(saved, binary.LittleEndian, l.state.late)
		}
	}
	sum := sha256.Sum256(saved)
	return append(saved, sum[:]...), err
}

// averages says whether a state after so many examples has weights of its own.
func (l *run) averages(seen int64) bool { return seen > 0 && !l.NoAverage }

// Restore implements learners.Learner.
func (l *run) Restore(saved []byte) error {
	var h head
	damaged := errors.New("online: found a damaged state of a run")
	body := max(0, len(saved)-sha256.Size)
	if sum := sha256.Sum256(saved[:body]); !bytes.Equal(sum[:], saved[body:]) {
		return damaged
	}
	read, err := binary.Decode(saved[:body], binary.LittleEndian, &h)
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
	rest, wanted := saved[read:body], 0
	size := l.problem.Q * l.problem.X.D
	if l.averages(h.Seen) {
		wanted = 12 * size
	}
	if len(rest) != wanted {
		return fmt.Errorf("%w: found %d bytes of weights, wanted %d", damaged, len(rest), wanted)
	}
	if wanted > 0 {
		s.w, s.late = engine.NewWeights(l.problem.Q, l.problem.X.D), make([]float64, size)
		read, _ := binary.Decode(rest, binary.LittleEndian, s.w.W)
		binary.Decode(rest[read:], binary.LittleEndian, s.late)
		if !finite(s.w.W) || slices.ContainsFunc(s.late, func(v float64) bool { return v-v != 0 }) {
			return fmt.Errorf("%w: found weights that are no numbers", damaged)
		}
	}
	l.state = s
	return nil
}
