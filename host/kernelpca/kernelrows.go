package kernelpca

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/mercer"
)

// KernelRows answers with kernel values of all examples with one of them, for methods that take one
// after the other. An engine multiplies all by 32 examples in the time of one, so it asks for those too
// that may come soon, and keeps what it was told last.
type KernelRows struct {
	x     dataset.Examples
	f     mercer.Function
	batch int
	kept  []rowBatch // the latest last
	most  int        // of kept
	known []bool     // which examples are in kept
}

// rowBatch has the kernel values of all n examples with some of them, n × len(which).
type rowBatch struct {
	which  []int
	values []float32
}

// A batch has so many examples, and all that are kept so many values, or one batch.
const (
	rowsTogether = 32
	rowValues    = 1 << 26
)

// NewKernelRows returns the kernel values of x by f, of which none are computed yet.
func NewKernelRows(x dataset.Examples, f mercer.Function) *KernelRows {
	r := &KernelRows{x: x, f: f, batch: max(1, min(rowsTogether, rowValues/x.N)), known: make([]bool, x.N)}
	r.most = max(1, min(rowValues/r.batch/x.N, (x.N+r.batch-1)/r.batch))
	return r
}

// Bytes returns how much memory r takes at most.
func (r *KernelRows) Bytes() int64 { return 4 * int64(r.most) * int64(r.batch) * int64(r.x.N) }

// Row returns the kernel values of all examples with example i, every stride-th of values, which stay as
// they are until the next call. If it has to ask for them, it asks for those of the examples too of which
// soon has the largest values; nil for no others. A cancelled ctx ends it with ctx's error; other
// errors are those of Engine.Project.
func (r *KernelRows) Row(
	ctx context.Context, e engine.Engine, i int, soon []float64,
) (values []float32, stride int, err error) {
	for _, b := range r.kept {
		if at := slices.Index(b.which, i); r.known[i] && at >= 0 {
			return b.values[at:], len(b.which), nil
		}
	}
	b := rowBatch{which: []int{i}}
	if soon != nil && r.batch > 1 {
		b.which = r.withLargest(soon, i)
	}
	size := r.x.N * len(b.which)
	if len(r.kept) == r.most {
		b.values = r.kept[0].values
		r.mark(r.kept[0].which, false)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	b.values = slices.Grow(b.values[:0], size)[:size]
	p := engine.Projection{Function: r.f, Landmarks: r.x.Pick(b.which)}
	if err := project(ctx, e, b.values, r.x, p); err != nil {
		return nil, 0, err
	}
	r.kept = append(r.kept, b)
	r.mark(b.which, true)
	return b.values, len(b.which), nil
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
