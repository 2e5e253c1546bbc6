package crowd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Method is a model of annotators.
type Method string

// The methods.
const (
	Majority   Method = "majority"    // all annotators equally
	OneCoin    Method = "one-coin"    // one accuracy each
	TwoCoin    Method = "two-coin"    // one accuracy each and class, shrunk to one-coin's
	DawidSkene Method = "dawid-skene" // a confusion matrix each, shrunk to one-coin's
	Subtypes   Method = "ebcc"        // a confusion matrix each and subtype of a class
	Given      Method = "given"       // matrices of an earlier Result
	Mean       Method = "mean"        // the mean posterior of ofMean, weighted by a Contest
)

// Methods are those to ask for, the simplest first.
var Methods = []Method{Majority, OneCoin, TwoCoin, DawidSkene, Subtypes}

// ofMean are the models of Mean.
var ofMean = []Method{OneCoin, TwoCoin, DawidSkene}

// Options of Fit. The zero value asks for the defaults.
type Options struct {
	Method Method // "" takes Mean or Subtypes, by held-out labels (Contest)
	Rounds int    // of EM, at most; 0 for 100, of Subtypes 300
}

// Result is the estimate from the labels of several annotators, without clean labels.
type Result struct {
	Classes   []string
	Method    Method
	Contest   *Contest  // nil if the method was given
	Posterior []float32 // n×Q: P(true class | the example's labels); of Majority the shares of votes
	Consensus []int32   // n: the most likely class; ties take the more frequent class, then the first
	Items     []string  // names of the examples; nil for none
	// Q: frequencies of true classes; uniform by assumption for OneCoin
	Prior      []float64
	Annotators []confusion.Annotator // with standard errors
	Rounds     int                   // of EM
	Settled    bool                  // converged
}

// Fit estimates true classes and the confusion matrix of each annotator. One-coin, two-coin and
// Dawid-Skene are fitted by EM (Dawid and Skene, Maximum likelihood estimation of observer
// error-rates using the EM algorithm, 1979), whose prior of a matrix is a few labels of each class
// by an annotator with the same accuracy in all classes. EM starts from vote shares; two-coin and
// Dawid-Skene start from the result of one-coin. Examples of known class keep it, and so inform the
// accuracies.
//
// Posteriors are products of rates, and counts are integers, so that the result has the same bits
// on every number of processors. It does not depend on the order of examples, annotators or names,
// but for rounding. Fit reports progress through ctx and returns its error when cancelled.
func Fit(ctx context.Context, a *dataset.Annotations, o Options) (*Result, error) {
	switch {
	case o.Method != "" && !slices.Contains(Methods, o.Method):
		return nil, fmt.Errorf("crowd: found method %q, wanted one of %q", o.Method, Methods)
	case o.Rounds < 0:
		return nil, fmt.Errorf("crowd: found %d rounds, wanted a positive number", o.Rounds)
	case a.N() == 0:
		return nil, errors.New("crowd: found no example, wanted some with labels")
	}
	if err := confusion.CheckClasses(a.Classes); err != nil {
		return nil, err
	}
	if err := a.Check(a.N(), len(a.Classes)); err != nil {
		return nil, err
	}
	c := &Result{Classes: slices.Clone(a.Classes), Method: o.Method, Items: a.Items}
	if o.Method == "" {
		var err error
		if c.Contest, err = contest(ctx, a); err != nil {
			return nil, err
		}
		c.Method = c.Contest.Chosen
	}
	start, err := c.posterior(ctx, a, o.Rounds)
	if err != nil {
		return nil, err
	}
	matrices := c.Method
	if c.Method == Mean || c.Method == Subtypes {
		matrices = DawidSkene
	}
	return c, c.finish(a, matrices, start)
}

// posterior returns the posteriors by the method; nil for shares of votes.
func (c *Result) posterior(ctx context.Context, a *dataset.Annotations, rounds int,
) (mean []float32, err error) {
	var models []*em
	switch c.Method {
	case Majority:
		c.Settled = true
		return nil, nil
	case Subtypes:
		m, err := fitSubtypes(ctx, a, subtypes, cmp.Or(rounds, 300))
		if err != nil {
			return nil, err
		}
		c.Rounds, c.Settled = m.rounds, m.settled
		return m.posterior, nil
	case Mean:
		models, err = fitMatrices(ctx, a, ofMean, cmp.Or(rounds, 100))
	default:
		models, err = fitMatrices(ctx, a, []Method{c.Method}, cmp.Or(rounds, 100))
	}
	if err != nil {
		return nil, err
	}
	c.Settled = true
	for _, m := range models {
		m.count(true)
		c.Rounds, c.Settled = max(c.Rounds, m.rounds), c.Settled && m.settled
		if c.Method != Mean {
			return m.posterior, nil
		}
		if mean == nil {
			mean = make([]float32, len(m.posterior))
		}
		weight := c.Contest.Weights[m.method]
		for at, v := range m.posterior {
			mean[at] += float32(weight * float64(v))
		}
	}
	return mean, nil
}

// fitMatrices fits models whose annotators have one matrix each. All start where one-coin ends.
func fitMatrices(ctx context.Context, a *dataset.Annotations, methods []Method, rounds int,
) (models []*em, err error) {
	coin, err := newEM(a, OneCoin, 1)
	if err != nil {
		return nil, err
	}
	if err := coin.settle(ctx, rounds); err != nil {
		return nil, err
	}
	for _, method := range methods {
		m := coin
		if method != OneCoin {
			if m, err = newEM(a, method, 1); err != nil {
				return nil, err
			}
			copy(m.matrices, coin.matrices)
			copy(m.prior, coin.prior)
			m.known = true
			if err := m.settle(ctx, rounds); err != nil {
				return nil, err
			}
			m.settled = m.settled && coin.settled
		}
		models = append(models, m)
	}
	return models, nil
}

// finish counts the matrices of annotators by the posteriors, nil for shares of votes, and takes
// the most likely classes.
func (c *Result) finish(a *dataset.Annotations, method Method, posterior []float32) error {
	m, err := newEM(a, method, 1)
	if err != nil {
		return err
	}
	m.start = posterior
	m.count(true)
	m.rates()
	c.Posterior, c.Prior, c.Annotators = m.posterior, m.prior, m.annotators()
	c.decide(m.classes)
	return nil
}

// decide takes the most likely class of each example; ties take the more frequent class.
func (c *Result) decide(frequent []int64) {
	q := len(c.Classes)
	c.Consensus = make([]int32, len(c.Posterior)/q)
	for i := range c.Consensus {
		row := c.Posterior[i*q : (i+1)*q]
		best := lists.Largest(row)
		for k, v := range row {
			if v > row[best]-tied && frequent[k] > frequent[best] {
				best = k
			}
		}
		c.Consensus[i] = int32(best)
	}
}

// tied is how far apart posteriors of equally likely classes are, by rounding.
const tied = 1e-6

// Label returns the posteriors by annotators whose matrices and classes' prior c has. Annotators
// that it does not know have the mean matrix. It makes one reading of the labels.
func (c *Result) Label(a *dataset.Annotations) (*Result, error) {
	q := len(c.Classes)
	if !slices.Equal(a.Classes, c.Classes) {
		return nil, fmt.Errorf("crowd: found classes %q, wanted %q as the matrices have", a.Classes,
			c.Classes)
	}
	if err := a.Check(a.N(), q); err != nil {
		return nil, err
	}
	m, err := newEM(a, DawidSkene, 1)
	if err != nil {
		return nil, err
	}
	place, size := make(map[string]int, len(c.Annotators)), q*q
	for k := range c.Annotators {
		place[c.Annotators[k].Name] = k
	}
	mean := c.meanMatrix()
	counts := a.Counts()
	r := &Result{Classes: c.Classes, Method: Given, Items: a.Items, Prior: c.Prior, Settled: true}
	for who, name := range a.Names {
		one := confusion.Annotator{Name: name, P: mean}
		if k, known := place[name]; known {
			one = c.Annotators[k]
		}
		one.Labels = counts[who]
		for k, v := range one.P {
			m.matrices[who*size+k] = max(v, leastRate)
		}
		r.Annotators = append(r.Annotators, one)
	}
	copy(m.prior, c.Prior)
	m.known = true
	m.count(true)
	r.Posterior = m.posterior
	r.decide(m.classes)
	return r, nil
}

// meanMatrix is the matrix of the mean label.
func (c *Result) meanMatrix() []float64 {
	q := len(c.Classes)
	mean, labels := make([]float64, q*q), 0.0
	for _, one := range c.Annotators {
		for k, v := range one.P {
			mean[k] += float64(v * float64(one.Labels))
		}
		labels += float64(one.Labels)
	}
	for k := range mean {
		if labels > 0 {
			mean[k] /= labels
		} else {
			mean[k] = 1 / float64(q)
		}
	}
	return mean
}

// More is what one further label of each example by the mean annotator would change.
type More struct {
	Open int     `json:"open"` // examples whose consensus some label would change
	Gain float64 `json:"gain"` // examples that the consensus would be expected to correct
}

// More returns what one further label of each example would change.
func (c *Result) More() More {
	q, mean := len(c.Classes), c.meanMatrix()
	more := More{}
	joint := make([]float64, q)
	for i, class := range c.Consensus {
		if class < 0 {
			continue
		}
		row := c.Posterior[i*q : (i+1)*q]
		gain := 0.0
		for k := range q {
			for t, v := range row {
				joint[t] = float64(float64(v) * mean[k*q+t])
			}
			gain += slices.Max(joint) - joint[class]
		}
		if gain > tied {
			more.Open++
			more.Gain += gain
		}
	}
	return more
}
