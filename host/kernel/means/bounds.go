package means

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// lengthRows is how many examples Lengths looks at, all pairs of them.
const lengthRows = 2000

// Length is how far a kernel function sets classes apart: ‖ω‖² of ω_q = (1/n)·Σ_i (1[y_i = q] -
// 1/Q)·φ(x_i), summed over the Q classes; of two classes half of the paper's. The linear loss of
// the mean classifier is the less, the longer ω is (Lemma 4).
type Length struct {
	Function kernel.Function
	// V has all pairs of examples, and is too large by what an example has with itself; U leaves
	// these out, and may fall below 0. Both are divided by the largest κ(x,x).
	V, U float64
}

// Lengths returns the length by each function for examples x with noisy labels y;
// inverse, q×q, is C⁻¹, from up to 2000 examples that seed chooses: their inner products are
// computed once for all functions. within is by how much the roots of the V of these examples may
// be off those of all there could be, all together, in 95 samples of 100 (Theorem 6). Errors:
// engine.ErrShape, engine.ErrLabel, those of a function, and those of Engine.Project.
func Lengths(
	ctx context.Context, e *engine.Engine, given dataset.Examples, y []int32, q int, inverse []float64,
	functions []kernel.Function, seed uint64) (lengths []Length, within float64, err error) {
	x := given
	if _, err := countClasses(x, y, q); err != nil {
		return nil, 0, err
	}
	if x.N < 2 || len(inverse) != q*q || len(functions) == 0 {
		return nil, 0, fmt.Errorf("kernel mean: %w: found %d examples, %d kernel functions and %d "+
			"numbers of C⁻¹, wanted 2, 1 and %d at "+
			"least", engine.ErrShape, x.N, len(functions), len(inverse), q*q)
	}
	if x.N > lengthRows {
		rows := rand.New(rand.NewPCG(seed, 0x6c656e677468)).Perm(x.N)[:lengthRows] // "length"
		slices.Sort(rows)
		x, y = given.Pick(rows), lists.At(y, rows)
	}
	s := sample{ctx: ctx, e: e}
	linear := kernel.Function{Kind: kernel.Linear}
	dots, err := s.project(x, engine.Projection{Function: linear, Landmarks: x})
	if err != nil {
		return nil, 0, err
	}
	products, radius := codes(inverse, q)
	_, task := progress.Begin(ctx, progress.Work{
		Name: "how far kernel functions set classes apart", Unit: "kernel function",
		Total: int64(len(functions))})
	defer task.End()
	for _, f := range functions {
		if err := f.Check(); err != nil {
			return nil, 0, err
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		largest := slices.Max(pca.SquaredLengths(f, x))
		l := length(f, x.N, dots, y, q, products)
		l.V, l.U = l.V/largest, l.U/largest
		lengths = append(lengths, l)
		task.Add(1)
	}
	union := math.Sqrt(2 * math.Log(float64(len(functions))/(1-confidence)))
	return lengths, radius * (1 + union) / math.Sqrt(float64(x.N)), nil
}

// codes returns the inner products of what noisy labels stand for, q×q, and the length of the
// longest: number t of label k is C⁻¹[t][k] - 1/Q.
func codes(inverse []float64, q int) (products []float64, radius float64) {
	products = make([]float64, q*q)
	for a := range q {
		for b := range q {
			for t := range q {
				products[a*q+b] += float64((inverse[t*q+a] - 1/float64(q)) * (inverse[t*q+b] - 1/float64(q)))
			}
		}
		radius = max(radius, math.Sqrt(products[a*q+a]))
	}
	return products, radius
}

// length returns the length by f of n examples, given their inner products and those of their
// labels' codes.
func length(f kernel.Function, n int, dots []float32, y []int32, q int, products []float64) Length {
	rows, own := make([]float64, n), make([]float64, n)
	parallel.Ranges(n, 16, func(from, to int) {
		byLabel := make([]float64, q)
		for i := from; i < to; i++ {
			clear(byLabel)
			for j := range n {
				if j == i {
					own[i] = products[int(y[i])*q+int(y[i])] * float64(f.Value(dots[i*n+i], dots[i*n+i],
						dots[i*n+i]))
					continue
				}
				byLabel[y[j]] += float64(f.Value(dots[i*n+j], dots[i*n+i], dots[j*n+j]))
			}
			for k, v := range byLabel {
				rows[i] += float64(products[int(y[i])*q+k] * v)
			}
		}
	})
	pairs, selves := 0.0, 0.0
	for i := range n {
		pairs += rows[i]
		selves += own[i]
	}
	return Length{Function: f, V: (pairs + selves) / float64(n) / float64(n),
		U: pairs / float64(n) / float64(n-1)}
}

// Margins returns the margin for error of a classifier (Section 4.1 of the paper) for each share
// of n examples that may be lost: if each of its scores, n×q, is off by less, at most that share
// of the examples that are predicted as y says is so no longer (Theorem 7). It is half of the
// smallest margin but those of the share, a margin being what the score of y exceeds the largest
// other one by; +Inf if the share are all that are right. Error: engine.ErrShape.
func Margins(scores []float32, y []int32, q int, shares []float64) ([]float64, error) {
	if q < 2 || len(scores) != len(y)*q {
		return nil, fmt.Errorf("margins: %w: found %d scores of %d examples and %d classes",
			engine.ErrShape, len(scores), len(y), q)
	}
	var right []float64
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("margins: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel, i,
				k, q-1)
		}
		row := scores[i*q : (i+1)*q]
		rival := math.Inf(-1)
		for r, v := range row {
			if r != int(k) {
				rival = max(rival, float64(v))
			}
		}
		if m := float64(row[k]) - rival; m > 0 {
			right = append(right, m)
		}
	}
	slices.Sort(right)
	margins := make([]float64, len(shares))
	for t, share := range shares {
		margins[t] = math.Inf(1)
		if lost := int(share * float64(len(y))); lost < len(right) {
			margins[t] = right[lost] / 2
		}
	}
	return margins, nil
}

// NoiseStood returns the largest rate of symmetric label noise under which the mean classifier of
// the same n examples of q classes, whose feature vectors are at most radius long, has scores less
// than margin off, 95 times of 100: but for one factor, which moves no class. That noise shortens
// what tells two classes apart to c = 1 - rate·q/(q-1) of its length, and chance adds as much as
// Lemma 9 says, for all pairs of classes together. 0 if none is promised.
func NoiseStood(margin, radius float64, n int64, q int) float64 {
	pairs := float64(q*(q-1)) / 2
	chance := radius * radius * (1 + math.Sqrt(2*(logarithm+math.Log(pairs)))) / math.Sqrt(float64(n))
	return max(0, 1-chance/(2*margin)) * float64(q-1) / float64(q)
}

// LabelsStood returns the share of labels that may be turned to whichever others before a score of
// the mean classifier is margin off (Corollary 8): each moves the difference of two scores by
// 2·radius²/n at most.
func LabelsStood(margin, radius float64) float64 { return min(1, margin/(radius*radius)) }
