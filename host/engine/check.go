package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// mostIndex is the most examples or features that int32 and their padding can count.
const mostIndex = math.MaxInt32 - 1024

// mostValue is the largest value for which the sums of a block (clause 14) stay finite.
const mostValue = 0x1p118

// checkTask checks examples and what they are loaded for. It returns the format of the sums: that
// of t or, if that is zero, the format of x.
func checkTask(x dataset.Examples, t Task) (f numerics.FixedPoint, err error) {
	if x.N < 1 || x.D < 1 || t.Classes < 1 {
		return f, fmt.Errorf("%w: got %d examples, %d features, %d classes; each must be at least 1",
			ErrShape, x.N, x.D, t.Classes)
	}
	if x.N > mostIndex || x.D > mostIndex || t.Classes > math.MaxInt16 {
		return f, fmt.Errorf("%w: got %d examples, %d features, %d classes; at most 2^31-1025 "+
			"examples or features and 32767 classes are supported", ErrShape, x.N, x.D, t.Classes)
	}
	maxAbs, err := MaxAbs(x)
	if err != nil {
		return f, err
	}
	switch t.Use {
	case UseScorer:
		return f, nil
	case UseCells:
		if err := checkLabels(t.Labels, x.N, t.Classes); err != nil {
			return f, err
		}
	case UseEvaluator:
		if maxAbs > mostValue {
			return f, fmt.Errorf("%w: found a value of size %v, want at most 2^118, so that sums of 256 "+
				"stay finite; scale the features", ErrValue, maxAbs)
		}
	}
	return checkFormat(maxAbs, x.N, t.Format)
}

// checkLabels wants n labels of q classes.
func checkLabels(y []int32, n, q int) error {
	if err := checkLen("y", len(y), n); err != nil {
		return err
	}
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return fmt.Errorf("%w: example %d has label %d, want 0..%d", ErrLabel, i, k, q-1)
		}
	}
	return nil
}

// checkFormat returns f or, if f is zero, the format of n examples whose largest absolute value is
// maxAbs. ErrShape if f cannot hold them.
func checkFormat(maxAbs float32, n int, f numerics.FixedPoint) (numerics.FixedPoint, error) {
	if f == (numerics.FixedPoint{}) {
		return numerics.NewFixedPoint(maxAbs, n), nil
	}
	if f.N < n || f.N > numerics.MostExamples {
		return f, fmt.Errorf("%w: the fixed-point format is of %d examples, want %d, the "+
			"examples here, to 2^53", ErrShape, f.N, n)
	}
	if most := numerics.NewFixedPoint(maxAbs, f.N).S; f.S < -126 || f.S > most {
		return f, fmt.Errorf("%w: the fixed-point format has s = %d, want -126 to %d for %d "+
			"examples, the largest here %v; give the format of the largest value of all parts",
			ErrShape, f.S, most, f.N, maxAbs)
	}
	return f, nil
}

// CheckMemory returns ErrMemory if the process may not take what a task takes besides the examples:
// class sums, and scratch bytes for scores and the rest. It is for drivers that allocate in the
// memory of the process.
func CheckMemory(x dataset.Examples, t Task, scratch int64) error {
	q, sums := t.Classes, int64(0)
	what := fmt.Sprintf("scores of %d examples × %d classes", x.N, q)
	if t.Use == UseCells {
		sums = memory.Product(8, q, q, x.D)
		what += fmt.Sprintf(", class sums of %d × %d cells × %d features", q, q, x.D)
	}
	return memory.Check(memory.Sum(scratch, sums), "memory besides the examples ("+what+")")
}

// checkRescore checks the arguments of Scorer.Rescore.
func checkRescore(w Weights, classes []int, d, q int) error {
	if err := checkWeights(w, d, q); err != nil {
		return err
	}
	seen := make([]bool, q)
	for _, r := range classes {
		if r < 0 || r >= q {
			return fmt.Errorf("%w: class %d, want 0..%d", ErrShape, r, q-1)
		}
		if seen[r] {
			return fmt.Errorf("%w: class %d is named twice", ErrShape, r)
		}
		seen[r] = true
	}
	return nil
}

// checkWeights checks the shape of W.
func checkWeights(w Weights, d, q int) error {
	if w.Q != q || w.D != d || len(w.W) != q*d {
		return fmt.Errorf("%w: weights are %d×%d with %d values, the examples want %d×%d",
			ErrShape, w.Q, w.D, len(w.W), q, d)
	}
	return nil
}

// checkScores checks the arguments of Scorer.Scores.
func checkScores(dst []float32, from, to, n, q int) error {
	if from < 0 || to < from || to > n || len(dst) != (to-from)*q {
		return fmt.Errorf("%w: %d values for examples %d..%d of %d with %d classes",
			ErrShape, len(dst), from, to, n, q)
	}
	return nil
}

// checkLen checks the length of one argument of an operation.
func checkLen(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%w: %s has %d values, want %d", ErrShape, what, got, want)
	}
	return nil
}

// checkUpdateVectors checks the arguments of Cells.UpdateVectors.
func checkUpdateVectors(dst []float32, pairs []Pair, inv []float32, d, q int) error {
	for _, z := range pairs {
		if err := cmp.Or(checkClass(z.P, q), checkClass(z.Q, q)); err != nil {
			return err
		}
	}
	return cmp.Or(checkLen("dst", len(dst), len(pairs)*d), checkLen("inv", len(inv), q*q))
}

// checkClass checks a class index of an operation.
func checkClass(r, q int) error {
	if r < 0 || r >= q {
		return fmt.Errorf("%w: class %d, want 0..%d", ErrShape, r, q-1)
	}
	return nil
}

// checkProject checks the arguments of Engine.Project.
func checkProject(dst []float32, x dataset.Examples, p Projection) error {
	const most = mostIndex
	if err := p.Function.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrValue, err)
	}
	m, axes := p.Landmarks, p.Axes
	if x.N < 1 || x.D < 1 || m.N < 1 || x.N > most || x.D > most || m.N > most || axes.Q < 0 ||
		axes.Q > most {
		return fmt.Errorf("%w: got %d examples, %d features, %d landmarks, %d axes; want 1 to "+
			"2^31-1025 of each, axes from 0", ErrShape, x.N, x.D, m.N, axes.Q)
	}
	if m.D != x.D {
		return fmt.Errorf("%w: landmarks have %d features, examples have %d", ErrShape, m.D, x.D)
	}
	if axes.Q > 0 && axes.D != m.N || len(axes.W) != axes.Q*axes.D && axes.Q > 0 || axes.Q == 0 &&
		len(axes.W) != 0 {
		return fmt.Errorf("%w: axes are %d×%d with %d values, want a column for each of %d landmarks",
			ErrShape, axes.Q, axes.D, len(axes.W), m.N)
	}
	if p.Offset != nil && len(p.Offset) != axes.Q {
		return fmt.Errorf("%w: offset has %d values for %d axes", ErrShape, len(p.Offset),
			axes.Q)
	}
	if x.N > math.MaxInt/p.Width() || len(dst) != x.N*p.Width() {
		return fmt.Errorf("%w: dst has %d values for %d examples, %d numbers each",
			ErrShape, len(dst), x.N, p.Width())
	}
	for _, part := range []struct {
		what   string
		values dataset.Examples
	}{
		{"examples", x},
		{"landmarks", m},
		{"axes", dataset.Examples{N: axes.Q, D: axes.D, X: axes.W}},
		{"offset", dataset.Examples{N: 1, D: len(p.Offset), X: p.Offset}},
	} {
		if _, err := MaxAbs(part.values); err != nil {
			return fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return nil
}

// slack allows for the rounding of a weight that makes a residual 1 in size. It is half of what
// clause 14 allows, because the product is rounded once more.
const slack = 0x1p-21

// checkTargets checks the argument of Evaluator.SetTargets.
func checkTargets(t Targets, n, q int) error {
	rows := len(t.Values) / q
	if len(t.Values) != rows*q || rows < 1 {
		return fmt.Errorf("%w: %d target values, want rows of %d", ErrShape, len(t.Values), q)
	}
	if t.Row == nil && rows != n {
		return fmt.Errorf("%w: %d rows of targets for %d examples, want one each or the row of each",
			ErrShape, rows, n)
	}
	if t.Row != nil && len(t.Row) != n {
		return checkLen("row", len(t.Row), n)
	}
	if t.Weight != nil && len(t.Weight) != n {
		return checkLen("weight", len(t.Weight), n)
	}
	most := make([]float32, rows) // the largest weight that each row allows
	for r := range most {
		limit, err := mostWeight(t.Values[r*q:(r+1)*q], t.Given)
		if err != nil {
			return fmt.Errorf("%w: row %d of the targets: %w", ErrValue, r, err)
		}
		most[r] = limit
	}
	for i := range n {
		r := i
		if t.Row != nil {
			if r = int(t.Row[i]); r < 0 || r >= rows {
				return fmt.Errorf("%w: example %d has row %d of the targets, want 0..%d",
					ErrShape, i, r, rows-1)
			}
		}
		w := float32(1)
		if t.Weight != nil {
			w = t.Weight[i]
		}
		if !(w >= 0 && w <= 1 && w <= most[r]) {
			return fmt.Errorf("%w: example %d has weight %v, want 0 to %v", ErrValue, i, w,
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
		return 0, fmt.Errorf("found no possible class, want at least one")
	case !given:
		return 1, nil
	}
	return (1 + slack) / size, nil
}

// checkWeightedSums checks the arguments of Evaluator.WeightedSums.
func checkWeightedSums(sums []int64, a []float32, n, d int) error {
	r := len(a) / n
	if r < 1 || len(a) != r*n {
		return fmt.Errorf("%w: %d coefficients for %d examples, want the same number for each",
			ErrShape, len(a), n)
	}
	if err := checkLen("sums", len(sums), r*d); err != nil {
		return err
	}
	for at, v := range a {
		if !(v >= -1 && v <= 1) {
			return fmt.Errorf("%w: coefficient %d of example %d is %v, want -1 to 1",
				ErrValue, at%r, at/r, v)
		}
	}
	return nil
}

// checkBins checks the arguments of Engine.LoadBins.
func checkBins(b dataset.Binned, q int) error {
	if b.N < 1 || b.F < 1 || q < 1 || b.N > mostIndex || b.F > mostIndex || q > math.MaxInt16 {
		return fmt.Errorf("%w: got %d examples, %d features, %d classes; want 1 to 2^31-1025 examples "+
			"and features, 1 to 32767 classes", ErrShape, b.N, b.F, q)
	}
	if len(b.Bins) != b.N*b.F || len(b.Counts) != b.F {
		return fmt.Errorf("%w: got %d bins and %d counts of %d examples with %d features", ErrShape,
			len(b.Bins), len(b.Counts), b.N, b.F)
	}
	for f, count := range b.Counts {
		if count < 1 || count > 256 {
			return fmt.Errorf("%w: feature %d has %d bins, want 1 to 256", ErrShape, f, count)
		}
		column := b.Column(f)
		if most := slices.Max(column); int(most) >= count {
			return fmt.Errorf("%w: example %d has bin %d of feature %d, want 0..%d", ErrValue,
				slices.Index(column, most), most, f, count-1)
		}
	}
	return nil
}

// checkGrowth checks the argument of Bins.Start.
func checkGrowth(g Growth, n, q int, graded bool) error {
	if g.Times != nil && len(g.Times) != n {
		return checkLen("times", len(g.Times), n)
	}
	if g.Labels != nil {
		return checkLabels(g.Labels, n, q)
	}
	if !graded {
		return fmt.Errorf("%w: found no gradients, want a call of Gradients before", ErrShape)
	}
	return checkClass(g.Class, q)
}

// checkHistogram checks the arguments of Bins.Histogram, but for the node.
func checkHistogram(dst []int64, b dataset.Binned, features []int, width int) error {
	size := 0
	for _, f := range features {
		if f < 0 || f >= b.F {
			return fmt.Errorf("%w: feature %d, want 0..%d", ErrShape, f, b.F-1)
		}
		size += b.Counts[f] * width
	}
	return checkLen("dst", len(dst), size)
}

// checkSplit checks the arguments of Bins.Split, but for the node.
func checkSplit(feature int, children [2]int, features int, nodes map[int]bool) error {
	if feature < 0 || feature >= features {
		return fmt.Errorf("%w: feature %d, want 0..%d", ErrShape, feature, features-1)
	}
	for k, child := range children {
		_, known := nodes[child]
		if known || child < 0 || child >= MostNodes || k == 1 && child == children[0] {
			return fmt.Errorf("%w: child %d, want a new number, 0..%d", ErrShape, child, MostNodes-1)
		}
	}
	return nil
}

// checkTree checks the arguments of Bins.Add.
func checkTree(t Tree, class, features, q int) error {
	width := 1
	if class == -1 {
		width = q
	} else if err := checkClass(class, q); err != nil {
		return err
	}
	leaves := len(t.Values) / width
	if leaves < 1 || len(t.Values) != leaves*width {
		return fmt.Errorf("%w: a tree has %d values, want %d for each of its leaves", ErrShape,
			len(t.Values), width)
	}
	for at, n := range t.Nodes {
		if n.Feature < 0 || int(n.Feature) >= features {
			return fmt.Errorf("%w: node %d has feature %d, want 0..%d", ErrShape, at, n.Feature, features-1)
		}
		for _, c := range n.Children {
			if c < 0 && int(^c) >= leaves || c >= 0 && (int(c) <= at || int(c) >= len(t.Nodes)) {
				return fmt.Errorf("%w: node %d has child %d, want a node %d..%d or the complement of a leaf "+
					"0..%d", ErrShape, at, c, at+1, len(t.Nodes)-1, leaves-1)
			}
		}
	}
	_, err := MaxAbs(dataset.Examples{N: 1, D: len(t.Values), X: t.Values})
	return err
}
