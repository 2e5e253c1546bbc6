package clean

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// base is a kind of model that predicts labels.
type base struct {
	name string
	able func(c *contest) bool
	// learn returns scores of each example of the contest by models that have not seen its fold:
	// logarithms of probabilities but for a temperature and a constant, n×Q.
	learn func(ctx context.Context, c *contest, repetition int, fold []int) ([]float32, error)
	// beyond returns scores of examples of data outside the contest; nil if it cannot.
	beyond func(ctx context.Context, c *contest, some []int) ([]float32, error)
	like   kind // the model that Learn learns where this base is most of the mixture
	// corrects says that a given matrix corrects the learning: scores are then of the true classes.
	corrects bool
}

// kind is a kind of model.
type kind int

const (
	isLinear kind = iota
	isCurved
	isTrees
)

// Features up to which nearest neighbours, curved models and trees compete.
const (
	nearFeatures = 1000
	mostFeatures = 4000
)

// treeClasses bounds the classes of boosting, which grows a tree for each.
const treeClasses = 40

var bases = []base{
	{"linear", func(*contest) bool { return true }, linear, fromModels("linear"), isLinear, true},
	{"curved", dense(mostFeatures), curved, fromModels("curved"), isCurved, true},
	{"neighbours", func(c *contest) bool { return c.near != nil }, byNeighbours, nil, isCurved, false},
	{"forest", dense(mostFeatures), grown(forest), fromTrees(forest), isTrees, false},
	{"boosting", func(c *contest) bool { return dense(mostFeatures)(c) && c.q <= treeClasses },
		grown(boosting), fromTrees(boosting), isTrees, false},
}

func dense(most int) func(c *contest) bool {
	return func(c *contest) bool { return !c.data.Sparse() && c.data.D <= most }
}

// fitted is what the repetitions of a base share.
type fitted struct {
	settled learners.Params // by the search of the first fold
	gamma   float32         // of the kernel
	models  []*model.Model  // of the folds of the first repetition
	trees   *ensemble.Model // the forest of the first repetition
	temper  float32         // the temperature of their scores; 0 of scores that predict nothing
}

// leastSettled is the size of a contest from which one fold chooses the parameters of all.
const leastSettled = 300

// landmarks of the kernel, in the contest and of the model.
const (
	fewLandmarks = 200
	landmarks    = 500
)

func linear(ctx context.Context, c *contest, repetition int, fold []int) ([]float32, error) {
	return c.crossFit(ctx, "linear", repetition, fold, nil)
}

func curved(ctx context.Context, c *contest, repetition int, fold []int) ([]float32, error) {
	return c.crossFit(ctx, "curved", repetition, fold, func(n int) *fitting.Options {
		return rbf(c.shared("curved").gamma, min(fewLandmarks, n/2))
	})
}

func rbf(gamma float32, landmarks int) *fitting.Options {
	return &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: gamma},
		Landmarks: landmarks}
}

// shared returns what the repetitions of a base share.
func (c *contest) shared(name string) *fitted {
	if c.fits[name] == nil {
		c.fits[name] = new(fitted)
	}
	return c.fits[name]
}

// crossFit fits softmax without each fold. kernel returns the kernel of n examples; nil for none.
func (c *contest) crossFit(ctx context.Context, name string, repetition int, fold []int,
	kernel func(n int) *fitting.Options) ([]float32, error) {
	f, p, noise := c.shared(name), softmax.Defaults(), c.correcting()
	if noise == nil {
		p.Correction = learners.None
	}
	scores := make([]float32, len(c.rows)*c.q)
	for k := range DefaultFolds {
		fit, rest := dataset.DivideFolds(fold, k)
		o := host.Options{Engine: c.Engine, Preparation: c.Preparation, Trial: true, Learner: p,
			Seed: 1, Memory: []dataset.Memory{dataset.InPlace}}
		if f.settled != nil && len(c.rows) >= leastSettled {
			o.Learner = f.settled
		}
		if kernel != nil {
			o.Kernel = kernel(len(fit))
		}
		m, err := host.Train(ctx, pick(c.part, fit), noise, o)
		if err != nil {
			return nil, err
		}
		if f.settled = m.Run.Settled; m.Meta.Kernel != nil {
			f.gamma = m.Meta.Kernel.Function.Gamma
		}
		if repetition == 0 {
			f.models = append(f.models, m.Model)
		}
		err = host.Score(ctx, c.Engine, m.Model, c.part, rest, func(i int, of []float32) {
			copy(scores[i*c.q:], of)
		})
		if err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// correcting returns the given matrix with the classes of the contest; nil for none. Checked
// examples have no noise, so with them it does not correct what is learned.
func (c *contest) correcting() *confusion.Matrix {
	if c.Given == nil || c.Probabilities != nil || len(c.known) > 0 {
		return nil
	}
	return c.givenMatrix()
}

// fromModels returns the mean scores of the models of a base.
func fromModels(name string) func(context.Context, *contest, []int) ([]float32, error) {
	return func(ctx context.Context, c *contest, some []int) ([]float32, error) {
		models := c.fits[name].models
		sums := make([]float32, len(some)*c.q)
		for _, m := range models {
			at := 0
			if err := host.Score(ctx, c.Engine, m, c.data, some, func(_ int, scores []float32) {
				for k, v := range scores {
					sums[at+k] += v / float32(len(models))
				}
				at += c.q
			}); err != nil {
				return nil, err
			}
		}
		return sums, nil
	}
}

// nearest is the number of neighbours of byNeighbours.
const nearest = 20

// leastShare is the least probability that scores tell from 0, and evenShare the even part of the
// probabilities of a forest, few of whose trees see a rare class.
const (
	leastShare = 1e-6
	evenShare  = 0.02
)

// byNeighbours predicts an example by the labels of its neighbours and one pseudo-label with the
// frequencies of all.
func byNeighbours(_ context.Context, c *contest, _ int, _ []int) ([]float32, error) {
	y, n, q := c.part.Y, len(c.rows), c.q
	frequency := make([]float64, q)
	for _, k := range y {
		frequency[k] += 1 / float64(n)
	}
	scores, sum := make([]float32, n*q), make([]float64, q)
	for i := range n {
		copy(sum, frequency)
		for _, j := range c.near.Index[i*c.near.K : (i+1)*c.near.K] {
			sum[y[j]]++
		}
		for k, v := range sum {
			scores[i*q+k] = numerics.Log(float32(max(v/float64(c.near.K+1), leastShare)))
		}
	}
	return scores, nil
}

// findNear finds the neighbours of the contest's examples, once.
func (c *contest) findNear(ctx context.Context) (err error) {
	if c.near != nil || c.data.D == 0 || c.data.D > nearFeatures || len(c.rows) <= 2*nearest {
		return nil
	}
	c.near, err = neighbours.OfDataset(ctx, c.Engine, c.part, lists.UpTo[int](len(c.rows)), nearest)
	return err
}

// forest and boosting are the parameters of trees. They are cheap: shares of the mixture change
// little with more trees.
func forest() *trees.Params {
	p := trees.Defaults()
	p.Mode, p.Correction, p.Rounds, p.Least = trees.Forest, learners.None, 60, 5
	return p
}

func boosting() *trees.Params {
	p := trees.Defaults()
	p.Mode, p.Correction, p.Rounds, p.Leaves = trees.Boost, learners.None, 60, 8
	p.Rows, p.Columns = 1, 1
	return p
}

// problem returns the contest as trees learn it.
func (c *contest) problem(seed int) *learners.Problem {
	return &learners.Problem{X: c.part.Examples, Y: c.part.Y, Q: c.q, Engine: c.Engine,
		Seed: uint64(seed) + 1}
}

// grown predicts by trees: of a forest by those whose samples lack an example.
func grown(params func() *trees.Params,
) func(context.Context, *contest, int, []int) ([]float32, error) {
	return func(ctx context.Context, c *contest, repetition int, fold []int) ([]float32, error) {
		p := params()
		if p.Mode == trees.Forest {
			fold = nil
		}
		held, err := trees.Held(ctx, p, c.problem(repetition), c.part.Encoding, fold)
		if err != nil {
			return nil, err
		}
		if repetition == 0 && held.Model != nil {
			c.shared("forest").trees = held.Model
		}
		for k, v := range held.Noisy {
			held.Noisy[k] = numerics.Log(v + evenShare/float32(c.q))
		}
		return held.Noisy, nil
	}
}

// fromTrees predicts by trees of all examples of the contest.
func fromTrees(params func() *trees.Params,
) func(context.Context, *contest, []int) ([]float32, error) {
	return func(ctx context.Context, c *contest, some []int) ([]float32, error) {
		p, model := params(), c.shared("forest").trees
		if p.Mode != trees.Forest {
			s, err := trees.Fit(ctx, p, c.problem(0), c.part.Encoding, trees.Watch{})
			if err != nil {
				return nil, err
			}
			model = s.Model
		}
		scores := make([]float32, len(some)*c.q)
		model.Scores(scores, c.data.Pick(some), nil)
		for at := 0; at < len(scores); at += c.q {
			numerics.Softmax(scores[at:at+c.q], scores[at:at+c.q])
			for k, v := range scores[at : at+c.q] {
				scores[at+k] = numerics.Log(v + evenShare/float32(c.q))
			}
		}
		return scores, nil
	}
}
