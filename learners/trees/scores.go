package trees

import (
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
	const block = 1 << 12
	for start := 0; start < x.N; start += block {
		end := min(start+block, x.N)
		part := dst[start*m.Q : end*m.Q]
		for at := 0; at < len(part); at += m.Q {
			copy(part[at:], m.Base)
		}
		m.add(part, bin(m.Columns, x.Part(start, end)), nil)
		if m.Mode == Forest {
			m.logs(part, c)
		}
	}
}

// logs turns the sums of a forest, N×Q, into logarithms of the shares of true classes.
func (m *Model) logs(sums []float32, c []float64) {
	parallel.Ranges(len(sums)/m.Q, 256, func(from, to int) {
		o := newOutcome(m, c)
		for i := from; i < to; i++ {
			row := sums[i*m.Q : (i+1)*m.Q]
			o.of(row)
			for k, v := range o.classes {
				row[k] = numerics.Log(max(float32(v), leastShare))
			}
		}
	})
}

// leastShare is the share of a class that scores of a forest tell from 0.
const leastShare = 0x1p-20

// add adds to sums, N×Q, what the trees say of examples. times, if not nil, writes how often
// examples from..to-1 are in the sample of a tree: it says nothing of examples in it.
func (m *Model) add(sums []float32, b dataset.Binned,
	times func(dst []uint8, tree, from, to int)) {
	parallel.Ranges(b.N, 64, func(from, to int) {
		var inBag []uint8
		if times != nil {
			inBag = make([]uint8, to-from)
		}
		for t := range m.Trees {
			tree, class := &m.Trees[t], int(m.Class[t])
			if times != nil {
				times(inBag, t, from, to)
			}
			for i := from; i < to; i++ {
				if inBag != nil && inBag[i-from] > 0 {
					continue
				}
				leaf := reached(tree, b, i)
				if class >= 0 {
					sums[i*m.Q+class] += tree.Values[leaf]
					continue
				}
				row := sums[i*m.Q : (i+1)*m.Q]
				for k, v := range tree.Values[leaf*m.Q : (leaf+1)*m.Q] {
					row[k] += v
				}
			}
		}
	})
}

// reached returns the leaf that an example reaches.
func reached(t *engine.Tree, b dataset.Binned, i int) int {
	at := int32(-1)
	if len(t.Nodes) > 0 {
		at = 0
	}
	for at >= 0 {
		n := &t.Nodes[at]
		side := 1
		if n.Left.Has(b.Bins[int(n.Feature)*b.N+i]) {
			side = 0
		}
		at = n.Children[side]
	}
	return int(^at)
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
