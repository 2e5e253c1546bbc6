package main

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// noise is a way in which labels came to be wrong.
type noise struct {
	name  string
	human bool // people made the mistakes
	// labels returns noisy labels of the examples d, whose own are right, and the true C; nil if
	// none is wrong. dir is that of -data.
	labels func(ctx context.Context, dir string, d *dataset.Dataset, seed uint64) ([]int32,
		*confusion.Matrix, error)
}

// right is no noise.
var right = noise{name: "none",
	labels: func(_ context.Context, _ string, d *dataset.Dataset, _ uint64) ([]int32,
		*confusion.Matrix, error) {
		return d.Y, nil, nil
	}}

// injected are the noises of sets with right labels.
var injected = []noise{right, pairwise(0.2), pairwise(0.4), symmetric(0.2), symmetric(0.4),
	symmetric(0.6), random(0.6)}

// pairwise noise takes class q for q+1.
func pairwise(rate float64) noise {
	return inject(fmt.Sprintf("pairwise %g %%", 100*rate), func(classes []string,
		_ uint64) (*confusion.Matrix, error) {
		return confusion.Pairwise(classes, rate)
	})
}

// symmetric noise makes all wrong classes equally likely.
func symmetric(rate float64) noise {
	return inject(fmt.Sprintf("symmetric %g %%", 100*rate), func(classes []string,
		_ uint64) (*confusion.Matrix, error) {
		return confusion.Symmetric(classes, rate)
	})
}

// random noise mixes the identity and a random stochastic matrix, another one for each seed.
func random(share float64) noise {
	return inject(fmt.Sprintf("random %g %%", 100*share), func(classes []string,
		seed uint64) (*confusion.Matrix, error) {
		return confusion.Random(classes, share, seed)
	})
}

// inject is noise drawn by the seed from a matrix.
func inject(name string, matrix func(classes []string, seed uint64) (*confusion.Matrix,
	error)) noise {
	return noise{name: name,
		labels: func(_ context.Context, _ string, d *dataset.Dataset, seed uint64) ([]int32,
			*confusion.Matrix, error) {
			c, err := matrix(d.Classes, seed)
			if err != nil {
				return nil, nil, err
			}
			y, err := c.Inject(d.Y, seed)
			return y, c, err
		}}
}

// column is noise that comes with the data: p is the same examples with the wrong labels.
func column(name string, p part) noise {
	return noise{name: name, human: true,
		labels: func(ctx context.Context, dir string, d *dataset.Dataset, _ uint64) ([]int32,
			*confusion.Matrix, error) {
			noisy, err := p.read(ctx, dir, d)
			if err != nil {
				return nil, nil, err
			}
			c, err := observed(noisy.Y, d)
			return noisy.Y, c, err
		}}
}

// observed returns the C of the pairs of noisy and true labels: the share of label p among the
// examples of class q.
func observed(noisy []int32, d *dataset.Dataset) (*confusion.Matrix, error) {
	if len(noisy) != d.N {
		return nil, fmt.Errorf("%s: found %d noisy labels, wanted one for each of %d examples", d.Path,
			len(noisy), d.N)
	}
	q := len(d.Classes)
	c, total := &confusion.Matrix{Classes: d.Classes, P: make([]float64, q*q)}, make([]float64, q)
	for i, p := range noisy {
		c.P[int(p)*q+int(d.Y[i])]++
		total[d.Y[i]]++
	}
	for i := range c.P {
		if n := total[i%q]; n > 0 {
			c.P[i] /= n
		} else if i/q == i%q { // there is no example to be wrong about
			c.P[i] = 1
		}
	}
	return c, c.Check()
}
