package engine

import "github.com/uma-gpu/uma-gpu/host/dataset"

// Ranked is an Engine of several ranks (package shard).
type Ranked interface {
	Engine

	// Own returns the engines of this rank as one, for work on its own examples that the other ranks
	// need not know of. They are closed with the whole.
	Own() Engine
}

// Own returns the engine and the examples of this rank: where ranks share rows, its own engines
// and examples, and else e and all of them. What it then finds out, errors too, the others do not
// know.
func Own(e Engine, rows dataset.Rows) (Engine, dataset.Examples) {
	x := rows.Stored()
	if r, ok := e.(Ranked); ok && x.At.Shared() != nil {
		e = r.Own()
	}
	return e, x.Local()
}
