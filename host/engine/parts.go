package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// MaxAbs returns the largest absolute value of x. Of the largest of several data sets,
// numerics.NewFixedPoint makes one fixed-point format for them all. Errors: ErrShape, and
// ErrValue for the first value that is not finite.
func MaxAbs(x dataset.Examples) (float32, error) {
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrShape, err)
	}
	values := x.X
	if x.Sparse() {
		values = x.Values
	}
	const inf = math.MaxUint32>>1 - 1<<23 + 1 // bits of +Inf; the bits of NaN are above
	largest := make([]uint32, parallel.Workers(len(values), maxAbsGrain))
	parallel.Cut(len(values), len(largest), func(part, from, to int) {
		largest[part] = maxBits(values[from:to])
	})
	if m := slices.Max(largest); m < inf {
		return math.Float32frombits(m), nil
	}
	at := slices.IndexFunc(values, func(v float32) bool { return maxBits([]float32{v}) >= inf })
	i, j := at/x.D, at%x.D
	if x.Sparse() {
		i, j = sort.Search(x.N, func(i int) bool { return x.Starts[i+1] > int64(at) }), int(x.Columns[at])
	}
	return 0, fmt.Errorf("%w: row %d has %v in column %d", ErrValue, i, values[at], j)
}

// maxAbsGrain is how many values are worth a processor.
const maxAbsGrain = 1 << 16

// maxBits returns the largest of the values' bits without their sign, which are ordered as the
// absolute values are, NaN and ±Inf last.
func maxBits(values []float32) (most uint32) {
	for _, v := range values {
		most = max(most, math.Float32bits(v)&(math.MaxUint32>>1))
	}
	return most
}

// UpdateVector writes z_pq, d values, to dst (clause 6). sums is Γ[p], Q×d row-major, inverse
// the Q values of row q of B = float32(C⁻¹), f the format of the sums. It panics if sizes do
// not agree.
//
// Update vectors are a function of class sums, wherever these come from: of one data set,
// or added from several of the same format. Cells.UpdateVectors gives the same bits.
func UpdateVector(dst []float32, sums []int64, inverse []float32, f numerics.FixedPoint) {
	d, q := len(dst), len(inverse)
	if len(sums) != q*d {
		panic(fmt.Sprintf("update vector: %d class sums for %d classes and %d features", len(sums), q, d))
	}
	clear(dst)
	// Column after column, where no sum waits for the one before it. A b of 0 adds nothing: the
	// sums are integers, so no acc is -0.
	for k, b := range inverse {
		if b == 0 {
			continue
		}
		row := sums[k*d : (k+1)*d]
		for j, acc := range dst {
			dst[j] = numerics.FMA(b, float32(row[j]), acc)
		}
	}
	u := f.Unit()
	for j, acc := range dst {
		dst[j] = acc * u
	}
}

// Predict returns the class of each example by the weights w (clauses 1 and 4). The
// examples are prepared as the examples that w was trained on. Errors: see Load and Rescore.
func Predict(e *Engine, w Weights, x dataset.Examples) (classes []int32, err error) {
	classes = make([]int32, x.N)
	err = score(e, w, x, func(r *Scorer) error { return r.Predict(classes) })
	return classes, err
}

// Scores returns the score of each example for each class, x.N×w.Q row-major (clause 1).
// Otherwise it is Predict.
func Scores(e *Engine, w Weights, x dataset.Examples) (scores []float32, err error) {
	scores = make([]float32, x.N*w.Q)
	err = score(e, w, x, func(r *Scorer) error { return r.Scores(scores, 0, x.N) })
	return scores, err
}

// Predicted returns the class of the largest of each q scores, the first of equal ones (clause 4):
// what Predict says of examples with these Scores.
func Predicted(scores []float32, q int) []int32 {
	classes := make([]int32, len(scores)/q)
	for i := range classes {
		classes[i] = int32(lists.Largest(scores[i*q : (i+1)*q]))
	}
	return classes
}

// Count adds 1 to counts[p*q+k] for each example of prediction p and label k, and returns counts.
func Count(counts []int64, predicted, y []int32, q int) []int64 {
	for i, p := range predicted {
		counts[int(p)*q+int(y[i])]++
	}
	return counts
}

// score scores examples for all classes and hands them to read.
func score(e *Engine, w Weights, x dataset.Examples, read func(*Scorer) error) (err error) {
	if x.N == 0 {
		return nil
	}
	r, err := e.Load(x, w.Q)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.Rescore(w, lists.UpTo[int](w.Q)); err != nil {
		return err
	}
	return read(r)
}
