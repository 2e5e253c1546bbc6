package engine

import "github.com/uma-gpu/uma-gpu/host/dataset"

// Ranked is an Engine of several ranks (package shard).
type Ranked interface {
	Engine

	// Own returns the engines of this rank as one, for work on its own examples that the other ranks need not know of.
	// They are closed with the whole.
	Own() Engine
}

// Own returns with what a rank computes what examples need no others for, and for which of them: where ranks share x,
// its own engines and examples, and else e and x. What it then finds out, errors too, the others do not know.
func Own(e Engine, x dataset.Examples) (Engine, dataset.Examples) {
	if r, ok := e.(Ranked); ok && x.Share != nil {
		e = r.Own()
	}
	return e, x.Local()
}
