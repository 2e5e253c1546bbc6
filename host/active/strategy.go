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
)

// Strategy is a rule that chooses examples to label.
type Strategy string

// The strategies. The margin of an example is the difference between its two largest scores, which
// for two classes is its distance from the boundary.
const (
	Random Strategy = "random" // any example
	Margin Strategy = "margin" // least margin in the model (Scheffer, Decomain and Wrobel 2001)
	SVM    Strategy = "svm"    // least margin at the largest ball (Tong and Koller 2001, SIMPLE)
	BPM    Strategy = "bpm"    // least margin at the centroid (Louche, Algorithm 10)
)

// Strategies are all of them.
var Strategies = []Strategy{Random, Margin, SVM, BPM}

// Options of Ask. Zero values mean the defaults.
type Options struct {
	Strategy Strategy // default Margin
	K        int      // number of examples to choose; default 10
	Seed     uint64   // of all random choices

	// Slack, 0 or more, is added to the squared length of each labelled example, as a share of the
	// mean squared length, so that the version space also has classifiers that are wrong about some
	// (Tong and Koller 2001, Section 3). With 0, DefaultSlack is used if no classifier is right about
	// all.
	Slack float64
	// Steps is the number of bounces that BPM samples, 4096 by default. 32,768 bounces gained less
	// than the spread of six runs.
	Steps int

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
	if o.K < 0 {
		return fmt.Errorf("active: examples to ask about: got %d, want at least 0", o.K)
	}
	if !(o.Slack >= 0 && o.Slack <= 1000) {
		return fmt.Errorf("active: slack: got %v, want 0 to 1000", o.Slack)
	}
	if o.Train.Engine == nil && o.Strategy != Random {
		return errors.New("active: found no engine, wanted one, such as simd.New or gpu.Open return")
	}
	return nil
}

func (o Options) filled() Options {
	o.Strategy = cmp.Or(o.Strategy, Margin)
	o.K = cmp.Or(o.K, 10)
	o.Steps = cmp.Or(o.Steps, 4096)
	return o
}

// Ask chooses up to K examples whose label is Unknown, the most valuable first. It draws them at
// random until two classes have labels. Margin needs a model m that Fit returned for these labels.
// Errors: an option out of its range, errors from host.Train and from the engine, a cancelled ctx.
func (p *Pool) Ask(ctx context.Context, o Options, m *model.Model) ([]int, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o = o.filled()
	free := p.where(func(y int32) bool { return y == Unknown })
	o.K = min(o.K, len(free))
	if p.classes() < 2 || o.Strategy == Random {
		random := rand.New(rand.NewPCG(o.Seed, uint64(len(p.labelled()))))
		random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
		return free[:o.K], nil
	}
	margins, err := p.margins(ctx, o, m)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(margins[a], margins[b]) })
	return free[:o.K], ctx.Err()
}

// margins returns the difference between the two largest scores of each example, by the model or
// by the centres of version spaces. There example i, scaled to length 1, is the plane ⟨v, x_i⟩ = 0
// among the classifiers v, and its margin is the distance of the centre from it.
func (p *Pool) margins(ctx context.Context, o Options, m *model.Model) (margins []float64,
	err error) {
	weights := o.Weights
	switch {
	case o.Strategy == Margin && m == nil:
		return nil, errors.New("active: found no model, wanted one for strategy margin")
	case o.Strategy == Margin:
		weights = engine.Weights{Q: m.Q, D: m.D, W: m.W}
	case weights.W == nil:
		if weights, _, err = p.Centre(ctx, o); err != nil {
			return nil, err
		}
	}
	scores, err := engine.Scores(o.Train.Engine, weights, p.Examples)
	if err != nil {
		return nil, err
	}
	margins = make([]float64, p.Examples.N)
	for i := range margins {
		margins[i] = margin(scores[i*weights.Q : (i+1)*weights.Q])
		if o.Strategy != Margin {
			margins[i] /= p.length(i)
		}
	}
	return margins, nil
}

// margin returns the difference between the two largest of at least two scores.
func margin(row []float32) float64 {
	first, second := row[0], row[1]
	if second > first {
		first, second = second, first
	}
	for _, s := range row[2:] {
		if s > first {
			first, second = s, first
		} else if s > second {
			second = s
		}
	}
	return float64(first) - float64(second)
}
