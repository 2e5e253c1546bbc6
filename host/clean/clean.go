// Package clean finds wrong labels: candidate models that trust or distrust the labels compete by
// their predictions of held-out examples.
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
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Options of Find. Engine is required; the others may keep their zero values.
type Options struct {
	host.Options                   // Engine, Preparation, Seed and Watch.Note count
	Right        []int32           // the true class of each example, -1 if unknown; nil for none
	Folds        int               // 0 for DefaultFolds
	Most         int               // examples of the contest; 0 for mostContest
	Given        *confusion.Matrix // of the labels, only for Suspects; nil for none
}

// DefaultFolds is the default number of folds.
const DefaultFolds = 3

// mostContest is the number of examples of the contest. The winner trains on all.
const mostContest = 10000

// LeastRight is the number of checked examples that decide in place of noisy labels.
const LeastRight = 20

// Result is the result of Find.
type Result struct {
	// True are the out-of-fold probabilities of the true classes given the features, n×Q.
	True   []float32
	Issues []estimate.Issue // of each example, by True, the noisy label and Noise
	Same   []int32          // as dataset.Firsts; nil of examples without features
	By     string           // the candidate that True is of
	// Noise is the estimated noise of the labels; nil without evidence of wrong labels.
	Noise      *estimate.Estimate
	Candidates []Candidate
	Chosen     int    // index of the winner
	Plain      int    // index of the best candidate that trusts the labels
	Wrong      *Share // of the labels; nil: unknown
	Error      Share  // of the model's classes that are wrong
	Checked    int    // examples whose true class is known
	Next       []int  // examples to check next, the most informative first
	Model      *host.Trained
}

// Share is a share of the examples, with its 95 % interval if checked ones tell it.
type Share struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Find estimates which labels of data are wrong, from the labels and the known true classes of some
// examples. data is raw or prepared, and not changed. An example of label -1 has none: it is no
// issue, and gets a likely class. The result has the same bits on every engine.
func Find(ctx context.Context, data *dataset.Dataset, o Options) (*Result, error) {
	c, err := newContest(data, o)
	if err != nil {
		return nil, err
	}
	if err := c.compete(ctx); err != nil {
		return nil, err
	}
	return c.finish(ctx)
}

// cases are the examples of a contest, and what is known of their labels.
type cases struct {
	data  *dataset.Dataset
	q     int
	right []int32 // the true class of each example, -1 if unknown
	known []int   // the examples whose true class is known
	rows  []int   // the examples of the contest, in increasing order
}

// contest is the state of Find.
type contest struct {
	Options
	cases
	fold  []int // of each of rows
	said  []*candidate
	gamma float32 // of the kernel, after its search
}

func newContest(data *dataset.Dataset, o Options) (*contest, error) {
	o.Folds = cmp.Or(o.Folds, DefaultFolds)
	o.Most = cmp.Or(o.Most, mostContest)
	c := &contest{Options: o, cases: cases{data: data, q: len(data.Classes), right: o.Right}}
	switch {
	case len(data.Y) != data.N:
		return nil, fmt.Errorf("clean: labels: got %d, want one for each of %d examples", len(data.Y),
			data.N)
	case o.Right != nil && len(o.Right) != data.N:
		return nil, fmt.Errorf("clean: true classes: got %d, want one (or -1) for each of %d examples",
			len(o.Right), data.N)
	case o.Folds < 2 || o.Folds > min(judge.MostFolds, data.N):
		return nil, fmt.Errorf("clean: folds: got %d of %d examples, want 2 to %d", o.Folds, data.N,
			min(judge.MostFolds, data.N))
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
	if c.labelled(lists.UpTo[int](data.N)) == nil {
		return nil, errors.New("clean: labels: got none, want at least one")
	}
	c.rows = sample(&c.cases, o.Most, c.Seed)
	groups := make([]int32, len(c.rows)) // by label and by known class
	for k, i := range c.rows {
		if groups[k] = c.data.Y[i]; c.right[i] >= 0 {
			groups[k] = int32(c.q) + c.right[i]
		}
	}
	c.fold = dataset.DrawFolds(groups, 2*c.q, c.Folds, c.Seed, dataset.OuterFolds)
	return c, nil
}

// labelled returns those examples that have a label.
func (c *cases) labelled(some []int) []int {
	return lists.Keep(some, func(i int) bool { return c.data.Y[i] >= 0 })
}

// sample returns about most examples with a label, stratified by label, and all of known class.
func sample(c *cases, most int, seed uint64) []int {
	labelled := c.labelled(lists.UpTo[int](c.data.N))
	drawn := make([]bool, c.data.N)
	for k, fold := range dataset.DrawFolds(lists.At(c.data.Y, labelled), c.q,
		(len(labelled)+most-1)/most, seed+1, dataset.OuterFolds) {
		drawn[labelled[k]] = fold == 0
	}
	return lists.Where(c.data.N, func(i int) bool { return drawn[i] || c.right[i] >= 0 })
}

// compete trains the candidates, in the order of their dependencies.
func (c *contest) compete(ctx context.Context) error {
	ctx, task := progress.Begin(ctx, progress.Work{Name: "comparing candidates",
		Unit: "candidate"})
	defer task.End()
	try := func(w way) error {
		task.Enter(w.String())
		err := c.try(ctx, w)
		task.Add(1)
		return err
	}
	plain := []way{{noise: none}, {noise: none, kernel: true}, {neighbours: true}}
	if c.Given != nil {
		plain[0].noise, plain[1].noise = given, given
	}
	for _, w := range plain {
		if w.kernel && (c.data.Sparse() || c.data.D > 4*mostFeatures) ||
			w.neighbours && c.data.D > mostFeatures {
			continue
		}
		if err := try(w); err != nil {
			return err
		}
	}
	if c.Given != nil {
		return nil
	}
	if plainest(c.said) < 0 {
		return errNothing
	}
	for _, kernel := range []bool{false, true} {
		if !goesOn(c.said, kernel) {
			continue
		}
		ways := []way{{noise: joint, kernel: kernel}, {noise: learned, kernel: kernel}}
		if len(c.known) >= LeastRight {
			ways = append(ways, way{noise: none, kernel: kernel, weighty: true})
		}
		for _, w := range ways {
			if err := try(w); err != nil {
				return err
			}
		}
	}
	if len(c.known) >= LeastRight {
		return try(way{noise: alone})
	}
	return nil
}

// goesOn reports whether models of a kind compete further: one that trusts the labels exists, and
// the other kind is not clearly better.
func goesOn(said []*candidate, kernel bool) bool {
	var mine, other *candidate
	for _, s := range said {
		switch {
		case s.models == nil:
		case s.way.kernel == kernel:
			mine = cmp.Or(mine, s)
		default:
			other = cmp.Or(other, s)
		}
	}
	if mine == nil || other == nil || !kernel {
		return mine != nil
	}
	better, off := ahead(mine.drops, other.drops)
	return better <= surelyCurved*off
}

var errNothing = errors.New("clean: no candidate can tell the classes apart: give features that " +
	"depend on the classes")

// mostFeatures is the number of features up to which nearest neighbours compete; kernel models
// take four times as many, but only dense ones.
const mostFeatures = 1000

// note reports to the listener, if any.
func (c *contest) note(format string, args ...any) {
	if c.Watch.Note != nil {
		c.Watch.Note(format, args...)
	}
}

// labels returns the labels of some examples, the true class if known; -1 if neither is.
func labels(c *cases, some []int) []int32 {
	y := make([]int32, len(some))
	for k, i := range some {
		if y[k] = c.data.Y[i]; c.right[i] >= 0 {
			y[k] = c.right[i]
		}
	}
	return y
}

// noiseOf returns a matrix as host.Train takes it, nil if labels are right.
func noiseOf(e *estimate.Estimate) *confusion.Matrix {
	if e == nil {
		return nil
	}
	return &e.Matrix
}
