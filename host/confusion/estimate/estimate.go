// Package estimate estimates the confusion matrix of labels from right labels, counts, out-of-fold
// probabilities, neighbours or annotators, and finds labels that are likely wrong.
package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Estimate is a confusion matrix estimated from data, usually with standard errors.
type Estimate struct {
	confusion.Matrix
	Method  string
	Assumes string   // the assumption, a sentence
	Notes   []string // remarks for the user, a sentence each
	// Unidentified are the true classes, in increasing order, whose columns the data do not identify;
	// their standard errors are meaningless.
	Unidentified []int
	// Broken reports that P violates Assumes by more than its standard errors.
	Broken bool
}

// some returns the first of notes on classes, and how many more there are.
func some(notes []string) []string {
	const most = 5
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("%d notes more like these, on other classes",
		len(notes)-most))
}

// Identified reports whether the data identify the column of true class t.
func (e *Estimate) Identified(t int) bool { return !slices.Contains(e.Unidentified, t) }

// FewExamples is the number of examples of a true class below which an estimate notes it.
const FewExamples = 10

// mostBelieved bounds the examples that a prior counts for in standard errors.
const mostBelieved = 20

// spreadBefore is the uniform share of a prior, so that no entry is impossible.
const spreadBefore = 0.01

// FromLabels is FromCounts of examples with both labels, noisy and right, as class indices.
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

// FromCounts estimates C from counts[p*Q+t], the number of examples with noisy label p and true
// class t, as the posterior mean under a Dirichlet prior for each true class,
//
//	P[p][t] = (counts[p][t] + s·C₀[p][t]) / (n_t + s),
//
// where C₀ is the given prior or, for nil, symmetric noise at the overall rate. s is the power of
// two from ½ to 4096 with the highest leave-one-out likelihood, 1 if that does not decide. Standard
// errors are for shares of n_t + min(s, 20) examples, plus the shift by the prior, which may
// be wrong, beyond chance.
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
			"order", quote.List(prior.Classes), quote.List(classes))
	}
	before := priorOf(counts, q, prior)
	s := strength(counts, before, q)
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: "counts",
		Assumes: "the examples with both labels are a random sample, at least within each class"}
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
				"column is mostly the prior", classes[t], n))
		}
	}
	e.Notes = some(e.Notes)
	numerics.NormaliseColumns(e.P, q)
	return e, e.Check()
}

// enoughChecked is the number of checked examples of a class that identify its column.
const enoughChecked = 15

// Join joins counts of examples by noisy label and checked true class, as of FromCounts, to the
// estimate: each column becomes the posterior mean under a Dirichlet prior with the estimate's mean
// and standard error, mostUncertain at least where it is not identified. So few checked examples,
// which are seldom a random sample, move a sure estimate little.
func (e *Estimate) Join(counts []float64) {
	q := e.Q()
	for t := range q {
		own, n := t*q+t, columnSum(counts, q, t)
		if n == 0 {
			continue
		}
		off := max(e.Error[own], 1e-3)
		if !e.Identified(t) {
			off = max(off, mostUncertain)
		}
		prior := spread(e.P[own], n) / float64(off*off)
		shrunk := prior / (n + prior)
		for y := range q {
			at := y*q + t
			e.P[at] = (counts[at] + float64(prior*e.P[at])) / (n + prior)
			e.Error[at] = min(e.Error[at], 1)
			sampling := float64((1-shrunk)*(1-shrunk)) * spread(e.P[at], n) / (n + 1)
			e.Error[at] = math.Sqrt(float64(shrunk*e.Error[at]*shrunk*e.Error[at]) + sampling)
		}
		if n >= enoughChecked {
			e.Unidentified = slices.DeleteFunc(slices.Clone(e.Unidentified),
				func(k int) bool { return k == t })
		}
	}
	numerics.NormaliseColumns(e.P, q)
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

// spread returns the variance of a label with the share v of n examples, with one pseudo-example
// each with and without it, so that unseen labels are not impossible.
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

// strength returns the s with the highest leave-one-out likelihood, by the contract's logarithm, so
// that all machines agree.
func strength(counts, before []float64, q int) (best float64) {
	n := make([]float64, q)
	for k, v := range counts {
		n[k%q] += v
	}
	best, most := 1.0, math.Inf(-1)
	for s := 0.5; s <= 4096; s *= 2 {
		sum := 0.0
		for k, v := range counts {
			if v == 0 {
				continue
			}
			others := max(v-1, 0) + float64(s*before[k])
			total := max(n[k%q]-1, 0) + s
			sum += float64(v * float64(numerics.Log(float32(others/total))))
		}
		if sum > most {
			best, most = s, sum
		}
	}
	return best
}

// FromCrowd estimates the confusion matrix of labels y of the examples of c, such as the consensus,
// votes, or labels of one annotator, counted by the posteriors of true classes. In standard errors
// examples count by the certainty of their class (Louis' principle).
func FromCrowd(c *crowd.Result, y []int32) (*Estimate, error) {
	q, n := len(c.Classes), len(y)
	if len(c.Posterior) != n*q {
		return nil, fmt.Errorf("crowd: found %d labels, wanted one for each of %d examples", n,
			len(c.Posterior)/q)
	}
	which := lists.Where(n, func(i int) bool { return y[i] != dataset.Unlabelled })
	if err := confusion.CheckLabels("crowd", lists.At(y, which), q); err != nil {
		return nil, err
	}
	m, err := confusion.New(c.Classes)
	if err != nil {
		return nil, err
	}
	sums, squares := make([]float64, q*q), make([]float64, q*q)
	for _, i := range which {
		k := int(y[i])
		for t, v := range c.Posterior[i*q : (i+1)*q] {
			sums[k*q+t] += float64(v)
			squares[k*q+t] += float64(v) * float64(v) // exact, so that fused or not is the same
		}
	}
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: string(c.Method), Assumes: assumptions[c.Method]}
	copy(e.P, sums)
	rare := e.smooth(sums, squares)
	for _, t := range rare {
		e.Notes = append(e.Notes,
			fmt.Sprintf("about %.2g examples have the true class %.60q: its column is unreliable",
				columnSum(sums, q, t), c.Classes[t]))
	}
	e.Notes = some(e.Notes)
	if !c.Settled {
		e.Notes = append(e.Notes, fmt.Sprintf("%d rounds were not enough to converge", c.Rounds))
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

// smooth turns sums into rates with standard errors, with one pseudo-example of average accuracy
// per class, and returns the classes with few examples.
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

// assumptions of the methods.
var assumptions = map[crowd.Method]string{
	crowd.Majority: "most annotators are right",
	crowd.OneCoin: "annotators err independently, each at one rate for all examples and classes, " +
		"and classes are equally frequent",
	crowd.TwoCoin: "annotators err independently, each at one rate for all examples of a class, and " +
		"take every wrong class as often",
	crowd.DawidSkene: "annotators err independently, each at one rate for all examples of a class",
	crowd.Mean:       "annotators err independently, each at one rate for all examples of a class",
	crowd.Given:      "annotators err independently, each by the matrix of an earlier consensus",
	crowd.Subtypes: "annotators err independently, each at one rate for all examples of a subtype " +
		"of a class",
	crowd.ByFunctions: "votes are better than chance, and functions vote independently within each " +
		"class, except for copies",
}
