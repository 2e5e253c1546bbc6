package cpuref

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// LoadBins loads binned examples, which stay the caller's.
func (Driver) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	size := memory.Sum(memory.Product(12, b.N, q), memory.Product(4, b.N))
	if err := memory.Check(size, "scores and gradients of binned examples"); err != nil {
		return nil, err
	}
	return &bins{b: b, q: q, losses: numerics.LossFormat(all), scores: make([]float32, b.N*q),
		g: make([]int32, b.N*q), h: make([]int32, b.N*q), node: make([]int32, b.N)}, nil
}

// bins holds the caller's binned examples, and their scores, gradients and nodes.
type bins struct {
	b       dataset.Binned
	q       int
	losses  numerics.FixedPoint
	targets engine.Targets
	scores  []float32 // n×Q
	g, h    []int32   // n×Q
	growth  engine.Growth
	node    []int32 // of each example; outside if it is out of the bag
}

func (r *bins) Close() error { return nil }

func (r *bins) SetTargets(t engine.Targets) error {
	r.targets = t
	return nil
}

// Gradients: clause 24.
func (r *bins) Gradients() (e engine.Evaluation, err error) {
	t, a, p := make([]float32, r.q), make([]float32, r.q), make([]float32, r.q)
	for i := range r.b.N {
		scores := r.scores[i*r.q : (i+1)*r.q]
		target, u := targetOf(r.targets, i, r.q)
		loss, counts := numerics.Residuals(a, t, scores, target, u, r.targets.Given)
		numerics.Softmax(p, scores)
		for k := range p {
			g, h := a[k], float32(p[k]*(1-p[k]))*u
			if !counts {
				g, h = 0, 0
			}
			r.g[i*r.q+k], r.h[i*r.q+k] = gradient(g), gradient(h)
		}
		if !counts {
			e.Refused++
			continue
		}
		e.Loss += numerics.Quantize(loss, r.losses.Scale())
	}
	return e, nil
}

// gradient is the integer of a gradient.
func gradient(v float32) int32 { return int32(math.RoundToEven(float64(v) * 0x1p18)) }

func (r *bins) Start(g engine.Growth) error {
	r.growth = g
	for i := range r.node {
		r.node[i] = 0
		if r.times(i) == 0 {
			r.node[i] = outside
		}
	}
	return nil
}

// times returns how often an example counts.
func (r *bins) times(i int) int64 {
	if r.growth.Times == nil {
		return 1
	}
	return int64(r.growth.Times[i])
}

// Histogram: clause 25.
func (r *bins) Histogram(dst []int64, node int, features []int) error {
	clear(dst)
	width := r.growth.Width(r.q)
	for _, f := range features {
		for i, bin := range r.b.Column(f) {
			if r.node[i] != int32(node) {
				continue
			}
			sums := dst[int(bin)*width:][:width]
			if r.growth.Labels != nil {
				sums[r.growth.Labels[i]] += r.times(i)
			} else {
				at := i*r.q + r.growth.Class
				sums[0] += r.times(i) * int64(r.g[at])
				sums[1] += r.times(i) * int64(r.h[at])
			}
		}
		dst = dst[r.b.Counts[f]*width:]
	}
	return nil
}

// Split: clause 25.
func (r *bins) Split(node, feature int, left engine.BinSet, children [2]int,
) (counts [2]int64, err error) {
	for i, bin := range r.b.Column(feature) {
		if r.node[i] != int32(node) {
			continue
		}
		side := 1
		if left.Has(bin) {
			side = 0
		}
		r.node[i] = int32(children[side])
		counts[side]++
	}
	return counts, nil
}

// Add: clause 26.
func (r *bins) Add(t engine.Tree, class int) error {
	for i := range r.b.N {
		leaf := t.Leaf(r.b, i)
		if class >= 0 {
			r.scores[i*r.q+class] += t.Values[leaf]
			continue
		}
		for k, v := range t.Values[leaf*r.q : (leaf+1)*r.q] {
			r.scores[i*r.q+k] += v
		}
	}
	return nil
}

func (r *bins) Scores(dst []float32, from, to int) error {
	copy(dst, r.scores[from*r.q:to*r.q])
	return nil
}
