// Package estimate finds the confusion matrix of labels from what is known of them: some right
// labels, counts, probabilities of classes, or annotators; and finds the labels that look wrong.
package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Estimate is a confusion matrix that was found in data, mostly with standard errors.
type Estimate struct {
	confusion.Matrix
	Method  string
	Assumes string   // what has to be true, a sentence
	Notes   []string // what the user should know of it, a sentence each
	// Unidentified are the true classes, in increasing order, whose columns the labels do not tell:
	// standard errors say nothing of them.
	Unidentified []int
	// Broken says that P is not as Assumes has it, by more than its standard errors.
	Broken bool
}

// Identified says whether the labels tell the column of true class t.
func (e *Estimate) Identified(t int) bool { return !slices.Contains(e.Unidentified, t) }

// FewExamples is below how many examples of a true class an estimate says so.
const FewExamples = 10

// mostBelieved is as how many examples a prior makes an estimate exact, at most.
const mostBelieved = 20

// spreadBefore is the share of a prior that goes to all entries alike, so that none is impossible.
const spreadBefore = 0.01

// FromLabels estimates C from examples with both labels; it is FromCounts of
// their numbers. noisy and right are class indices, one of each for every example.
func FromLabels(classes []string, noisy, right []int32, prior *confusion.Matrix,
) (*Estimate, error) {
	counts, err := CountLabels(len(classes), noisy, right)
	if err != nil {
		return nil, err
	}
	return FromCounts(classes, counts, prior)
}

// CountLabels counts examples by noisy label p and true class t, at [p*q+t].
func CountLabels(q int, noisy, right []int32) ([]float64, error) {
	if len(noisy) != len(right) {
		return nil, fmt.Errorf("confusion estimate: found %d noisy labels and %d right ones, wanted as "+
			"many", len(noisy), len(right))
	}
	counts := make([]float64, q*q)
	for i, p := range noisy {
		t := right[i]
		if p < 0 || int(p) >= q || t < 0 || int(t) >= q {
			return nil, fmt.Errorf("confusion estimate: example %d (counted from 0) has labels %d and %d, "+
				"wanted 0 to %d", i, p, t, q-1)
		}
		counts[int(p)*q+int(t)]++
	}
	return counts, nil
}

// FromCounts estimates C from how many examples have noisy label p and true class t,
// counts[p*Q+t], the mean of the posterior with a Dirichlet prior for each true class,
//
//	P[p][t] = (counts[p][t] + s·C₀[p][t]) / (n_t + s),
//
// where C₀ is the prior given or, for nil, a matrix in which every class is wrong as often as all
// are, each other label alike. s is the power of two from ½ to 4096 by which each example is
// likeliest given all others; where that says nothing, 1. Standard errors are those of shares of
// n_t + s examples, but s of at most 20, and as much as the prior, which may be wrong, has moved
// the entry beyond what chance does.
func FromCounts(classes []string, counts []float64, prior *confusion.Matrix) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	if err := checkCounts(counts, q); err != nil {
		return nil, err
	}
	if prior != nil && !slices.Equal(prior.Classes, classes) {
		return nil, fmt.Errorf("confusion estimate: found a prior of classes %s, wanted %s in their "+
			"order", labelfile.Quoted(prior.Classes), labelfile.Quoted(classes))
	}
	before := priorOf(counts, q, prior)
	s, _ := strength(counts, before, q)
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: "counts",
		Assumes: "the examples with both labels are like the others: drawn at random, at least among " +
			"those of one class"}
	if prior != nil {
		e.Method = "counts with a prior"
	}
	for t := range q {
		n := columnSum(counts, q, t)
		for p := range q {
			v := (counts[p*q+t] + float64(s*before[p*q+t])) / (n + s)
			e.P[p*q+t] = v
			spread := spread(v, n)
			pull, by := v-counts[p*q+t]/max(n, 1), s/(n+s)
			moved := max(0, float64(pull*pull)-float64(by*by*spread)/max(n, 1))
			e.Error[p*q+t] = min(1, math.Sqrt(spread/(n+min(s, mostBelieved)+1)+moved))
		}
		if n < FewExamples {
			e.Notes = append(e.Notes, fmt.Sprintf("true class %.60q has %v examples with both labels: its "+
				"column is mostly what was believed before", classes[t], n))
		}
	}
	numerics.NormaliseColumns(e.P, q)
	return e, e.Check()
}

func checkCounts(counts []float64, q int) error {
	if len(counts) != q*q {
		return fmt.Errorf("confusion estimate: found %d counts, wanted %d×%d", len(counts), q, q)
	}
	all := 0.0
	for k, v := range counts {
		if !(v >= 0 && v <= 1<<52) {
			return fmt.Errorf("confusion estimate: found the count %v of noisy class %d and true class %d, "+
				"wanted a number of examples", v, k/q, k%q)
		}
		all += v
	}
	if all == 0 {
		return errors.New("confusion estimate: found no example with both labels, wanted some")
	}
	return nil
}

// spread returns the variance of a label that has the share v of n examples, if one more had it and
// one had not: what was not seen is not impossible.
func spread(v, n float64) float64 {
	w := (float64(n*v) + 1) / (n + 2)
	return float64(w * (1 - w))
}

// priorOf returns C₀.
func priorOf(counts []float64, q int, given *confusion.Matrix) []float64 {
	all, right := 0.0, 0.0
	for k, v := range counts {
		all += v
		if k/q == k%q {
			right += v
		}
	}
	wrong := (all - right + 1) / (all + 2)
	before := make([]float64, q*q)
	for k := range before {
		switch {
		case given != nil:
			before[k] = float64((1-spreadBefore)*given.P[k]) + spreadBefore/float64(q)
		case k/q == k%q:
			before[k] = 1 - wrong
		default:
			before[k] = wrong / float64(q-1)
		}
	}
	return before
}

// strength returns s, by which the examples, each predicted from the others, are likeliest, and
// the sum of the logarithms. The logarithms are those of the contract, so that all machines choose
// alike.
func strength(counts, before []float64, q int) (best, most float64) {
	n := make([]float64, q)
	for k, v := range counts {
		n[k%q] += v
	}
	best, most = 1.0, math.Inf(-1)
	for s := 0.5; s <= 4096; s *= 2 {
		sum := 0.0
		for k, v := range counts {
			if v == 0 {
				continue
			}
			others := max(v-1, 0) + float64(s*before[k])
			of := max(n[k%q]-1, 0) + s
			sum += float64(v * float64(numerics.Log(float32(others/of))))
		}
		if sum > most {
			best, most = s, sum
		}
	}
	return best, most
}

// PriorLoss returns the mean of -log P(noisy label | class) of the examples that are counted, each
// by FromCounts of all others with the prior, at the best strength.
func PriorLoss(counts []float64, prior *confusion.Matrix) float64 {
	n := lists.Sum(counts)
	_, most := strength(counts, priorOf(counts, prior.Q(), prior), prior.Q())
	return -most / n
}

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
		if n < FewExamples {
			rare = append(rare, t)
		}
		for k := range q {
			at := k*q + t
			v := (sums[at] + before[at]) / (n + 1)
			blur := (sums[at] + before[at]) / (squares[at] + before[at])
			e.P[at], e.Error[at] = v, min(1, math.Sqrt(spread(v, n)*blur/(n+1)))
		}
	}
	numerics.NormaliseColumns(e.P, q)
	return rare
}

// assumptions are what the methods take for granted.
var assumptions = map[crowd.Method]string{
	crowd.Majority: "most annotators are right, and one who agrees with the others is",
	crowd.OneCoin: "annotators err independently of each other, each alike on all examples and " +
		"classes, and classes are alike frequent",
	crowd.DawidSkene: "annotators err independently of each other, and each errs alike on all " +
		"examples of a class",
	crowd.ByFunctions: "a vote is right more often than chance, and functions vote independently of " +
		"each other in each class, but for copies",
}
