// Package clean judges labels whose noise is unknown: a mixture of models predicts held-out labels,
// estimates of the confusion matrix compete to explain them, and both together say which labels are
// wrong, and teach a model.
package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Options of Find and Learn. Engine is required; the others may keep their zero values.
type Options struct {
	host.Options                   // Engine, Preparation, Watch.Note; Seed draws rows to check
	Right        []int32           // the true class of each example, -1 if unknown; nil for none
	Most         int               // examples of the contest; 0 for mostContest
	Given        *confusion.Matrix // of the labels; nil to estimate it
	// Probabilities are out-of-fold probabilities of classes by any program, n×Q, which replace all
	// models: nothing is trained. nil for none.
	Probabilities []float32
}

// mostContest is the number of examples of the contest.
const mostContest = 10000

// DefaultFolds is the number of folds of a repetition.
const DefaultFolds = 5

// LeastRight is the number of checked examples that measure the share of wrong labels.
const LeastRight = 20

// Result is the result of Find.
type Result struct {
	// True are the out-of-fold probabilities of the true classes given the features, n×Q.
	True   []float32
	Issues []estimate.Issue // of each example, by True, the noisy label and the noise
	Same   []int32          // as dataset.Firsts; nil of examples without features
	By     string           // what True is of
	// Noise is the given matrix, or the mean of the hypotheses. The share of right labels of a class
	// that is not identified may be off by more than 0.1.
	Noise *estimate.Estimate
	// Shown reports that held-out labels, or checked examples, show wrong labels.
	Shown       bool
	Repetitions int // of the folds
	Agreeing    int // repetitions that alone give the same Shown
	Bases       []Base
	Hypotheses  []Hypothesis
	Wrong       Share // of the labels
	Error       Share // of the most likely classes by True
	Checked     int   // examples whose true class is known
	Next        []int // examples to check next, the most informative first
	// ToIdentify are examples whose true classes would tell the classes of Noise that are not
	// identified, in order; nil if all are.
	ToIdentify []int

	posterior []float32            // of the true classes given features and label, n×Q
	kinds     [isTrees + 1]float64 // shares of the models of Learn
	linear    *model.Model         // of labels as they are, for Reasons; nil if none was learned
	classes   []int                // the class of the examples that is class k of linear
}

// Evidence says what shows that labels are wrong, and how surely.
func (r *Result) Evidence() string {
	text := "none beyond classes that overlap: what seems wrong may be a rare but right label"
	switch {
	case r.Hypotheses == nil:
		return "the confusion matrix, which was given"
	case r.Shown:
		text = "held-out labels or checked rows show that labels are wrong"
	}
	if r.Agreeing < r.Repetitions {
		text += fmt.Sprintf("; unstable: so in %d of %d repetitions of the folds", r.Agreeing,
			r.Repetitions)
	}
	return text
}

// Base is a kind of model in the mixture.
type Base struct {
	Name    string  `json:"name"`
	Loss    float64 `json:"loss"`    // mean of -log P(label) of held-out labels
	Share   float64 `json:"share"`   // in the mixture
	Wrong   int     `json:"wrong"`   // predictions of the Checked examples
	Checked int     `json:"checked"` // examples of the contest whose true class is known
}

// Share is a share of the examples, with a 95 % interval where that is known.
type Share struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// contest is the state of Find. Its examples and classes are in an order that depends on their
// content alone, so that the order of rows, names of classes and the seed decide nothing.
type contest struct {
	Options
	data  *dataset.Dataset
	q     int
	right []int32 // the true class of each example, -1 if unknown
	known []int   // the examples whose true class is known

	rows    []int            // the examples of the contest
	hashes  []uint64         // of their content
	classes []int            // the class of data that is class k of the contest
	part    *dataset.Dataset // the examples of the contest: labels are true classes where known
	given   []int32          // their labels, -1 for none
	truth   []int32          // their true classes, -1 where unknown
	near    *neighbours.Graph
	fits    map[string]*fitted // what repetitions share of a base
}

// Find judges the labels of data, and the known true classes of some examples. data is raw or
// prepared, and not changed. An example of label -1 has none: it is no issue, and gets a likely
// class. The result has the same bits on every engine.
func Find(ctx context.Context, data *dataset.Dataset, o Options) (*Result, error) {
	c, err := newContest(data, o)
	if err != nil {
		return nil, err
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "comparing models", Unit: "round"})
	defer task.End()
	m, v, r, err := c.compete(ctx, task)
	if err != nil {
		return nil, err
	}
	if err := c.everywhere(ctx, r, m, v); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

// Repetitions of the folds, until they agree.
const (
	leastRepetitions = 2
	mostRepetitions  = 5
)

// compete repeats the folds until each repetition gives the verdict of all together.
func (c *contest) compete(ctx context.Context, task *progress.Task) (*mixture, *verdict, *Result,
	error) {
	m, shown := new(mixture), []bool(nil)
	for {
		if err := m.add(ctx, c, len(shown), task); err != nil {
			return nil, nil, nil, err
		}
		task.Add(1)
		one, err := c.judge(ctx, m.last)
		if err != nil {
			return nil, nil, nil, err
		}
		shown = append(shown, one.shown)
		if len(shown) < leastRepetitions && c.Probabilities == nil {
			continue
		}
		v := one // of a single repetition
		if len(shown) > 1 {
			if v, err = c.judge(ctx, m.p); err != nil {
				return nil, nil, nil, err
			}
		}
		agreeing := lists.Count(shown, func(is bool) bool { return is == v.shown })
		if agreeing == len(shown) || len(shown) == mostRepetitions || c.Given != nil {
			r := &Result{By: m.name(), Shown: v.shown, Repetitions: len(shown),
				Agreeing: agreeing, Checked: len(c.known), Hypotheses: v.hypotheses,
				Bases: m.report(c), kinds: m.kinds(c), classes: c.classes}
			if f := c.fits["linear"]; f != nil {
				r.linear = f.models[0]
			}
			return m, v, r, nil
		}
	}
}

func newContest(data *dataset.Dataset, o Options) (*contest, error) {
	c := &contest{Options: o, data: data, q: len(data.Classes), right: o.Right,
		fits: map[string]*fitted{}}
	c.Most = cmp.Or(o.Most, mostContest)
	switch {
	case len(data.Y) != data.N:
		return nil, fmt.Errorf("clean: labels: got %d, want one for each of %d examples", len(data.Y),
			data.N)
	case o.Right != nil && len(o.Right) != data.N:
		return nil, fmt.Errorf("clean: true classes: got %d, want one (or -1) for each of %d examples",
			len(o.Right), data.N)
	case o.Probabilities != nil && len(o.Probabilities) != data.N*c.q:
		return nil, fmt.Errorf("clean: probabilities: got %d, want %d, one for each example and class",
			len(o.Probabilities), data.N*c.q)
	case c.q < 2:
		return nil, errors.New("clean: classes: got one, want at least two")
	}
	if c.right == nil {
		c.right = slices.Repeat([]int32{-1}, data.N)
	}
	for i, t := range c.right {
		if int(t) >= c.q {
			return nil, fmt.Errorf("clean: true class of example %d (counted from 0): got %d, want below "+
				"%d", i, t, c.q)
		}
		if t >= 0 {
			c.known = append(c.known, i)
		}
	}
	for i, k := range data.Y {
		if int(k) >= c.q {
			return nil, fmt.Errorf("clean: label of example %d (counted from 0): got %d, want below %d", i,
				k, c.q)
		}
	}
	n := lists.Count(data.Y, func(k int32) bool { return k >= 0 })
	if n == 0 {
		return nil, errors.New("clean: labels: got none, want at least one")
	}
	if n < 2*DefaultFolds && o.Probabilities == nil {
		return nil, fmt.Errorf("clean: labels: got %d, too few rows, want at least %d", n,
			2*DefaultFolds)
	}
	c.draw()
	return c, nil
}

// labels returns the labels of some examples, the true class if known; -1 if neither is.
func (c *contest) labels(some []int) []int32 {
	y := make([]int32, len(some))
	for k, i := range some {
		if y[k] = c.data.Y[i]; c.right[i] >= 0 {
			y[k] = c.right[i]
		}
	}
	return y
}

// note reports to the listener, if any.
func (o *Options) note(format string, args ...any) {
	if o.Watch.Note != nil {
		o.Watch.Note(format, args...)
	}
}
