package trees

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// boosting is a run of boosting on loaded examples. Its parameters are settled.
type boosting struct {
	p     *Params
	seed  uint64
	model *ensemble.Model
	bins  *engine.Bins
	grow  grower
	held  []bool // examples that no tree learns from; nil for none
	n     int

	criterion gradients
	features  []int // to draw from
	times     []uint8
}

// newBoosting loads the examples, and adds the trees that the model has.
func newBoosting(p *Params, d *data, m *ensemble.Model, held []bool) (*boosting, error) {
	bins, err := d.problem.Engine.LoadBins(d.binned, m.Q)
	if err != nil {
		return nil, err
	}
	b := &boosting{p: p, seed: d.problem.Seed, model: m, bins: bins, held: held, n: d.binned.N,
		grow: newGrower(bins, m), criterion: gradients{l2: p.L2, least: p.Least}}
	if p.Rows < 1 || held != nil {
		b.times = make([]uint8, b.n)
	}
	err = bins.SetTargets(d.labels.Targets)
	if err == nil {
		err = bins.Add(engine.Tree{Values: m.Base}, -1)
	}
	for t := 0; err == nil && t < len(m.Trees); t++ {
		err = bins.Add(m.Trees[t], int(m.Class[t]))
	}
	if err != nil {
		bins.Close() // after a fault that counts more
		return nil, err
	}
	return b, nil
}

// round grows the trees of a round, and adds them to the scores and the model, all or none.
func (b *boosting) round() (err error) {
	m, before, gain := b.model, len(b.model.Trees), slices.Clone(b.model.Gain)
	defer func() {
		if err != nil {
			m.Trees, m.Class = m.Trees[:before], m.Class[:before]
			copy(m.Gain, gain)
		}
	}()
	if _, err := b.bins.Gradients(); err != nil {
		return err
	}
	first := 0
	if m.Q == 2 {
		first = 1
	}
	for class := first; class < m.Q; class++ {
		tree, err := b.tree(class)
		if err == nil {
			err = b.bins.Add(tree, class)
		}
		if err != nil {
			return err
		}
		m.Trees, m.Class = append(m.Trees, tree), append(m.Class, int32(class))
	}
	return nil
}

// tree grows the next tree of the model, of a class.
func (b *boosting) tree(class int) (engine.Tree, error) {
	number := len(b.model.Trees)
	b.sample(number)
	if err := b.bins.Start(engine.Growth{Class: class, Times: b.times}); err != nil {
		return engine.Tree{}, err
	}
	features := drawn(&b.features, len(b.grow.counts), b.p.Columns, b.seed, number, 0)
	tree, totals, err := b.grow.grow(plan{criterion: &b.criterion, leaves: b.p.Leaves,
		features: features})
	for _, sums := range totals {
		g, h := float64(sums[0])*unit, float64(sums[1])*unit
		v := 0.0
		if h+b.p.L2 > 0 {
			v = -float64(b.p.Rate*g) / (h + b.p.L2)
		}
		tree.Values = append(tree.Values, float32(v))
	}
	return tree, err
}

// sample draws the examples that a tree sees.
func (b *boosting) sample(tree int) {
	if b.times == nil {
		return
	}
	most := uint64(math.Ceil(b.p.Rows * (1 << 32)))
	common := key2(b.seed, streamRows, tree)
	parallel.Ranges(b.n, 1<<14, func(from, to int) {
		for i := from; i < to; i++ {
			z := mix(common + uint64(i)*golden)
			b.times[i] = uint8((z>>32 - most) >> 63) // 1 if it is below most
			if b.held != nil && b.held[i] {
				b.times[i] = 0
			}
		}
	})
}

// drawn returns, in increasing order, the features that a tree or a node of it sees: a share of n,
// one at least. list keeps their order between calls.
func drawn(list *[]int, n int, share float64, seed uint64, tree, first int) []int {
	if *list == nil {
		*list = make([]int, n)
	}
	for f := range *list {
		(*list)[f] = f
	}
	count := max(1, int(math.Round(share*float64(n))))
	if count >= n {
		return *list
	}
	some := slices.Clone((*list)[:choose(*list, count, seed, streamColumns, tree, first)])
	slices.Sort(some)
	return some
}

// priors estimates how often each true class is, by EM on what is known of n examples. None is
// below 1/n.
func priors(t engine.Targets, n, q int) []float64 {
	const iterations = 50
	rows := len(t.Values) / q
	weights := make([]float64, rows) // of the examples with each row
	for i := range n {
		row, u := i, 1.0
		if t.Row != nil {
			row = int(t.Row[i])
		}
		if t.Weight != nil {
			u = float64(t.Weight[i])
		}
		weights[row] += u
	}
	likely := make([]float64, len(t.Values))
	for k, v := range t.Values {
		if likely[k] = float64(v); !t.Given {
			likely[k] = float64(numerics.Exp(v))
		}
	}
	prior, next, posterior := slices.Repeat([]float64{1 / float64(q)}, q), make([]float64, q),
		make([]float64, q)
	for range iterations {
		clear(next)
		sum := 0.0
		for i, u := range weights {
			total := 0.0
			for k, v := range likely[i*q : (i+1)*q] {
				if posterior[k] = v; !t.Given {
					posterior[k] *= prior[k]
				}
				total += posterior[k]
			}
			if total <= 0 || u == 0 {
				continue
			}
			for k, v := range posterior {
				next[k] += float64(u*v) / total
			}
			sum += u
		}
		for k, v := range next {
			prior[k] = max(v/sum, 1/float64(n))
		}
	}
	return prior
}

// base returns the scores to begin with: the logarithms of the priors; of two classes 0 and the
// difference.
func base(prior []float64) []float32 {
	scores := make([]float32, len(prior))
	for t, v := range prior {
		scores[t] = numerics.Log(float32(v))
	}
	if len(scores) == 2 {
		scores[0], scores[1] = 0, scores[1]-scores[0]
	}
	return scores
}
