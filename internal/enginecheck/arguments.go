// Package enginecheck checks every call of an engine before it computes: the same checks and the
// same errors for all engines.
package enginecheck

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Load checks the arguments of Engine.Load.
func Load(op string, rows dataset.Rows, classes int) error {
	x := rows.Stored()
	_, err := checkLoad(op, x, classes)
	return err
}

// LoadCells checks the arguments of Engine.LoadCells and returns the format of the class sums: f,
// or the format of x if f is zero.
func LoadCells(op string, rows dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (numerics.FixedPoint, error) {
	x := rows.Stored()
	maxAbs, err := checkLoad(op, x, classes)
	if err != nil {
		return f, err
	}
	if err := checkLen(op, "y", len(y), x.N); err != nil {
		return f, err
	}
	for i, k := range y {
		if k < 0 || int(k) >= classes {
			return f, fmt.Errorf("%s: %w: example %d has label %d, want 0..%d", op, engine.ErrLabel, i, k,
				classes-1)
		}
	}
	return Format(op, maxAbs, x.N, f)
}

// Format returns f, or if f is zero the format of n examples whose largest absolute value is
// maxAbs. Its error is ErrShape if f cannot hold them.
func Format(op string, maxAbs float32, n int, f numerics.FixedPoint) (numerics.FixedPoint, error) {
	if f == (numerics.FixedPoint{}) {
		return numerics.NewFixedPoint(maxAbs, n), nil
	}
	if f.N < n || f.N > numerics.MostExamples {
		return f, fmt.Errorf("%s: %w: the fixed-point format is of %d examples, want %d, which are "+
			"here, to 2^53", op, engine.ErrShape, f.N, n)
	}
	if most := numerics.NewFixedPoint(maxAbs, f.N).S; f.S < -126 || f.S > most {
		return f, fmt.Errorf("%s: %w: the fixed-point format has s = %d, want -126 to %d for %d "+
			"examples, the largest here %v; give the format of the largest value of all parts",
			op, engine.ErrShape, f.S, most, f.N, maxAbs)
	}
	return f, nil
}

// checkLoad returns the largest absolute value of x, which clause 3 needs.
func checkLoad(op string, x dataset.Stored, classes int) (maxAbs float32, err error) {
	if x.N < 1 || x.D < 1 || classes < 1 {
		return 0, fmt.Errorf("%s: %w: got %d examples, %d features, %d classes; each must be at least 1",
			op, engine.ErrShape, x.N, x.D, classes)
	}
	if x.N > math.MaxInt32-1024 || x.D > math.MaxInt32-1024 || classes > math.MaxInt16 {
		return 0, fmt.Errorf("%s: %w: got %d examples, %d features, %d classes; at most 2^31-1025 "+
			"examples or features and 32767 classes are supported", op, engine.ErrShape, x.N, x.D, classes)
	}
	if maxAbs, err = engine.MaxAbs(x); err != nil {
		return 0, fmt.Errorf("%s: %w", op, err)
	}
	return maxAbs, nil
}

// inMemory returns ErrMemory if the process may not take what p lists besides the examples.
func inMemory(op string, rows dataset.Rows, classes int, p engine.Plan) error {
	x := rows.Stored()
	what := fmt.Sprintf("scores of %d examples × %d classes", x.N, classes)
	if p.ClassSums > 0 {
		what += fmt.Sprintf(", class sums of %d × %d cells × %d features", classes, classes, x.D)
	}
	return memory.Check(memory.Sum(p.Scores, p.ClassSums, p.Scratch),
		op+": what is kept besides the examples ("+what+")")
}

// checkRescore checks the arguments of Scorer.Rescore.
func checkRescore(w engine.Weights, classes []int, d, q int) error {
	if err := checkWeights("rescore", w, d, q); err != nil {
		return err
	}
	seen := make([]bool, q)
	for _, r := range classes {
		if r < 0 || r >= q {
			return fmt.Errorf("rescore: %w: class %d, want 0..%d", engine.ErrShape, r, q-1)
		}
		if seen[r] {
			return fmt.Errorf("rescore: %w: class %d is named twice", engine.ErrShape, r)
		}
		seen[r] = true
	}
	return nil
}

// checkWeights checks the shape of W.
func checkWeights(op string, w engine.Weights, d, q int) error {
	if w.Q != q || w.D != d || len(w.W) != q*d {
		return fmt.Errorf("%s: %w: weights are %d×%d with %d values, the examples want %d×%d",
			op, engine.ErrShape, w.Q, w.D, len(w.W), q, d)
	}
	return nil
}

// checkScores checks the arguments of Scorer.Scores.
func checkScores(dst []float32, from, to, n, q int) error {
	if from < 0 || to < from || to > n || len(dst) != (to-from)*q {
		return fmt.Errorf("scores: %w: %d values for examples %d..%d of %d with %d classes",
			engine.ErrShape, len(dst), from, to, n, q)
	}
	return nil
}

// checkLen checks the length of one argument of an operation.
func checkLen(op, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %w: %s has %d values, want %d", op, engine.ErrShape, what, got, want)
	}
	return nil
}

// checkUpdateVectors checks the arguments of Cells.UpdateVectors.
func checkUpdateVectors(dst []float32, pairs []engine.Pair, inv []float32, d, q int) error {
	const op = "update vectors"
	for _, z := range pairs {
		if err := checkClass(op, z.P, q); err != nil {
			return err
		}
		if err := checkClass(op, z.Q, q); err != nil {
			return err
		}
	}
	if err := checkLen(op, "dst", len(dst), len(pairs)*d); err != nil {
		return err
	}
	return checkLen(op, "inv", len(inv), q*q)
}

// checkClass checks a class index of an operation.
func checkClass(op string, r, q int) error {
	if r < 0 || r >= q {
		return fmt.Errorf("%s: %w: class %d, want 0..%d", op, engine.ErrShape, r, q-1)
	}
	return nil
}

// Project checks the arguments of Engine.Project.
func Project(op string, dst []float32, rows dataset.Rows, p engine.Projection) error {
	x := rows.Stored()
	const most = math.MaxInt32 - 1024
	if err := p.Function.Check(); err != nil {
		return fmt.Errorf("%s: %w: %w", op, engine.ErrValue, err)
	}
	m, axes := p.Landmarks, p.Axes
	if x.N < 1 || x.D < 1 || m.N < 1 || x.N > most || x.D > most || m.N > most || axes.Q < 0 ||
		axes.Q > most {
		return fmt.Errorf("%s: %w: got %d examples, %d features, %d landmarks, %d axes; want 1 to "+
			"2^31-1025 of each, axes from 0", op, engine.ErrShape, x.N, x.D, m.N, axes.Q)
	}
	if m.D != x.D {
		return fmt.Errorf("%s: %w: landmarks have %d features, examples have %d", op, engine.ErrShape,
			m.D, x.D)
	}
	if axes.Q > 0 && axes.D != m.N || len(axes.W) != axes.Q*axes.D && axes.Q > 0 || axes.Q == 0 &&
		len(axes.W) != 0 {
		return fmt.Errorf("%s: %w: axes are %d×%d with %d values, %d landmarks want as many columns",
			op, engine.ErrShape, axes.Q, axes.D, len(axes.W), m.N)
	}
	if p.Offset != nil && len(p.Offset) != axes.Q {
		return fmt.Errorf("%s: %w: offset has %d values for %d axes", op, engine.ErrShape, len(p.Offset),
			axes.Q)
	}
	if x.N > math.MaxInt/p.Width() || len(dst) != x.N*p.Width() {
		return fmt.Errorf("%s: %w: dst has %d values for %d examples, %d numbers each",
			op, engine.ErrShape, len(dst), x.N, p.Width())
	}
	for _, part := range []struct {
		what   string
		values dataset.Rows
	}{
		{"examples", x},
		{"landmarks", m},
		{"axes", dataset.Examples{N: axes.Q, D: axes.D, X: axes.W}},
		{"offset", dataset.Examples{N: 1, D: len(p.Offset), X: p.Offset}},
	} {
		if _, err := engine.MaxAbs(part.values); err != nil {
			return fmt.Errorf("%s: %s: %w", op, part.what, err)
		}
	}
	return nil
}
