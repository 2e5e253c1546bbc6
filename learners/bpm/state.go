package bpm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/versionspace"
	"github.com/uma-gpu/uma-gpu/learners"
)

// places are those of what there is to save of a propagation's state.
func places(s *versionspace.State) []any {
	return []any{s.Tau, s.Nu, s.Cavity, &s.Step, &s.Moved}
}

// Save implements learners.Learner: the states of all machines, one after the other, and the
// SHA-256 of that.
func (l *run) Save() (saved []byte, err error) {
	for _, m := range l.machines {
		s := m.centre.State()
		for _, place := range places(&s) {
			if saved, err = binary.Append(saved, binary.LittleEndian, place); err != nil {
				return nil, err
			}
		}
	}
	return learners.Seal(saved), nil
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *run) Restore(saved []byte) error {
	damaged := errors.New("bpm: found a damaged state of a run")
	rest, whole := learners.Unseal(saved)
	if !whole {
		return damaged
	}
	n := l.problem.X.N
	for _, m := range l.machines {
		s := versionspace.State{Tau: make([]float64, n), Nu: make([]float64, n), Cavity: make([]float64,
			n)}
		for _, place := range places(&s) {
			read, err := binary.Decode(rest, binary.LittleEndian, place)
			if err != nil {
				return fmt.Errorf("%w: %w", damaged, err)
			}
			rest = rest[read:]
		}
		if err := m.centre.Restore(s); err != nil {
			return fmt.Errorf("%w: %w", damaged, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", damaged, len(rest))
	}
	return nil
}
