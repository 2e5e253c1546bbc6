package inspect

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

// Bound is a guarantee for a mean classifier at the price of some right predictions (van Rooyen et
// al., Sparse robust classification via the kernel mean).
type Bound struct {
	Share  float64 `json:"share"`  // of the examples, at most, that lose their right prediction
	Margin float64 `json:"margin"` // if each score is off by less (Theorem 7)
	// Noise is the rate of symmetric label noise that moves scores less, with 95 % (Lemma 9), and
	// Labels the share of adversarial labels (Corollary 8); 0 for a model that is not the mean of all
	// training examples.
	Noise  float64 `json:"symmetric_noise,omitempty"`
	Labels float64 `json:"adversarial_labels,omitempty"`
}

// bounds returns the bounds of a mean classifier on the examples of a file.
func bounds(ctx context.Context, m *model.Model, path string) ([]Bound, error) {
	p, err := catalog.Parse(m.Meta.Learner, m.Meta.Parameters)
	if err != nil {
		return nil, err
	}
	params, ok := p.(*kernelmean.Params)
	if !ok || m.Projection == nil {
		return nil, app.Usage("--data needs a model of learner kernelmean with a kernel, found %s",
			m.Meta.Learner)
	}
	o := file.Options{Classes: m.Meta.Classes, FeatureNames: m.Meta.Features.Names,
		Features: m.Meta.Features.Count}
	o.Encoding = m.Meta.Features.Encoding
	d, err := file.Read(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	if none := d.WithoutLabel(); none != nil {
		return nil, fmt.Errorf("%s: row %d has no label, wanted one for each row; label it, or leave it "+
			"out", path, d.SourceRow(none[0])+1)
	}
	x, err := features.Apply(&m.Meta.Preparation, d.Examples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	scores, err := m.ScoresPrepared(ctx, simd.New(), x)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shares := []float64{0, 0.001, 0.01, 0.05, 0.1}
	margins, err := means.Margins(scores, d.Y, m.Q, shares)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	radius, n := 0.0, int64(0)
	for _, part := range []dataset.Examples{x, m.Projection.Landmarks} {
		for _, square := range engine.SquaredLengths(m.Meta.Kernel.Function, part) {
			radius = max(radius, math.Sqrt(square))
		}
	}
	if !params.Balanced && m.Confusion == nil {
		for _, count := range m.Meta.Kernel.Examples {
			n += count
		}
	}
	var list []Bound
	for k, margin := range margins {
		if math.IsInf(margin, 1) { // no right prediction is left
			break
		}
		b := Bound{Share: shares[k], Margin: margin}
		if n > 0 {
			b.Noise = means.NoiseStood(margin, radius, n, m.Q)
			b.Labels = means.LabelsStood(margin, radius)
		}
		list = append(list, b)
	}
	return list, nil
}

func (r Inspection) boundRows(row app.Row) {
	if len(r.Bounds) == 0 {
		return
	}
	row("\npredictions lost\tscores off by\tsymmetric noise\tadversarial labels")
	for _, b := range r.Bounds {
		row("at most %.4g %%\t%.3g\t%.3g %%\t%.3g %%", 100*b.Share, b.Margin, 100*b.Noise, 100*b.Labels)
	}
}
