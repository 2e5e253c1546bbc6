package clean

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// nearest are the numbers of neighbours to try, in increasing order, and hopes the pseudo-labels by
// overall frequency.
var (
	nearest = [...]int{5, 10, 20, 40}
	hopes   = [...]float64{0.5, 1, 2, 4}
)

// byNeighbours predicts each example of the contest by the labels of its nearest neighbours, with
// the best number of them.
func byNeighbours(ctx context.Context, e *engine.Engine, c *cases, s *candidate) error {
	near, err := neighbours.OfDataset(ctx, e, c.data, c.rows,
		nearest[len(nearest)-1])
	if err != nil {
		return err
	}
	best := math.Inf(1)
	for _, k := range nearest {
		if k > near.K {
			break
		}
		for _, hope := range hopes {
			tried := &candidate{way: s.way, p: shares(c, near, k, hope)}
			assess(c, tried)
			if l := tried.loss(); l < best {
				best, *s = l, *tried
			}
		}
	}
	if s.p == nil {
		return errUntold
	}
	return nil
}

// shares returns the label shares among the k nearest neighbours of each row.
func shares(c *cases, near *neighbours.Graph, k int, hope float64) []float32 {
	q, y := c.q, labels(c, c.rows)
	before := make([]float64, q)
	labelled := lists.Count(y, func(t int32) bool { return t >= 0 })
	for _, t := range y {
		if t >= 0 {
			before[t] += 1 / float64(labelled)
		}
	}
	p := make([]float32, len(c.rows)*q)
	sum := make([]float64, q)
	for i := range c.rows {
		for t, v := range before {
			sum[t] = float64(hope * v)
		}
		n := hope
		for _, j := range near.Index[i*near.K : i*near.K+k] {
			if y[j] >= 0 {
				sum[y[j]]++
				n++
			}
		}
		for t, v := range sum {
			p[i*q+t] = float32(v / n)
		}
	}
	return p
}

// The powers that pool tries for models and neighbours, and their least probabilities.
var (
	ofModels     = [...]float64{1, 0.25, 0.5, 0.75, 1.25}
	ofNeighbours = [...]float64{0, 0.1, 0.25, 0.5, 0.75, 1}
)

const leastOfModels, leastOfNeighbours = 1e-6, 1e-3

// pool multiplies the probabilities of r by those of the nearest neighbours, each with the power
// that maximises the likelihood of the contest's labels.
func pool(ctx context.Context, e *engine.Engine, c *cases, r *Result, s *candidate) error {
	models, near := make([]float32, len(c.rows)*c.q), slices.Clone(s.p)
	for k, i := range c.rows {
		copy(models[k*c.q:(k+1)*c.q], r.True[i*c.q:(i+1)*c.q])
	}
	if r.Noise != nil {
		estimate.Unmix(near, r.Noise.P, c.q)
	}
	a, b, best := 1.0, 0.0, math.Inf(1)
	tried := &candidate{noise: r.Noise}
	for _, of := range ofModels {
		for _, by := range ofNeighbours {
			tried.p = multiplied(models, near, of, by, c.q)
			if assess(c, tried); tried.loss() < best {
				a, b, best = of, by, tried.loss()
			}
		}
	}
	if b == 0 {
		return nil
	}
	r.By += " and nearest neighbours"
	if len(c.rows) < c.data.N {
		all := *c
		all.rows = lists.UpTo[int](c.data.N)
		every := &candidate{way: s.way}
		if err := byNeighbours(ctx, e, &all, every); err != nil {
			return err
		}
		if near = every.p; r.Noise != nil {
			estimate.Unmix(near, r.Noise.P, c.q)
		}
	}
	r.True = multiplied(r.True, near, a, b, c.q)
	return nil
}

// multiplied returns the normalised products of powers of probabilities, of q classes each.
func multiplied(p, k []float32, a, b float64, q int) []float32 {
	all, row := make([]float32, len(p)), make([]float64, q)
	for at := 0; at < len(p); at += q {
		sum := 0.0
		for t := range row {
			of := float64(numerics.Log(max(p[at+t], leastOfModels)))
			by := float64(numerics.Log(max(k[at+t], leastOfNeighbours)))
			row[t] = float64(numerics.Exp(float32(float64(a*of) + float64(b*by))))
			sum += row[t]
		}
		for t, v := range row {
			all[at+t] = float32(v / sum)
		}
	}
	return all
}
