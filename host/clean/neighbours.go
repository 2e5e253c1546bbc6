package clean

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/neighbours"
)

// nearest are the numbers of neighbours that are tried, in increasing order, and hopes as how many
// labels the frequencies of all count beside them.
var (
	nearest = [...]int{5, 10, 20, 40}
	hopes   = [...]float64{0.5, 1, 2, 4}
)

// byNeighbours has the labels of the nearest other examples of the contest predict each, in the
// number that predicts best.
func (c *contest) byNeighbours(ctx context.Context, s *candidate) error {
	near, err := neighbours.OfDataset(ctx, c.Engine, c.data, c.rows,
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
			tried := &candidate{way: s.way, p: c.shares(near, k, hope)}
			c.judge(tried)
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

// shares returns the labels' shares among the k nearest neighbours of each row.
func (c *contest) shares(near *neighbours.Graph, k int, hope float64) []float32 {
	q, y := c.q, c.labels(c.rows)
	before := make([]float64, q)
	for _, t := range y {
		before[t] += 1 / float64(len(y))
	}
	p := make([]float32, len(c.rows)*q)
	sum := make([]float64, q)
	for i := range c.rows {
		for t, v := range before {
			sum[t] = float64(hope * v)
		}
		n := hope
		for _, j := range near.Index[i*near.K : i*near.K+k] {
			sum[y[j]]++
			n++
		}
		for t, v := range sum {
			p[i*q+t] = float32(v / n)
		}
	}
	return p
}
