// Package store says where examples are kept, and in what form, beside the float32 numbers that
// everybody reads: the small integers that they were prepared from.
package store

// Store is what is known of how examples are kept. A nil Store is that of plain examples.
type Store struct {
	Codes *Codes // what the values were prepared from; nil if that is no small integers
}

// Narrow returns the codes of s, nil if it has none.
func (s *Store) Narrow() *Codes {
	if s == nil {
		return nil
	}
	return s.Codes
}

// Rows returns the store of examples from..to-1 of d columns.
func (s *Store) Rows(from, to, d int) *Store {
	if s.Narrow() == nil {
		return nil
	}
	return &Store{Codes: s.Codes.rows(from, to, d)}
}
