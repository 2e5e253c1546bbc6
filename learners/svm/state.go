package svm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Save implements learners.Learner: what all machines have to save, one after the other, and the
// SHA-256 of that.
func (l *run) Save() (saved []byte, err error) {
	for _, m := range l.machines {
		for _, place := range m.saved() {
			if random, ok := place.(*rand.PCG); ok {
				if place, err = random.MarshalBinary(); err != nil {
					return nil, err
				}
			}
			if saved, err = binary.Append(saved, binary.LittleEndian, place); err != nil {
				return nil, err
			}
		}
	}
	return learners.Seal(saved), nil
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *run) Restore(saved []byte) error {
	damaged := errors.New("svm: found a damaged state of a run")
	rest, whole := learners.Unseal(saved)
	if !whole {
		return damaged
	}
	for _, m := range l.machines {
		for _, place := range m.saved() {
			read, err := restore(rest, place)
			if err != nil {
				return fmt.Errorf("%w: %w", damaged, err)
			}
			rest = rest[read:]
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("%w: %w", damaged, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", damaged, len(rest))
	}
	return nil
}

// randomSize is the number of bytes of random numbers that are saved.
const randomSize = 20

// restore reads one place of what Save wrote.
func restore(saved []byte, place any) (read int, err error) {
	random, ok := place.(*rand.PCG)
	if !ok {
		return binary.Decode(saved, binary.LittleEndian, place)
	}
	if len(saved) < randomSize {
		return 0, errors.New("found no random numbers")
	}
	return randomSize, random.UnmarshalBinary(saved[:randomSize])
}

// finite says whether all of v are numbers.
func finite(v []float64) bool {
	for _, f := range v {
		if f-f != 0 {
			return false
		}
	}
	return true
}
