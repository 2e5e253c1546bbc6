package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Evidence is what FromEvidence estimates the noise of n labels from.
type Evidence struct {
	Classes []string
	Y       []int32   // the noisy labels; -1 for none
	P       []float32 // out-of-fold probabilities of the noisy labels, n×Q
	// Near are the nearest Neighbours of each example, n×Neighbours, the nearest first; nil for none.
	Near       []int32
	Neighbours int
	Known      []int32 // the true class of each example, -1 where it is unknown; nil for none
}

// Candidate is an estimate, and how well it explains the labels.
type Candidate struct {
	*Estimate
	// True are the probabilities of the true classes given the features, n×Q: C times them are the
	// probabilities of the labels.
	True []float32
	// Loss is the mean of -log P(label | features). Behind is how much larger it is than the best
	// candidate's, as a sum over the examples, with a little of the entropy of True: of two that
	// differ by less than about 3, the labels cannot tell which is right.
	Loss, Behind float64
}

// Contest is the result of FromEvidence.
type Contest struct {
	Candidates []Candidate
	Chosen     int // index of the estimate to use
	Right      int // index of the candidate that all labels are right
}

// Methods of candidates.
const (
	AllRight     = "labels as they are"
	OneRate      = "one rate"
	ByPosteriors = "probabilities"
)

// leastAhead is how far behind, in Candidate.Behind, an equally good candidate is at most.
const leastAhead = 3

// mostApart is the total variation by which the columns of equally good candidates differ at most
// for a class to be identified.
const mostApart = 0.1

// FromEvidence estimates C by maximum likelihood of the labels given out-of-fold probabilities, by
// EM from several starts: the labels of neighbours, the confident joint and an even rate. Beside
// these estimates compete a single rate for all classes, and labels as they are.
//
// A class is identified if its column is nearly the same in all candidates that explain the labels
// about equally well. Standard errors are by the jackknife over tenths of the examples, and by the
// spread over these candidates. Checked examples count with their true class.
//
// It trains nothing and is deterministic. Neither the order of examples nor the order of classes
// matters, except by rounding.
func FromEvidence(e Evidence) (*Contest, error) {
	q, n := len(e.Classes), len(e.Y)
	if len(e.P) != n*q || e.Known != nil && len(e.Known) != n ||
		e.Near != nil && len(e.Near) != n*e.Neighbours {
		return nil, fmt.Errorf("confusion estimate: found %d probabilities, %d true classes and %d "+
			"neighbours for %d labels, wanted %d, 0 or 1, and %d of each", len(e.P), len(e.Known),
			len(e.Near), n, q, e.Neighbours)
	}
	some := lists.Where(n, func(i int) bool { return e.Y[i] >= 0 })
	y, known := lists.At(e.Y, some), []int32(nil)
	if err := confusion.CheckLabels("confusion estimate: labels", y, q); err != nil {
		return nil, err
	}
	if e.Known != nil {
		known = lists.At(e.Known, some)
	}
	p := e.P
	if len(some) < n {
		p = nil
		for _, i := range some {
			p = append(p, e.P[i*q:(i+1)*q]...)
		}
	}
	f := contest{Evidence: e, labelled: newObserved(y, p, known, q)}
	f.all = newObserved(e.Y, e.P, nil, q)
	return f.run()
}

// contest is a call of FromEvidence.
type contest struct {
	Evidence
	labelled, all *observed
	fits          []*explained
	result        Contest
}

func (f *contest) run() (*Contest, error) {
	q := len(f.Classes)
	starts, err := f.starts()
	if err != nil {
		return nil, err
	}
	right, err := confusion.Symmetric(f.Classes, 0)
	if err != nil {
		return nil, err
	}
	f.enter(AllRight, f.labelled.explain(right.P, given))
	f.enter(OneRate, f.labelled.explain(starts[0], symmetric))
	best := -1
	for _, start := range starts {
		fit := f.labelled.explain(start, free)
		f.enter(ByPosteriors, fit)
		if at := len(f.fits) - 1; best < 0 || fit.worse(f.fits[best]) < 0 {
			best = at
		}
	}
	f.judge(best)
	for k := range f.result.Candidates {
		c := &f.result.Candidates[k]
		c.True = f.all.probabilities(f.fits[k])
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	f.errors(best, q)
	return &f.result, nil
}

// starts returns the C from which EM begins.
func (f *contest) starts() (starts [][]float64, err error) {
	even, err := confusion.Symmetric(f.Classes, evenRate)
	if err != nil {
		return nil, err
	}
	starts = append(starts, even.P)
	o := f.labelled
	joint, err := ConfidentJoint(f.Classes, o.y, o.p, true)
	if err != nil {
		return nil, err
	}
	starts = append(starts, joint.P)
	if f.Near == nil || f.Neighbours < 2 || len(o.y) < len(f.Y) {
		return starts, nil
	}
	near, err := ByNeighbours(f.Classes, f.Y, f.Near, f.Neighbours)
	if err != nil {
		return nil, err
	}
	return append(starts, near.P), nil
}

// evenRate is the rate of wrong labels at the start.
const evenRate = 0.3

// enter adds a candidate.
func (f *contest) enter(method string, fit *explained) {
	n, q := float64(len(f.labelled.y)), len(f.Classes)
	c := fit.c
	if fit.shape == free {
		c = shrunk(fit.counts, q)
	}
	e := &Estimate{Matrix: confusion.Matrix{Classes: f.Classes, P: c, Error: make([]float64, q*q)},
		Method: method, Assumes: "noise depends on the class alone, and the features determine most " +
			"classes"}
	if method == AllRight {
		e.Assumes = "labels are right"
	}
	f.fits = append(f.fits, fit)
	f.result.Candidates = append(f.result.Candidates, Candidate{Estimate: e, Loss: fit.loss / n})
}

// judge compares the candidates: best is the one of the lowest loss.
func (f *contest) judge(best int) {
	f.result.Chosen = best
	for k, fit := range f.fits {
		f.result.Candidates[k].Behind = fit.worse(f.fits[best])
	}
}

// errors estimates standard errors of the chosen candidate, and which classes are identified.
func (f *contest) errors(best, q int) {
	chosen := &f.result.Candidates[best]
	squares, means := make([]float64, q*q), make([]float64, q*q)
	var parts [][]float64
	u := f.labelled.unmixed(f.fits[best].c)
	for part := range jackknife {
		parts = append(parts, shrunk(f.labelled.without(part, f.fits[best], u).counts, q))
		lists.Add(means, parts[part])
	}
	for _, c := range parts {
		for at, v := range c {
			off := v - means[at]/jackknife
			squares[at] += float64(off * off)
		}
	}
	for at, v := range squares {
		chosen.Error[at] = math.Sqrt(v * (jackknife - 1) / jackknife)
	}
	for k, other := range f.result.Candidates {
		if k == best || other.Behind >= leastAhead {
			continue
		}
		for t := range q {
			apart := 0.0
			for y := range q {
				off := other.P[y*q+t] - chosen.P[y*q+t]
				chosen.Error[y*q+t] = max(chosen.Error[y*q+t], math.Abs(off)/2)
				apart += math.Abs(off) / 2
			}
			if apart > mostApart {
				chosen.Unidentified = append(chosen.Unidentified, t)
			}
		}
	}
	chosen.identify()
	slices.Sort(chosen.Unidentified)
	chosen.Unidentified = slices.Compact(chosen.Unidentified)
}
