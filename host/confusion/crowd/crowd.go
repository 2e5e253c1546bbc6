// Package crowd has labels that several annotators gave: it reads them, finds by EM which are
// right and how each annotator errs, and draws votes.
package crowd

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// CrowdMethod says how annotators are believed.
type Method string

// The methods.
const (
	Majority   Method = "majority"    // each as much as any other
	OneCoin    Method = "one-coin"    // by how often one is right, whatever the class
	DawidSkene Method = "dawid-skene" // by a confusion matrix of each
)

// CrowdMethods are all of them, the simplest first.
var Methods = []Method{Majority, OneCoin, DawidSkene}

// CrowdOptions of FromCrowd. The zero value asks for the defaults.
type Options struct {
	Method Method // "" is DawidSkene
	Rounds int    // of EM, at most; 0 for 100
	// Smoothing is what counts beside the labels of an annotator, in labels for each entry of
	// the matrix; 0 for 0.01. It is a Dirichlet prior with the parameter 1 + Smoothing.
	Smoothing float64
	// Pooled is as how many labels of the mean annotator count beside an annotator's own: a
	// prior for those who gave few. 0 for none.
	Pooled float64
	// Start is what EM begins with instead of vote shares: what was found before there were
	// so many labels. Annotators are known by their names; others are like the mean. Nil for none.
	Start *Result
}

// Result is what the labels of several annotators tell of each other, without a clean label.
type Result struct {
	Classes []string
	Method  Method
	// n×Q: P(true class | the example's labels); of Majority the shares of votes
	Posterior []float32
	// n: the likeliest class; of equal ones the first, but of Majority a seed draws
	Consensus []int32
	// Q: how frequent true classes are; alike, by assumption, of OneCoin
	Prior      []float64
	Annotators []confusion.Annotator // with standard errors
	Rounds     int                   // of EM
	Settled    bool                  // the last round moved next to nothing
}

// Fit finds which labels are right, and how each annotator is wrong, by EM (Dawid and Skene,
// Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979) with priors
// on the rates; it begins with the shares of votes. seed draws among the tied votes of Majority.
// An example whose class is known has that class, and so tells how often the others are right.
//
// Posteriors are products in the order of the labels, as exact as sums of logarithms and without
// any, and what is counted with them adds in integers, so that the result has the same bits on
// every machine, whatever the number of processors. It tells its progress through ctx, whose error
// it returns when that is cancelled.
func Fit(ctx context.Context, a *Annotations, seed uint64, o Options) (*Result, error) {
	if o.Method == "" {
		o.Method = DawidSkene
	}
	if o.Rounds == 0 {
		o.Rounds = 100
	}
	if o.Smoothing == 0 {
		o.Smoothing = 0.01
	}
	q := len(a.Classes)
	switch {
	case !slices.Contains(Methods, o.Method):
		return nil, fmt.Errorf("crowd: found method %q, wanted majority, one-coin or dawid-skene",
			o.Method)
	case o.Rounds < 0 || !(o.Smoothing > 0 && o.Smoothing <= 1e6) || !(o.Pooled >= 0 &&
		o.Pooled <= 1e6):
		return nil, fmt.Errorf("crowd: found %d rounds, smoothing %v and %v pooled labels, wanted "+
			"positive numbers (at most a million)", o.Rounds, o.Smoothing, o.Pooled)
	case a.N() == 0:
		return nil, fmt.Errorf("crowd: found no example, wanted some with labels")
	case o.Method == Majority && o.Start != nil:
		return nil, fmt.Errorf("crowd: found a start of method majority, wanted none: votes need no " +
			"rounds")
	case o.Start != nil && !slices.Equal(o.Start.Classes, a.Classes):
		return nil, fmt.Errorf("crowd: found a start of classes %s, wanted %s",
			labelfile.Quoted(o.Start.Classes), labelfile.Quoted(a.Classes))
	}
	if err := confusion.CheckClasses(a.Classes); err != nil {
		return nil, err
	}
	if err := a.Check(a.N(), q); err != nil {
		return nil, err
	}
	m, err := newEM(a, o)
	if err != nil {
		return nil, err
	}
	c := &Result{Classes: slices.Clone(a.Classes), Method: o.Method}
	if o.Method != Majority {
		if c.Rounds, c.Settled, err = m.settle(ctx, o); err != nil {
			return nil, err
		}
	}
	m.count(true)
	if o.Method == OneCoin {
		m.oneCoin()
	}
	m.rates()
	c.Posterior, c.Prior = m.posterior, m.prior
	c.Annotators = m.annotators()
	if o.Method == Majority {
		c.Consensus, c.Settled = a.Votes(seed), true
		return c, nil
	}
	c.Consensus = make([]int32, a.N())
	for i := range c.Consensus {
		row := c.Posterior[i*q : (i+1)*q]
		c.Consensus[i] = int32(slices.Index(row, slices.Max(row)))
	}
	return c, nil
}

// checkCrowd refuses tables of annotators that do not fit in memory.
func checkCrowd(n, q, annotators int) error {
	need := memory.Sum(memory.Product(q, q, annotators, 8*6), memory.Product(n, q, 4))
	return memory.Check(need, fmt.Sprintf("confusion matrices of %d annotators and %d classes",
		annotators, q))
}
