package base

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Pack returns a state for learners.Learner.Save: numbers, slices and structs of them, and
// *rand.PCG, in little-endian order one after the other, and the SHA-256 of that.
func Pack(values ...any) (state []byte, err error) {
	for _, v := range values {
		if random, ok := v.(*rand.PCG); ok {
			v, err = random.MarshalBinary()
		}
		if err == nil {
			state, err = binary.Append(state, binary.LittleEndian, v)
		}
		if err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(state)
	return append(state, sum[:]...), nil
}

// SavedState reads what Pack returned. After a fault it reads nothing more.
type SavedState struct {
	rest []byte
	err  error
}

// Unpack returns a reader of saved.
func Unpack(saved []byte) *SavedState {
	body := len(saved) - sha256.Size
	if body < 0 {
		return &SavedState{err: errors.New("it is too short")}
	}
	if sum := sha256.Sum256(saved[:body]); !bytes.Equal(sum[:], saved[body:]) {
		return &SavedState{err: errors.New("its checksum is another")}
	}
	return &SavedState{rest: saved[:body]}
}

// Read writes the next values to places, and reports whether there was no fault so far.
func (s *SavedState) Read(places ...any) bool {
	for _, place := range places {
		if s.err != nil {
			return false
		}
		to := place
		random, ok := place.(*rand.PCG)
		if ok {
			to = make([]byte, 20)
		}
		var size int
		if size, s.err = binary.Decode(s.rest, binary.LittleEndian, to); s.err == nil && ok {
			s.err = random.UnmarshalBinary(to.([]byte))
		}
		s.rest = s.rest[size:]
	}
	return s.err == nil
}

// Refuse makes err the fault, if it is one and the first.
func (s *SavedState) Refuse(err error) {
	if s.err == nil {
		s.err = err
	}
}

// More reports whether there is more to read.
func (s *SavedState) More() bool { return s.err == nil && len(s.rest) > 0 }

// End returns the fault as an error of the learner of that name. What was not read is one.
func (s *SavedState) End(learner string) error {
	if s.More() {
		s.err = fmt.Errorf("%d bytes are left over", len(s.rest))
	}
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%s: found a damaged state of a run: %w", learner, s.err)
}
