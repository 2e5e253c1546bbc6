package enginecheck

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// LoadEvaluator checks the arguments of Engine.LoadEvaluator and returns the format of the
// weighted sums: f, or the format of x if f is zero.
func LoadEvaluator(op string, rows dataset.Rows, classes int, f numerics.FixedPoint,
) (numerics.FixedPoint, error) {
	x := rows.Stored()
	maxAbs, err := checkLoad(op, x, classes)
	if err != nil {
		return f, err
	}
	if maxAbs > mostValue {
		return f, fmt.Errorf("%s: %w: found a value of size %v, want at most 2^118, so that sums of 256 "+
			"stay finite; scale the features", op, engine.ErrValue, maxAbs)
	}
	return Format(op, maxAbs, x.N, f)
}

// mostValue is the largest value of which a block of clause 14 has a finite sum.
const mostValue = 0x1p118

// slack is by how much a weight may be above what makes a residual 1 in size, since it was
// rounded: half of what clause 14 leaves, because the product is rounded once more.
const slack = 0x1p-21

// checkTargets checks the argument of Evaluator.SetTargets.
func checkTargets(t engine.Targets, n, q int) error {
	const op = "set targets"
	rows := len(t.Values) / q
	if len(t.Values) != rows*q || rows < 1 {
		return fmt.Errorf("%s: %w: %d target values, want rows of %d", op, engine.ErrShape, len(t.Values),
			q)
	}
	if t.Row == nil && rows != n {
		return fmt.Errorf("%s: %w: %d rows of targets for %d examples, want one each or the row of each",
			op, engine.ErrShape, rows, n)
	}
	if t.Row != nil {
		if err := checkLen(op, "row", len(t.Row), n); err != nil {
			return err
		}
	}
	if t.Weight != nil {
		if err := checkLen(op, "weight", len(t.Weight), n); err != nil {
			return err
		}
	}
	most := make([]float32, rows) // the largest weight that each row allows
	for r := range most {
		limit, err := mostWeight(t.Values[r*q:(r+1)*q], t.Given)
		if err != nil {
			return fmt.Errorf("%s: %w: row %d of the targets: %w", op, engine.ErrValue, r, err)
		}
		most[r] = limit
	}
	for i := range n {
		r := i
		if t.Row != nil {
			if r = int(t.Row[i]); r < 0 || r >= rows {
				return fmt.Errorf("%s: %w: example %d has row %d of the targets, want 0..%d", op,
					engine.ErrShape, i, r, rows-1)
			}
		}
		w := float32(1)
		if t.Weight != nil {
			w = t.Weight[i]
		}
		if !(w >= 0 && w <= 1 && w <= most[r]) {
			return fmt.Errorf("%s: %w: example %d has weight %v, want 0 to %v", op, engine.ErrValue, i, w,
				min(1, most[r]))
		}
	}
	return nil
}

// mostWeight returns the largest weight of an example with such targets.
func mostWeight(t []float32, given bool) (float32, error) {
	finite, size := false, float32(1)
	for k, v := range t {
		switch {
		case v != v || math.IsInf(float64(v), 1) || given && math.IsInf(float64(v), -1):
			return 0, fmt.Errorf("found %v for class %d", v, k)
		case !math.IsInf(float64(v), -1):
			finite = true
		}
		size = max(size, v, 1-v)
	}
	switch {
	case !finite:
		return 0, fmt.Errorf("found no class that is possible, wanted at least one")
	case !given:
		return 1, nil
	}
	return (1 + slack) / size, nil
}

// checkEvaluate checks the arguments of Evaluator.Evaluate; hasTargets says whether SetTargets was
// called.
func checkEvaluate(sums []int64, w engine.Weights, d, q int, hasTargets bool) error {
	const op = "evaluate"
	if !hasTargets {
		return fmt.Errorf("%s: %w: found no targets, want a call of SetTargets before", op,
			engine.ErrShape)
	}
	if err := checkWeights(op, w, d, q); err != nil {
		return err
	}
	return checkLen(op, "sums", len(sums), q*d)
}

// checkWeightedSums checks the arguments of Evaluator.WeightedSums.
func checkWeightedSums(sums []int64, a []float32, n, d int) error {
	const op = "weighted sums"
	r := len(a) / n
	if r < 1 || len(a) != r*n {
		return fmt.Errorf("%s: %w: %d coefficients for %d examples, want the same number for each",
			op, engine.ErrShape, len(a), n)
	}
	if err := checkLen(op, "sums", len(sums), r*d); err != nil {
		return err
	}
	for at, v := range a {
		if !(v >= -1 && v <= 1) {
			return fmt.Errorf("%s: %w: coefficient %d of example %d is %v, want -1 to 1",
				op, engine.ErrValue, at%r, at/r, v)
		}
	}
	return nil
}
