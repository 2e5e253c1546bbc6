package clean

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// supplied is the base of Options.Probabilities.
var supplied = base{name: "probabilities", learn: suppliedScores, beyond: suppliedBeyond}

func suppliedScores(ctx context.Context, c *contest, _ int, _ []int) ([]float32, error) {
	return suppliedBeyond(ctx, c, c.rows)
}

// suppliedBeyond returns the logarithms of the probabilities of labels of some examples. With a
// given matrix they are taken for probabilities of true classes if that makes labels likelier.
func suppliedBeyond(_ context.Context, c *contest, some []int) ([]float32, error) {
	q, ofTrue := c.q, suppliedTrue(c)
	scores, row := make([]float32, len(some)*q), make([]float64, q)
	for n, i := range some {
		p := c.Probabilities[i*q : (i+1)*q]
		for y := range row {
			if row[y] = float64(p[y]); ofTrue {
				row[y] = through(c.Given.P[y*c.q:(y+1)*c.q], p)
			}
		}
		for k, class := range c.classes {
			scores[n*q+k] = numerics.Log(float32(max(row[class], leastShare)))
		}
	}
	return scores, nil
}

// suppliedTrue reports whether supplied probabilities are of true classes.
func suppliedTrue(c *contest) bool {
	if c.Given == nil {
		return false
	}
	better := 0.0
	for i, y := range c.data.Y {
		if y >= 0 {
			p := c.Probabilities[i*c.q : (i+1)*c.q]
			better += surprise(float64(p[y])) - surprise(through(c.Given.P[int(y)*c.q:(int(y)+1)*c.q], p))
		}
	}
	return better > 0
}

// suppliedHashes returns a hash of the supplied probabilities of each example, whatever the order
// of classes.
func suppliedHashes(c *contest) []uint64 {
	hashes := make([]uint64, c.data.N)
	for at, v := range c.Probabilities {
		hashes[at/c.q] += stir(0, uint64(math.Float32bits(v)))
	}
	return hashes
}

// equal is dataset.Firsts of the examples; nil without features, and where supplied probabilities
// tell examples apart that all have the same.
func (c *contest) equal() []int32 {
	if c.data.D == 0 {
		return nil
	}
	same := dataset.Firsts(c.data.Examples)
	if c.Probabilities == nil || slices.Max(same) > 0 {
		return same
	}
	c.note("all examples have the same features, which are ignored beside the probabilities")
	return nil
}
