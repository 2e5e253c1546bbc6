package learners

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Scored is the part of a run that all learners share which ask the engine for scores alone.
type Scored struct {
	Problem *Problem
	Scorer  engine.Scorer

	name      string
	predicted []int32
	closed    bool
}

// LoadScored loads the examples of p for the learner of that name. Errors: those of Problem.Load.
func LoadScored(name string, p *Problem) (*Scored, error) {
	scorer, err := p.Load()
	return &Scored{Problem: p, Scorer: scorer, name: name, predicted: make([]int32, p.X.N)}, err
}

// Count implements Learner: it has the classes that changed scored anew.
func (s *Scored) Count(_ context.Context, w engine.Weights, changed []int) ([]int64, error) {
	if err := s.Scorer.Rescore(w, changed); err != nil {
		return nil, err
	}
	if err := s.Scorer.Predict(s.predicted); err != nil {
		return nil, err
	}
	return CountPredictions(s.predicted, s.Problem.Y, w.Q), nil
}

// Ready returns an error if the run is closed or ctx cancelled.
func (s *Scored) Ready(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("%s: %w", s.name, engine.ErrClosed)
	}
	return ctx.Err()
}

// Close implements Learner.
func (s *Scored) Close() error {
	s.closed = true
	return s.Scorer.Close()
}

// CountPredictions returns the number of examples by prediction (row) and label y (column), q×q
// row-major.
func CountPredictions(predicted, y []int32, q int) []int64 {
	counts := make([]int64, q*q)
	for i, p := range predicted {
		counts[int(p)*q+int(y[i])]++
	}
	return counts
}

// EachScores calls f with the scores of each example, in order. f may change but not keep them.
func EachScores(s engine.Scorer, f func(i int, scores []float32) error) error {
	const block = 4096
	n, _, q := s.Shape()
	scores := make([]float32, min(block, n)*q)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		if err := s.Scores(scores[:(to-from)*q], from, to); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := f(i, scores[(i-from)*q:(i-from+1)*q]); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckFinite returns an error if float32 cannot hold a weight; advice is what else to do than to
// normalise.
func CheckFinite(learner string, weights []float32, advice string) error {
	if Finite(weights) {
		return nil
	}
	return fmt.Errorf("%s: found weights too large for float32; normalise the features%s", learner,
		advice)
}

// Finite reports whether no number of v is infinite or NaN.
func Finite[T float32 | float64](v []T) bool {
	for _, f := range v {
		if f-f != 0 {
			return false
		}
	}
	return true
}

// SquaredLength returns ‖v‖², summed in float64 in the order of v: squares of float32 are exact
// there, so that fused or not is the same.
func SquaredLength(v []float32) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}

// lent is a Scorer that its owner closes.
type lent struct{ of engine.Scorer }

func (l lent) Shape() (n, d, q int)                          { return l.of.Shape() }
func (l lent) Rescore(w engine.Weights, classes []int) error { return l.of.Rescore(w, classes) }
func (l lent) Scores(dst []float32, from, to int) error      { return l.of.Scores(dst, from, to) }
func (l lent) Predict(dst []int32) error                     { return l.of.Predict(dst) }
func (l lent) Close() error                                  { return nil }
