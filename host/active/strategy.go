package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/versionspace"
)

// Strategy says which examples are worth a question.
type Strategy string

// The strategies. Examples where two classes contend are those with the least difference between
// the two largest scores, which of two classes is the distance to the boundary.
const (
	Random    Strategy = "random"    // any
	Margin    Strategy = "margin"    // two contend in the model (Scheffer, Decomain and Wrobel 2001)
	Entropy   Strategy = "entropy"   // of the probabilities, the largest (Lewis and Gale 1994)
	Change    Strategy = "change"    // expected length of the loss's gradient (Settles et al. 2008)
	Committee Strategy = "committee" // models of resampled labels disagree (Abe and Mamitsuka 1998)
	SVM       Strategy = "svm"       // two contend at largest margin (Tong and Koller 2001, SIMPLE)
	MaxMin    Strategy = "maxmin"    // either label leaves a small version space (ibid.)
	Ratio     Strategy = "ratio"     // either label leaves about as much of it (ibid.)
	Analytic  Strategy = "analytic"  // two contend at the analytic centre (Trafalis, Malyscheff 2002)
	BPM       Strategy = "bpm"       // two contend at the centroid (Louche, Algorithm 10)
)

// Strategies are all of them.
var Strategies = []Strategy{Random, Margin, Entropy, Change, Committee, SVM, MaxMin, Ratio,
	Analytic, BPM}

// Options of Ask. Zero values mean the defaults.
type Options struct {
	Strategy Strategy // "" for Margin
	K        int      // how many examples to ask about; 0 for 10
	Seed     uint64   // of all random choices

	// Diversity, 0 to 1, is how much it counts against an example that it is like another one of the
	// same batch (Brinker 2003): of the ones worth most it is the share of the largest cosine
	// in what is compared, and the rank has the rest. It means nothing to Random.
	Diversity float64
	// Balance, 0 or more, is how much it counts against an example that its predicted class has many
	// labels.
	Balance float64

	Members int // of the Committee; 0 for 7
	Tried   int // by MaxMin and Ratio: the examples that SVM would ask first; 0 for 100
	// Slack, 0 or more, is what is added to the squared length of each labelled example, as a share
	// of their mean, so that the version space also has classifiers that are wrong about some (Tong
	// and Koller 2001, Section 3). At 0 labels are believed as long as some classifier is right about
	// all of them, then DefaultSlack is taken.
	Slack float64
	// Centroid is how BPM samples; its Seed does not count. Of the zero value Angle is 0.01, and
	// MaxSteps 4096: of eight times as many the gain was within the error of six runs.
	Centroid versionspace.Options

	// Weights is what Centre returned for these labels and options, of SVM, Analytic and BPM;
	// empty to have Ask find them.
	Weights engine.Weights

	Noise *confusion.Matrix // of the labels that the expert gives; nil if they are right
	Train host.Options      // of the models; Engine is required, by all but Random
}

// DefaultSlack is the Slack where labels contradict each other.
const DefaultSlack = 1. / 16

// check says which option is out of its range, and what was wanted.
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
		{"members of the committee", float64(cmp.Or(o.Members, 2)), 2, 100},
		{"examples to try", float64(o.Tried), 0, 1e9},
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
	o.K, o.Members, o.Tried = cmp.Or(o.K, 10), cmp.Or(o.Members, 7), cmp.Or(o.Tried, 100)
	o.Centroid.Angle = cmp.Or(o.Centroid.Angle, 0.01)
	o.Centroid.MaxSteps = cmp.Or(o.Centroid.MaxSteps, 4096)
	return o
}

// Ask returns which examples to ask about, the one that is worth most first: K of those whose
// label is Unknown, or all of them if they are fewer. As long as fewer than two classes have
// labels, it draws them at random. m is a model that Fit made of these labels, for strategies
// that look at one; others may be given nil, and then Balance goes by what they themselves
// predict. Errors: an option out of its range; those of host.Train and of the engine; a cancelled
// ctx.
func (p *Pool) Ask(ctx context.Context, o Options, m *model.Model) ([]int, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o = o.filled()
	w := worth{which: p.are(func(y int32) bool { return y == Unknown })}
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

// judge fills w by the strategy.
func (p *Pool) judge(ctx context.Context, o Options, m *model.Model, w *worth) (err error) {
	switch o.Strategy {
	case Margin, Entropy, Change:
		if m == nil {
			return fmt.Errorf("active: found no model, wanted one for strategy %s", o.Strategy)
		}
		return p.judgeByModel(o, m, w)
	case Committee:
		return p.judgeByCommittee(ctx, o, w)
	case MaxMin, Ratio:
		return p.judgeByHalves(ctx, o, w)
	}
	if o.Weights.W == nil {
		if o.Weights, _, err = p.centre(ctx, o); err != nil {
			return err
		}
	}
	return p.judgeByWeights(o, o.Weights, w)
}

// worth is what questions are worth.
type worth struct {
	which     []int     // the examples; the others have one entry for each
	value     []float64 // the larger the better
	tie       []float64 // decides between equal values
	predicted []int32
}

// window is how many times as many examples as are asked about may be part of a batch.
const window = 10

// batch returns the K examples to ask about: the first is worth most, and each other one costs
// least of the best 10·K, by its rank among these, by the largest cosine with those chosen before,
// and by how many labels its predicted class has or would have by then.
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
	alike := make([]float64, len(order)) // the largest cosine with a chosen one
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
			cost += float64(o.Diversity * alike[at])
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
				alike[at] = max(alike[at], p.inner(w.which[k], i)/float64(lengths[at]*lengths[best]))
			}
		}
	}
	return chosen
}
