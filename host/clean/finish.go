package clean

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// surelyCurved is the number of standard errors of its loss by which a kernel model must beat a
// linear one, or may be behind to stay in the contest.
const surelyCurved = 2

// plainest returns the index of the model that trusts the labels: the linear one, unless the kernel
// model is clearly better; -1 for none.
func plainest(said []*candidate) int {
	at := -1
	for k, s := range said {
		if s.models == nil || s.way.weighty || s.way.noise > given {
			continue
		}
		if at < 0 {
			at = k
		} else if better, off := ahead(said[at].drops, s.drops); better > surelyCurved*off {
			at = k
		}
	}
	return at
}

// finish combines the candidates into the result.
func (c *contest) finish(ctx context.Context) (*Result, error) {
	r := &Result{Checked: len(c.known), Plain: plainest(c.said)}
	parts := stack(&c.cases, c.said)
	if len(parts) == 0 {
		return nil, errNothing
	}
	for k, s := range c.said {
		one := Candidate{Name: s.way.String(), Checked: len(s.right), Wrong: s.wrong}
		if s.drops != nil {
			one.Loss = new(s.loss())
		}
		for _, p := range parts {
			if p.candidate == s {
				one.Share = p.share
			}
		}
		if r.Candidates = append(r.Candidates, one); parts[0].candidate == s {
			r.Chosen = k
		}
	}
	mixed := &candidate{way: parts[0].way}
	var err error
	mixed.p, err = blend(parts, func(s part) ([]float32, error) { return s.p, nil }, c.q)
	if err != nil {
		return nil, err
	}
	doubtful, err := believe(&c.cases, c.said, r, parts)
	if err != nil {
		return nil, err
	}
	if doubtful {
		mixed.noise = r.Noise
	}
	assess(&c.cases, mixed)
	if err := c.everywhere(ctx, r, mixed, parts); err != nil {
		return nil, err
	}
	r.Same = dataset.Firsts(c.data.Examples)
	r.Issues, err = estimate.FindIssues(r.True, c.data.Y, r.Same, c.q, noiseOf(r.Noise))
	if err != nil {
		return nil, err
	}
	measure(&c.cases, r, mixed)
	settle(&c.cases, r)
	next(&c.cases, r, c.Seed)
	r.Model, err = c.learn(ctx, parts)
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

// learn trains the final model on all examples: the weighted sum of the scores of its parts, which
// share one kind, preparation and map.
func (c *contest) learn(ctx context.Context, parts []part) (*host.Trained, error) {
	all := lists.Where(c.data.N, func(i int) bool { return c.data.Y[i] >= 0 || c.right[i] >= 0 })
	m, err := c.train(ctx, parts[0].candidate, all, how{})
	if err != nil || len(parts) == 1 {
		return m, err
	}
	sums := make([]float64, len(m.W))
	from := emptied(m.Model)
	for k, s := range parts {
		w := m.W
		if k > 0 {
			t, err := c.train(ctx, s.candidate, all, how{from: from, trial: true})
			if err != nil {
				return nil, err
			}
			w = t.W
		}
		if s.shares != nil { // uninformative scores
			continue
		}
		scale := s.share / float64(s.temperature)
		for at, v := range w {
			sums[at] += float64(scale * float64(v))
		}
	}
	for at, v := range sums {
		m.W[at] = float32(v)
	}
	m.Meta.Temperature = 1
	return m, nil
}

// believe chooses the noise of the result: of the largest part that has one, identified noise
// first, if most of the model distrusts the labels and there is clear evidence for it; else of the
// checked rows, if they clearly show noise. doubtful reports the former.
func believe(c *cases, said []*candidate, r *Result, parts []part) (doubtful bool, err error) {
	var doubter *candidate
	sum := 0.0
	for _, s := range parts {
		if s.noise == nil {
			continue
		}
		sum += s.share
		told := len(s.noise.Unidentified) == 0
		if doubter == nil || told && len(doubter.noise.Unidentified) > 0 {
			doubter = s.candidate
		}
	}
	shown := false
	if len(c.known) < LeastRight {
		shown = sum > 0.5 && surelyBetter(doubter, said)
	} else {
		both := c.labelled(c.known)
		wrong := lists.Count(both, func(i int) bool { return c.data.Y[i] != c.right[i] })
		low, _ := wilson(wrong, len(both))
		shown = low >= leastShown
	}
	switch {
	case !shown:
		return false, nil
	case sum > 0.5:
		r.Noise = doubter.noise
		return true, nil
	}
	r.Noise, err = confidentJoint(c, said)
	return false, err
}

// surelyLabels is the number of standard errors of its loss by which a candidate must beat all that
// trust the labels, before labels are called wrong.
const surelyLabels = 1

func surelyBetter(s *candidate, said []*candidate) bool {
	for _, other := range said {
		if other.noise != nil || other.drops == nil {
			continue
		}
		if better, off := ahead(other.drops, s.drops); better <= surelyLabels*off {
			return false
		}
	}
	return true
}

// leastShown is the least share of wrong labels in checked rows.
const leastShown = 0.01

// everywhere computes the probabilities of the true classes of all examples, from the parts of the
// model and, as far as they improve the likelihood of labels, nearest neighbours. mixed holds the
// combined predictions on the contest's examples; models of all folds predict the others.
func (c *contest) everywhere(ctx context.Context, r *Result, mixed *candidate, parts []part) error {
	r.By = mixed.way.String()
	r.True = make([]float32, c.data.N*c.q)
	for k, i := range c.rows {
		copy(r.True[i*c.q:(i+1)*c.q], mixed.p[k*c.q:(k+1)*c.q])
	}
	if err := beyond(ctx, c.Engine, &c.cases, r, parts); err != nil {
		return err
	}
	if r.Noise != nil && mixed.noise == nil && mixed.way.noise != alone {
		estimate.Unmix(r.True, r.Noise.P, c.q)
	}
	for _, s := range c.said {
		if s.way.neighbours && mixed.drops != nil {
			return pool(ctx, c.Engine, &c.cases, r, s)
		}
	}
	return nil
}

// beyond computes the probabilities of the examples outside the contest: the mean over the folds.
func beyond(ctx context.Context, e *engine.Engine, c *cases, r *Result, parts []part) error {
	inside := make([]bool, c.data.N)
	for _, i := range c.rows {
		inside[i] = true
	}
	others := lists.Where(c.data.N, func(i int) bool { return !inside[i] })
	if len(others) == 0 {
		return nil
	}
	p, err := blend(parts, func(s part) ([]float32, error) {
		sums := make([]float32, len(others)*c.q)
		for _, m := range s.models {
			p := make([]float32, 0, len(sums))
			err := host.Score(ctx, e, m, c.data, others, func(_ int, scores []float32) {
				p = append(p, scores...)
			})
			if err == nil {
				err = s.probabilities(p)
			}
			if err != nil {
				return nil, err
			}
			for at, v := range p {
				sums[at] += v / float32(len(s.models))
			}
		}
		return sums, nil
	}, c.q)
	for k, i := range others {
		copy(r.True[i*c.q:(i+1)*c.q], p[k*c.q:(k+1)*c.q])
	}
	return err
}

// measure estimates the share of wrong labels and the error of the model.
func measure(c *cases, r *Result, chosen *candidate) {
	believed := 0.0
	labelled := c.labelled(lists.UpTo[int](c.data.N))
	for _, i := range labelled {
		believed += 1 - r.Issues[i].Quality
	}
	believed /= float64(len(labelled))
	if both := c.labelled(c.known); len(both) >= LeastRight {
		// The difference on checked rows corrects the estimate.
		more, squares := 0.0, 0.0
		for _, i := range both {
			d := r.Issues[i].Quality - 1
			if c.data.Y[i] != c.right[i] {
				d++
			}
			more += d
			squares += float64(d * d)
		}
		n := float64(len(both))
		more /= n
		off := 2 * math.Sqrt(max(squares/n-float64(more*more), 1/float64(4*n))/n)
		r.Wrong = interval(believed+more, off)
		wrong, of := chosen.wrong, len(chosen.right)
		low, high := wilson(wrong, of)
		r.Error = Share{float64(wrong) / float64(of), &low, &high}
		return
	}
	if r.Noise != nil {
		off, labels := 0.0, make([]float64, c.q)
		for i := range c.data.N {
			for t, v := range r.True[i*c.q : (i+1)*c.q] {
				labels[t] += float64(v) / float64(c.data.N)
			}
		}
		for t, share := range labels {
			e := share // of an unidentified class
			if r.Noise.Identified(t) {
				e *= r.Noise.Error[t*c.q+t]
			}
			off += float64(e * e)
		}
		r.Wrong = interval(believed, 2*math.Sqrt(off))
	}
	unsure := 0.0
	for i := range c.data.N {
		row := r.True[i*c.q : (i+1)*c.q]
		unsure += 1 - float64(slices.Max(row))
	}
	r.Error = Share{Value: unsure / float64(c.data.N)}
}

func interval(value, off float64) *Share {
	at := func(v float64) float64 { return max(0, min(1, v)) }
	return &Share{at(value), new(at(value - off)), new(at(value + off))}
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

// settle applies the known classes, and clears issues if there is no evidence of noise.
func settle(c *cases, r *Result) {
	for i := range r.Issues {
		is := &r.Issues[i]
		if t := c.right[i]; t >= 0 {
			*is = estimate.Issue{Likely: t, Sure: 1, Wrong: c.data.Y[i] >= 0 && t != c.data.Y[i]}
			if !is.Wrong {
				is.Quality = 1
			}
		} else if r.Noise == nil {
			is.Wrong = false
		}
	}
}

// mostNext is the number of rows to check next; the first fairChecks are random, as only random
// rows judge candidates fairly.
const (
	mostNext   = 50
	fairChecks = 50
)

// next chooses the rows to check: random ones until there are fairChecks, then the most uncertain.
func next(c *cases, r *Result, seed uint64) {
	left := lists.Where(c.data.N, func(i int) bool { return c.right[i] < 0 && c.data.Y[i] >= 0 })
	if fair := fairChecks - len(c.known); fair > 0 && len(left) > 0 {
		y := lists.At(c.data.Y, left)
		parts := max(1, len(left)/fair)
		for k, f := range dataset.DrawFolds(y, c.q, parts, seed+2, dataset.OuterFolds) {
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
