package engine

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// CheckLoad judges the arguments of Engine.Load for every engine alike and
// returns the largest absolute value of x, which clause 3 needs.
func CheckLoad(x dataset.Examples, y []int32, classes int) (maxAbs float32, err error) {
	if x.N < 1 || x.D < 1 || classes < 1 {
		return 0, fmt.Errorf("load: %w: got %d examples, %d features, %d classes; each must be at least 1", ErrShape, x.N, x.D, classes)
	}
	if x.N > math.MaxInt32-1024 || x.D > math.MaxInt32-1024 || classes > math.MaxInt16 {
		return 0, fmt.Errorf("load: %w: got %d examples, %d features, %d classes; at most 2^31-1025 examples or features and 32767 classes are supported", ErrShape, x.N, x.D, classes)
	}
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("load: %w: %w", ErrShape, err)
	}
	if y != nil && len(y) != x.N {
		return 0, fmt.Errorf("load: %w: %d labels for %d examples", ErrShape, len(y), x.N)
	}
	for i, k := range y {
		if k < 0 || int(k) >= classes {
			return 0, fmt.Errorf("load: %w: example %d has label %d, want 0..%d", ErrLabel, i, k, classes-1)
		}
	}
	return largestOf("load", "example", x)
}

// CheckRescore judges the arguments of Resident.Rescore.
func CheckRescore(w Weights, classes []int, d, q int) error {
	if w.Q != q || w.D != d || len(w.W) != q*d {
		return fmt.Errorf("rescore: %w: weights are %d×%d with %d values, the examples want %d×%d", ErrShape, w.Q, w.D, len(w.W), q, d)
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

// CheckScores judges the arguments of Resident.Scores.
func CheckScores(dst []float32, from, to, n, q int) error {
	if from < 0 || to < from || to > n || len(dst) != (to-from)*q {
		return fmt.Errorf("scores: %w: %d values for examples %d..%d of %d with %d classes", ErrShape, len(dst), from, to, n, q)
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

// CheckUpdateVectors judges the arguments of Resident.UpdateVectors.
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
