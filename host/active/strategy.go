package active

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/versionspace"
)

// Strategy says which examples are worth a question.
type Strategy string

// The strategies. Examples where two classes contend are those with the least difference between
// the two largest scores, which of two classes is the distance to the boundary.
const (
	Random Strategy = "random" // any
	// where two classes contend in the model (Scheffer, Decomain and Wrobel 2001)
	Margin Strategy = "margin"
	// of the model's probabilities, the largest (Lewis and Gale 1994; Settles 2010)
	Entropy Strategy = "entropy"
	// expected length of the loss's gradient (Settles, Craven and Ray 2008)
	Change    Strategy = "change"
	Committee Strategy = "committee" // models of resampled labels disagree (Abe and Mamitsuka 1998)
	// where two classes contend at largest margin (Tong and Koller 2001, SIMPLE)
	SVM Strategy = "svm"
	// either label leaves a small version space (Tong and Koller 2001)
	MaxMin Strategy = "maxmin"
	Ratio  Strategy = "ratio" // either label leaves about as much of it (Tong and Koller 2001)
	// where two contend at the analytic centre (Trafalis and Malyscheff 2002)
	Analytic Strategy = "analytic"
	// where two contend at the centroid of the version space (Louche, Algorithm 10)
	BPM Strategy = "bpm"
)

// Strategies are all of them.
var Strategies = []Strategy{Random, Margin, Entropy, Change, Committee, SVM, MaxMin, Ratio,
	Analytic, BPM}

// needsModel says whether Ask looks at a model that Fit made.
func (s Strategy) needsModel() bool { return s == Margin || s == Entropy || s == Change }

// Options of Ask. Zero values mean the defaults.
type Options struct {
	Strategy Strategy // "" for Margin
	K        int      // how many examples to ask about; 0 for 10
	Seed     uint64   // of all random choices

	// Diversity, 0 to 1, is how much it counts against an example that it is like another one of the
	// same batch (Brinker 2003): of those that are worth most it is the share of the largest cosine
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
	// Centroid is how BPM samples, by HitAndRun or a billiard; its Seed does not count. Of the zero
	// value Angle is
	// 0.01, and MaxSteps 4096: of eight times as many the gain was within the error of six runs.
	Centroid  versionspace.Options
	HitAndRun bool

	Noise *confusion.Matrix // of the labels that the expert gives; nil if they are right
	Train host.Options      // of the models; Engine is required, by all but Random
}

// DefaultSlack is the Slack where labels contradict each other.
const DefaultSlack = 1. / 16

// Check says which option is out of its range, and what was wanted.
func (o Options) Check() error {
	switch {
	case o.Strategy != "" && !slices.Contains(Strategies, o.Strategy):
		names := make([]string, len(Strategies))
		for k, s := range Strategies {
			names[k] = string(s)
		}
		return fmt.Errorf("active: found the strategy %q, wanted %s", o.Strategy, strings.Join(names,
			", "))
	case o.K < 0:
		return fmt.Errorf("active: found %d examples to ask about, wanted 1 or more", o.K)
	case !(o.Diversity >= 0 && o.Diversity <= 1):
		return fmt.Errorf("active: found a diversity of %v, wanted 0 to 1", o.Diversity)
	case !(o.Balance >= 0 && o.Balance <= 1000):
		return fmt.Errorf("active: found a balance of %v, wanted 0 to 1000", o.Balance)
	case !(o.Slack >= 0 && o.Slack <= 1000):
		return fmt.Errorf("active: found a slack of %v, wanted 0 to 1000", o.Slack)
	case o.Members < 0 || o.Members == 1 || o.Members > 100:
		return fmt.Errorf("active: found a committee of %d, wanted 2 to 100 members", o.Members)
	case o.Tried < 0:
		return fmt.Errorf("active: found %d examples to try, wanted 1 or more", o.Tried)
	case o.Train.Engine == nil && o.Strategy != Random:
		return fmt.Errorf("active: found no engine, wanted one, such as simd.New or gpu.Open return")
	}
	return nil
}

func (o Options) filled() Options {
	o.Strategy = cmp.Or(o.Strategy, Margin)
	o.K, o.Members, o.Tried = cmp.Or(o.K, 10), cmp.Or(o.Members, 7), cmp.Or(o.Tried, 100)
	if o.Centroid.Angle == 0 {
		o.Centroid.Angle = 0.01
	}
	o.Centroid.MaxSteps = cmp.Or(o.Centroid.MaxSteps, 4096)
	return o
}

// Ask returns which examples to ask about, the one that is worth most first: K of those whose
// label is Unknown, or all that there are. As long as fewer than two classes have labels, it draws
// them at random. m is a model that Fit made of these labels, for strategies with needsModel;
// others may be given nil, and then Balance goes by what they themselves predict. Errors: those of
// Check, of host.Train and of the engine; a cancelled ctx.
func (p *Pool) Ask(ctx context.Context, o Options, m *model.Model) ([]int, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.filled()
	free := p.unasked()
	o.K = min(o.K, len(free))
	known := len(p.Labelled())
	if _, classes := p.counts(); classes < 2 || o.Strategy == Random {
		random := rand.New(rand.NewPCG(o.Seed, uint64(known)))
		random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
		return free[:o.K], nil
	}
	if m == nil && o.Strategy.needsModel() {
		return nil, fmt.Errorf("active: found no model, wanted one for strategy %s", o.Strategy)
	}
	w, err := p.judge(ctx, o, m, free)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.batch(o, w), nil
}

// AskBy returns what Ask does for SVM, Analytic and BPM, by weights that Centre returned for these
// labels and options.
func (p *Pool) AskBy(o Options, weights engine.Weights) ([]int, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.filled()
	w := worth{which: p.unasked()}
	o.K = min(o.K, len(w.which))
	if err := p.judgeByWeights(o, weights, &w); err != nil {
		return nil, err
	}
	return p.batch(o, w), nil
}

// worth is what questions are worth.
type worth struct {
	which     []int     // the examples, of which the others have one entry each
	value     []float64 // the larger the better
	tie       []float64 // decides between equal values
	predicted []int32
}

// judge says what a question about each of the examples free is worth.
func (p *Pool) judge(ctx context.Context, o Options, m *model.Model, free []int) (worth, error) {
	w := worth{which: free}
	switch o.Strategy {
	case Margin, Entropy, Change:
		return w, p.judgeByModel(o, m, &w)
	case Committee:
		return w, p.judgeByCommittee(ctx, o, &w)
	case MaxMin, Ratio:
		return w, p.judgeByHalves(ctx, o, &w)
	}
	weights, _, err := p.centre(ctx, o)
	if err != nil {
		return w, err
	}
	return w, p.judgeByWeights(o, weights, &w)
}
