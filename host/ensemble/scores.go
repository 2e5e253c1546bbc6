package ensemble

import (
	"math/bits"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Scores writes the scores of examples, N×Q, to dst: logarithms of probabilities, but for a
// constant. Boosting's are sums of leaves; a forest's are of its shares of labels, unmixed by the
// confusion matrix c, Q×Q, if Unmix is set.
func (m *Model) Scores(dst []float32, x dataset.Examples, c []float64) {
	if !m.Unmix {
		c = nil
	}
	k, fast := newKeys(m.Columns), m.masks(x.N)
	block := fewRows
	if slices.ContainsFunc(fast, func(t masks) bool { return t.features == nil }) {
		block = manyRows
	}
	blocks := (x.N + block - 1) / block
	workers := parallel.Workers(blocks, 1)
	spare := make([]dataset.Binned, workers)
	parallel.Share(workers, blocks, func(worker, task int) {
		from, to := task*block, min((task+1)*block, x.N)
		b := &spare[worker]
		if b.N != to-from {
			*b = empty(m.Columns, to-from)
		}
		k.bin(*b, 0, x, from, to)
		part := dst[from*m.Q : to*m.Q]
		for at := 0; at < len(part); at += m.Q {
			copy(part[at:], m.Base)
		}
		m.addRows(part, *b, 0, b.N, fast, nil)
	})
	if m.Mode == Forest {
		m.Logs(dst, c)
	}
}

// The examples of a block go through one tree after the other. The sums of fewRows stay in the
// fastest cache; a tree without masks is large, and stays in a cache for manyRows.
const (
	fewRows  = 1 << 10
	manyRows = 1 << 13
)

// Logs turns the sums of a forest, N×Q, into logarithms of the shares of true classes.
func (m *Model) Logs(sums []float32, c []float64) {
	parallel.Ranges(len(sums)/m.Q, 256, func(from, to int) {
		o := newOutcome(m, c)
		for i := from; i < to; i++ {
			row := sums[i*m.Q : (i+1)*m.Q]
			o.of(row)
			for k, v := range o.classes {
				row[k] = numerics.Log(max(float32(v), LeastShare))
			}
		}
	})
}

// LeastShare is the share of a class that scores of a forest tell from 0.
const LeastShare = 0x1p-20

// Add adds to sums, N×Q, what the trees say of examples. times, if not nil, writes how often
// examples from..to-1 are in the sample of a tree: it says nothing of examples in it.
func (m *Model) Add(sums []float32, b dataset.Binned,
	times func(dst []uint8, tree, from, to int)) {
	parallel.Ranges(b.N, 64, func(from, to int) { m.addRows(sums, b, from, to, nil, times) })
}

// addRows is Add for examples from..to-1. fast are the masks of trees that have some.
func (m *Model) addRows(sums []float32, b dataset.Binned, from, to int, fast []masks,
	times func(dst []uint8, tree, from, to int)) {
	inBag, leaf := make([]uint8, to-from), make([]int32, to-from)
	left, list, spare := make([]uint64, to-from), make([]int32, 0, to-from), make([]int32, to-from)
	for t := range m.Trees {
		tree, class := &m.Trees[t], int(m.Class[t])
		if times != nil {
			times(inBag, t, from, to)
		}
		if fast != nil && fast[t].features != nil {
			fast[t].reach(leaf, left, b, from)
		} else {
			list = list[:0]
			for i, times := range inBag {
				if times == 0 {
					list = append(list, int32(i))
				}
			}
			root := int32(0)
			if len(tree.Nodes) == 0 {
				root = ^0
			}
			descend(tree, root, b, from, leaf, list, spare)
		}
		for i, l := range leaf {
			switch {
			case inBag[i] > 0:
			case class >= 0:
				sums[(from+i)*m.Q+class] += tree.Values[l]
			default:
				row := sums[(from+i)*m.Q : (from+i+1)*m.Q]
				for k, v := range tree.Values[int(l)*m.Q : int(l+1)*m.Q] {
					row[k] += v
				}
			}
		}
	}
}

// masks tell the leaf that an example reaches without a walk, as QuickScorer does (Lucchese et
// al., SIGIR 2015): bit l of the mask of a bin is 0 where a split of the feature keeps an example
// in that bin from leaf l. What all features leave is the leaf.
type masks struct {
	features []int32
	tables   [][256]uint64 // of each feature, for each bin
}

// masks returns the masks of each tree; nil for few examples, whose walks take less time. Trees of
// more than 64 leaves have none.
func (m *Model) masks(examples int) []masks {
	if examples < 4*256 {
		return nil
	}
	all := make([]masks, len(m.Trees))
	parallel.Tasks(len(all), func(t int) {
		if tree := &m.Trees[t]; len(tree.Nodes) > 0 && len(tree.Nodes) < 64 {
			all[t] = masksOf(tree)
		}
	})
	return all
}

func masksOf(t *engine.Tree) (m masks) {
	under := make([][2]uint64, len(t.Nodes)) // leaves below each side
	tables := map[int32]int{}
	for at := len(t.Nodes) - 1; at >= 0; at-- {
		n := &t.Nodes[at]
		for side, c := range n.Children {
			if under[at][side] = 1 << uint32(^c); c >= 0 {
				under[at][side] = under[c][0] | under[c][1]
			}
		}
		k, known := tables[n.Feature]
		if !known {
			k = len(m.features)
			tables[n.Feature] = k
			m.features, m.tables = append(m.features, n.Feature), append(m.tables, [256]uint64{})
			for b := range m.tables[k] {
				m.tables[k][b] = ^uint64(0)
			}
		}
		for b := range m.tables[k] {
			if n.Left.Has(uint8(b)) {
				m.tables[k][b] &^= under[at][1]
			} else {
				m.tables[k][b] &^= under[at][0]
			}
		}
	}
	return m
}

// reach writes the leaves that examples from on reach. left is room for a mask of each.
func (m *masks) reach(leaf []int32, left []uint64, b dataset.Binned, from int) {
	for i := range left {
		left[i] = ^uint64(0)
	}
	bins := func(k int) []uint8 {
		start := int(m.features[k])*b.N + from
		return b.Bins[start : start+len(left)]
	}
	k := 0
	for ; k+4 <= len(m.features); k += 4 {
		t0, t1, t2, t3 := &m.tables[k], &m.tables[k+1], &m.tables[k+2], &m.tables[k+3]
		b0, b1, b2, b3 := bins(k), bins(k+1), bins(k+2), bins(k+3)
		for i := range left {
			left[i] &= t0[b0[i]] & t1[b1[i]] & t2[b2[i]] & t3[b3[i]]
		}
	}
	for ; k < len(m.features); k++ {
		table, column := &m.tables[k], bins(k)
		for i := range left {
			left[i] &= table[column[i]]
		}
	}
	for i, v := range left {
		leaf[i] = int32(bits.TrailingZeros64(v))
	}
}

// descend writes the leaves that examples of list, counted after from, reach from a node or leaf.
// Descending with all examples at once hides the latency of fetching nodes. descend reorders list;
// spare has the same length.
func descend(t *engine.Tree, at int32, b dataset.Binned, from int, leaf, list, spare []int32) {
	for at >= 0 && len(list) > 0 {
		n := &t.Nodes[at]
		column := b.Column(int(n.Feature))[from:]
		left, right := 0, 0
		for _, i := range list {
			bin := column[i]
			side := int(n.Left[bin>>6] >> (bin & 63) & 1)
			list[left], spare[right] = i, i
			left, right = left+side, right+1-side
		}
		copy(list[left:], spare[:right])
		descend(t, n.Children[0], b, from, leaf, list[:left], spare)
		at, list = n.Children[1], list[left:]
	}
	for _, i := range list {
		leaf[i] = ^at
	}
}

// outcome turns the sums of an example into probabilities.
type outcome struct {
	m               *Model
	c               []float64 // nil for none
	classes, labels []float64
	spare           []float64
	p               []float32
}

func newOutcome(m *Model, c []float64) *outcome {
	return &outcome{m, c, make([]float64, m.Q), make([]float64, m.Q), make([]float64, m.Q),
		make([]float32, m.Q)}
}

// of computes the probabilities of the true classes and of the noisy labels.
func (o *outcome) of(sums []float32) {
	if o.m.Mode == Boost {
		numerics.Softmax(o.p, sums)
		for k, v := range o.p {
			o.classes[k] = float64(v)
		}
		if copy(o.labels, o.classes); o.c != nil {
			for k := range o.labels {
				o.labels[k] = numerics.Dot64(o.c[k*o.m.Q:(k+1)*o.m.Q], o.classes)
			}
		}
		return
	}
	total := 0.0
	for _, v := range sums {
		total += float64(v)
	}
	for k, v := range sums {
		o.labels[k] = float64(v) / total
	}
	if copy(o.classes, o.labels); o.c != nil {
		unmixed(o.classes, o.labels, o.c, o.spare)
	}
}

// UnmixingRounds is how many rounds of EM unmix the shares of an example.
const UnmixingRounds = 50

// unmixed estimates the shares of the true classes from the shares of the labels, by C, Q×Q: EM
// from equal shares, p_t ← p_t·Σ_k s_k·C[k][t]/(C·p)_k. spare has room for Q numbers.
func unmixed(p, shares, c, spare []float64) {
	q := len(p)
	for t := range p {
		p[t] = 1 / float64(q)
	}
	for range UnmixingRounds {
		for k, s := range shares {
			row, mean := c[k*q:(k+1)*q], 0.0
			for t, v := range row {
				mean += float64(v * p[t])
			}
			if spare[k] = 0; mean > 0 {
				spare[k] = s / mean
			}
		}
		sum := 0.0
		for t := range p {
			v := 0.0
			for k, r := range spare {
				v += float64(r * c[k*q+t])
			}
			p[t] = float64(p[t] * v)
			sum += p[t]
		}
		if sum <= 0 {
			return
		}
		for t := range p {
			p[t] /= sum
		}
	}
}

// Probabilities turns sums of the trees, N×Q, into the probabilities of the true classes, and
// writes the labels' to noisy: by the confusion matrix c, nil for none.
func (m *Model) Probabilities(noisy, sums []float32, c []float64) {
	parallel.Ranges(len(sums)/m.Q, 256, func(from, to int) {
		o := newOutcome(m, c)
		for i := from; i < to; i++ {
			row := sums[i*m.Q : (i+1)*m.Q]
			o.of(row)
			for k := range row {
				row[k], noisy[i*m.Q+k] = float32(o.classes[k]), float32(o.labels[k])
			}
		}
	})
}
