package engine

import (
	"cmp"
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

const selfTestF = 9 // two groups of features

// askTrees puts the questions of clauses 24 to 26: gradients of scores of a tree, histograms of
// gradients and of labels before and after a split, and scores.
func (p selfTestProblem) askTrees(e *Engine, compare comparison) error {
	const n, q = selfTestN, selfTestQ
	b := dataset.Binned{N: n, F: selfTestF}
	size := 0
	for f := range selfTestF {
		count := []int{2, 40, 7, 2, 256, 7, 2, 5, 9}[f]
		b.Counts, size = append(b.Counts, count), size+count
		for i := range n {
			b.Bins = append(b.Bins, uint8((i*i+37*f*i+i/8)%251%count))
		}
	}
	times := make([]uint8, n)
	features := make([]int, selfTestF)
	for i := range times {
		times[i] = uint8(i % 3 * (i % 5) * 31)
	}
	for f := range features {
		features[f] = (f*2 + 1) % selfTestF
	}
	r, err := e.LoadBins(b, q)
	if err != nil {
		return err
	}
	// The first values of w have full mantissas.
	t := Tree{Nodes: []Node{{Feature: 1, Left: BinSet{0x5a5a5a5a5a5a5a5a, 3, 1 << 63, 77},
		Children: [2]int32{1, ^0}}, {Feature: 8, Left: BinSet{0b1011}, Children: [2]int32{^2, ^1}}},
		Values: p.w.W[:3*q]}
	known, _ := selfTestTargets(n, q, p.y)
	a := answers{compare: compare}
	err = cmp.Or(r.SetTargets(known), r.Add(t, -1))
	found, err2 := r.Gradients()
	a.put("gradients", cmp.Or(err, err2), []int64{found.Loss, found.Refused})
	for _, g := range []Growth{{Class: 1, Times: times}, {Class: 2}, {Labels: p.y, Times: times}} {
		width := g.Width(q)
		sums := make([]int64, size*width)
		a.put("histogram", cmp.Or(r.Start(g), r.Histogram(sums, 0, features)), sums)
		counts, err := r.Split(0, 1, t.Nodes[0].Left, [2]int{5, 2})
		a.put("split", err, counts[:])
		some := size*width - b.Counts[features[8]]*width
		err = r.Histogram(sums[:some], 5, features[:8])
		a.put("histogram of a child", err, sums)
	}
	scores := make([]float32, n*q)
	t.Values = p.w.W[selfTestD:][:3]
	a.put("add", cmp.Or(r.Add(t, 2), r.Scores(scores, 0, n)), scores)
	return errors.Join(a.err, r.Close())
}
