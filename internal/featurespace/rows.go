package featurespace

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Rows answers with kernel values of all n examples with one of them, for methods that take
// one after the other. An engine keeps the examples, and reads them for some in the time of one:
// it may be asked for those too that may come soon, and what it said last is kept. What it is
// asked for are inner products: kernel values of them are computed for the one example alone, and
// lengths of examples once.
type Rows struct {
	loaded  *engine.Scorer // of x, for a batch
	x       dataset.Examples
	f       kernel.Function
	lengths []float32 // ⟨x,x⟩, if f wants them
	values  []float32 // n: the last answer
	batch   int
	kept    []rowBatch // the latest last
	most    int        // of kept
	known   []bool     // which examples are in kept
}

// rowBatch has the inner products of all n examples with some of them, n × batch. Nobody uses what
// is in the columns beyond these.
type rowBatch struct {
	which    []int
	products []float32
}

// A batch has rowsTogether examples, and all that are kept rowProducts products, or one batch.
// Processors multiply by 16 while they read one example of hundreds of features, so that more would
// take longer.
const (
	rowsTogether = 16
	rowProducts  = 1 << 26
)

// NewRows returns the kernel values of x by f on an engine, and computes none yet:
// it is asked for one example at a time, or for several together, which pays where the next ones
// can be told.
// Errors: those of Engine.Load.
func NewRows(e *engine.Engine, x dataset.Examples, f kernel.Function,
	together bool) (*Rows, error) {
	r := &Rows{x: x, f: f, values: make([]float32, x.N), lengths: make([]float32, x.N),
		known: make([]bool, x.N)}
	r.batch, r.most = keptRows(x.N, together)
	var err error
	if r.loaded, err = e.Load(x, r.batch); err != nil {
		return nil, err
	}
	if f.Kind == kernel.RBF {
		parallel.Ranges(x.N, 256, func(from, to int) {
			for i := from; i < to; i++ {
				r.lengths[i] = numerics.SquaredNorm(x.Entries(i))
			}
		})
	}
	return r, nil
}

// Close gives back what the engine has of the examples.
func (r *Rows) Close() error { return r.loaded.Close() }

// keptRows returns how many of n examples make a batch, and how many batches are kept.
func keptRows(n int, together bool) (batch, most int) {
	if !together {
		return 1, 1
	}
	batch = max(1, min(rowsTogether, rowProducts/n))
	return batch, max(1, min(rowProducts/batch/n, (n+batch-1)/batch))
}

// RowsBytes returns how much memory the kernel rows of n examples take at most, beside what
// the engine has of the examples.
func RowsBytes(n int, together bool) int64 {
	batch, most := keptRows(n, together)
	return 4*int64(most+1)*int64(batch)*int64(n) + 9*int64(n)
}

// Row returns the n kernel values of all examples with example i, which stay as they are until the
// next call. If it has to ask for a batch, it also asks for the examples for which soon has the
// largest values; nil for no others. A cancelled ctx ends it with ctx's error; other errors are
// those of Scorer.
func (r *Rows) Row(ctx context.Context, i int, soon []float64) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(r.kept, func(b rowBatch) bool {
		return r.known[i] && slices.Contains(b.which, i)
	})
	if at < 0 {
		if err := r.ask(i, soon); err != nil {
			return nil, err
		}
		at = len(r.kept) - 1
	}
	b := r.kept[at]
	column := slices.Index(b.which, i)
	parallel.Ranges(r.x.N, 1024, func(from, to int) {
		for k := from; k < to; k++ {
			r.values[k] = r.f.Value(b.products[k*r.batch+column], r.lengths[k], r.lengths[i])
		}
	})
	return r.values, nil
}

// ask makes a batch with example i the latest that is kept.
func (r *Rows) ask(i int, soon []float64) error {
	b := rowBatch{which: []int{i}}
	if soon != nil && r.batch > 1 {
		b.which = r.withLargest(soon, i)
	}
	if len(r.kept) == r.most {
		b.products = r.kept[0].products
		r.mark(r.kept[0].which, false)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	w, classes := engine.NewWeights(r.batch, r.x.D), make([]int, len(b.which))
	some := r.x.Pick(b.which)
	for c := range b.which {
		copy(w.Row(c), some.DenseRow(w.Row(c), c))
		classes[c] = c
	}
	if err := r.loaded.Rescore(w, classes); err != nil {
		return err
	}
	if b.products == nil {
		b.products = make([]float32, r.x.N*r.batch)
	}
	if err := r.loaded.Scores(b.products, 0, r.x.N); err != nil {
		return err
	}
	r.kept = append(r.kept, b)
	r.mark(b.which, true)
	return nil
}

func (r *Rows) mark(which []int, known bool) {
	for _, i := range which {
		r.known[i] = known
	}
}

// withLargest returns i and the places of the largest values that are not known, a batch at most
// in all.
func (r *Rows) withLargest(values []float64, i int) []int {
	which, least := make([]int, 0, 2*r.batch), math.Inf(-1)
	cut := func() {
		slices.SortFunc(which, func(a, b int) int {
			return cmp.Or(cmp.Compare(values[b], values[a]), a-b)
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
