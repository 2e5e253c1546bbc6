package engine

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// CheckLoad judges the arguments of Engine.Load for every engine alike.
func CheckLoad(x dataset.Examples, classes int) error {
	_, err := checkLoad("load", x, classes)
	return err
}

// CheckLoadCells judges the arguments of Engine.LoadCells for every engine alike and
// returns the format of the class sums: f, or that of x if f is the zero value.
func CheckLoadCells(x dataset.Examples, y []int32, classes int, f numerics.FixedPoint) (numerics.FixedPoint, error) {
	const op = "load cells"
	maxAbs, err := checkLoad(op, x, classes)
	if err != nil {
		return f, err
	}
	if err := CheckLen(op, "y", len(y), x.N); err != nil {
		return f, err
	}
	for i, k := range y {
		if k < 0 || int(k) >= classes {
			return f, fmt.Errorf("%s: %w: example %d has label %d, want 0..%d", op, ErrLabel, i, k, classes-1)
		}
	}
	if f == (numerics.FixedPoint{}) {
		return numerics.NewFixedPoint(maxAbs, x.N), nil
	}
	if f.N < x.N || f.N > numerics.MostExamples {
		return f, fmt.Errorf("%s: %w: the fixed-point format is of %d examples, want %d, which are here, to 2^53",
			op, ErrShape, f.N, x.N)
	}
	if most := numerics.NewFixedPoint(maxAbs, f.N).S; f.S < -126 || f.S > most {
		return f, fmt.Errorf("%s: %w: the fixed-point format has s = %d, want -126 to %d for %d examples, "+
			"the largest here %v; give the format of the largest value of all parts",
			op, ErrShape, f.S, most, f.N, maxAbs)
	}
	return f, nil
}

// checkLoad returns the largest absolute value of x, which clause 3 needs.
func checkLoad(op string, x dataset.Examples, classes int) (maxAbs float32, err error) {
	if x.N < 1 || x.D < 1 || classes < 1 {
		return 0, fmt.Errorf("%s: %w: got %d examples, %d features, %d classes; each must be at least 1",
			op, ErrShape, x.N, x.D, classes)
	}
	if x.N > math.MaxInt32-1024 || x.D > math.MaxInt32-1024 || classes > math.MaxInt16 {
		return 0, fmt.Errorf("%s: %w: got %d examples, %d features, %d classes; "+
			"at most 2^31-1025 examples or features and 32767 classes are supported", op, ErrShape, x.N, x.D, classes)
	}
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("%s: %w: %w", op, ErrShape, err)
	}
	return largestOf(op, "example", x)
}

// CheckMemory returns ErrMemory if the process may not take what p has besides the
// examples. It is for engines in the memory of the process.
func CheckMemory(op string, x dataset.Examples, classes int, p Plan) error {
	what := fmt.Sprintf("scores of %d examples × %d classes", x.N, classes)
	if p.ClassSums > 0 {
		what += fmt.Sprintf(", class sums of %d × %d cells × %d features", classes, classes, x.D)
	}
	return memory.Check(memory.Sum(p.Scores, p.ClassSums, p.Scratch), op+": what is kept besides the examples ("+what+")")
}

// MaxAbs returns the largest absolute value of x, of which numerics.NewFixedPoint makes the
// format of several parts. Errors: ErrShape, ErrValue.
func MaxAbs(x dataset.Examples) (float32, error) {
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("largest value: %w: %w", ErrShape, err)
	}
	return largestOf("largest value", "example", x)
}

// CheckRescore judges the arguments of Scorer.Rescore.
func CheckRescore(w Weights, classes []int, d, q int) error {
	if w.Q != q || w.D != d || len(w.W) != q*d {
		return fmt.Errorf("rescore: %w: weights are %d×%d with %d values, the examples want %d×%d",
			ErrShape, w.Q, w.D, len(w.W), q, d)
	}
	seen := make([]bool, q)
	for _, r := range classes {
		if r < 0 || r >= q {
			return fmt.Errorf("rescore: %w: class %d, want 0..%d", ErrShape, r, q-1)
		}
		if seen[r] {
			return fmt.Errorf("rescore: %w: class %d is named twice", ErrShape, r)
		}
		seen[r] = true
	}
	return nil
}

// CheckScores judges the arguments of Scorer.Scores.
func CheckScores(dst []float32, from, to, n, q int) error {
	if from < 0 || to < from || to > n || len(dst) != (to-from)*q {
		return fmt.Errorf("scores: %w: %d values for examples %d..%d of %d with %d classes",
			ErrShape, len(dst), from, to, n, q)
	}
	return nil
}

// CheckLen judges the length of one argument of an operation.
func CheckLen(op, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %w: %s has %d values, want %d", op, ErrShape, what, got, want)
	}
	return nil
}

// CheckUpdateVectors judges the arguments of Cells.UpdateVectors.
func CheckUpdateVectors(dst []float32, pairs []Pair, inv []float32, d, q int) error {
	const op = "update vectors"
	for _, z := range pairs {
		if err := CheckClass(op, z.P, q); err != nil {
			return err
		}
		if err := CheckClass(op, z.Q, q); err != nil {
			return err
		}
	}
	if err := CheckLen(op, "dst", len(dst), len(pairs)*d); err != nil {
		return err
	}
	return CheckLen(op, "inv", len(inv), q*q)
}

// CheckClass judges a class index of an operation.
func CheckClass(op string, r, q int) error {
	if r < 0 || r >= q {
		return fmt.Errorf("%s: %w: class %d, want 0..%d", op, ErrShape, r, q-1)
	}
	return nil
}
