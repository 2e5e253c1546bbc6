package clean

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// everywhere judges all examples of data by the mixture and the verdict.
func (c *contest) everywhere(ctx context.Context, r *Result, m *mixture, v *verdict) error {
	n, q := c.data.N, c.q
	inside := make([]bool, n)
	for _, i := range c.rows {
		inside[i] = true
	}
	others := lists.Where(n, func(i int) bool { return !inside[i] })
	var beyond []float32
	if others != nil {
		var err error
		if beyond, err = m.outside(ctx, c, others); err != nil {
			return err
		}
	}
	under := func(noise []float64) []float32 { // the probabilities of the true classes
		power, all := c.power(ctx, m.p, noise), make([]float32, n*q)
		for _, part := range []struct {
			rows []int
			p    []float32
		}{{c.rows, m.p}, {others, beyond}} {
			p := outward(c, sharpened(unmixedLogs(ctx, part.p, noise, q), power, q))
			for k, i := range part.rows {
				copy(all[i*q:(i+1)*q], p[k*q:(k+1)*q])
			}
		}
		return all
	}
	r.True = under(v.noise.P)
	judged := r.True // where labels are judged
	if !slices.Equal(v.even, v.noise.P) {
		judged = under(v.even)
	}
	r.Noise = outwardNoise(c, v.noise)
	doubt := confusion.Matrix{Classes: c.data.Classes, P: outwardMatrix(c, v.doubt)}
	r.Same = c.equal()
	believed, err := estimate.FindIssues(r.True, c.data.Y, r.Same, q, &r.Noise.Matrix)
	if err != nil {
		return err
	}
	r.Issues, err = estimate.FindIssues(judged, c.data.Y, r.Same, q, &doubt)
	if err != nil {
		return err
	}
	c.measure(r, v, believed)
	settle(c, r, judged, doubt.P)
	next(c, r)
	r.ToIdentify = toIdentify(c, r)
	return nil
}

// outwardMatrix returns a matrix of the contest's classes with the classes of data.
func outwardMatrix(c *contest, m []float64) []float64 {
	all := make([]float64, len(m))
	for y, to := range c.classes {
		for t, column := range c.classes {
			all[to*c.q+column] = m[y*c.q+t]
		}
	}
	return all
}

func outwardNoise(c *contest, e *estimate.Estimate) *estimate.Estimate {
	out := *e
	out.Classes, out.P, out.Unidentified = c.data.Classes, outwardMatrix(c, e.P), nil
	if e.Error != nil {
		out.Error = outwardMatrix(c, e.Error)
	}
	for _, t := range e.Unidentified {
		out.Unidentified = append(out.Unidentified, c.classes[t])
	}
	slices.Sort(out.Unidentified)
	return &out
}

// settle applies the known classes, and computes what Learn learns: the probabilities of the true
// classes given label and features. p has these given features alone.
func settle(c *contest, r *Result, p []float32, doubt []float64) {
	q := c.q
	r.posterior = slices.Clone(p)
	for i := range r.Issues {
		y, t := c.data.Y[i], c.right[i]
		row := r.posterior[i*q : (i+1)*q]
		sum := 0.0
		for k, v := range row {
			switch {
			case t >= 0 && int(t) != k:
				v = 0
			case t >= 0:
				v = 1
			case y >= 0:
				v *= float32(doubt[int(y)*q+k])
			}
			row[k] = v
			sum += float64(v)
		}
		for k, v := range row {
			row[k] = float32(float64(v) / max(sum, math.SmallestNonzeroFloat64))
		}
		if t >= 0 {
			r.Issues[i] = estimate.Issue{Quality: 1, Likely: t, Sure: 1}
			if y >= 0 && y != t {
				r.Issues[i].Quality, r.Issues[i].Wrong = 0, true
			}
		}
	}
}

// measure estimates the shares of wrong labels, by what the noise says of them, and of wrong
// predictions.
func (c *contest) measure(r *Result, v *verdict, issues []estimate.Issue) {
	q, believed, unsure, n := c.q, 0.0, 0.0, 0.0
	shares := make([]float64, q) // of the true classes
	for i, y := range c.data.Y {
		row := r.True[i*q : (i+1)*q]
		unsure += (1 - float64(slices.Max(row))) / float64(c.data.N)
		for t, f := range row {
			shares[t] += float64(f) / float64(c.data.N)
		}
		if y >= 0 {
			believed += 1 - issues[i].Quality
			n++
		}
	}
	believed /= n
	r.Error.Value = unsure
	both := lists.Keep(c.known, func(i int) bool { return c.data.Y[i] >= 0 })
	if len(both) >= LeastRight {
		measureChecked(c, r, believed, issues, both)
		return
	}
	// Of classes that overlap or wrong labels, either may be what predictions miss.
	missed := unsure + 2*math.Sqrt(float64(unsure*(1-unsure))/n)
	squares, most := 0.0, max(believed, missed)
	for t, share := range shares {
		if r.Noise.Error != nil {
			squares += math.Pow(share*r.Noise.Error[t*q+t], 2)
		}
	}
	for k, class := range c.classes {
		most = max(most, shares[class]*(1-v.doubt[k*q+k]))
	}
	if r.Wrong = interval(believed, 2*math.Sqrt(squares)); !r.Shown { // suspects alone
		suspects := lists.Count(r.Issues, func(is estimate.Issue) bool { return is.Wrong })
		share := float64(suspects) / n
		if r.Wrong = (Share{Value: share}); max(most, share) < 1 {
			r.Wrong.Low, r.Wrong.High = new(0.0), new(max(most, share))
		}
	}
}

// measureChecked measures by examples both of whose labels are known: the difference on them
// corrects what is believed of all. As the noise was counted on the same examples, the standard
// error is at least half of what their number gives.
func measureChecked(c *contest, r *Result, believed float64, issues []estimate.Issue,
	both []int) {
	misses, wrong, n := 0, 0.0, float64(len(both))
	more, off := lists.MeanError(len(both), func(k int) float64 {
		i := both[k]
		if lists.Largest(r.True[i*c.q:(i+1)*c.q]) != int(c.right[i]) {
			misses++
		}
		if c.data.Y[i] != c.right[i] {
			wrong += 1 / n
			return issues[i].Quality
		}
		return issues[i].Quality - 1
	})
	off = max(off, 1/n, math.Sqrt(wrong*(1-wrong)/n)/2)
	r.Wrong = interval(believed+more, 2*off)
	low, high := wilson(misses, len(both))
	r.Error = Share{float64(misses) / n, &low, &high}
}

// interval returns a share with its interval, unless that is unknown or says nothing.
func interval(value, off float64) Share {
	at := func(v float64) float64 { return max(0, min(1, v)) }
	if off == 0 || value-off <= 0 && value+off >= 1 {
		return Share{Value: at(value)}
	}
	return Share{at(value), new(at(value - off)), new(at(value + off))}
}

// wilson returns Wilson's 95 % score interval of the share k/n.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	off := z / (1 + z*z/m) * math.Sqrt(float64(p*(1-p))/m+z*z/(4*m*m))
	return max(0, middle-off), min(1, middle+off)
}

// mostNext is the number of rows to check next; the first fairChecks are random, as only random
// rows measure the share of wrong labels fairly.
const (
	mostNext   = 50
	fairChecks = 50
)

// next chooses the rows to check: random ones until there are fairChecks, then the most uncertain.
func next(c *contest, r *Result) {
	left := lists.Where(c.data.N, func(i int) bool { return c.right[i] < 0 && c.data.Y[i] >= 0 })
	if fair := fairChecks - len(c.known); fair > 0 && len(left) > 0 {
		parts := max(1, len(left)/fair)
		y := lists.At(c.data.Y, left)
		for k, f := range dataset.DrawFolds(y, c.q, parts, c.Seed+2, dataset.OuterFolds) {
			if f == 0 && len(r.Next) < fair {
				r.Next = append(r.Next, left[k])
			}
		}
		return
	}
	slices.SortStableFunc(left, func(a, b int) int { // the most uncertain first
		return cmp.Or(cmp.Compare(r.Issues[a].Sure, r.Issues[b].Sure),
			cmp.Compare(r.Issues[a].Quality, r.Issues[b].Quality))
	})
	r.Next = left[:min(mostNext, len(left))]
}

// mostIdentify is the number of examples whose true classes would identify noise.
const mostIdentify = 20

// toIdentify returns examples that are surely of classes which are not identified, whatever their
// label is, so that they are a fair sample of its noise.
func toIdentify(c *contest, r *Result) (some []int) {
	classes := r.Noise.Unidentified
	left := lists.Where(c.data.N, func(i int) bool { return c.right[i] < 0 && c.data.Y[i] >= 0 })
	for k, t := range classes {
		slices.SortStableFunc(left, func(a, b int) int {
			return cmp.Compare(r.True[b*c.q+t], r.True[a*c.q+t])
		})
		n := mostIdentify*(k+1)/len(classes) - mostIdentify*k/len(classes)
		some = append(some, left[:min(n, len(left))]...)
	}
	slices.Sort(some)
	return slices.Compact(some)
}

// Learn trains models on what r, the result of Find for the same data and options, says of the true
// classes of all examples that have a label or a known class, and returns their mixture. Of many
// examples it learns the kind of model with the largest share alone.
func Learn(ctx context.Context, data *dataset.Dataset, o Options, r *Result) (*model.Model, error) {
	some := lists.Where(data.N, func(i int) bool {
		return data.Y[i] >= 0 || o.Right != nil && o.Right[i] >= 0
	})
	hashes := contents(data.Examples)
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	var members []*model.Model
	var shares []float64
	for k, share := range r.kinds {
		if share == 0 || len(some) > manyRows && k != lists.Largest(r.kinds[:]) {
			continue
		}
		m, err := learn(ctx, data, o, r, kind(k), some)
		if err != nil {
			return nil, err
		}
		members, shares = append(members, m), append(shares, share)
	}
	m := members[0]
	if len(members) > 1 {
		m = model.Mix(members, shares)
	}
	if o.Given == nil && o.Probabilities == nil {
		m.Learned = &model.Learned{Confusion: r.Noise.P, Error: r.Noise.Error}
	}
	return m, nil
}

// learn trains a model of a kind on some examples. Labels of many tell more than the contest does:
// their evidence is then the noise alone.
func learn(ctx context.Context, data *dataset.Dataset, o Options, r *Result, k kind, some []int,
) (*model.Model, error) {
	q := len(data.Classes)
	d := pick(data, some)
	d.Evidence = &dataset.Evidence{Classes: make([]float32, len(some)*q)}
	d.Evidence.Likely = len(some) > manyRows
	for at, i := range some {
		row := d.Evidence.Classes[at*q : (at+1)*q]
		copy(row, r.posterior[i*q:])
		if d.Evidence.Likely && (o.Right == nil || o.Right[i] < 0) {
			likely := r.Noise.P[int(data.Y[i])*q:][:q]
			for t, v := range likely {
				row[t] = float32(v / max(slices.Max(likely), math.SmallestNonzeroFloat64))
			}
		}
		d.Y[at] = int32(lists.Largest(row))
	}
	t := o.Options
	t.Seed, t.Memory, t.Watch.Note = 1, []dataset.Memory{dataset.InPlace}, nil
	m, err := host.Train(ctx, d, nil, k.options(t, len(some)))
	if err != nil {
		return nil, err
	}
	return m.Model, nil
}

// options returns the options of a model of n examples.
func (k kind) options(t host.Options, n int) host.Options {
	switch k {
	case isTrees:
		p := trees.Defaults()
		p.Mode, p.Correction, p.Rounds, p.Leaves = trees.Boost, learners.None, finalRounds, finalLeaves
		if p.Rows, p.Columns = 1, 1; n > manyRows {
			p.Rounds, p.Leaves, p.Rate, p.Rows, p.Columns = manyRounds, manyLeaves, manyRate, 0, 0
		}
		t.Learner = p
		return t
	case isCurved:
		t.Kernel = rbf(0, min(landmarks, n))
	}
	p := softmax.Defaults()
	p.Correction = learners.None
	t.Learner = p
	return t
}

// Boosted trees of Learn: what they learn is smooth, and needs no search against overfitting.
const (
	finalRounds, finalLeaves = 150, 16
	manyRounds, manyLeaves   = 150, 31
	manyRows, manyRate       = 20000, 0.2
)
