package trees_test

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// twin grows trees by the clauses of the contract, in the slowest and plainest way: it shares no
// code with the learner.
type twin struct {
	seed     uint64
	q        int
	p        trees.Params
	y        []int32
	c        []float64 // confusion matrix
	bins     [][]int   // of each column, of each example
	counts   []int     // bins of each column
	category []bool
}

func (w *twin) random(stream, tree, index int) uint64 {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	z := w.seed
	for _, v := range []int{stream, tree, index} {
		z = mix(z + uint64(v)*0x9e3779b97f4a7c15)
	}
	return z
}

// numberBins returns the bins of a column of numbers, and how many there are; NaN is missing.
func numberBins(v []float32) ([]int, int) {
	count := map[float64]int{}
	var values []float64
	for _, x := range v {
		if x == x {
			if count[float64(x)]++; count[float64(x)] == 1 {
				values = append(values, float64(x))
			}
		}
	}
	sort.Float64s(values)
	rest, left, since := 0, 255, 0
	for _, n := range count {
		rest += n
	}
	var cuts []float64
	for k := 0; k+1 < len(values) && left > 1; k++ {
		since += count[values[k]]
		if len(values) <= 255 || (2*since+count[values[k+1]])*left > 2*rest {
			middle := float64(float32((values[k] + values[k+1]) / 2))
			if middle == values[k] {
				middle = values[k+1]
			}
			cuts, rest, left, since = append(cuts, middle), rest-since, left-1, 0
		}
	}
	bins := make([]int, len(v))
	for i, x := range v {
		if x == x {
			bins[i] = 1
			for _, c := range cuts {
				if c <= float64(x) {
					bins[i]++
				}
			}
		}
	}
	return bins, len(cuts) + 2
}

// part is a set of examples, each as often as it counts.
type part struct {
	rows         []int
	times        []int
	gain         float64
	feature      int
	left         [256]bool
	node, parent int // parent: 2·node + side
}

// sums returns what value returns of the examples in a set of bins, k = 0 … width-1.
func (w *twin) sums(p *part, f int, in func(bin int) bool, width int,
	value func(i, k int) int64) []int64 {
	s := make([]int64, width)
	for m, i := range p.rows {
		if in(w.bins[f][i]) {
			for k := range s {
				s[k] += int64(p.times[m]) * value(i, k)
			}
		}
	}
	return s
}

// search finds the best split of a part among features. score is of the sums of a part, and allowed
// whether it may be one; slope sorts levels.
func (w *twin) search(p *part, features []int, width int, value func(i, k int) int64,
	score func(s []int64, category bool) float64, size func(s []int64) float64,
	slope func(bin, all []int64) float64, luck func(all []int64) float64, least float64) {
	for _, f := range features {
		all := w.sums(p, f, func(int) bool { return true }, width, value)
		of := func(b int) []int64 {
			return w.sums(p, f, func(bin int) bool { return bin == b }, width, value)
		}
		var order []int // bins in the order of cuts
		for b := range w.counts[f] {
			if present := size(of(b)) > 0; b > 0 && !w.category[f] || present && w.category[f] {
				order = append(order, b)
			}
		}
		if w.category[f] {
			sort.SliceStable(order, func(a, b int) bool {
				return slope(of(order[a]), all) < slope(of(order[b]), all)
			})
		}
		gaps := !w.category[f] && size(of(0)) > 0
		for n := 1; n <= len(order); n++ {
			for _, missing := range []bool{false, true} {
				if missing && !gaps {
					continue
				}
				left := [256]bool{}
				for _, b := range order[:n] {
					left[b] = true
				}
				if missing {
					left[0] = true
				}
				l := w.sums(p, f, func(b int) bool { return left[b] }, width, value)
				r := slices.Clone(all)
				for k := range r {
					r[k] -= l[k]
				}
				if size(l) < least || size(r) < least {
					continue
				}
				whole := score(all, w.category[f])
				gain := score(l, w.category[f]) + score(r, w.category[f]) - whole
				if gain <= float64(1e-9*whole) {
					continue
				}
				if w.category[f] && len(order) > 6 {
					gain -= float64(float64(len(order)-6) * luck(all))
				}
				if gain <= p.gain {
					continue
				}
				if larger := 2*size(l) > size(all); larger && !gaps {
					for b := range w.counts[f] { // without examples here
						if !slices.Contains(order, b) {
							left[b] = true
						}
					}
				}
				p.gain, p.feature, p.left = gain, f, left
			}
		}
	}
}

// grow grows a tree, and returns it without values, and the examples of each leaf.
func (w *twin) grow(root *part, leaves int, search func(p *part)) (engine.Tree, []*part) {
	var tree engine.Tree
	root.parent = -1
	parts := []*part{root}
	search(root)
	for len(parts) < leaves {
		best := 0
		for k, p := range parts {
			if p.gain > parts[best].gain {
				best = k
			}
		}
		p := parts[best]
		if p.gain == 0 {
			break
		}
		at := len(tree.Nodes)
		node := engine.Node{Feature: int32(p.feature)}
		for b, is := range p.left {
			if is {
				node.Left[b/64] |= 1 << (b % 64)
			}
		}
		tree.Nodes = append(tree.Nodes, node)
		if p.parent >= 0 {
			tree.Nodes[p.parent/2].Children[p.parent%2] = int32(at)
		}
		children := [2]*part{{node: 2*at + 1, parent: 2 * at}, {node: 2*at + 2, parent: 2*at + 1}}
		for m, i := range p.rows {
			c := children[1]
			if p.left[w.bins[p.feature][i]] {
				c = children[0]
			}
			c.rows, c.times = append(c.rows, i), append(c.times, p.times[m])
		}
		parts[best] = children[0]
		parts = append(parts, children[1])
		search(children[0])
		search(children[1])
	}
	for k, p := range parts {
		if p.parent >= 0 {
			tree.Nodes[p.parent/2].Children[p.parent%2] = ^int32(k)
		}
	}
	return tree, parts
}

// draw returns count features from place from on of the random order of a tree's node.
func (w *twin) draw(order []int, tree, node, from, count int) []int {
	n := len(order)
	for k := from; k < min(from+count, n); k++ {
		high, _ := bits.Mul64(w.random(2, tree, node*n+k), uint64(n-k))
		order[k], order[k+int(high)] = order[k+int(high)], order[k]
	}
	some := slices.Clone(order[from:min(from+count, n)])
	slices.Sort(some)
	return some
}

func upTo(n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	return list
}

// bag returns the examples of a tree.
func (w *twin) bag(tree int, times func(r uint64) int) *part {
	p := &part{}
	for i := range w.y {
		if m := times(w.random(1, tree, i)); m > 0 {
			p.rows, p.times = append(p.rows, i), append(p.times, m)
		}
	}
	return p
}

// boost returns the trees of boosting, from scores that begin with base.
func (w *twin) boost(base []float32) (grown []engine.Tree) {
	n, q := len(w.y), w.q
	scores := make([][]float32, n)
	for i := range scores {
		scores[i] = slices.Clone(base)
	}
	for range w.p.Rounds {
		g, h := make([][]int64, n), make([][]int64, n)
		for i, s := range scores {
			a, t, p := make([]float32, q), make([]float32, q), make([]float32, q)
			for k := range t {
				t[k] = float32(math.Inf(-1))
				if v := float32(w.c[int(w.y[i])*q+k]); v > 0 {
					t[k] = numerics.Log(v)
				}
			}
			numerics.Residuals(a, slices.Clone(t), s, t, 1, false)
			numerics.Softmax(p, s)
			for k := range p {
				g[i] = append(g[i], int64(math.RoundToEven(float64(a[k])*0x1p18)))
				h[i] = append(h[i], int64(math.RoundToEven(float64(float32(p[k]*(1-p[k])))*0x1p18)))
			}
		}
		for class := range q {
			if q == 2 && class == 0 {
				continue
			}
			number := len(grown)
			root := w.bag(number, func(r uint64) int {
				if float64(r>>32) < w.p.Rows*0x1p32 {
					return 1
				}
				return 0
			})
			f := len(w.bins)
			features := w.draw(upTo(f), number, 0, 0, max(1, int(math.Round(w.p.Columns*float64(f)))))
			value := func(i, k int) int64 { return [2]int64{g[i][class], h[i][class]}[k] }
			newton := func(s []int64, more float64) float64 {
				v := float64(s[0]) * 0x1p-18
				return float64(v*v) / (float64(s[1])*0x1p-18 + more)
			}
			tree, parts := w.grow(root, w.p.Leaves, func(p *part) {
				w.search(p, features, 2, value, func(s []int64, category bool) float64 {
					if category {
						return newton(s, w.p.L2+10)
					}
					return newton(s, w.p.L2)
				}, func(s []int64) float64 { return float64(s[1]) * 0x1p-18 },
					func(s, _ []int64) float64 {
						return float64(s[0]) * 0x1p-18 / (float64(s[1])*0x1p-18 + 10)
					}, func([]int64) float64 { return 0.64 }, max(0x1p-18, w.p.Least))
			})
			for _, p := range parts {
				s := w.sums(p, 0, func(int) bool { return true }, 2, value)
				tree.Values = append(tree.Values, float32(-float64(w.p.Rate*(float64(s[0])*0x1p-18))/
					(float64(s[1])*0x1p-18+w.p.L2)))
			}
			for i := range scores {
				scores[i][class] += tree.Values[w.leaf(tree, i)]
			}
			grown = append(grown, tree)
		}
	}
	return grown
}

// leaf returns the leaf that an example reaches.
func (w *twin) leaf(t engine.Tree, i int) int {
	if len(t.Nodes) == 0 {
		return 0
	}
	at := 0
	for at >= 0 {
		n := t.Nodes[at]
		b := w.bins[n.Feature][i]
		at = int(n.Children[1-n.Left[b/64]>>(b%64)&1])
	}
	return ^at
}

// forest returns the trees of a forest.
func (w *twin) forest() (grown []engine.Tree) {
	for number := range w.p.Rounds {
		root := w.bag(number, func(r uint64) int {
			share, term, m := math.Exp(-1), math.Exp(-1), 0
			for m < 8 && float64(r>>32) >= math.Round(share*0x1p32) {
				m++
				term /= float64(m)
				share += term
			}
			return m
		})
		f := len(w.bins)
		value := func(i, k int) int64 {
			if int(w.y[i]) == k {
				return 1
			}
			return 0
		}
		size := func(s []int64) (n float64) {
			for _, v := range s {
				n += float64(v)
			}
			return n
		}
		tree, parts := w.grow(root, w.p.Leaves, func(p *part) {
			order, count := upTo(f), max(1, int(math.Round(w.p.Columns*float64(f))))
			purity := func(s []int64, _ bool) (sum float64) {
				for _, v := range s {
					sum += float64(v) * float64(v)
				}
				return sum / size(s)
			}
			for from := 0; from < f && p.gain == 0; from += count {
				features := w.draw(order, number, p.node, from, count)
				w.search(p, features, w.q, value, purity, size, func(s, all []int64) float64 {
					most := 0
					for k, v := range all {
						if v > all[most] {
							most = k
						}
					}
					return float64(s[most]) / size(s)
				}, func(all []int64) float64 {
					return 2 * (1 - float64(purity(all, true)/size(all)))
				}, max(1, w.p.Least))
			}
		})
		for _, p := range parts {
			s := w.sums(p, 0, func(int) bool { return true }, w.q, value)
			for _, v := range s {
				tree.Values = append(tree.Values, float32(float64(v)/max(1, size(s))))
			}
		}
		grown = append(grown, tree)
	}
	return grown
}
