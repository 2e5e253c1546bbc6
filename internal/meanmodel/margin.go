package meanmodel

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/featurespace"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

// Margin is what a kernel model stands at the price of some of its right predictions.
type Margin struct {
	Share float64 `json:"share"` // of the examples that may be predicted wrong besides
	// Error is the margin for error: scores that are less off, each of them, cost no more.
	Error float64 `json:"margin"`
	// Landmarks is a power of 2 of them to which Compress may bring the model, all of them, or 0
	// where none of those tried is enough.
	Landmarks int `json:"landmarks"`
	// Noise is the rate of symmetric noise that the labels it learned from could have had, 95 times
	// of 100, and Labels the share of them that could be turned to the worst. 0 of models that are no
	// means of all examples.
	Noise  float64 `json:"noise"`
	Labels float64 `json:"labels"`
}

// MarginShares are the shares that Margins looks at.
var MarginShares = []float64{0, 0.001, 0.01, 0.05, 0.1}

// Margins returns what m stands for each of MarginShares that leaves right predictions, judged by
// the labels y of prepared examples x; nil for what m itself predicts. Fewer landmarks are looked
// for up to most of them. Errors: model.ErrFold, and those of Engine.Project and means.Compress.
func Margins(
	ctx context.Context, e engine.Engine, m *model.Model, x dataset.Examples, y []int32, most int,
) ([]Margin, error) {
	folded, err := m.Fold()
	if err != nil {
		return nil, err
	}
	scores, err := folded.ScoresPrepared(ctx, e, x)
	if err != nil {
		return nil, err
	}
	if y == nil {
		y = engine.Predicted(scores, m.Q)
	}
	found, err := means.Margins(scores, y, m.Q, MarginShares)
	if err != nil {
		return nil, err
	}
	p := folded.Map().Basis.Projection
	radius := 0.0
	for _, l := range []dataset.Examples{x, p.Landmarks} {
		for _, v := range featurespace.SquaredLengths(p.Function, l) {
			radius = max(radius, math.Sqrt(v))
		}
	}
	var margins []Margin
	for t, v := range found {
		if math.IsInf(v, 1) {
			break
		}
		one := Margin{Share: MarginShares[t], Error: v}
		if n := behind(m); n > 0 {
			one.Noise = means.NoiseStood(v, radius, n, m.Q)
			one.Labels = means.LabelsStood(v, radius)
		}
		margins = append(margins, one)
	}
	return margins, landmarksFor(ctx, e, p, margins, radius, most)
}

// behind returns of how many examples m is the mean classifier, classes weighed as they have
// examples and no noise taken out; 0 if it is another one.
func behind(m *model.Model) (n int64) {
	if mean, err := meanModel(m); err != nil || mean.Balanced || m.Confusion != nil {
		return 0
	}
	for _, count := range m.Meta.Kernel.Examples {
		n += count
	}
	return n
}

// landmarksFor sets Landmarks of margins, which grow.
func landmarksFor(
	ctx context.Context, e engine.Engine, p engine.Projection, margins []Margin, radius float64,
	most int) error {
	all := p.Landmarks.N
	left := len(margins) // those before have no number of landmarks yet
	for n := 1; n <= min(most, all) && left > 0; n *= 2 {
		c, err := means.Compress(ctx, e, p, n)
		if err != nil {
			return err
		}
		far := 0.0
		for _, v := range c.Error {
			far = max(far, radius*v)
		}
		for ; left > 0 && far < margins[left-1].Error; left-- {
			margins[left-1].Landmarks = n
		}
	}
	for ; left > 0 && most >= all; left-- {
		margins[left-1].Landmarks = all
	}
	return nil
}
