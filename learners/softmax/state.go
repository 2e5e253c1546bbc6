package softmax

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

var errDamaged = errors.New("softmax: found a damaged state of a run")

// fault is a condition that no saved state meets.
type fault struct {
	is   bool
	what string
}

// refuse returns an error of the first fault there is.
func refuse(faults ...fault) error {
	for _, f := range faults {
		if f.is {
			return fmt.Errorf("%w: found %s", errDamaged, f.what)
		}
	}
	return nil
}

// sized reports whether each of all has no or n elements.
func sized[T any](n int, all ...[]T) bool {
	return !slices.ContainsFunc(all, func(v []T) bool { return len(v) != 0 && len(v) != n })
}

// shares reports whether all of v are at least 0, and at most 1 but for a rounding.
func shares[T float32 | float64](v []T) bool {
	return !slices.ContainsFunc(v, func(f T) bool { return !(f >= 0 && f <= 1.0001) })
}

// positive reports whether v is a number of at least 0.
func positive(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

func (l *run) Save() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(l.state)
	return b.Bytes(), err
}

func (l *run) Restore(saved []byte) error {
	var s state
	r := bytes.NewReader(saved)
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := refuse(fault{r.Len() > 0, "bytes behind its end"}); err != nil {
		return err
	}
	if err := l.check(&s); err != nil {
		return err
	}
	l.state = s
	if l.noise != nil {
		l.aimAtNoise()
	}
	l.deal()
	return nil
}

// check returns an error of what no run of l's parameters and examples would have saved.
func (l *run) check(s *state) error {
	n, q := len(l.problem.Y), l.problem.Q
	size := q * l.problem.X.D
	path, c := &s.Search, &s.Crossing
	rounds := s.Stage == crossfitting || s.Stage == learning
	err := refuse(
		fault{s.Stage < learning || s.Stage > done || s.Made < 0, "a stage that is none"},
		fault{s.Stage == searching && !l.L2.Search ||
			s.Stage == crossfitting && l.Correction != EM ||
			s.Stage == learning && l.noise == nil ||
			s.Stage == fitting && l.Correction == EM,
			"a stage that these parameters do not have"},
		fault{!positive(path.Lambda) || !positive(path.From), "a penalty that is none"},
		fault{len(s.Pairs) > l.memory() || slices.ContainsFunc(s.Pairs, func(p pair) bool {
			return len(p.S) != size || len(p.Y) != size || !base.Finite(p.S) ||
				!base.Finite(p.Y) || !(p.SY > 0) || !positive(p.SY)
		}), "steps or gradients that are none"},

		fault{!sized(size, s.Curved.W) || !positive(s.Curved.Lambda) || s.Curved.Made < 0 ||
			!base.Finite(s.Curved.W), "a curvature that is none"},
		fault{len(path.Tried) != pathLength && (s.Stage == searching || len(path.Tried) > 0) ||
			path.At < 0 || path.At >= pathLength || path.Start < 0 || path.Start >= pathLength ||
			path.Fold < 0 || path.Fold > searchFolds || !sized(size, path.BestW, path.StartW) ||
			path.Down && path.StartW == nil || path.LeastAt < 0 || path.LeastAt >= pathLength,
			"a search that is none"},
		fault{slices.ContainsFunc(path.Tried, func(t trial) bool {
			return !positive(t.Weight) || !positive(t.Missed) || !base.Finite(t.Losses[:]) ||
				!base.Finite(t.Squares[:])
		}), "a trial that is none"},

		fault{c.Larger < 0 || c.Larger > largerLambdas || !sized(l.folds, c.BeforeW) ||
			(len(c.BeforeW) > 0) != (len(c.BeforeScores) > 0), "larger penalties that are none"},
		fault{c.Round < 0 || c.Fold < 0 || c.Fold > 0 && c.Fold >= l.folds || len(c.W) > l.folds ||
			rounds && len(c.W) != l.folds, "a round that is none"},
		fault{!sized(size, slices.Concat(c.W, c.BeforeW)...) ||
			!sized(n*q, c.Soft, c.Scores, c.BeforeScores) || !shares(c.Soft),
			"weights, scores or soft labels of folds that are none"})
	if err != nil || l.noise == nil {
		return err
	}
	v := &s.Noise
	if err := refuse(fault{len(v.Matrices) != len(l.noise.labels.Names)*q*q || len(v.Sums) != q*q ||
		len(v.Squares) != q*q || !shares(v.Matrices), "confusion matrices that are none"}); err != nil {
		return err
	}
	for k, sum := range v.Sums {
		if !(sum >= 0 && v.Squares[k] >= 0 && positive(sum+v.Squares[k])) {
			return refuse(fault{true, "sums of posteriors that are none"})
		}
	}
	return nil
}
