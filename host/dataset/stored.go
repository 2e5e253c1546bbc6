package dataset

import "github.com/uma-gpu/uma-gpu/internal/store"

// Rows are examples, plain or in a store: engines take both.
type Rows interface {
	// Stored returns the examples and the store that keeps them.
	Stored() Stored
}

// Stored are examples and the store that keeps them, nil if they are plain.
type Stored struct {
	Examples
	At *store.Store
}

// Stored returns e, which no store keeps.
func (e Examples) Stored() Stored { return Stored{Examples: e} }

// Stored returns s.
func (s Stored) Stored() Stored { return s }

// Rows returns examples from..to-1 of s, sharing memory.
func (s Stored) Rows(from, to int) Stored {
	if from == 0 && to == s.N {
		return s
	}
	return Stored{Examples: s.Part(from, to), At: s.At.Rows(from, to, s.D)}
}

// Check returns an error unless the parts of s have the sizes and order that their types promise.
func (s Stored) Check() error {
	if err := s.Examples.Check(); err != nil || s.At.Narrow() == nil {
		return err
	}
	return s.At.Narrow().Check(s.N, s.D)
}
