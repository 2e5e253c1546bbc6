package clean

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
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
	near, err := c.neighbours(ctx)
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

// neighbours finds the nearest other rows of each row: of dense examples with all features in one
// unit, else by the angle between them.
func (c *contest) neighbours(ctx context.Context) (*neighbours.Graph, error) {
	d := *c.data
	d.Put(c.data.Stored().Pick(c.rows))
	d.Home, d.SHA256 = nil, ""
	k, metric := min(nearest[len(nearest)-1], d.N-1), neighbours.Euclidean
	if d.Sparse() {
		metric = neighbours.Cosine
	} else if d.Prepared == nil {
		err := features.Prepare(&d, dataset.Steps{Standardize: true}, dataset.InPlace)
		if err != nil {
			return nil, err
		}
	}
	return neighbours.Of(ctx, c.Engine, d.Examples, k, metric)
}
