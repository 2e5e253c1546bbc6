package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active/versionspace"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Strategy is a rule that chooses examples to label.
type Strategy string

// The strategies. The margin of an example is the difference between its two largest scores, which
// for two classes is its distance from the boundary.
const (
	Random  Strategy = "random"  // any example
	Margin  Strategy = "margin"  // least margin in the model (Scheffer, Decomain and Wrobel 2001)
	Entropy Strategy = "entropy" // largest entropy of the probabilities (Lewis and Gale 1994)
	SVM     Strategy = "svm"     // least margin at the largest ball (Tong and Koller 2001, SIMPLE)
	BPM     Strategy = "bpm"     // least margin at the centroid (Louche, Algorithm 10)
)

// Strategies are all of them.
var Strategies = []Strategy{Random, Margin, Entropy, SVM, BPM}

// Options of Ask. Zero values mean the defaults.
type Options struct {
	Strategy Strategy // default Margin
	K        int      // number of examples to choose; default 10
	Seed     uint64   // of all random choices

	// Diversity, 0 to 1, is the weight of an example's largest cosine with those already chosen for
	// the batch (Brinker 2003); its rank by value has the rest of the weight. Random ignores it.
	Diversity float64
	// Balance, 0 or more, is the weight against examples whose predicted class has many labels.
	Balance float64
	// Slack, 0 or more, is added to the squared length of each labelled example, as a share of the
	// mean squared length, so that the version space also has classifiers that are wrong about some
	// (Tong and Koller 2001, Section 3). With 0, DefaultSlack is used if no classifier is right about
	// all.
	Slack float64
	// Centroid configures the sampling of BPM; its Seed is ignored, Angle is 0.01 by default and
	// MaxSteps 4096: eight times as many gained less than the spread of six runs.
	Centroid versionspace.Options

	// Weights is the result of Centre for these labels and options; Ask computes it if it is empty.
	Weights engine.Weights

	Noise *confusion.Matrix // of the expert's labels; nil if they are right
	Train host.Options      // of the models; all strategies but Random need its Engine
}

// DefaultSlack is the Slack for labels that contradict each other.
const DefaultSlack = 1. / 16

// check returns an error about the first option out of its range.
func (o Options) check() error {
	if o.Strategy != "" && !slices.Contains(Strategies, o.Strategy) {
		return fmt.Errorf("active: strategy: got %q, want one of %s", o.Strategy, Strategies)
	}
	for _, c := range []struct {
		name               string
		value, least, most float64
	}{
		{"examples to ask about", float64(o.K), 0, 1e9},
		{"diversity", o.Diversity, 0, 1},
		{"balance", o.Balance, 0, 1000},
		{"slack", o.Slack, 0, 1000},
	} {
		if !(c.value >= c.least && c.value <= c.most) {
			return fmt.Errorf("active: %s: got %v, want %v to %v", c.name, c.value, c.least, c.most)
		}
	}
	if o.Train.Engine == nil && o.Strategy != Random {
		return errors.New("active: found no engine, wanted one, such as simd.New or gpu.Open return")
	}
	return nil
}

func (o Options) filled() Options {
	o.Strategy = cmp.Or(o.Strategy, Margin)
	o.K = cmp.Or(o.K, 10)
	o.Centroid.Angle = cmp.Or(o.Centroid.Angle, 0.01)
	o.Centroid.MaxSteps = cmp.Or(o.Centroid.MaxSteps, 4096)
	return o
}

// Ask chooses up to K examples whose label is Unknown, the most valuable first. It draws them at
// random until two classes have labels. Margin and Entropy need a model m that Fit returned for
// these labels. Errors: an option out of its range, errors from host.Train and from the engine, a
// cancelled ctx.
func (p *Pool) Ask(ctx context.Context, o Options, m *model.Model) ([]int, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o = o.filled()
	w := worth{which: p.where(func(y int32) bool { return y == Unknown })}
	o.K = min(o.K, len(w.which))
	if _, classes := p.counts(); classes < 2 || o.Strategy == Random {
		random, free := rand.New(rand.NewPCG(o.Seed, uint64(len(p.labelled())))), w.which
		random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
		return free[:o.K], nil
	}
	if err := p.judge(ctx, o, m, &w); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.batch(o, w), nil
}

// judge fills w according to the strategy.
func (p *Pool) judge(ctx context.Context, o Options, m *model.Model, w *worth) (err error) {
	switch o.Strategy {
	case Margin, Entropy:
		if m == nil {
			return fmt.Errorf("active: found no model, wanted one for strategy %s", o.Strategy)
		}
		return p.judgeByModel(o, m, w)
	}
	if o.Weights.W == nil {
		if o.Weights, _, err = p.centre(ctx, o); err != nil {
			return err
		}
	}
	return p.judgeByWeights(o, o.Weights, w)
}

// worth is the value of labels of some examples.
type worth struct {
	which     []int     // the examples; the other slices have an entry for each
	value     []float64 // the larger, the better
	tie       []float64 // breaks ties of value
	predicted []int32
}

// window·K examples are candidates for a batch of K.
const window = 10

// batch returns K examples. The next one always has the least cost among the candidates: a weighted
// sum of its rank by value, its largest cosine with those chosen before, and the number of labels
// that its predicted class has or would have by then.
func (p *Pool) batch(o Options, w worth) []int {
	order := lists.UpTo[int](len(w.which))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.value[b], w.value[a]), cmp.Compare(w.tie[b], w.tie[a]))
	})
	order = order[:min(len(order), window*o.K)]
	if o.Diversity == 0 && o.Balance == 0 {
		return lists.At(w.which, order[:o.K])
	}
	chosen := make([]int, 0, o.K)
	counts, _ := p.counts()
	cosines := make([]float64, len(order)) // the largest with a chosen example
	lengths := make([]float64, len(order))
	for at, k := range order {
		lengths[at] = p.length(w.which[k])
	}
	done := make([]bool, len(order))
	for range o.K {
		best, least, most := -1, 0.0, float64(max(1, slices.Max(counts)))
		for at, k := range order {
			if done[at] {
				continue
			}
			cost := float64((1 - o.Diversity) * float64(at) / float64(len(order)))
			cost += float64(o.Diversity * cosines[at])
			cost += float64(o.Balance * float64(counts[w.predicted[k]]) / most)
			if best < 0 || cost < least {
				best, least = at, cost
			}
		}
		done[best] = true
		i := w.which[order[best]]
		chosen = append(chosen, i)
		counts[w.predicted[order[best]]]++
		if o.Diversity == 0 {
			continue
		}
		for at, k := range order {
			if !done[at] {
				cosines[at] = max(cosines[at], p.inner(w.which[k], i)/float64(lengths[at]*lengths[best]))
			}
		}
	}
	return chosen
}
