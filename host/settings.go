package host

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Settings returns the options that repeat the training of m on n examples, such as a part of its
// own, and the confusion matrix that it was given, nil for none. The caller adds Engine and Watch.
// γ and the number of components are those that were found, and a training that began with another
// model's weights begins with 0. Errors are those of catalog.Parse.
func Settings(m *model.Model, n int) (Options, *confusion.Matrix, error) {
	meta := &m.Meta
	params, err := catalog.Parse(meta.Learner, meta.Parameters)
	if err != nil {
		return Options{}, nil, fmt.Errorf("settings of a model: %w", err)
	}
	o := Options{Learner: params, Preparation: meta.Preparation.Steps.String(),
		MaxSteps: meta.MaxSteps,
		Weights:  learners.Rule(meta.Weights), Seed: meta.Seed, Tool: meta.ToolVersion}
	if o.MaxSteps == 0 {
		o.MaxSteps = NoSteps
	}
	if k := meta.Kernel; k != nil {
		o.Kernel = &fitting.Options{Function: k.Function, Cosine: k.Cosine}
		if !fitting.HasOwnMap(params) {
			steps := k.Preparation.Steps
			o.Kernel.Steps = &steps
			o.Kernel.Components = min(k.Components, n)
			if o.Kernel.Landmarks = k.Landmarks; k.Landmarks >= n {
				o.Kernel.Landmarks = fitting.AllLandmarks
			}
		}
	}
	if m.Confusion == nil {
		return o, nil, nil
	}
	noise := &confusion.Matrix{Classes: meta.Classes, P: m.Confusion}
	if meta.Inverse != "" {
		if noise.Inversion, err = confusion.ParseInversion(meta.Inverse); err != nil {
			return Options{}, nil, fmt.Errorf("settings of a model: %w", err)
		}
	}
	return o, noise, nil
}
