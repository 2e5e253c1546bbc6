package localisation

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// saved is what there is to save of a plane.
type saved struct {
	plane
	Times int64
}

// randomSize is the number of bytes of the state of a rand.PCG.
const randomSize = 20

// Save implements learners.Learner: the random numbers, the planes with how often each was added, and the
// SHA-256 of that.
func (l *run) Save() ([]byte, error) {
	state, err := l.random.MarshalBinary()
	if err != nil {
		return nil, err
	}
	for a, p := range l.planes.all {
		if state, err = binary.Append(state, binary.LittleEndian, saved{p, l.planes.times[a]}); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(state)
	return append(state, sum[:]...), nil
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *run) Restore(state []byte) error {
	damaged := errors.New("localisation: found a damaged state of a run")
	body := len(state) - sha256.Size
	if body < randomSize {
		return damaged
	}
	if sum := sha256.Sum256(state[:body]); !bytes.Equal(sum[:], state[body:]) {
		return damaged
	}
	if err := l.random.UnmarshalBinary(state[:randomSize]); err != nil {
		return fmt.Errorf("%w: %w", damaged, err)
	}
	for rest := state[randomSize:body]; len(rest) > 0; {
		var s saved
		read, err := binary.Decode(rest, binary.LittleEndian, &s)
		if err != nil {
			return fmt.Errorf("%w: %w", damaged, err)
		}
		rest = rest[read:]
		p := s.plane
		if p.Example < 0 || int(p.Example) >= l.problem.X.N || p.Rival < 0 || int(p.Rival) >= l.problem.Q ||
			p.Rival == l.problem.Y[p.Example] || s.Times < 0 || s.Times > 1<<53 || !l.planes.cuts(p) {
			return fmt.Errorf("%w: found a plane that is none", damaged)
		}
		if err := l.planes.add(p); err != nil {
			return err
		}
		l.planes.times[len(l.planes.all)-1] = s.Times
	}
	return nil
}
