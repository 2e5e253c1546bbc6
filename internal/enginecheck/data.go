package enginecheck

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// data checks for a data set of an Engine, whatever its use. cells and evaluator have the methods
// of theirs.
type data struct {
	e          *Engine
	scorer     engine.Scorer // nil when closed, as are the next two
	cells      engine.Cells
	evaluator  engine.Evaluator
	n, d, q    int
	fixed      numerics.FixedPoint
	hasTargets bool
	failed     error // of the first operation that failed
}

type cells struct{ *data }

type evaluator struct{ *data }

// Inner returns the data set of the engine behind an Engine, for tests of that engine.
func Inner(s engine.Scorer) engine.Scorer {
	switch r := s.(type) {
	case cells:
		return r.scorer
	case evaluator:
		return r.scorer
	}
	return s.(*data).scorer
}

// do checks what op is for, then its arguments, and has it computed. After an error the data set
// is of no more use.
func (s *data) do(op string, check error, compute func() error) (err error) {
	s.e.Locked(func() {
		switch {
		case s.scorer == nil || s.e.closed:
			err = fmt.Errorf("%s: %w", op, engine.ErrClosed)
		case s.failed != nil:
			err = fmt.Errorf("%s: %w: %w", op, engine.ErrFailed, s.failed)
		case check != nil:
			err = during(op, check)
		default:
			if err = during(op, compute()); err != nil && !errors.Is(err, engine.ErrClosed) {
				s.failed = err
			}
		}
	})
	return err
}

func (s *data) Shape() (n, d, q int) { return s.n, s.d, s.q }

func (s *data) FixedPoint() numerics.FixedPoint { return s.fixed }

func (s *data) Close() (err error) {
	s.e.Locked(func() {
		if s.scorer != nil {
			err = s.scorer.Close()
		}
		s.scorer, s.cells, s.evaluator = nil, nil, nil
	})
	return err
}

func (s *data) Rescore(w engine.Weights, classes []int) error {
	return s.do("rescore", checkRescore(w, classes, s.d, s.q),
		func() error { return s.scorer.Rescore(w, classes) })
}

func (s *data) Scores(dst []float32, from, to int) error {
	return s.do("scores", checkScores(dst, from, to, s.n, s.q),
		func() error { return s.scorer.Scores(dst, from, to) })
}

func (s *data) Predict(dst []int32) error {
	return s.do("predict", checkLen("dst", len(dst), s.n),
		func() error { return s.scorer.Predict(dst) })
}

func (s cells) Assign(alpha float32) (a engine.Assignment, err error) {
	err = s.do("assign", nil, func() (err error) {
		a, err = s.data.cells.Assign(alpha)
		return err
	})
	return a, err
}

func (s cells) ClassSums(dst []int64, p int) error {
	return s.do("class sums", errors.Join(checkClass(p, s.q), checkLen("dst", len(dst), s.q*s.d)),
		func() error { return s.data.cells.ClassSums(dst, p) })
}

func (s cells) Norms(dst, inv []float32) error {
	return s.do("norms",
		errors.Join(checkLen("dst", len(dst), s.q*s.q), checkLen("inv", len(inv), s.q*s.q)),
		func() error { return s.data.cells.Norms(dst, inv) })
}

func (s cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	return s.do("update vectors", checkUpdateVectors(dst, pairs, inv, s.d, s.q),
		func() error { return s.data.cells.UpdateVectors(dst, pairs, inv) })
}

func (s evaluator) SetTargets(t engine.Targets) error {
	return s.do("set targets", checkTargets(t, s.n, s.q), func() error {
		s.hasTargets = true
		return s.data.evaluator.SetTargets(t)
	})
}

func (s evaluator) Evaluate(sums []int64, w engine.Weights) (found engine.Evaluation, err error) {
	check := errors.Join(checkWeights(w, s.d, s.q), checkLen("sums", len(sums), s.q*s.d))
	if !s.hasTargets {
		check = fmt.Errorf("%w: found no targets, want a call of SetTargets before", engine.ErrShape)
	}
	err = s.do("evaluate", check, func() (err error) {
		found, err = s.data.evaluator.Evaluate(sums, w)
		return err
	})
	return found, err
}

func (s evaluator) WeightedSums(sums []int64, a []float32) error {
	return s.do("weighted sums", checkWeightedSums(sums, a, s.n, s.d),
		func() error { return s.data.evaluator.WeightedSums(sums, a) })
}
