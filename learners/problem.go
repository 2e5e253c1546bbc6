package learners

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Problem is what a learner learns from. Nobody writes to its data during a run.
type Problem struct {
	X      dataset.Examples  // n × d, prepared, and mapped if there is a kernel function
	Y      []int32           // noisy labels: n, each in 0..Q-1
	Q      int               // classes, at least 2
	Noise  *confusion.Matrix // of the labels; nil if they are right
	Engine *engine.Engine    // on which to compute
	Seed   uint64            // of all random choices
	Bias   bool              // the last feature is a constant without a penalty

	Mapped bool // X is what a kernel map made

	// OwnMap says that X, of Q columns, was mapped by the learner's own FitMap.
	OwnMap bool

	// Annotations say who gave which label, and Y are the votes; nil if nobody knows.
	// Then Noise is nil: each annotator has a confusion matrix, which the learner finds out.
	Annotations *dataset.Annotations

	// Evidence is what else is known of the labels; nil if nothing is. No weight in it is 0.
	Evidence *dataset.Evidence

	// Spent returns the share of the time limit that is over, 1 or more when time is up; nil for no
	// limit. A learner of several stages, whose weights before the last are trials, goes on to the
	// last one at half of the time.
	Spent func() float64

	first  sync.Once
	shared func() (*confusion.Inverse, error) // C⁻¹, with the problems that On made
}

// Check says what keeps p from being a problem. The examples' values are for the engine
// to judge, which reads them anyway.
func (p *Problem) Check() error {
	switch {
	case p.Q < 2:
		return fmt.Errorf("problem: found %d classes, wanted at least 2", p.Q)
	case p.Y == nil:
		return fmt.Errorf("problem: found examples without labels, wanted noisy ones")
	case p.Noise != nil && p.Noise.Q() != p.Q:
		return fmt.Errorf("problem: found a confusion matrix of %d classes, wanted %d as the labels have",
			p.Noise.Q(), p.Q)
	case p.Noise != nil && p.Annotations != nil:
		return fmt.Errorf("problem: found a confusion matrix of all labels and annotations, wanted " +
			"one of them")
	case p.Annotations != nil:
		if err := p.Annotations.Check(p.X.N, p.Q); err != nil {
			return err
		}
	}
	if p.Evidence != nil {
		if err := p.Evidence.Check(p.Y, p.Q); err != nil {
			return fmt.Errorf("problem: %w", err)
		}
	}
	if p.Engine == nil {
		return ErrNoEngine
	}
	return nil
}

// ErrNoEngine is the error of a problem without an engine, and with nothing else wrong.
var ErrNoEngine = errors.New("problem: engine: got none, want one (such as of simd.New or " +
	"gpu.Open)")

// TimeSpent returns the share of the time limit that is over; 0 without one.
func (p *Problem) TimeSpent() float64 {
	if p.Spent == nil {
		return 0
	}
	return p.Spent()
}

// Weight returns the sum of the weights of the examples.
func (p *Problem) Weight() float64 {
	if p.Evidence == nil || p.Evidence.Weight == nil {
		return float64(len(p.Y))
	}
	return lists.Sum(p.Evidence.Weight)
}

// Inverse returns C⁻¹, computed once; the identity if there is no noise.
// Errors come from confusion.Matrix.Invert, or are memory.ErrBudget.
func (p *Problem) Inverse() (*confusion.Inverse, error) { return p.inverse()() }

func (p *Problem) inverse() func() (*confusion.Inverse, error) {
	p.first.Do(func() {
		if p.shared != nil {
			return
		}
		noise, q := p.Noise, p.Q
		p.shared = sync.OnceValues(func() (*confusion.Inverse, error) {
			if noise != nil {
				return noise.Invert()
			}
			// With what is counted of each pair of classes.
			what := fmt.Sprintf("a table of all pairs of %d classes (are the labels classes?)", q)
			if err := memory.Check(memory.Product(q, q, 24), what); err != nil {
				return nil, err
			}
			return confusion.NoNoise(q), nil
		})
	})
	return p.shared
}

// LoadCells judges p, and returns the examples with their cells on the engine, which the caller
// closes, and C⁻¹. Errors come from Check, Inverse and Engine.LoadCells.
func (p *Problem) LoadCells() (*engine.Cells, *confusion.Inverse, error) {
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	inverse, err := p.Inverse()
	if err != nil {
		return nil, nil, err
	}
	cells, err := p.Engine.LoadCells(p.X, p.Y, p.Q, numerics.FixedPoint{})
	return cells, inverse, err
}

// LoadEvaluator judges p and its labels, and returns the examples, to be aimed at targets, on the
// engine, which the caller closes.
func (p *Problem) LoadEvaluator() (*engine.Evaluator, error) {
	if err := p.checkLabelled(); err != nil {
		return nil, err
	}
	return p.Engine.LoadEvaluator(p.X, p.Q, numerics.FixedPoint{})
}

// Load judges p and its labels, and returns the examples, to be scored, on the engine. The caller
// closes them, unless they are p.Loaded.
func (p *Problem) Load() (*engine.Scorer, error) {
	if err := p.checkLabelled(); err != nil {
		return nil, err
	}
	return p.Engine.Load(p.X, p.Q)
}

// checkLabelled is Check, and judges the labels, which engines without cells are not shown.
func (p *Problem) checkLabelled() error {
	if err := p.Check(); err != nil {
		return err
	}
	if len(p.Y) != p.X.N {
		return fmt.Errorf("problem: %w: found %d labels, wanted one for each of %d examples",
			engine.ErrShape, len(p.Y), p.X.N)
	}
	for i, k := range p.Y {
		if k < 0 || int(k) >= p.Q {
			return fmt.Errorf("problem: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel, i, k,
				p.Q-1)
		}
	}
	return nil
}

// On returns p with the examples x and the labels y instead of its own, and without annotations
// and evidence.
// Both share one C⁻¹, and nothing of the one keeps the examples of the other in memory.
func (p *Problem) On(x dataset.Examples, y []int32) *Problem {
	return &Problem{
		X: x, Y: y, Q: p.Q, Noise: p.Noise, Engine: p.Engine, Seed: p.Seed,
		Bias: p.Bias, Mapped: p.Mapped, OwnMap: p.OwnMap, Spent: p.Spent, shared: p.inverse(),
	}
}

// AllClasses returns 0 … q-1.
func AllClasses(q int) []int {
	all := make([]int, q)
	for r := range all {
		all[r] = r
	}
	return all
}

// Rule returns the rule that text names, the learner's default if it is empty.
func (d *Definition) Rule(text string) (Rule, error) {
	if text == "" {
		return d.Weights[0], nil
	}
	if !slices.Contains(d.Weights, Rule(text)) {
		return "", fmt.Errorf("weights %q make no sense for learner %s; use %s", text, d.Name,
			quote.Or(d.Weights))
	}
	return Rule(text), nil
}

// ClassWeights says how much examples count by their label.
type ClassWeights string

const (
	Equal    ClassWeights = "equal"    // all examples count alike
	Balanced ClassWeights = "balanced" // all labels count alike: an example of label k n/(Q·n_k)
)

// Of returns the weight of an example of each class, of n examples with the given counts of the
// classes, which may be estimates. A count above 0 and below 1 is taken for 1; the weight of a
// class without examples is 1.
func (c ClassWeights) Of(n float64, counts []float64) []float64 {
	weights := make([]float64, len(counts))
	for k, count := range counts {
		weights[k] = 1
		if c == Balanced && count != 0 {
			weights[k] = n / float64(float64(len(counts))*max(1, count))
		}
	}
	return weights
}

// CountLabels returns how many of the labels y are each of the q classes.
func CountLabels(y []int32, q int) []float64 {
	counts := make([]float64, q)
	for _, k := range y {
		counts[k]++
	}
	return counts
}
