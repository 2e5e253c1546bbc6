package uma

import (
	"encoding/json"
	"fmt"
)

// saved is what a run keeps for Restore.
type saved struct {
	Begun  bool   `json:"begun"`
	Random []byte `json:"random"` // the state of the generator
}

// Save implements learners.Learner. The priors and all that lies on the engine follow
// from the labels and the weights.
func (l *run) Save() ([]byte, error) {
	random, err := l.pcg.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(saved{l.begun, random})
}

// Restore implements learners.Learner.
func (l *run) Restore(text []byte) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("uma: found a damaged state of a run: %w", err)
	}
	if err := l.pcg.UnmarshalBinary(s.Random); err != nil {
		return fmt.Errorf("uma: found a damaged state of random numbers: %w", err)
	}
	l.begun = s.Begun
	return nil
}
