package trees

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/learners"
)

// usualFolds is how many models Held fits unless it is given folds.
const usualFolds = 5

// HeldOut are predictions of examples by trees that have not seen them.
type HeldOut struct {
	// Noisy are the probabilities of each example's noisy label, and Clean of its true class, n×Q.
	Noisy, Clean []float32
	Settled      Params          // all values chosen
	Model        *ensemble.Model // a forest of all examples; nil where folds were held out
}

// Held predicts each example by trees that have not seen it: of a forest the trees whose samples
// lack it, of boosting the model of the other folds. folds has the fold of each example, from 0;
// nil to draw them, or for a forest to need none. Values of parameters that are 0 are chosen from
// all examples.
func Held(ctx context.Context, p *Params, problem *learners.Problem, e *dataset.Encoding,
	folds []int) (*HeldOut, error) {
	d, err := load(p, problem, e)
	if err != nil {
		return nil, err
	}
	settled, _, err := settle(ctx, *p, d, nil)
	if err != nil {
		return nil, err
	}
	return d.held(ctx, &settled, folds)
}

// held is Held by settled parameters.
func (d *data) held(ctx context.Context, p *Params, folds []int) (*HeldOut, error) {
	n, q := d.binned.N, d.problem.Q
	m, h := d.begin(p), &HeldOut{Settled: *p}
	sums := slices.Repeat(m.Base, n)
	if folds == nil && p.Mode == Forest {
		s := d.sampler(nil)
		if _, err := d.fit(ctx, p, m, nil, nil); err != nil {
			return nil, err
		}
		m.Add(sums, d.binned, s.times)
		h.Model = m
	} else {
		if folds == nil {
			folds = d.folds(usualFolds)
		}
		for fold := range slices.Max(folds) + 1 {
			out, m := make([]bool, n), d.begin(p)
			for i, k := range folds {
				out[i] = k == fold
			}
			scores, err := d.fit(ctx, p, m, out, nil)
			if err != nil {
				return nil, err
			}
			if scores == nil {
				scores = slices.Repeat(m.Base, n)
				m.Add(scores, d.binned, nil)
			}
			for i, held := range out {
				if held {
					copy(sums[i*q:(i+1)*q], scores[i*q:])
				}
			}
		}
	}
	h.Noisy, h.Clean = make([]float32, n*q), sums
	m.Probabilities(h.Noisy, sums, d.c)
	return h, nil
}

// folds draws one of a number of folds for each example.
func (d *data) folds(count int) []int {
	folds := make([]int, d.binned.N)
	for i := range folds {
		folds[i] = below(draw(d.problem.Seed, streamFolds, 0, i), count)
	}
	return folds
}
