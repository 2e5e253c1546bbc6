package sketch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// log is a Rescorer that writes down what it is asked for.
type log struct {
	x     dataset.Examples
	full  error // what Sketch fails with
	calls []string
}

func (l *log) Sketch(b *Basis, span int) ([]*Tile, error) {
	l.calls = append(l.calls, fmt.Sprintf("sketch in %d directions, %d rounds", b.K, span))
	if l.full != nil {
		return nil, l.full
	}
	return []*Tile{b.Sketch(l.x.X, b.project(l.x), l.x.N)}, nil
}

func (l *log) Score(classes []int) error {
	l.calls = append(l.calls, fmt.Sprintf("score %v", classes))
	return nil
}

func (l *log) Scored() error {
	l.calls = append(l.calls, "scored")
	return nil
}

// asked compares what a rescorer was asked for since the last time.
func (l *log) asked(t *testing.T, when string, want ...string) {
	t.Helper()
	if !slices.Equal(l.calls, want) {
		t.Errorf("%s: asked for %q, want %q", when, l.calls, want)
	}
	l.calls = nil
}

func TestBoundsFollowARun(t *testing.T) {
	const n, d, q = 50, 40, 3
	x := near(rand.New(rand.NewPCG(1, 2)), n, d, 0.1)
	b, l, w := NewBounds(AtOnce, x, q), &log{x: x}, engine.NewWeights(q, d)
	take := func(value float32, classes ...int) bool {
		for _, c := range classes {
			w.Row(c)[c] += value
		}
		return b.Take(w, classes)
	}
	begin := func() {
		t.Helper()
		if err := b.Begin(l); err != nil {
			t.Fatal(err)
		}
	}
	settle := func() {
		t.Helper()
		if err := b.Settle(l); err != nil {
			t.Fatal(err)
		}
	}
	if take(1, 0, 1, 2) {
		t.Error("weights were kept back before there were bounds")
	}
	settle()
	l.asked(t, "no bounds yet")
	begin()
	l.asked(t, "first assignment", fmt.Sprintf("sketch in 16 directions, %d rounds", testSpan))
	if !b.InUse() || len(b.Changed) != 0 {
		t.Errorf("in use %v, changed %v", b.InUse(), b.Changed)
	}
	if !take(1, 2, 0) {
		t.Error("weights were not kept back")
	}
	begin()
	l.asked(t, "second assignment")
	if !slices.Equal(b.Changed, []int{0, 2}) || len(b.Shifts) != 2 || b.W.Row(2)[2] != 2 {
		t.Errorf("changed %v by %v, weights %v", b.Changed, b.Shifts, b.W.W)
	}
	take(1, 1)
	settle()
	l.asked(t, "estimates", "score [0 1 2]", "scored")
	settle()
	l.asked(t, "exact scores")
	take(1, 1)
	settle()
	l.asked(t, "exact scores but of one class", "score [1]", "scored")
	b.Open = n
	take(1, 2)
	begin()
	l.asked(t, "after most were open", "score [2]", "scored")
	if b.InUse() {
		t.Error("bounds do not rest though they left all examples open")
	}
	begin()
	l.asked(t, "rested")
	if !b.InUse() || b.Open != 0 {
		t.Errorf("in use %v, open %d, after a rest", b.InUse(), b.Open)
	}
	take(1e30, 0)
	begin()
	l.asked(t, "weights too large", "score [0]", "scored")
	if b.InUse() {
		t.Error("scores that may overflow are bounded")
	}
}

func TestBoundsNeverBegin(t *testing.T) {
	x := near(rand.New(rand.NewPCG(1, 2)), 50, 40, 0.1)
	for name, b := range map[string]*Bounds{
		"never":  NewBounds(Never, x, 3),
		"sparse": NewBounds(AtOnce, x.Compressed(), 3),
		"small":  NewBounds(WhenTheyPay, x, 3),
	} {
		b.Hold(false)
		taken := b.Take(engine.NewWeights(3, 40), []int{1})
		if b != nil || taken || b.Due() || b.InUse() || b.Begin(nil) != nil || b.Settle(nil) != nil {
			t.Errorf("%s: there are bounds", name)
		}
	}
	// No room, which is no error; then one.
	b, l := NewBounds(AtOnce, x, 3), &log{x: x, full: fmt.Errorf("buffer: %w", engine.ErrMemory)}
	for range 2 {
		if err := b.Begin(l); err != nil || b.InUse() || b.Due() {
			t.Errorf("without room: %v, in use %v, due %v", err, b.InUse(), b.Due())
		}
	}
	l.asked(t, "without room", fmt.Sprintf("sketch in 16 directions, %d rounds", testSpan))
	b.Hold(false)
	l.full = errors.New("broken")
	if err := b.Begin(l); !errors.Is(err, l.full) {
		t.Errorf("error %v, want %v", err, l.full)
	}
}
