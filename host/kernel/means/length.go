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
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// lengthRows is the most examples whose pairs Lengths evaluates.
const lengthRows = 2000

// Length measures how well a kernel function separates the classes: ‖ω‖² for ω_q = (1/n)·Σ_i (1[y_i
// = q] - 1/Q)·φ(x_i), summed over the Q classes; for two classes half of the paper's value. The
// longer ω, the smaller the linear loss of the mean classifier (Lemma 4).
type Length struct {
	Function kernel.Function
	// V is the biased estimate from all pairs of examples. U leaves out the pairs of an example with
	// itself, and may be negative. Both are divided by the largest κ(x,x).
	V, U float64
}

// Lengths returns the length for each function, from up to lengthRows random examples of x with
// noisy labels y; inverse is C⁻¹, q×q. It computes inner products once for all functions. In 95
// samples of 100, the roots of all V are within that distance of their true values (Theorem 6).
// Errors: engine.ErrShape, engine.ErrLabel, an invalid function, and errors from Engine.Project.
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
		largest := slices.Max(engine.SquaredLengths(f, x))
		l := length(f, x.N, dots, y, q, products)
		l.V, l.U = l.V/largest, l.U/largest
		lengths = append(lengths, l)
		task.Add(1)
	}
	union := math.Sqrt(2 * math.Log(float64(len(functions))/(1-confidence)))
	return lengths, radius * (1 + union) / math.Sqrt(float64(x.N)), nil
}

// codes returns the inner products, q×q, of the vectors C⁻¹[·][k] - 1/Q of the noisy labels k, and
// the length of the longest.
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

// length returns the length for f of n examples, given the inner products of the examples and of
// the codes of their labels.
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
