package cpuref_test

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// naiveBins keeps the path of every example: what a node has is asked for by walking again.
type naiveBins struct {
	b       dataset.Binned
	q, all  int
	targets engine.Targets
	scores  []float32
	pairs   [][2]int64 // g and h of clause 24
	growth  engine.Growth
	splits  map[int]naiveSplit
}

type naiveSplit struct {
	feature  int
	left     engine.BinSet
	children [2]int
}

func (naiveDriver) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	return &naiveBins{b: b, q: q, all: all, scores: make([]float32, b.N*q)}, nil
}

func (v *naiveBins) Close() error { return nil }

func (v *naiveBins) SetTargets(t engine.Targets) error {
	v.targets = t
	return nil
}

func (v *naiveBins) lossFormat() int { return (&naive{total: v.all}).lossFormat() }

func (v *naiveBins) Scores(dst []float32, from, to int) error {
	copy(dst, v.scores[from*v.q:to*v.q])
	return nil
}

// Gradients: clause 24.
func (v *naiveBins) Gradients() (e engine.Evaluation, err error) {
	v.pairs = nil
	t := v.targets
	for i := range v.b.N {
		row, weight := i, float32(1)
		if t.Row != nil {
			row = int(t.Row[i])
		}
		if t.Weight != nil {
			weight = t.Weight[i]
		}
		s := v.scores[i*v.q : (i+1)*v.q]
		a, loss := naiveResiduals(s, t.Values[row*v.q:(row+1)*v.q], t.Given, weight)
		if a == nil || !(math.Abs(float64(loss)) < 0x1p15) {
			e.Refused++
			v.pairs = append(v.pairs, make([][2]int64, v.q)...)
			continue
		}
		e.Loss += integerOf(loss, v.lossFormat())
		p, _, _, _ := softSoftmax(s)
		for k, g := range a {
			rest := 1 - p[k]
			h := float32(p[k]*rest) * weight
			v.pairs = append(v.pairs, [2]int64{integerOf(g, 18), integerOf(h, 18)})
		}
	}
	return e, nil
}

func (v *naiveBins) Start(g engine.Growth) error {
	v.growth, v.splits = g, map[int]naiveSplit{}
	return nil
}

// node walks to the node of an example.
func (v *naiveBins) node(i int) (node int) {
	for {
		s, inner := v.splits[node]
		if !inner {
			return node
		}
		bin := int(v.b.Bins[s.feature*v.b.N+i])
		if s.left[bin/64]&(1<<(bin%64)) != 0 {
			node = s.children[0]
		} else {
			node = s.children[1]
		}
	}
}

func (v *naiveBins) often(i int) int64 {
	if v.growth.Times == nil {
		return 1
	}
	return int64(v.growth.Times[i])
}

// Histogram: clause 25.
func (v *naiveBins) Histogram(dst []int64, node int, features []int) error {
	for k := range dst {
		dst[k] = 0
	}
	for i := range v.b.N {
		if v.node(i) != node {
			continue
		}
		from, m := 0, v.often(i)
		for _, f := range features {
			bin := int(v.b.Bins[f*v.b.N+i])
			if v.growth.Labels == nil {
				p := v.pairs[i*v.q+v.growth.Class]
				dst[from+2*bin] += m * p[0]
				dst[from+2*bin+1] += m * p[1]
				from += 2 * v.b.Counts[f]
			} else {
				dst[from+v.q*bin+int(v.growth.Labels[i])] += m
				from += v.q * v.b.Counts[f]
			}
		}
	}
	return nil
}

func (v *naiveBins) Split(node, feature int, left engine.BinSet, children [2]int,
) (counts [2]int64, err error) {
	v.splits[node] = naiveSplit{feature, left, children}
	for i := range v.b.N {
		if v.often(i) == 0 {
			continue
		}
		switch v.node(i) {
		case children[0]:
			counts[0]++
		case children[1]:
			counts[1]++
		}
	}
	return counts, nil
}

// Add: clause 26.
func (v *naiveBins) Add(t engine.Tree, class int) error {
	for i := range v.b.N {
		leaf := 0
		for at := 0; len(t.Nodes) > 0 && at >= 0; {
			n := t.Nodes[at]
			bin := int(v.b.Bins[int(n.Feature)*v.b.N+i])
			at = int(n.Children[1-int(n.Left[bin/64]>>(bin%64)&1)])
			leaf = -1 - at
		}
		for k := range v.q {
			if class == k {
				v.scores[i*v.q+k] += t.Values[leaf]
			} else if class < 0 {
				v.scores[i*v.q+k] += t.Values[leaf*v.q+k]
			}
		}
	}
	return nil
}
