package kernelpca

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/mercer"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// KernelRows answers with kernel values of all n examples with one of them, for methods that take one
// after the other. An engine multiplies all by 32 examples in the time of one, so it asks for those too
// that may come soon, and keeps what it was told last. What it asks for are inner products: kernel values of them
// are computed for the one example alone, and lengths of examples once, not for each batch.
type KernelRows struct {
	x       dataset.Examples
	f       mercer.Function
	lengths []float32 // ⟨x,x⟩, if f wants them
	values  []float32 // n: the last answer
	batch   int
	kept    []rowBatch // the latest last
	most    int        // of kept
	known   []bool     // which examples are in kept
}

// rowBatch has the inner products of all n examples with some of them, n × len(which).
type rowBatch struct {
	which    []int
	products []float32
}

// A batch has so many examples, and all that are kept so many products, or one batch.
const (
	rowsTogether = 32
	rowProducts  = 1 << 26
)

// NewKernelRows returns the kernel values of x by f, of which none are computed yet.
func NewKernelRows(x dataset.Examples, f mercer.Function) *KernelRows {
	r := &KernelRows{x: x, f: f, values: make([]float32, x.N), lengths: make([]float32, x.N), known: make([]bool, x.N)}
	r.batch, r.most = keptRows(x.N)
	if f.Kind == mercer.RBF {
		parallel.Ranges(x.N, 256, func(from, to int) {
			buffer := make([]float32, x.D)
			for i := from; i < to; i++ {
				row := x.DenseRow(buffer, i)
				r.lengths[i] = numerics.Dot(row, row)
			}
		})
	}
	return r
}

// keptRows returns how many of n examples make a batch, and how many batches are kept.
func keptRows(n int) (batch, most int) {
	batch = max(1, min(rowsTogether, rowProducts/n))
	return batch, max(1, min(rowProducts/batch/n, (n+batch-1)/batch))
}

// KernelRowsBytes returns how much memory the kernel rows of n examples take at most.
func KernelRowsBytes(n int) int64 {
	batch, most := keptRows(n)
	return 4*int64(most)*int64(batch)*int64(n) + 9*int64(n)
}

// Row returns the n kernel values of all examples with example i, which stay as they are until the next call.
// If it has to ask an engine, it asks for those examples too of which soon has the largest values; nil for no
// others. A cancelled ctx ends it with ctx's error; other errors are those of Engine.Project.
func (r *KernelRows) Row(ctx context.Context, e engine.Engine, i int, soon []float64) ([]float32, error) {
	at := slices.IndexFunc(r.kept, func(b rowBatch) bool { return r.known[i] && slices.Contains(b.which, i) })
	if at < 0 {
		if err := r.ask(ctx, e, i, soon); err != nil {
			return nil, err
		}
		at = len(r.kept) - 1
	}
	b := r.kept[at]
	stride, column := len(b.which), slices.Index(b.which, i)
	parallel.Ranges(r.x.N, 1024, func(from, to int) {
		for k := from; k < to; k++ {
			r.values[k] = r.f.Value(b.products[k*stride+column], r.lengths[k], r.lengths[i])
		}
	})
	return r.values, nil
}

// ask makes a batch with example i the latest that is kept.
func (r *KernelRows) ask(ctx context.Context, e engine.Engine, i int, soon []float64) error {
	b := rowBatch{which: []int{i}}
	if soon != nil && r.batch > 1 {
		b.which = r.withLargest(soon, i)
	}
	if len(r.kept) == r.most {
		b.products = r.kept[0].products
		r.mark(r.kept[0].which, false)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	size := r.x.N * len(b.which)
	b.products = slices.Grow(b.products[:0], size)[:size]
	p := engine.Projection{Function: linear, Landmarks: r.x.Pick(b.which)}
	if err := project(ctx, e, b.products, r.x, p); err != nil {
		return err
	}
	r.kept = append(r.kept, b)
	r.mark(b.which, true)
	return nil
}

func (r *KernelRows) mark(which []int, known bool) {
	for _, i := range which {
		r.known[i] = known
	}
}

// withLargest returns i and the places of the largest values that are not known, a batch at most in all.
func (r *KernelRows) withLargest(values []float64, i int) []int {
	which, least := make([]int, 0, 2*r.batch), math.Inf(-1)
	cut := func() {
		slices.SortFunc(which, func(a, b int) int {
			if c := cmp.Compare(values[b], values[a]); c != 0 {
				return c
			}
			return a - b
		})
		if len(which) >= r.batch-1 {
			which = which[:r.batch-1]
			least = values[which[r.batch-2]]
		}
	}
	for at, v := range values {
		if v > least && at != i && !r.known[at] {
			if which = append(which, at); len(which) == 2*r.batch {
				cut()
			}
		}
	}
	cut()
	return append([]int{i}, which...)
}
