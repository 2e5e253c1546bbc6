package exchange

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// regressor has the attributes of a TreeEnsembleRegressor under way. A node asks whether a number
// is below a cut; what a node asks of a category is a column of its own, 1 or 0.
type regressor struct {
	trees, nodes, features, yes, no, missing []int
	modes                                    []string
	cuts                                     []float32

	targetTrees, targetNodes, targets []int
	weights                           []float32

	model *ensemble.Model
	d     int              // features before the columns of questions
	asked map[question]int // the column of each
	order []question       // by column
}

// question is what nodes ask of a category: whether its bin is in a set.
type question struct {
	column int32
	bins   engine.BinSet
}

// trees adds the scores of trees for features x, of the confusion matrix c.
func (g *graph) trees(m *ensemble.Model, x string, d int, c []float64) string {
	if !m.Unmix {
		c = nil
	}
	e := &regressor{model: m, d: d, asked: map[question]int{}}
	for t := range m.Trees {
		e.add(t)
	}
	answers := []string(nil)
	if len(e.order) > 0 {
		answers = append(answers, g.questions(e, x))
	}
	if x = g.gaps(m, x, d); answers != nil {
		x = g.node("", "Concat", append([]string{x}, answers...), attribute{"axis", 1})
	}
	sums := g.node("", "TreeEnsembleRegressor", []string{x},
		attribute{"aggregate_function", "SUM"}, attribute{"base_values", m.Base},
		attribute{"n_targets", m.Q},
		attribute{"nodes_falsenodeids", e.no}, attribute{"nodes_featureids", e.features},
		attribute{"nodes_missing_value_tracks_true", e.missing}, attribute{"nodes_modes", e.modes},
		attribute{"nodes_nodeids", e.nodes}, attribute{"nodes_treeids", e.trees},
		attribute{"nodes_truenodeids", e.yes}, attribute{"nodes_values", e.cuts},
		attribute{"post_transform", "NONE"}, attribute{"target_ids", e.targets},
		attribute{"target_nodeids", e.targetNodes}, attribute{"target_treeids", e.targetTrees},
		attribute{"target_weights", e.weights})
	if m.Mode == ensemble.Boost {
		return sums
	}
	return g.shares(sums, m.Q, c)
}

// treesSize returns about how many bytes trees of d features take.
func treesSize(m *ensemble.Model, d int) int64 {
	size, asked := int64(0), map[question]bool{}
	for t := range m.Trees {
		tree := &m.Trees[t]
		size = memory.Sum(size, memory.Product(len(tree.Nodes), 96), memory.Product(len(tree.Values), 24))
		for k := range tree.Nodes {
			if n := &tree.Nodes[k]; m.Columns[n.Feature].Levels != nil {
				asked[question{n.Feature, n.Left}] = true
			}
		}
	}
	return memory.Sum(size, memory.Product(len(asked), d, 4))
}

// add adds a tree: node k of the model is node k here, and leaf l comes after all nodes.
func (e *regressor) add(t int) {
	tree := &e.model.Trees[t]
	id := func(child int32) int {
		if child < 0 {
			return len(tree.Nodes) + int(^child)
		}
		return int(child)
	}
	for k := range tree.Nodes {
		n := &tree.Nodes[k]
		column := &e.model.Columns[n.Feature]
		yes, no, missing := id(n.Children[0]), id(n.Children[1]), 0
		feature, cut := column.Feature, float32(0.5)
		if column.Levels == nil {
			var with bool
			if cut, with = e.model.Cut(n); with {
				missing = 1
			}
		} else {
			feature = e.ask(question{n.Feature, n.Left})
			yes, no = no, yes // the answer is below the cut where it is no
		}
		e.node(t, k, "BRANCH_LT", feature, yes, no, missing, cut)
	}
	width := len(tree.Values) / (len(tree.Nodes) + 1)
	for l := range len(tree.Nodes) + 1 {
		e.node(t, len(tree.Nodes)+l, "LEAF", 0, 0, 0, 0, 0)
		for k, v := range tree.Values[l*width : (l+1)*width] {
			target := k
			if class := e.model.Class[t]; class >= 0 {
				target = int(class)
			}
			e.targetTrees = append(e.targetTrees, t)
			e.targetNodes = append(e.targetNodes, len(tree.Nodes)+l)
			e.targets, e.weights = append(e.targets, target), append(e.weights, v)
		}
	}
}

func (e *regressor) node(tree, id int, mode string, feature, yes, no, missing int, cut float32) {
	e.trees, e.nodes = append(e.trees, tree), append(e.nodes, id)
	e.modes, e.features = append(e.modes, mode), append(e.features, feature)
	e.yes, e.no = append(e.yes, yes), append(e.no, no)
	e.missing, e.cuts = append(e.missing, missing), append(e.cuts, cut)
}

// ask returns the column of a question.
func (e *regressor) ask(q question) int {
	at, known := e.asked[q]
	if !known {
		at = e.d + len(e.order)
		e.asked[q], e.order = at, append(e.order, q)
	}
	return at
}

// gaps puts NaN where a feature says that a number is missing.
func (g *graph) gaps(m *ensemble.Model, x string, d int) string {
	says := slices.Repeat([]int64{int64(d)}, d) // the feature that says so: a column of zeros
	for k := range m.Columns {
		if c := &m.Columns[k]; c.Levels == nil && c.Missing >= 0 {
			says[c.Feature] = int64(c.Missing)
		}
	}
	if !slices.ContainsFunc(says, func(at int64) bool { return at < int64(d) }) {
		return x
	}
	pads := constant(g, "trees.pads", []int64{0, 0, 0, 1}, 4)
	padded := g.node("", "Pad", []string{x, pads, constant(g, "trees.zero", []float32{0})})
	missing := g.node("", "Gather", []string{padded, constant(g, "trees.says", says, d)},
		attribute{"axis", 1})
	is := g.node("", "Greater", []string{missing, constant(g, "trees.half", []float32{0.5})})
	nan := constant(g, "trees.missing", []float32{float32(math.NaN())})
	return g.node("", "Where", []string{is, nan, x})
}

// questions adds the answers to the questions, a column each: the sum of the levels in the set; or
// 1 less the sum of the others, if no level is in it too.
func (g *graph) questions(e *regressor, x string) string {
	rows, offsets := make([]float32, len(e.order)*e.d), make([]float32, len(e.order))
	for k, q := range e.order {
		c, side := &e.model.Columns[q.column], float32(1)
		none := q.bins.Has(0)
		if none {
			offsets[k], side = 1, -1
		}
		for l, bin := range c.Levels {
			if q.bins.Has(uint8(bin)) != none {
				rows[k*e.d+c.Feature+l] = side
			}
		}
	}
	return g.node("", "Gemm", []string{x, constant(g, "trees.questions", rows, len(e.order), e.d),
		constant(g, "trees.offsets", offsets, len(e.order))}, attribute{"transB", 1})
}

// shares adds the logarithms of the shares of true classes from the sums of a forest: unmixed by c
// unless that is nil.
func (g *graph) shares(sums string, q int, c []float64) string {
	along := []attribute{{"axes", []int{1}}, {"keepdims", 1}}
	toOne := func(v string) string {
		return g.node("", "Div", []string{v, g.node("", "ReduceL1", []string{v}, along...)})
	}
	labels := toOne(g.cast(sums, typeDouble))
	p := labels
	if c != nil {
		turned := make([]float64, len(c))
		for k := range q {
			for t := range q {
				turned[t*q+k] = c[k*q+t]
			}
		}
		rows, columns := constant(g, "trees.c", c, q, q), constant(g, "trees.turned", turned, q, q)
		least := constant(g, "trees.least", []float64{math.SmallestNonzeroFloat64})
		nothing := constant(g, "trees.nothing", []float64{0})
		equal := constant(g, "trees.equal", []float64{1 / float64(q)})
		p = g.node("", "Add", []string{g.node("", "Mul", []string{labels, nothing}), equal})
		for range ensemble.UnmixingRounds {
			mean := g.node("", "Gemm", []string{p, rows}, attribute{"transB", 1})
			mean = g.node("", "Max", []string{mean, least})
			ratio := g.node("", "Div", []string{labels, mean})
			factor := g.node("", "Gemm", []string{ratio, columns}, attribute{"transB", 1})
			p = toOne(g.node("", "Mul", []string{p, factor}))
		}
	}
	least := constant(g, "trees.least_share", []float32{ensemble.LeastShare})
	return g.node("", "Log", []string{g.node("", "Max", []string{g.cast(p, typeFloat), least})})
}
