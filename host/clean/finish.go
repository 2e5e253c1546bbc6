package clean

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/internal/fold"
)

// By how many standard errors a candidate has to be ahead: of one that takes labels for right, and
// of a linear one if it is curved, by noisy labels; of any, by checked rows.
const (
	surelyLabels = 1
	surelyCurved = 2
	surelyRight  = 1
)

// choose returns the place of the candidate that is taken, and of the best that takes labels for
// right; -1 for none. Noisy labels choose first: of models that take them for right the likelier
// one, unless one that does not is surely likelier and the labels tell its noise. Checked rows, if
// there are enough, then choose another under which their true classes are surely likelier: that
// varies less than how many of so few are wrong.
func (c *contest) choose() (chosen, plain int) {
	at := c.plainest()
	if at < 0 {
		return at, at
	}
	plain, most := at, 0.0
	base := c.said[at]
	for k, s := range c.said {
		if s.noise == nil || len(s.noise.Unidentified) > 0 {
			continue
		}
		better, deviation := ahead(base.drops, s.drops)
		if better > surelyLabels*deviation && better > most {
			at, most = k, better
		}
	}
	if len(c.known) < LeastRight {
		return at, plain
	}
	chosen, most = at, 0.0
	for k, s := range c.said {
		if s.way.neighbours {
			continue
		}
		better, deviation := ahead(c.said[at].right, s.right)
		if lead := better - surelyRight*deviation; lead > most {
			chosen, most = k, lead
		}
	}
	return chosen, plain
}

// plainest returns the place of the model that takes labels for right: the linear one, unless the
// curved one is surely likelier; -1 for none.
func (c *contest) plainest() int {
	at := -1
	for k, s := range c.said {
		if s.way.noise != none || s.way.neighbours || s.way.weighty {
			continue
		}
		if at < 0 {
			at = k
		} else if better, off := ahead(c.said[at].drops, s.drops); better > surelyCurved*off {
			at = k
		}
	}
	return at
}

// finish makes the result of what the candidates have said.
func (c *contest) finish(ctx context.Context) (*Result, error) {
	r := &Result{Checked: len(c.known)}
	r.Chosen, r.Plain = c.choose()
	if r.Chosen < 0 {
		return nil, errNothing
	}
	for _, s := range c.said {
		k := Candidate{Name: s.way.String(), Loss: s.loss(), Checked: len(s.wrong),
			RightLoss: mean(s.right)}
		for _, w := range s.wrong {
			if w {
				k.Wrong++
			}
		}
		r.Candidates = append(r.Candidates, k)
	}
	chosen := c.said[r.Chosen]
	if err := c.believe(r, chosen); err != nil {
		return nil, err
	}
	if err := c.everywhere(ctx, r, chosen); err != nil {
		return nil, err
	}
	var err error
	r.Issues, err = estimate.FindIssues(r.True, c.data.Y, c.data.Firsts(), c.q, noiseOf(r.Noise))
	if err != nil {
		return nil, err
	}
	c.measure(r, chosen)
	c.settle(r)
	c.next(r)
	all := make([]int, c.data.N)
	for i := range all {
		all[i] = i
	}
	r.Model, err = c.train(ctx, chosen, all, nil, false)
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

// believe takes the noise of the chosen candidate, or where it has none that of checked rows which
// surely show some.
func (c *contest) believe(r *Result, chosen *candidate) (err error) {
	if chosen.noise != nil {
		r.Noise = chosen.noise
		return nil
	}
	wrong := 0
	for _, i := range c.known {
		if c.data.Y[i] != c.right(i) {
			wrong++
		}
	}
	if low, _ := wilson(wrong, len(c.known)); len(c.known) < LeastRight || low < leastShown {
		return nil
	}
	r.Noise, err = c.confidentJoint()
	return err
}

// leastShown is the share of wrong labels that checked rows have to show.
const leastShown = 0.01

// everywhere finds the probabilities of true classes of all examples: by the chosen candidate, or
// by the nearest neighbours and the noise where these predict noisy labels better.
func (c *contest) everywhere(ctx context.Context, r *Result, chosen *candidate) error {
	best := chosen
	for _, s := range c.said {
		if s.way.neighbours && chosen.drops != nil && s.loss() < chosen.loss() {
			best = s
		}
	}
	r.By = best.way.String()
	some, said := c.rows, best.p
	if len(c.rows) < c.data.N {
		all := &contest{Options: c.Options, data: c.data, q: c.q, known: c.known, said: c.said,
			gamma: c.gamma}
		all.rows = make([]int, c.data.N)
		for i := range all.rows {
			all.rows[i] = i
		}
		all.draw()
		var err error
		if some = all.rows; best.way.neighbours {
			s := &candidate{way: best.way}
			err = all.byNeighbours(ctx, s)
			said = s.p
		} else {
			said, err = all.outOfFold(ctx, best, all.rows, all.fold)
		}
		if err != nil {
			return err
		}
	}
	r.True = make([]float32, c.data.N*c.q)
	for k, i := range some {
		copy(r.True[i*c.q:(i+1)*c.q], said[k*c.q:(k+1)*c.q])
	}
	if r.Noise != nil && best.noise == nil && best.way.noise != alone {
		estimate.Unmix(r.True, r.Noise.P, c.q)
	}
	return nil
}

// measure says how many labels are wrong, and how often the model will be.
func (c *contest) measure(r *Result, chosen *candidate) {
	believed := 0.0
	for _, is := range r.Issues {
		believed += 1 - is.Quality
	}
	believed /= float64(c.data.N)
	if len(c.known) >= LeastRight {
		// What checked rows say beyond what was believed of them corrects the belief.
		more, squares := 0.0, 0.0
		for _, i := range c.known {
			d := r.Issues[i].Quality - 1
			if c.data.Y[i] != c.right(i) {
				d++
			}
			more += d
			squares += float64(d * d)
		}
		n := float64(len(c.known))
		more /= n
		off := 2 * math.Sqrt(max(squares/n-float64(more*more), 1/float64(4*n))/n)
		r.Wrong = bounded(believed+more, off)
		wrong := 0
		for _, w := range chosen.wrong {
			if w {
				wrong++
			}
		}
		low, high := wilson(wrong, len(chosen.wrong))
		r.Error = Share{float64(wrong) / float64(len(chosen.wrong)), low, high, true}
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
			e := float64(share * r.Noise.Error[t*c.q+t])
			off += float64(e * e)
		}
		r.Wrong = bounded(believed, 2*math.Sqrt(off))
	}
	unsure := 0.0
	for i := range c.data.N {
		row := r.True[i*c.q : (i+1)*c.q]
		unsure += 1 - float64(slices.Max(row))
	}
	r.Error = Share{Value: unsure / float64(c.data.N)}
}

func bounded(value, off float64) Share {
	at := func(v float64) float64 { return max(0, min(1, v)) }
	return Share{at(value), at(value - off), at(value + off), true}
}

// wilson returns the bounds of about 95 % (Wilson's score interval) of the share that k of n tell.
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

// settle enters what is known for certain, and leaves labels alone where nothing shows that some
// are wrong.
func (c *contest) settle(r *Result) {
	for i := range r.Issues {
		is := &r.Issues[i]
		if t := c.right(i); t >= 0 {
			*is = estimate.Issue{Likely: t, Sure: 1, Wrong: t != c.data.Y[i]}
			if !is.Wrong {
				is.Quality = 1
			}
		} else if r.Noise == nil {
			is.Wrong = false
		}
	}
}

// mostNext is how many rows are named to be checked next; fairChecks are drawn at random before
// others, as only such rows judge candidates fairly.
const (
	mostNext   = 50
	fairChecks = 50
)

// next names the rows to check: at random until there are enough to judge by, then those whose
// label is the most doubtful.
func (c *contest) next(r *Result) {
	var left []int
	for i := range c.data.N {
		if c.right(i) < 0 {
			left = append(left, i)
		}
	}
	if fair := fairChecks - len(c.known); fair > 0 && len(left) > 0 {
		y := make([]int32, len(left))
		for k, i := range left {
			y[k] = c.data.Y[i]
		}
		parts := max(1, len(left)/fair)
		for k, f := range fold.Draw(y, c.q, parts, c.Seed+2) {
			if f == 0 && len(r.Next) < fair {
				r.Next = append(r.Next, left[k])
			}
		}
		return
	}
	slices.SortStableFunc(left, func(a, b int) int {
		return cmp.Compare(math.Abs(r.Issues[a].Quality-0.5), math.Abs(r.Issues[b].Quality-0.5))
	})
	r.Next = left[:min(mostNext, len(left))]
}
