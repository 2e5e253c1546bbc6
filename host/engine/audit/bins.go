package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// bins are binned examples on the audited driver. At level full the other driver has them too, and
// all results are compared. A sample takes no time to speak of: the scores of some examples are
// computed here, every feature of a histogram must have the same totals, and the children of a node
// all its examples.
type bins struct {
	a     *driver
	b     dataset.Binned
	q     int
	found engine.LoadedBins
	other engine.LoadedBins // at level full, else nil

	growth engine.Growth
	counts map[int]int64 // examples of each node
	which  []int         // the examples whose scores are known
	scores []float32
}

// sampledExamples is how many scores are known.
const sampledExamples = 32

// LoadBins loads examples on the audited driver and, if everything is audited, on the other one.
func (a *driver) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	found, err := a.Driver.LoadBins(b, q, all)
	if err != nil {
		return nil, err
	}
	l := &bins{a: a, b: b, q: q, found: found}
	if a.full {
		if l.other, err = a.by.LoadBins(b, q, all); err != nil {
			return nil, errors.Join(err, found.Close())
		}
	}
	for range sampledExamples {
		l.which = append(l.which, rand.IntN(b.N))
	}
	l.scores = make([]float32, len(l.which)*q)
	return l, nil
}

// both returns the error of the audited driver or else, if it is there, of the other one.
func (l *bins) both(err error, repeat func(engine.LoadedBins) error) error {
	if err != nil || l.other == nil {
		return err
	}
	return repeat(l.other)
}

func (l *bins) SetTargets(t engine.Targets) error {
	return l.both(l.found.SetTargets(t), func(r engine.LoadedBins) error { return r.SetTargets(t) })
}

func (l *bins) Gradients() (engine.Evaluation, error) {
	found, err := l.found.Gradients()
	return found, l.both(err, func(r engine.LoadedBins) error {
		want, err := r.Gradients()
		if err == nil && found != want {
			err = named("gradients", differs("loss and refused examples", found, want))
		}
		return err
	})
}

func (l *bins) Start(g engine.Growth) error {
	l.growth, l.counts = g, map[int]int64{0: int64(l.b.N)}
	for _, m := range g.Times {
		if m == 0 {
			l.counts[0]--
		}
	}
	return l.both(l.found.Start(g), func(r engine.LoadedBins) error { return r.Start(g) })
}

func (l *bins) Histogram(dst []int64, node int, features []int) error {
	err := l.both(l.found.Histogram(dst, node, features), func(r engine.LoadedBins) error {
		want := make([]int64, len(dst))
		return cmp.Or(r.Histogram(want, node, features),
			named("a histogram", same(fmt.Sprintf("sums of node %d", node), dst, want)))
	})
	if err != nil {
		return err
	}
	return named("a histogram", l.checkTotals(dst, features))
}

// checkTotals compares the totals of all features.
func (l *bins) checkTotals(sums []int64, features []int) error {
	width := l.growth.Width(l.q)
	var first []int64
	for _, f := range features {
		totals := make([]int64, width)
		for range l.b.Counts[f] {
			for c := range totals {
				totals[c] += sums[c]
			}
			sums = sums[width:]
		}
		if first == nil {
			first = totals
		}
		if err := same(fmt.Sprintf("totals of feature %d, those of feature %d", f, features[0]), totals,
			first); err != nil {
			return err
		}
	}
	return nil
}

func (l *bins) Split(node, feature int, left engine.BinSet, children [2]int) ([2]int64, error) {
	counts, err := l.found.Split(node, feature, left, children)
	err = l.both(err, func(r engine.LoadedBins) error {
		want, err := r.Split(node, feature, left, children)
		return cmp.Or(err, named("a split", same("examples of children", counts[:], want[:])))
	})
	if sum := counts[0] + counts[1]; err == nil && sum != l.counts[node] {
		err = named("a split", differs(fmt.Sprintf("examples of the children of node %d", node), sum,
			l.counts[node]))
	}
	l.counts[children[0]], l.counts[children[1]] = counts[0], counts[1]
	return counts, err
}

func (l *bins) Add(t engine.Tree, class int) error {
	for k, i := range l.which {
		leaf, scores := t.Leaf(l.b, i), l.scores[k*l.q:(k+1)*l.q]
		for c := range scores {
			if class < 0 {
				scores[c] += t.Values[leaf*l.q+c]
			} else if c == class {
				scores[c] += t.Values[leaf]
			}
		}
	}
	return l.both(l.found.Add(t, class), func(r engine.LoadedBins) error {
		return r.Add(t, class)
	})
}

// Scores compares the scores that are known, or all.
func (l *bins) Scores(dst []float32, from, to int) error {
	err := l.both(l.found.Scores(dst, from, to), func(r engine.LoadedBins) error {
		want := make([]float32, len(dst))
		return cmp.Or(r.Scores(want, from, to), named("scores", same("scores of trees", dst, want)))
	})
	for k, i := range l.which {
		if err == nil && i >= from && i < to {
			err = named("scores", same(fmt.Sprintf("scores of trees of example %d", i),
				dst[(i-from)*l.q:(i-from+1)*l.q], l.scores[k*l.q:(k+1)*l.q]))
		}
	}
	return err
}

func (l *bins) Close() error {
	err := l.found.Close()
	if l.other != nil {
		err = errors.Join(err, l.other.Close())
	}
	return err
}
