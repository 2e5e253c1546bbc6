package clean

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Suspects is Find without a final model, given that labels are noisy. Noise is the given matrix or
// the estimate with the highest likelihood of held-out labels. Issues are by the candidate that
// predicts these best.
func Suspects(ctx context.Context, data *dataset.Dataset, o Options) (*Result, error) {
	c, err := newContest(data, o)
	if err != nil {
		return nil, err
	}
	if err := c.compete(ctx); err != nil {
		return nil, err
	}
	best := doubter(c.said)
	if best == nil {
		return nil, errNothing
	}
	r := &Result{Checked: len(c.known), Noise: best.noise}
	if err := c.everywhere(ctx, r, best, []part{{best, 1}}); err != nil {
		return nil, err
	}
	r.Same = dataset.Firsts(data.Examples)
	r.Issues, err = estimate.FindIssues(r.True, data.Y, r.Same, c.q, noiseOf(r.Noise))
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

// Judge is Suspects by out-of-fold probabilities p of classes, n×Q, from elsewhere: nothing is
// trained. Examples without features are all different. With the matrix noise, p are of noisy
// labels or true classes, whichever makes the labels more likely; without, of noisy labels, and
// Noise is their confident joint.
func Judge(data *dataset.Dataset, p []float32, noise *confusion.Matrix) (*Result, error) {
	q, r := len(data.Classes), &Result{By: "probabilities"}
	if len(p) != data.N*q {
		return nil, fmt.Errorf("clean: probabilities: got %d, want %d, one for each example and class",
			len(p), data.N*q)
	}
	ofLabels := noise == nil
	if noise != nil {
		r.Noise = &estimate.Estimate{Matrix: *noise, Method: "given"}
		better := 0.0
		for i, y := range data.Y {
			if y >= 0 {
				row := p[i*q : (i+1)*q]
				better += surprise(labelled(row, int(y), r.Noise)) - surprise(float64(row[y]))
			}
		}
		ofLabels = better >= 0
	} else {
		var err error
		y, p := onlyLabelled(data.Y, lists.UpTo[int](data.N), p, q)
		if r.Noise, err = estimate.ConfidentJoint(data.Classes, y, p, true); err != nil {
			return nil, err
		}
	}
	if r.True = slices.Clone(p); ofLabels {
		estimate.Unmix(r.True, r.Noise.P, q)
	}
	if data.D > 0 {
		r.Same = dataset.Firsts(data.Examples)
	}
	var err error
	r.Issues, err = estimate.FindIssues(r.True, data.Y, r.Same, q, &r.Noise.Matrix)
	return r, err
}

// onlyLabelled returns the labels of those rows that have one, and their probabilities, Q of each.
func onlyLabelled(y []int32, rows []int, p []float32, q int) (labels []int32, some []float32) {
	labels = lists.At(y, rows)
	if !slices.Contains(labels, dataset.Unlabelled) {
		return labels, p
	}
	labels = nil
	for k, i := range rows {
		if y[i] >= 0 {
			labels, some = append(labels, y[i]), append(some, p[k*q:(k+1)*q]...)
		}
	}
	return labels, some
}
