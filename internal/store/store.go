// Package store keeps examples: in memory, in mapped files, in files without a name, in parts on
// several ranks, and as the small integers that they were prepared from. Beside the float32
// numbers that everybody reads, a Store says what engines and readers ask.
package store

// Store is what is known of how examples are kept. A nil Store is that of plain examples.
type Store struct {
	Codes *Codes // what the values were prepared from; nil if that is no small integers
	Ranks *Ranks // which examples this rank has; nil for all
}

// Narrow returns the codes of s, nil if it has none.
func (s *Store) Narrow() *Codes {
	if s == nil {
		return nil
	}
	return s.Codes
}

// Shared returns which examples this rank has, nil for all.
func (s *Store) Shared() *Ranks {
	if s == nil {
		return nil
	}
	return s.Ranks
}

// Rows returns the store of examples from..to-1 of d columns, all of which this rank has.
func (s *Store) Rows(from, to, d int) *Store {
	if s.Narrow() == nil {
		return nil
	}
	return &Store{Codes: s.Codes.rows(from, to, d)}
}
