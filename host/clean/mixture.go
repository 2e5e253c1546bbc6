package clean

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// mixture predicts labels by the weighted mean of the probabilities of several bases.
type mixture struct {
	members []*member
	p       []float32 // the mean of all repetitions: out-of-fold probabilities of labels, n×Q
	last    []float32 // by the last repetition alone
}

// member is a base in a mixture.
type member struct {
	*base
	p, last []float32 // as of the mixture
	share   float64
	loss    float64
}

// add adds a repetition of the folds.
func (m *mixture) add(ctx context.Context, c *contest, repetition int, task *progress.Task) error {
	if c.Probabilities != nil {
		m.members = []*member{{base: &supplied}}
	} else if err := c.findNear(ctx); err != nil {
		return err
	}
	if c.Probabilities == nil && repetition == 0 {
		for k := range bases {
			if bases[k].able(c) {
				m.members = append(m.members, &member{base: &bases[k]})
			}
		}
	}
	fold := c.folds(repetition)
	for _, b := range m.members {
		task.Enter(fmt.Sprintf("%s, repetition %d", b.name, repetition+1))
		scores, err := b.learn(ctx, c, repetition, fold)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		noise := c.noiseOf(b.base)
		t, err := confusion.Temperature(ctx, scores, c.part.Y, c.q, noise)
		switch {
		case c.Probabilities != nil && (err != nil || c.Given != nil): // they are what they are
			t = 1
		case err != nil:
			t = 0
		}
		if f := c.shared(b.name); repetition == 0 {
			f.temper = t
		}
		if b.last, err = c.probabilities(scores, t, noise); err != nil {
			return err
		}
		if b.p == nil {
			b.p = make([]float32, len(b.last))
		}
		for at, v := range b.last {
			b.p[at] += (v - b.p[at]) / float32(repetition+1)
		}
	}
	m.last = m.mix(c, func(b *member) []float32 { return b.last })
	m.p = m.mix(c, func(b *member) []float32 { return b.p })
	if repetition == 0 {
		for _, b := range m.members {
			c.note("%s: loss of held-out labels %.4f, share %.2f", b.name, b.loss, b.share)
		}
	}
	return nil
}

// noiseOf returns the matrix between the scores of b and labels; nil for none.
func (c *contest) noiseOf(b *base) *confusion.Matrix {
	if b.corrects {
		return c.correcting()
	}
	return nil
}

// probabilities turns scores into probabilities of labels, in place: their frequencies for
// temperature 0. noise is nil for scores of labels.
func (c *contest) probabilities(scores []float32, temperature float32, noise *confusion.Matrix,
) ([]float32, error) {
	if temperature == 0 {
		frequency := make([]float32, c.q)
		for _, k := range c.part.Y {
			frequency[k] += 1 / float32(len(c.part.Y))
		}
		for at := range scores {
			scores[at] = frequency[at%c.q]
		}
		return scores, nil
	}
	m := model.Model{Q: c.q}
	m.Meta.Temperature = temperature
	if err := m.ToProbabilities(scores); err != nil || noise == nil {
		return scores, err
	}
	row := make([]float32, c.q)
	for at := 0; at < len(scores); at += c.q {
		p := scores[at : at+c.q]
		copy(row, p)
		for y := range p {
			p[y] = float32(through(noise.P[y*c.q:(y+1)*c.q], row))
		}
	}
	return scores, nil
}

// through returns the probability of a label with a row of C, of true classes with probabilities p.
func through(row []float64, p []float32) (sum float64) {
	for t, v := range p {
		sum += float64(row[t] * float64(v))
	}
	return sum
}

// leastLikely limits the influence of a single example.
const leastLikely = 1e-4

// mix sets the shares under which held-out labels are likeliest (Smyth & Wolpert, Linearly
// combining density estimators via stacking, Machine Learning 36 (1999)), and returns the mixture.
func (m *mixture) mix(c *contest, of func(*member) []float32) []float32 {
	likely := make([][]float64, len(m.members))
	for k, b := range m.members {
		p := of(b)
		b.loss = 0
		for i, y := range c.part.Y {
			v := max(float64(p[i*c.q+int(y)]), leastLikely)
			likely[k] = append(likely[k], v)
			b.loss += surprise(v) / float64(len(c.part.Y))
		}
	}
	for k, share := range Shares(likely) {
		m.members[k].share = share
	}
	return m.blend(of)
}

// blend returns the weighted mean of the members' probabilities, of those that have any.
func (m *mixture) blend(of func(*member) []float32) (p []float32) {
	sums, all := []float64(nil), 0.0
	for _, b := range m.members {
		p := of(b)
		if p == nil {
			continue
		}
		if sums == nil {
			sums = make([]float64, len(p))
		}
		all += b.share
		for at, v := range p {
			sums[at] += float64(b.share * float64(v))
		}
	}
	p = make([]float32, len(sums))
	for at, v := range sums {
		p[at] = float32(v / all)
	}
	return p
}

func surprise(p float64) float64 {
	return -float64(numerics.Log(float32(max(p, leastLikely))))
}

// climbRounds are the rounds of Shares, and leastPart the least share.
const (
	climbRounds = 100
	leastPart   = 0.01
)

// Shares returns the maximum-likelihood shares of a mixture, by rounds of EM
//
//	share[s]  ←  mean over i of share[s]·f_s(i) / Σ_r share[r]·f_r(i),
//
// where f_s(i), above 0, is the likelihood of example i under s.
func Shares(f [][]float64) []float64 {
	shares := slices.Repeat([]float64{1 / float64(len(f))}, len(f))
	next := make([]float64, len(f))
	for range climbRounds {
		clear(next)
		for i := range f[0] {
			sum := 0.0
			for s, share := range shares {
				sum += float64(share * f[s][i])
			}
			for s, share := range shares {
				next[s] += float64(share*f[s][i]) / sum
			}
		}
		all := lists.Sum(next)
		for s, v := range next {
			shares[s] = v / all
		}
	}
	kept := 0.0
	for s, v := range shares {
		if v < leastPart {
			shares[s] = 0
		}
		kept += shares[s]
	}
	for s := range shares {
		shares[s] /= kept
	}
	return shares
}

// report returns the members as Result has them.
func (m *mixture) report(c *contest) (list []Base) {
	for _, b := range m.members {
		one := Base{Name: b.name, Loss: b.loss, Share: b.share}
		for i, t := range c.truth {
			if t >= 0 {
				one.Checked++
				if lists.Largest(b.p[i*c.q:(i+1)*c.q]) != int(t) {
					one.Wrong++
				}
			}
		}
		list = append(list, one)
	}
	return list
}

// name names the mixture by its larger members.
func (m *mixture) name() string {
	if len(m.members) == 1 {
		return m.members[0].name
	}
	parts := slices.Clone(m.members)
	slices.SortStableFunc(parts, func(a, b *member) int { return -cmp.Compare(a.share, b.share) })
	var names []string
	for _, b := range parts {
		if b.share >= mostPart {
			names = append(names, fmt.Sprintf("%s (%.0f %%)", b.name, 100*b.share))
		}
	}
	return strings.Join(names, ", ")
}

// mostPart is the share of a member that name names.
const mostPart = 0.05

// kinds returns the share of each kind of model to learn. It is the average of the kind's share in
// the mixture, which noise biases, and an equal share.
func (m *mixture) kinds(c *contest) (shares [isTrees + 1]float64) {
	if c.Probabilities != nil || !dense(mostFeatures)(c) {
		shares[isLinear] = 1
		return shares
	}
	for k := range shares {
		shares[k] = 0.5 / float64(len(shares))
	}
	for _, b := range m.members {
		shares[b.like] += b.share / 2
	}
	return shares
}

// outside returns the probabilities of labels of examples outside the contest.
func (m *mixture) outside(ctx context.Context, c *contest, some []int) ([]float32, error) {
	found := map[*member][]float32{}
	for _, b := range m.members {
		if b.beyond == nil || b.share == 0 {
			continue
		}
		scores, err := b.beyond(ctx, c, some)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		found[b], err = c.probabilities(scores, c.fits[b.name].temper, c.noiseOf(b.base))
		if err != nil {
			return nil, err
		}
	}
	return m.blend(func(b *member) []float32 { return found[b] }), nil
}
