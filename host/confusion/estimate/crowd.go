package estimate

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// FromCrowd estimates the confusion matrix of any labels of the examples of c, such as the
// consensus, the votes, or those of one annotator: the labels y, counted by the posteriors of true
// classes. An example counts by how sure its true class is in the standard errors (Louis'
// principle).
func FromCrowd(c *crowd.Result, y []int32) (*Estimate, error) {
	q, n := len(c.Classes), len(y)
	if len(c.Posterior) != n*q {
		return nil, fmt.Errorf("crowd: found %d labels, wanted one for each of %d examples", n,
			len(c.Posterior)/q)
	}
	if err := labelfile.CheckLabels("crowd", y, q); err != nil {
		return nil, err
	}
	m, err := confusion.New(c.Classes)
	if err != nil {
		return nil, err
	}
	sums, squares := make([]float64, q*q), make([]float64, q*q)
	for i, k := range y {
		for t, v := range c.Posterior[i*q : (i+1)*q] {
			sums[int(k)*q+t] += float64(v)
			squares[int(k)*q+t] += float64(v) * float64(v) // exact, so that fused or not is the same
		}
	}
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: string(c.Method), Assumes: assumptions[c.Method]}
	copy(e.P, sums)
	rare := e.smooth(sums, squares)
	for _, t := range rare {
		e.Notes = append(e.Notes,
			fmt.Sprintf("about %.2g examples have the true class %.60q: its column is a guess",
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
			e.P[at], e.Error[at] = v, min(1, math.Sqrt(spread(v, n)*blur/(n+1)))
		}
	}
	confusion.Normalise(e.P, q)
	return rare
}

// assumptions are what the methods take for granted.
var assumptions = map[crowd.Method]string{
	crowd.Majority: "most annotators are right, and one who agrees with the others is",
	crowd.OneCoin: "annotators err independently of each other, each alike on all examples and " +
		"classes, and classes are alike frequent",
	crowd.DawidSkene: "annotators err independently of each other, and each errs alike on all " +
		"examples of a class",
}
