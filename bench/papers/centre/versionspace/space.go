// Package versionspace finds centres of a version space, {w : ‖w‖ ≤ 1, ⟨w, c_k⟩ ≥ 0 for all k}: the
// linear classifiers through the origin that classify each example correctly, c_k being example k
// times its label ±1 (Louche, From confusion noise to active learning, chapter 5).
//
// Ball finds the largest ball inside (Chebyshev's centre), which points where the hard-margin
// support vector machine does. Centroid estimates the centre of gravity by a billiard; a Bayes
// point machine predicts with it, and a cut through it removes at least 1/e of the volume
// (Grünbaum 1960).
//
// A centre has the same bits on every machine and for any number of processors: all arithmetic is
// float64 in a fixed order, products are rounded before they are added, and package math
// contributes square roots only.
package versionspace

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// ErrEmpty is wrapped by errors about a version space without interior.
var ErrEmpty = errors.New("the version space is empty")

// maxGramRows is the most constraints whose inner products are kept, in 32 MiB.
const maxGramRows = 2048

// Space is a version space. It does not change after New, so goroutines may share it.
type Space struct {
	m, d int
	rows []float64        // m×d, each of length 1
	gram func() []float64 // m×m inner products of the rows, or nil above maxGramRows
	ball func() (Ball, error)
}

// New returns the version space in d dimensions whose constraints are ⟨w, c_k⟩ ≥ 0 for the rows c_k
// of constraints, which may have any length but 0. It copies them. Without constraints the space is
// the unit ball. Ball and Centroid report an empty space.
func New(d int, constraints []float64) (*Space, error) {
	if d < 1 || len(constraints)%d != 0 {
		return nil, fmt.Errorf("version space: found %d numbers for constraints in %d dimensions, "+
			"wanted d ≥ 1 and d numbers for each", len(constraints), d)
	}
	s := &Space{m: len(constraints) / d, d: d, rows: make([]float64, len(constraints))}
	for k := range s.m {
		if err := unit(s.row(k), constraints[k*d:(k+1)*d]); err != nil {
			return nil, fmt.Errorf("version space: constraint %d of %d: %w", k, s.m, err)
		}
	}
	s.gram = sync.OnceValue(s.inners)
	s.ball = sync.OnceValues(s.largest) // where billiards start
	return s, nil
}

// unit puts x, scaled to length 1, in to.
func unit(to, x []float64) error {
	most := 0.0
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found %g, wanted finite numbers", v)
		}
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		return errors.New("found only zeros, wanted a direction: leave the constraint out, since every " +
			"w satisfies it")
	}
	for j, v := range x {
		to[j] = v / most // so that no square overflows, and not all vanish
	}
	scale(to, 1/math.Sqrt(numerics.Dot64(to, to)))
	return nil
}

func (s *Space) row(k int) []float64 { return s.rows[k*s.d : (k+1)*s.d] }

// products puts ⟨c_k, x⟩ in to for each k.
func (s *Space) products(to, x []float64) {
	for k := range to {
		to[k] = numerics.Dot64(s.row(k), x)
	}
}

// inners returns ⟨c_i, c_j⟩, or nil above maxGramRows.
func (s *Space) inners() []float64 {
	if s.m > maxGramRows {
		return nil
	}
	gram := make([]float64, s.m*s.m)
	for k := range s.m {
		s.products(gram[k*s.m:k*s.m+k+1], s.row(k))
		for i, v := range gram[k*s.m : k*s.m+k] {
			gram[i*s.m+k] = v
		}
	}
	return gram
}

func scale(x []float64, a float64) {
	for j := range x {
		x[j] *= a
	}
}
