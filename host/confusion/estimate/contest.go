package estimate

import (
	"cmp"
	"context"
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
	Known      []int32           // the true classes, -1 where they are unknown; nil for none
	Given      *confusion.Matrix // a matrix to compare with the estimates; nil for none
}

// Candidate is an estimate, and how well it explains the labels.
type Candidate struct {
	*Estimate
	// Loss is the mean of -log P(label | features). Behind is how much larger it is than the best
	// candidate's, as a sum over the examples, with a little of the entropy of the classes: of two
	// that differ by less than about 3, the labels cannot tell which is right.
	Loss, Behind float64
}

// Contest is the result of FromEvidence.
type Contest struct {
	Candidates []Candidate
	Chosen     int // index of the estimate to use
	Right      int // index of the candidate that all labels are right
	Given      int // index of Evidence.Given, -1 if that is nil
	// True are the probabilities of the true classes given the features by the chosen estimate, n×Q:
	// C times them are the probabilities of the labels.
	True []float32
}

// Methods of candidates.
const (
	AllRight         = "labels as they are"
	ByGiven          = "given"
	OneRate          = "one rate"
	ByPosteriors     = "probabilities"
	ByNeighbourhoods = "neighbours" // by the labels of neighbours in place of the probabilities
)

// hopeless is how far behind, in Candidate.Behind, a fit does not continue after its first rounds.
const hopeless = 30

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
// It trains nothing, ends with ctx, and is deterministic. Neither the order of examples nor the
// order of classes matters, except by rounding.
func FromEvidence(ctx context.Context, e Evidence) (*Contest, error) {
	q, n := len(e.Classes), len(e.Y)
	if len(e.P) != n*q || e.Known != nil && len(e.Known) != n ||
		e.Near != nil && len(e.Near) != n*e.Neighbours {
		return nil, fmt.Errorf("confusion estimate: found %d probabilities, %d true classes and %d "+
			"neighbours for %d labels, wanted %d, 0 or 1, and %d of each", len(e.P), len(e.Known),
			len(e.Near), n, q, e.Neighbours)
	}
	if e.Given != nil && e.Given.Q() != q {
		return nil, fmt.Errorf("confusion estimate: found a matrix of %d classes, wanted %d", e.Given.Q(),
			q)
	}
	f := contest{Evidence: e, labelled: lists.Where(n, func(i int) bool { return e.Y[i] >= 0 })}
	f.labelled = f.sample(max(mostFitted, fittedByClass*q))
	if err := confusion.CheckLabels("confusion estimate: labels", lists.At(e.Y, f.labelled),
		q); err != nil {
		return nil, err
	}
	found, err := f.run(ctx)
	if ctx.Err() != nil { // so that found means nothing
		return nil, ctx.Err()
	}
	return found, err
}

// contest is a call of FromEvidence.
type contest struct {
	Evidence
	labelled []int // examples
	fits     []fitted
	result   Contest
}

// fitted is a fit to some probabilities of labels.
type fitted struct {
	*explained
	method string
	to     *observed // of the labelled examples
	p      []float32 // of all examples
}

// observe returns the labelled examples with some probabilities of all.
func (f *contest) observe(p []float32) *observed {
	q, known := len(f.Classes), []int32(nil)
	if f.Known != nil {
		known = lists.At(f.Known, f.labelled)
	}
	some := p
	if len(f.labelled) < len(f.Y) {
		some = nil
		for _, i := range f.labelled {
			some = append(some, p[i*q:(i+1)*q]...)
		}
	}
	return newObserved(lists.At(f.Y, f.labelled), some, known, q)
}

func (f *contest) run(ctx context.Context) (*Contest, error) {
	q := len(f.Classes)
	right, err := confusion.Symmetric(f.Classes, 0)
	if err != nil {
		return nil, err
	}
	even, err := confusion.Symmetric(f.Classes, evenRate)
	if err != nil {
		return nil, err
	}
	o := f.observe(f.P)
	enter := func(method string, to *observed, p []float32, start []float64, s shape) *explained {
		fit := begin(start, s, q)
		to.improve(ctx, fit, firstRounds)
		f.fits = append(f.fits, fitted{fit, method, to, p})
		return fit
	}
	enter(AllRight, o, f.P, right.P, given)
	enter(OneRate, o, f.P, even.P, symmetric)
	enter(ByPosteriors, o, f.P, even.P, free)
	joint, err := ConfidentJoint(f.Classes, o.y, o.p, true)
	if err != nil {
		return nil, err
	}
	enter(ByPosteriors, o, f.P, joint.P, free)
	if f.Near != nil {
		p := f.shares()
		near := enter(ByNeighbourhoods, f.observe(p), p, joint.P, free)
		f.fits[len(f.fits)-1].to.improve(ctx, near, outerRounds)
		enter(ByPosteriors, o, f.P, near.c, free)
	}
	f.result.Given = -1
	if f.Evidence.Given != nil {
		enter(ByGiven, o, f.P, possible(f.Evidence.Given.P, q), given)
	}
	best := -1
	for k, fit := range f.fits {
		if fit.method == ByPosteriors && (best < 0 || fit.worse(f.fits[best].explained) < 0) {
			best = k
		}
	}
	f.fits = append(f.fits[:0:0], f.different(best)...)
	best = lists.Where(len(f.fits), func(k int) bool { return f.fits[k].method == ByPosteriors })[0]
	for k, fit := range f.fits {
		if fit.method == ByPosteriors && fit.worse(f.fits[best].explained) < hopeless {
			o.improve(ctx, fit.explained, outerRounds)
			if fit.worse(f.fits[best].explained) < 0 {
				best = k
			}
		}
	}
	f.result.Chosen = best
	for k, fit := range f.fits {
		if err := f.enter(fit); err != nil {
			return nil, err
		}
		if fit.method == ByGiven {
			f.result.Given = k
		}
		f.result.Candidates[k].Behind = fit.worse(f.fits[best].explained)
	}
	every := observed{q: q, y: f.Y, p: f.P}
	f.result.True = every.probabilities(ctx, f.fits[best].explained)
	return &f.result, f.errors(ctx, best, q)
}

// possible returns C with a small share of labels that may be anything: a matrix that is rounded or
// estimated has zeros for rare events.
func possible(c []float64, q int) []float64 {
	const anything = 0.01
	p := make([]float64, len(c))
	for at, v := range c {
		p[at] = float64((1-anything)*v) + anything/float64(q)
	}
	return p
}

// Lost returns Candidate.Behind of the given matrix.
func (c *Contest) Lost() float64 { return c.Candidates[c.Given].Behind }

// Rejected reports whether the labels contradict the given matrix: the chosen estimate explains
// them better than chance allows, and better by more than the given one is better than labels as
// they are.
func (c *Contest) Rejected() bool {
	if c.Given < 0 {
		return false
	}
	free := 0.0 // rates of the chosen estimate that are not 0
	for _, v := range c.Candidates[c.Chosen].P {
		if v > leastRate {
			free++
		}
	}
	behind, right := c.Candidates[c.Given].Behind, c.Candidates[c.Right].Behind
	return behind > free+float64(chance*math.Sqrt(2*free))+5 && behind > right-behind
}

// leastRate is the least rate that counts, and chance the standard deviations of χ², in Rejected.
const leastRate, chance = 0.02, 3.1

// A fit uses at most mostFitted examples, or fittedByClass per class if that is more.
const mostFitted, fittedByClass = 4000, 200

// sample returns at most the given number of labelled examples, drawn by their content.
func (f *contest) sample(most int) []int {
	if len(f.labelled) <= most {
		return f.labelled
	}
	q, drawn := len(f.Classes), slices.Clone(f.labelled)
	slices.SortStableFunc(drawn, func(a, b int) int {
		return cmp.Compare(mark(f.P[a*q:(a+1)*q]), mark(f.P[b*q:(b+1)*q]))
	})
	drawn = lists.Keep(drawn[:most], func(i int) bool { return f.Known == nil || f.Known[i] < 0 })
	for _, i := range f.labelled { // all whose class is known
		if f.Known != nil && f.Known[i] >= 0 {
			drawn = append(drawn, i)
		}
	}
	slices.Sort(drawn)
	return drawn
}

// different returns the fits without those of the same method that are nearly the best one.
func (f *contest) different(best int) []fitted {
	first := f.fits[best]
	return lists.Keep(f.fits, func(fit fitted) bool {
		apart := 0.0
		for at, v := range fit.c {
			apart = max(apart, math.Abs(v-first.c[at]))
		}
		return fit.explained == first.explained || fit.method != first.method || apart > sameFit
	})
}

// sameFit is the largest difference of an entry between two fits that converge to the same one.
const sameFit = 0.02

// shares returns the shares of labels among the neighbours of each example, with one label of
// average frequency.
func (f *contest) shares() []float32 {
	q, p := len(f.Classes), make([]float32, len(f.P))
	average := make([]float32, q)
	for _, i := range f.labelled {
		average[f.Y[i]] += 1 / float32(len(f.labelled))
	}
	for i := range f.Y {
		row, n := p[i*q:(i+1)*q], float32(1)
		copy(row, average)
		for _, j := range f.Near[i*f.Neighbours : (i+1)*f.Neighbours] {
			if y := f.Y[j]; y >= 0 {
				row[y]++
				n++
			}
		}
		for k := range row {
			row[k] /= n
		}
	}
	return p
}

// evenRate is the rate of wrong labels at the start.
const evenRate = 0.3

// enter adds a candidate.
func (f *contest) enter(fit fitted) error {
	q, c := len(f.Classes), fit.c
	if fit.shape == free {
		c = shrunk(fit.counts, q)
	}
	e := &Estimate{Matrix: confusion.Matrix{Classes: f.Classes, P: c, Error: make([]float64, q*q)},
		Method: fit.method, Assumes: "noise depends on the class alone, and the features determine " +
			"most classes"}
	if fit.method == AllRight {
		e.Assumes = "labels are right"
	}
	f.result.Candidates = append(f.result.Candidates, Candidate{Estimate: e,
		Loss: fit.loss / float64(len(fit.to.y))})
	return e.Check()
}

// errors estimates standard errors of the chosen candidate, and which classes are identified. The
// variance of an entry adds up the jackknife's, sampling, the distance of the estimate by
// neighbours, half the distance of equally good candidates, and doubts about the classes of
// examples that labels are of.
func (f *contest) errors(ctx context.Context, best, q int) error {
	chosen, fit := &f.result.Candidates[best], f.fits[best]
	variance := f.jackknife(ctx, fit, q)
	mass, certain := f.certainty(f.result.True, q)
	for at, v := range chosen.P {
		t := at % q
		vague := float64(vagueWeight*(1-certain[t])) * min(max(v, 0.05), 1-min(max(v, 0.5), 0.95))
		variance[at] += spread(v, mass[t])*samplingWeight/(mass[t]*certain[t]+1) + float64(vague*vague)
	}
	unsure := make([]bool, q)
	for k, other := range f.result.Candidates {
		weight := 0.0
		switch {
		case other.Method == ByNeighbourhoods:
			weight = 1
		case k != best && other.Method != ByGiven && other.Behind < leastAhead:
			weight = 0.25
		}
		for t := range q {
			apart := 0.0
			for y := range q {
				off := other.P[y*q+t] - chosen.P[y*q+t]
				variance[y*q+t] += float64(weight * float64(off*off))
				apart += math.Abs(off) / 2
			}
			unsure[t] = unsure[t] || weight == 0.25 && apart > mostApart
		}
	}
	for at, v := range variance {
		chosen.Error[at] = min(1, math.Sqrt(v))
	}
	for t := range q {
		if unsure[t] || certain[t] < leastCertain || chosen.Error[t*q+t] > mostUncertain {
			chosen.Unidentified = append(chosen.Unidentified, t)
		}
	}
	chosen.identify()
	for k, other := range f.fits { // their errors are about the same
		if c := f.result.Candidates[k]; k != best && other.shape == free {
			c.Error, c.Unidentified = slices.Clone(chosen.Error), slices.Clone(chosen.Unidentified)
		}
	}
	return f.check(chosen.Estimate)
}

// What errors adds up, fitted on six tables: optdigits, phoneme, car, adult, wine and vehicle.
const (
	jackknife       = 10 // parts, each left out in turn
	jackknifeWeight = 1.44
	samplingWeight  = 0.64
	vagueWeight     = 0.5
)

// Of an identified class, the largest standard error of right labels, and the least certainty of
// its examples.
const (
	mostUncertain = 0.09
	leastCertain  = 0.7
)

// jackknife returns the variance of each entry by leaving out tenths of the examples.
func (f *contest) jackknife(ctx context.Context, fit fitted, q int) []float64 {
	variance, means := make([]float64, q*q), make([]float64, q*q)
	u, parts := fit.to.unmixed(ctx, fit.c), make([][]float64, jackknife)
	for part := range parts {
		parts[part] = shrunk(fit.to.without(ctx, part, fit.explained, u).counts, q)
		lists.Add(means, parts[part])
	}
	for _, c := range parts {
		for at, v := range c {
			off := v - means[at]/jackknife
			variance[at] += float64(off*off) * jackknifeWeight * (jackknife - 1) / jackknife
		}
	}
	return variance
}

// certainty returns for each class the expected number of its examples, and its mean probability
// among them: 1 if the features tell it for sure.
func (f *contest) certainty(p []float32, q int) (mass, certain []float64) {
	mass, certain = make([]float64, q), make([]float64, q)
	for _, i := range f.labelled {
		for t, v := range p[i*q : (i+1)*q] {
			mass[t] += float64(v)
			certain[t] += float64(v * v)
		}
	}
	for t := range q {
		certain[t] /= max(mass[t], math.SmallestNonzeroFloat64)
	}
	return mass, certain
}

// check joins the labels of checked examples.
func (f *contest) check(e *Estimate) error {
	if f.Known == nil {
		return nil
	}
	both := lists.Where(len(f.Y), func(i int) bool { return f.Y[i] >= 0 && f.Known[i] >= 0 })
	counts, err := CountLabels(e.Q(), lists.At(f.Y, both), lists.At(f.Known, both))
	if err == nil {
		e.Join(counts)
	}
	return err
}
