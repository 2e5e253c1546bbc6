package confusion

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// CrowdMethod says how annotators are believed.
type CrowdMethod string

// The methods.
const (
	Majority   CrowdMethod = "majority"    // each as much as any other
	OneCoin    CrowdMethod = "one-coin"    // by how often one is right, whatever the class
	DawidSkene CrowdMethod = "dawid-skene" // by a confusion matrix of each
)

// CrowdMethods are all of them, the simplest first.
var CrowdMethods = []CrowdMethod{Majority, OneCoin, DawidSkene}

// CrowdOptions of FromCrowd. The zero value asks for the defaults.
type CrowdOptions struct {
	Method CrowdMethod // "" is DawidSkene
	Rounds int         // of EM, at most; 0 for 100
	// Smoothing is what counts beside the labels of an annotator, in labels for each entry of
	// the matrix; 0 for 0.01. It is a Dirichlet prior with the parameter 1 + Smoothing.
	Smoothing float64
	// Pooled is as how many labels of the mean annotator count beside an annotator's own: a
	// prior for those who gave few. 0 for none.
	Pooled float64
	// Start is what EM begins with instead of vote shares: what was found before there were
	// so many labels. Annotators are known by their names; others are like the mean. Nil for none.
	Start *Crowd
}

// Crowd is what the labels of several annotators tell of each other, without a clean label.
type Crowd struct {
	Classes    []string
	Method     CrowdMethod
	Posterior  []float32   // n×Q: P(true class | the labels of the example), but of Majority the shares of votes
	Consensus  []int32     // n: the likeliest class; of equal ones the first, but of Majority a seed draws
	Prior      []float64   // Q: how frequent true classes are; alike, by assumption, of OneCoin
	Annotators []Annotator // with standard errors
	Rounds     int         // of EM
	Settled    bool        // the last round moved next to nothing
}

// FromCrowd finds which labels are right, and how each annotator is wrong, by EM (Dawid and
// Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979)
// with priors on the rates; it begins with the shares of votes. seed draws among the tied votes of
// Majority. An example whose class is known has that class, and so tells how often the others are right.
//
// Posteriors are products in the order of the labels, as exact as sums of logarithms and without
// any, and what is counted with them adds in integers, so that the result has the same bits on
// every machine, whatever the number of processors. It tells its progress through ctx, whose error it returns when
// that is cancelled.
func FromCrowd(ctx context.Context, a *Annotations, seed uint64, o CrowdOptions) (*Crowd, error) {
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
	case !slices.Contains(CrowdMethods, o.Method):
		return nil, fmt.Errorf("crowd: found method %q, wanted majority, one-coin or dawid-skene", o.Method)
	case o.Rounds < 0 || !(o.Smoothing > 0 && o.Smoothing <= 1e6) || !(o.Pooled >= 0 && o.Pooled <= 1e6):
		return nil, fmt.Errorf("crowd: found %d rounds, smoothing %v and %v pooled labels, wanted positive numbers "+
			"(at most a million)", o.Rounds, o.Smoothing, o.Pooled)
	case a.N() == 0:
		return nil, fmt.Errorf("crowd: found no example, wanted some with labels")
	case o.Method == Majority && o.Start != nil:
		return nil, fmt.Errorf("crowd: found a start of method majority, wanted none: votes need no rounds")
	case o.Start != nil && !slices.Equal(o.Start.Classes, a.Classes):
		return nil, fmt.Errorf("crowd: found a start of classes %s, wanted %s", quoted(o.Start.Classes), quoted(a.Classes))
	}
	if err := checkClasses(a.Classes); err != nil {
		return nil, err
	}
	if err := a.Check(a.N(), q); err != nil {
		return nil, err
	}
	m, err := newCrowdEM(a, o)
	if err != nil {
		return nil, err
	}
	c := &Crowd{Classes: slices.Clone(a.Classes), Method: o.Method}
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

// Of estimates the confusion matrix of any labels of the same examples, such as the consensus,
// the votes, or those of one annotator: the labels y, counted by the posteriors of true classes.
// An example counts by how sure its true class is in the standard errors (Louis' principle).
func (c *Crowd) Of(y []int32) (*Estimate, error) {
	q, n := len(c.Classes), len(y)
	if len(c.Posterior) != n*q {
		return nil, fmt.Errorf("crowd: found %d labels, wanted one for each of %d examples", n, len(c.Posterior)/q)
	}
	m, err := newMatrix(c.Classes)
	if err != nil {
		return nil, err
	}
	sums, squares := make([]float64, q*q), make([]float64, q*q)
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("crowd: example %d (counted from 0) has label %d, wanted 0 to %d", i, k, q-1)
		}
		for t, v := range c.Posterior[i*q : (i+1)*q] {
			sums[int(k)*q+t] += float64(v)
			squares[int(k)*q+t] += float64(v) * float64(v) // exact, so that fused or not is the same
		}
	}
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: string(c.Method), Assumes: c.assumes()}
	copy(e.P, sums)
	rare := e.smooth(sums, squares)
	for _, t := range rare {
		e.Notes = append(e.Notes, fmt.Sprintf("about %.2g examples have the true class %.60q: its column is a guess",
			columnSum(sums, q, t), c.Classes[t]))
	}
	if !c.Settled {
		e.Notes = append(e.Notes, fmt.Sprintf("%d rounds were not enough to settle", c.Rounds))
	}
	return e, e.Check()
}

func columnSum(a []float64, q, t int) float64 {
	sum := 0.0
	for k := range q {
		sum += a[k*q+t]
	}
	return sum
}

// smooth makes rates of the sums in P and their standard errors, and returns classes with next
// to no example. One example is added to each class that is right as often as all are.
func (e *Estimate) smooth(sums, squares []float64) (rare []int) {
	q := e.Q()
	before := priorOf(sums, q, nil)
	for t := range q {
		n := columnSum(sums, q, t)
		if n < fewExamples {
			rare = append(rare, t)
		}
		for k := range q {
			at := k*q + t
			v := (sums[at] + before[at]) / (n + 1)
			blur := (sums[at] + before[at]) / (squares[at] + before[at])
			w := (float64(n*v) + 1) / (n + 2)
			e.P[at], e.Error[at] = v, min(1, math.Sqrt(float64(w*(1-w))*blur/(n+1)))
		}
	}
	normalise(e.P, q)
	return rare
}

func (c *Crowd) assumes() string {
	switch c.Method {
	case Majority:
		return "most annotators are right, and one who agrees with the others is"
	case OneCoin:
		return "annotators err independently of each other, each alike on all examples and classes, " +
			"and classes are alike frequent"
	}
	return "annotators err independently of each other, and each errs alike on all examples of a class"
}

// checkCrowd refuses tables of annotators that do not fit in memory.
func checkCrowd(n, q, annotators int) error {
	need := memory.Sum(memory.Product(q, q, annotators, 8*6), memory.Product(n, q, 4))
	return memory.Check(need, fmt.Sprintf("confusion matrices of %d annotators and %d classes", annotators, q))
}
