package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// bins are binned examples. The order of examples, in the bag and out of it, is kept so that each
// node has a range of it, in which they increase.
type bins struct {
	*evaluator // scores, targets and residuals
	b          dataset.Binned

	rows   []uint8 // the bins of example i from rows[i·stride], for histograms
	stride int     // the features, rounded up to whole groups

	// The gradients of example i and class c are packed[c·n + i]: g·2^30 + h.
	packed []int64

	growth engine.Growth
	most   int     // times that an example counts, at most
	order  []int32 // examples: the bag, then the others
	spare  []int32 // as long
	bag    int     // examples in it
	nodes  map[int]*binNode

	own []*binWorker
}

// binNode is a node of the tree that grows.
type binNode struct {
	from, to int        // of order
	split    *nodeSplit // nil for a leaf
}

type nodeSplit struct {
	feature  int
	left     engine.BinSet
	children [2]int
}

// binWorker is what no other task uses while one does.
type binWorker struct {
	share     share
	p         []float32 // probabilities of a span
	ones      [span]float32
	sums      [][groupSize][256]int64 // packed, of groups of features; 0 between tasks
	at        [blockRows]int          // where the bins of examples begin in rows
	value     [blockRows]int64        // what each adds
	list, aux [blockRows]int32        // examples on their way through a tree
}

// LoadBins loads binned examples. It keeps a second copy, row by row.
func (e *processor) LoadBins(b dataset.Binned, classes, all int) (engine.LoadedBins, error) {
	stride := panels(b.F, groupSize) * groupSize
	n := blocksOf(b.N) * lanes
	size := memory.Sum(memory.Product(n, stride), memory.Product(12, n, classes),
		memory.Product(8, n))
	if err := memory.Check(size, "rows, scores and gradients of binned examples"); err != nil {
		return nil, err
	}
	r := &bins{b: b, stride: stride, rows: make([]uint8, b.N*stride),
		packed: make([]int64, b.N*classes), order: make([]int32, b.N), spare: make([]int32, b.N)}
	r.evaluator = newEvaluator(&resident{k: e.k, x: dataset.Examples{N: b.N}, q: classes,
		blocks: blocksOf(b.N), scores: make([]float32, n*classes),
		fixed: numerics.FixedPoint{N: all}})
	parallel.Ranges(b.N, blockRows, func(from, to int) {
		for ; from < to; from += blockRows {
			for f := range b.F {
				for k, bin := range b.Column(f)[from:min(from+blockRows, to)] {
					r.rows[(from+k)*stride+f] = bin
				}
			}
		}
	})
	return r, nil
}

// workersFor returns n workers.
func (r *bins) workersFor(n int) []*binWorker {
	for len(r.own) < n {
		w := &binWorker{}
		for i := range w.ones {
			w.ones[i] = 1
		}
		r.own = append(r.own, w)
	}
	return r.own[:n]
}

// Gradients: clause 24. The residuals of targets that are given as 0 are the probabilities.
func (r *bins) Gradients() (e engine.Evaluation, err error) {
	spans := panels(r.b.N, span)
	workers := parallel.Workers(spans, 4)
	own := r.workersFor(workers)
	for _, w := range own {
		s := &w.share
		s.refused, s.loss = 0, [span]int64{}
		s.a, s.t, w.p = resize(s.a, span*r.q), resize(s.t, span*r.q), resize(w.p, span*r.q)
	}
	parallel.Share(workers, spans, func(worker, at int) {
		r.gradients(own[worker], at*span, r.examples(at))
	})
	for _, w := range own {
		for _, loss := range w.share.loss {
			e.Loss += loss
		}
		e.Refused += w.share.refused
	}
	return e, nil
}

// gradients computes the gradients of n examples.
func (r *bins) gradients(w *binWorker, first, n int) {
	s, blocks := &w.share, blocksOf(n)
	spanResiduals(r.evaluator, first, n, s, s.a)
	refused := s.refusedOf // the kernel below writes its own
	clear(s.t)
	r.k.given(r.scores[first*r.q:], r.q, s.t, w.p, w.ones[:], s.losses[:], s.refusedOf[:blocks])
	for b := range blocks {
		here := min(lanes, n-b*lanes)
		for c := range r.q {
			at := (b*r.q + c) * lanes
			a, p := s.a[at:at+lanes], w.p[at:at+lanes]
			to := r.packed[c*r.b.N+first+b*lanes:][:here]
			for l := range to {
				to[l] = packGradient(a[l], float32(p[l]*(1-p[l]))*s.weight[b*lanes+l])
			}
			for l := range to {
				if refused[b]>>l&1 != 0 {
					to[l] = 0
				}
			}
		}
	}
}

// packGradient returns g·2^30 + h. Both are below 2^22 in size, so that adding a number that leaves
// no room for a fraction rounds them.
func packGradient(g, h float32) int64 {
	const room = 0x1.8p23
	whole := func(v float32) int64 {
		return int64(int32(math.Float32bits(float32(v*0x1p18)+room) - 0x4b400000))
	}
	return whole(g)<<gradientBits + whole(h)
}

func (r *bins) Start(g engine.Growth) error {
	r.growth, r.most, r.bag = g, 1, r.b.N
	if g.Times == nil {
		for i := range r.order {
			r.order[i] = int32(i)
		}
	} else {
		r.bag, r.most = 0, 0
		out := 0
		for i, m := range g.Times {
			r.order[r.bag], r.spare[out] = int32(i), int32(i)
			in := 0
			if m != 0 {
				in = 1
			}
			r.bag, out = r.bag+in, out+1-in
			r.most = max(r.most, int(m))
		}
		copy(r.order[r.bag:], r.spare[:out])
	}
	r.nodes = map[int]*binNode{0: {to: r.bag}}
	return nil
}
