package clean

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Suspects is Find without a final model, given that labels are noisy. Noise is the given matrix or
// the estimate with the highest likelihood of held-out labels. Issues are by the candidate that
// predicts these best; with Probabilities, nothing is trained.
//
// Probabilities without a given matrix are of noisy labels, and Noise is their confident joint.
// With a matrix they are of noisy labels or true classes, whichever makes the labels more likely.
func Suspects(ctx context.Context, data *dataset.Dataset, o Options) (*Result, error) {
	if o.Probabilities != nil {
		o.Most, o.Folds = data.N, 2
	}
	c, err := newContest(data, o)
	if err != nil {
		return nil, err
	}
	if want := data.N * c.q; o.Probabilities != nil && len(o.Probabilities) != want {
		return nil, fmt.Errorf("clean: probabilities: got %d, want %d, one for each example and class",
			len(o.Probabilities), want)
	}
	best := (*candidate)(nil)
	if o.Probabilities != nil {
		best, err = c.fromElsewhere()
	} else if err = c.compete(ctx); err == nil {
		best = doubter(c.said)
	}
	if err == nil && best == nil {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Checked: len(c.known), Noise: best.noise}
	if err := c.everywhere(ctx, r, best, []part{{best, 1}}); err != nil {
		return nil, err
	}
	first := dataset.Firsts(data.Examples)
	r.Issues, err = estimate.FindIssues(r.True, data.Y, first, c.q, noiseOf(r.Noise))
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

// doubter returns the best candidate that distrusts the labels; nil for none.
func doubter(said []*candidate) (best *candidate) {
	for _, s := range said {
		if s.noise != nil && len(s.noise.Unidentified) == 0 && (best == nil || s.loss() < best.loss()) {
			best = s
		}
	}
	return best
}

// fromElsewhere returns a candidate from the probabilities of the options.
func (c *contest) fromElsewhere() (*candidate, error) {
	noisy := &candidate{way: way{elsewhere: true}, p: c.Probabilities}
	assess(&c.cases, noisy)
	c.said = []*candidate{noisy}
	s := &candidate{way: noisy.way, p: slices.Clone(noisy.p)}
	var err error
	if c.Given != nil {
		s.noise = &estimate.Estimate{Matrix: *c.Given, Method: "given"}
	} else if s.noise, err = confidentJoint(&c.cases, c.said); err != nil {
		return nil, err
	}
	if assess(&c.cases, s); c.Given == nil || noisy.loss() <= s.loss() {
		estimate.Unmix(s.p, s.noise.P, c.q)
	}
	return s, nil
}
