//go:build cgo && !noopencl

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// series is a training run to be repeated.
type series struct {
	d, q    int
	inverse []float32
	steps   []step
}

// step is what a step changes, and what the assignment after it counts.
type step struct {
	pair   engine.Pair
	rows   [2][]float32 // of W, of classes pair.P and pair.Q
	counts engine.Assignment
}

func (s *step) update(w engine.Weights) {
	copy(w.Row(s.pair.P), s.rows[0])
	copy(w.Row(s.pair.Q), s.rows[1])
}

// allSteps is the length of a series, of which the first exactSteps are timed without
// bounds and the others with them, where there are any.
const (
	allSteps   = 48
	exactSteps = 16
)

// The two kinds of step that are timed.
const (
	exact = iota
	bounded
	kinds
)

func (s *series) from(kind int) int { return kind * exactSteps }

func (s *series) to(kind int) int {
	if kind == exact {
		return exactSteps
	}
	return len(s.steps)
}

// trial is an engine with a tuning and the examples on it.
type trial struct {
	e     *gpuEngine
	r     labelled
	times [kinds][]float64 // seconds of a step, by round
	err   error            // that ended it
}

// newTrial opens an engine, has it pass the self-test and loads the examples. What is
// wrong with it is in its err.
func newTrial(i Info, o Options, p Problem, b build) *trial {
	t := &trial{}
	if t.e, t.err = open(i, o, b); t.err != nil {
		return t
	}
	if err := engine.SelfTest(t.e); err != nil {
		if t.err = err; !errors.Is(err, engine.ErrMemory) {
			t.err = &difference{err.Error()}
		}
		return t
	}
	loaded, err := t.e.LoadCells(p.X, p.Y, p.Classes, numerics.FixedPoint{})
	if t.err = err; err == nil {
		t.r = loaded.(labelled)
		t.r.bounds.Hold(true) // until steps with bounds are asked for
	}
	return t
}

// close closes what there is of the engine. It says nothing of what went wrong before.
func (t *trial) close() error {
	if t.e == nil {
		return nil
	}
	var err error
	if t.r.resident != nil {
		err = t.r.Close()
	}
	return errors.Join(err, t.e.Close())
}

// record makes a training run from W = 0 that always takes the longest update vector.
func (t *trial) record(p Problem) (*series, error) {
	q := p.Classes
	s := &series{inverse: p.Inverse, d: p.X.D, q: q}
	w, norms, z := engine.NewWeights(q, p.X.D), make([]float32, q*q), make([]float32, p.X.D)
	if _, err := t.r.Assign(0); err != nil {
		return nil, err
	}
	for len(s.steps) < allSteps {
		if err := t.r.Norms(norms, p.Inverse); err != nil {
			return nil, err
		}
		var next step
		longest := float32(0)
		for k, norm := range norms {
			if k/q != k%q && norm > longest {
				longest, next.pair = norm, engine.Pair{P: k / q, Q: k % q}
			}
		}
		if longest == 0 {
			return nil, fmt.Errorf("after %d steps there is no other to make on these examples, wanted %d; "+
				"take other examples", len(s.steps), allSteps)
		}
		if err := t.r.UpdateVectors(z, []engine.Pair{next.pair}, p.Inverse); err != nil {
			return nil, err
		}
		for j, v := range z {
			w.Row(next.pair.Q)[j] += v
			w.Row(next.pair.P)[j] -= v
		}
		next.rows = [2][]float32{slices.Clone(w.Row(next.pair.P)), slices.Clone(w.Row(next.pair.Q))}
		if err := t.r.Rescore(w, []int{next.pair.P, next.pair.Q}); err != nil {
			return nil, err
		}
		var err error
		if next.counts, err = t.r.Assign(0); err != nil {
			return nil, err
		}
		s.steps = append(s.steps, next)
	}
	return s, nil
}

// replay makes steps from..to-1 of a series, hands their assignments to judge, unless
// it is nil, and returns how many seconds they took. Going back to the weights before
// them does not count.
func (t *trial) replay(
	s *series, from, to int, judge func(k int, a engine.Assignment) error,
) (seconds float64, err error) {
	w := engine.NewWeights(s.q, s.d)
	for _, st := range s.steps[:from] {
		st.update(w)
	}
	err = t.r.Rescore(w, sketch.All(s.q))
	if err == nil {
		_, err = t.r.Assign(0)
	}
	norms, z := make([]float32, s.q*s.q), make([]float32, s.d)
	start := time.Now()
	for k := from; k < to && err == nil; k++ {
		st := s.steps[k]
		if err = errors.Join(t.r.Norms(norms, s.inverse),
			t.r.UpdateVectors(z, []engine.Pair{st.pair}, s.inverse)); err != nil {
			break
		}
		st.update(w)
		if err = t.r.Rescore(w, []int{st.pair.P, st.pair.Q}); err != nil {
			break
		}
		var a engine.Assignment
		if a, err = t.r.Assign(0); err == nil && judge != nil {
			err = judge(k, a)
		}
	}
	return time.Since(start).Seconds(), err
}

// mostRounds is how often a trial is timed at most, if fewer rounds are asked for.
const mostRounds = 100

// timeAll checks trials against the reference and times those that pass in turn, at
// least rounds times, and more often where that takes less than enough seconds for
// each. Each round begins with another of them.
func (t *tuner) timeAll(ctx context.Context, trials []*trial, rounds int) error {
	s := t.series
	for kind := range kinds {
		told := 0 // of as many measurements as there are trials
		var alive []*trial
		for _, x := range trials {
			if err := ctx.Err(); err != nil {
				return err
			}
			if x.err == nil && (kind == exact || x.startBounds()) {
				if x.err = x.check(s, kind, t.reference); x.err == nil {
					alive = append(alive, x)
				}
			}
		}
		start, end := time.Now(), rounds
		for round := 0; round <= end && len(alive) > 0; round++ { // the first warms up
			for k := range alive {
				x := alive[(k+round)%len(alive)]
				if err := ctx.Err(); err != nil {
					return err
				}
				seconds, err := x.replay(s, s.from(kind), s.to(kind), nil)
				if err != nil {
					return err
				}
				if round > 0 {
					x.times[kind] = append(x.times[kind], seconds/float64(s.to(kind)-s.from(kind)))
				}
			}
			if round == 0 {
				end = max(rounds, min(mostRounds, int(t.enough*float64(len(alive))/time.Since(start).Seconds())))
			}
			done := len(trials) * round / end
			t.task.Add(int64(done - told))
			told = done
		}
		t.task.Add(int64(len(trials) - told))
	}
	return nil
}

// startBounds lets the engine keep bounds and says whether it will.
func (t *trial) startBounds() bool {
	t.r.bounds.Hold(false)
	return t.r.bounds.Due()
}

// ratio is the time of t in units of the least of base: of steps without bounds, or the
// geometric mean of that and of steps with them, as a run has few of the former and
// many of the latter, which take less. Times of the same round are compared.
func (t *trial) ratio(base []*trial) float64 {
	largest := 0.0
	for _, b := range base {
		product, counted := 1.0, 0.0
		for kind, times := range t.times {
			ratios := make([]float64, len(times))
			for k, seconds := range times {
				ratios[k] = seconds / b.times[kind][k]
			}
			if len(ratios) > 0 {
				product *= median(ratios)
				counted++
			}
		}
		largest = max(largest, math.Pow(product, 1/counted))
	}
	return largest
}

// median of at least one number.
func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
