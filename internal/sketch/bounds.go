package sketch

import (
	"errors"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// When says when bounds begin.
type When string

const (
	WhenTheyPay When = ""
	Never       When = "never"
	// AtOnce, whatever the size, is for tests. Few rounds are remembered then, so that a test
	// sees rounds grow too old.
	AtOnce When = "at once"
)

const testSpan = 9 // rounds

// Bounds decide which assignments of a set of examples score all of them, and which only
// those whose region the bounds leave open, and keep what an engine has to know for that.
// The engine calls Take with the weights of each Rescore, Begin at each Assign and Settle
// before it shows a score or a prediction. A nil Bounds never bounds.
type Bounds struct {
	// W is the weights of the last Take, a copy.
	W engine.Weights
	// History says how far scores are off; nil as long as all of them are exact.
	History *History
	// Of the assignment under way: the classes whose weights changed since the one before,
	// and by how much they shift in the directions.
	Changed []int
	Shifts  [][]float64
	// Open is how many examples the assignment under way leaves open: the engine counts.
	Open int

	x     dataset.Examples
	when  When
	held  bool     // none are to begin, or there is no room
	steps int      // assignments so far
	dirty classSet // classes whose weights are not those of the history
	loose bool     // some scores are estimates
	pace  pace
}

// Rescorer is an engine as its bounds see it: who has the scores and sketches in its memory.
type Rescorer interface {
	// Sketch makes a sketch of all examples in directions b, in tiles, and room for the
	// errors of span rounds, all of them of examples scored in round 0. If there is no room
	// it frees what it made; that error is engine.ErrMemory.
	Sketch(b *Basis, span int) ([]*Tile, error)
	// Score computes the scores of some classes for all examples from Bounds.W.
	Score(classes []int) error
	// Scored notes that all examples were scored in the present round of the history.
	Scored() error
}

// NewBounds returns the bounds of examples x of q classes; nil if they will never begin.
func NewBounds(when When, x dataset.Examples, q int) *Bounds {
	if x.Sparse() || when == Never || when == WhenTheyPay && !Pays(x.N, x.D, math.MaxInt) {
		return nil
	}
	return &Bounds{W: engine.NewWeights(q, x.D), x: x, when: when, dirty: make(classSet, q)}
}

// Take takes the weights of some classes. It says whether that is all that Rescore has to
// do, since Begin will know which examples it concerns.
func (b *Bounds) Take(w engine.Weights, classes []int) bool {
	if b == nil {
		return false
	}
	for _, c := range classes {
		copy(b.W.Row(c), w.Row(c))
	}
	if b.History == nil {
		return false
	}
	b.dirty.add(classes)
	return true
}

// Hold keeps bounds from beginning, or lets them.
func (b *Bounds) Hold(held bool) {
	if b != nil {
		b.held = held
	}
}

// Due says whether it is time for bounds to begin.
func (b *Bounds) Due() bool {
	return b != nil && !b.held && (b.when == AtOnce || Pays(b.x.N, b.x.D, b.steps))
}

// InUse says whether the assignment under way uses bounds.
func (b *Bounds) InUse() bool { return b != nil && b.pace.inUse }

// Begin begins an assignment: it has the sketches made when it is time, decides whether to
// use the bounds, and if not makes all scores exact.
func (b *Bounds) Begin(k Rescorer) error {
	if b == nil {
		return nil
	}
	b.steps++
	if b.History == nil && b.Due() {
		if err := b.start(k); err != nil {
			return err
		}
	}
	if b.History == nil {
		return nil
	}
	b.pace.next(b.Open, b.x.N)
	b.Open = 0
	if b.pace.inUse {
		changed := b.dirty.list()
		if shifts, ok := b.History.Next(b.W.Row, changed); ok {
			b.Changed, b.Shifts = changed, shifts
			clear(b.dirty)
			b.loose = b.loose || len(changed) > 0
			return nil
		}
		b.pace.inUse = false
	}
	return b.Settle(k)
}

// start makes the bounds, if there is room.
func (b *Bounds) start(k Rescorer) error {
	basis, err := newBasis(b.x, directions(b.x.D))
	if err != nil {
		return err
	}
	rounds := span(b.W.Q)
	if b.when == AtOnce {
		rounds = testSpan
	}
	tiles, err := k.Sketch(basis, rounds)
	switch {
	case errors.Is(err, engine.ErrMemory):
		b.held = true
	case err == nil:
		b.History = newHistory(basis, tiles, b.W.Q, rounds, b.W.Row)
	default:
		return err
	}
	return nil
}

// Settle makes all scores exact.
func (b *Bounds) Settle(k Rescorer) error {
	if b == nil || b.History == nil {
		return nil
	}
	changed := b.dirty.list()
	if len(changed) == 0 && !b.loose {
		return nil
	}
	classes := changed
	if b.loose {
		classes = All(b.W.Q)
	}
	if err := k.Score(classes); err != nil {
		return err
	}
	b.loose = false
	clear(b.dirty)
	b.History.Fresh(b.W.Row, changed)
	return k.Scored()
}

// All returns the classes 0..q-1.
func All(q int) []int {
	classes := make([]int, q)
	for c := range classes {
		classes[c] = c
	}
	return classes
}
