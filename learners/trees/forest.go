package trees

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// sampler draws the examples of a forest's trees, and their labels.
type sampler struct {
	seed    uint64
	n, q    int
	y       []int32   // labels
	classes []float32 // what is known of labels, n×Q; nil if y says all
	weight  []float32 // nil for 1 of each
	held    []bool    // examples that no tree learns from; nil for none
}

// times writes how often each example of from..to-1 is in the sample of a tree: a Poisson variable
// of mean 1, or 0 with the probability that its weight leaves.
func (s *sampler) times(dst []uint8, tree, from, to int) {
	common := key2(s.seed, streamRows, tree)
	for i := from; i < to; i++ {
		z := mix(common + uint64(i)*golden)
		m := times(z)
		if s.held != nil && s.held[i] ||
			s.weight != nil && float64(uint32(z)) >= float64(s.weight[i])*(1<<32) {
			m = 0
		}
		dst[i-from] = m
	}
}

// labels returns the labels of the examples for a tree: drawn by how probable they are.
func (s *sampler) labels(tree int) []int32 {
	if s.classes == nil {
		return s.y
	}
	labels, common := make([]int32, s.n), key2(s.seed, streamLabels, tree)
	for i := range labels {
		row, sum := s.classes[i*s.q:(i+1)*s.q], 0.0
		for _, f := range row {
			sum += float64(f)
		}
		rest := float64(sum * (float64(mix(common+uint64(i)*golden)>>11) * 0x1p-53))
		for k, f := range row {
			if f > 0 {
				labels[i] = int32(k)
			}
			if rest -= float64(f); rest < 0 {
				break
			}
		}
	}
	return labels
}

// shares returns the share of each label, at least 2^-20.
func (s *sampler) shares() []float32 {
	sums, total := make([]float64, s.q), 0.0
	for i, y := range s.y {
		u := 1.0
		if s.weight != nil {
			u = float64(s.weight[i])
		}
		sums[y] += u
		total += u
	}
	shares := make([]float32, s.q)
	for k, v := range sums {
		shares[k] = max(float32(v/total), ensemble.LeastShare)
	}
	return shares
}

// mostCopies is how many bytes of bins several trees that grow at a time may take.
const mostCopies = 1 << 30

// forest grows the trees that the model lacks, several at a time unless the engine is serial, and
// adds them in their order. It calls step, if not nil, when it has added some, and ends with its
// error.
func forest(ctx context.Context, p *Params, d *data, s *sampler, m *ensemble.Model,
	step func() error) error {
	workers := min(parallel.Workers(p.Rounds-len(m.Trees), 1),
		max(1, mostCopies/max(1, len(d.binned.Bins))))
	if d.problem.Engine.Serial() {
		workers = 1
	}
	growers := make([]*grove, workers)
	defer func() {
		for _, g := range growers {
			if g != nil {
				g.bins.Close() // nothing is lost by a fault here
			}
		}
	}()
	for k := range growers {
		bins, err := d.problem.Engine.LoadBins(d.binned, m.Q)
		if err != nil {
			return err
		}
		growers[k] = &grove{p: p, s: s, grower: newGrower(bins, m),
			times: make([]uint8, s.n), few: newCounter(d.binned, m.Q)}
	}
	for len(m.Trees) < p.Rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := len(m.Trees)
		trees := make([]engine.Tree, min(4*workers, p.Rounds-first))
		gains, errs := make([][]float64, len(trees)), make([]error, len(trees))
		parallel.Share(workers, len(trees), func(worker, k int) {
			g := growers[worker]
			g.gains = make([]float64, len(m.Columns))
			trees[k], errs[k] = g.tree(first + k)
			gains[k] = g.gains
		})
		for k, tree := range trees {
			if errs[k] != nil {
				return errs[k]
			}
			m.Trees, m.Class = append(m.Trees, tree), append(m.Class, -1)
			for f, v := range gains[k] {
				m.Gain[f] += v
			}
		}
		if step == nil {
			continue
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// grove grows trees of a forest, one after another.
type grove struct {
	grower
	p        *Params
	s        *sampler
	times    []uint8
	few      *counter
	features []int
}

// tree grows the tree of a number.
func (g *grove) tree(number int) (engine.Tree, error) {
	g.s.times(g.times, number, 0, g.s.n)
	labels := g.s.labels(number)
	if err := g.bins.Start(engine.Growth{Labels: labels, Times: g.times}); err != nil {
		return engine.Tree{}, err
	}
	q := g.s.q
	n := len(g.counts)
	tree, totals, err := g.grow(plan{
		criterion: &counts{q: q, least: max(1, int64(math.Ceil(g.p.Least)))},
		leaves:    g.p.Leaves,
		few:       g.few,
		rows:      g.few.start(labels, g.times),
		draw: func(node, try int) []int {
			return g.draw(number, node, try, n)
		}})
	for _, counts := range totals {
		n := float64(max(1, total(counts)))
		for _, v := range counts {
			tree.Values = append(tree.Values, float32(float64(v)/n))
		}
	}
	return tree, err
}

// draw returns the features for a try at a node: the next ones of a random order of them all.
func (g *grove) draw(tree, node, try, n int) []int {
	count := max(1, int(math.Round(g.p.Columns*float64(n))))
	from := count * try
	if from >= n {
		return nil
	}
	if g.features == nil || try == 0 {
		g.features = g.features[:0]
		for f := range n {
			g.features = append(g.features, f)
		}
	}
	rest := g.features[from:]
	some := slices.Clone(rest[:choose(rest, count, g.s.seed, streamColumns, tree, node*n+from)])
	slices.Sort(some)
	return some
}
