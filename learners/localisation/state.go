package localisation

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/learners"
)

// counted is what there is to save of a plane.
type counted struct {
	plane
	Times int64
}

// randomSize is the number of bytes of the state of a rand.PCG.
const randomSize = 20

// Save implements learners.Learner: the random numbers, the planes with how often each was added,
// and the SHA-256 of that.
func (l *run) Save() ([]byte, error) {
	state, err := l.random.MarshalBinary()
	if err != nil {
		return nil, err
	}
	for a, p := range l.planes.all {
		if state, err = binary.Append(state, binary.LittleEndian, counted{p,
			l.planes.times[a]}); err != nil {
			return nil, err
		}
	}
	return learners.Seal(state), nil
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *run) Restore(saved []byte) error {
	damaged := errors.New("localisation: found a damaged state of a run")
	state, whole := learners.Unseal(saved)
	if !whole || len(state) < randomSize {
		return damaged
	}
	if err := l.random.UnmarshalBinary(state[:randomSize]); err != nil {
		return fmt.Errorf("%w: %w", damaged, err)
	}
	for rest := state[randomSize:]; len(rest) > 0; {
		var s counted
		read, err := binary.Decode(rest, binary.LittleEndian, &s)
		if err != nil {
			return fmt.Errorf("%w: %w", damaged, err)
		}
		rest = rest[read:]
		p := s.plane
		if p.Example < 0 || int(p.Example) >= l.problem.X.N || p.Rival < 0 ||
			int(p.Rival) >= l.problem.Q ||
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
