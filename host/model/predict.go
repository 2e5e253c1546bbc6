package model

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// ReadOptions returns options by which dataset.Read reads a file for m: features by their names where both have
// names, encoded as those of the training data, classes in m's order, and stored as m prepares them.
func (m *Model) ReadOptions() dataset.Options {
	o := dataset.Options{Classes: m.Meta.Classes, Features: m.Meta.Features.Count}
	o.Encoding = m.Meta.Features.Encoding
	if len(m.Meta.Features.Names) > 0 {
		o.FeatureNames = m.Meta.Features.Names
	}
	if m.Meta.Preparation.Steps.NeedsDense() {
		o.Storage = "dense"
	}
	return o
}

// Predict returns the class of each raw example, as an index of Meta.Classes: x.N of them.
// x has the features that m was trained on, in their order, and is not changed. A
// cancelled ctx ends it with ctx's error. Errors are also those of preparing, mapping and
// the engine.
func (m *Model) Predict(ctx context.Context, e engine.Engine, x dataset.Examples) ([]int32, error) {
	prepared, err := m.Meta.Preparation.Apply(x)
	if err != nil {
		return nil, err
	}
	return m.PredictPrepared(ctx, e, prepared)
}

// PredictPrepared is Predict for examples that went through Meta.Preparation.
func (m *Model) PredictPrepared(ctx context.Context, e engine.Engine, x dataset.Examples) ([]int32, error) {
	classes := make([]int32, 0, x.N)
	err := m.blocks(ctx, e, x, func(z dataset.Examples) error {
		block, err := engine.Predict(e, m.weights(), z)
		classes = append(classes, block...)
		return err
	})
	return classes, err
}

// Scores returns the score of each raw example for each class, x.N×Q row-major; the class
// that Predict gives has the largest, the first of equal ones. Otherwise it is Predict.
func (m *Model) Scores(ctx context.Context, e engine.Engine, x dataset.Examples) ([]float32, error) {
	prepared, err := m.Meta.Preparation.Apply(x)
	if err != nil {
		return nil, err
	}
	return m.ScoresPrepared(ctx, e, prepared)
}

// ScoresPrepared is Scores for examples that went through Meta.Preparation.
func (m *Model) ScoresPrepared(ctx context.Context, e engine.Engine, x dataset.Examples) ([]float32, error) {
	scores := make([]float32, 0, x.N*m.Q)
	err := m.blocks(ctx, e, x, func(z dataset.Examples) error {
		block, err := engine.Scores(e, m.weights(), z)
		scores = append(scores, block...)
		return err
	})
	return scores, err
}

// Names returns the names of classes that Predict gave.
func (m *Model) Names(classes []int32) []string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = m.Meta.Classes[c]
	}
	return names
}

func (m *Model) weights() engine.Weights { return engine.Weights{Q: m.Q, D: m.D, W: m.W} }

// blocks hands prepared examples, mapped if m has a map, to use, in order: all at once, or
// a block after the other where mapped ones might not find room.
func (m *Model) blocks(
	ctx context.Context, e engine.Engine, x dataset.Examples, use func(dataset.Examples) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.D != m.Meta.Preparation.Width() {
		return fmt.Errorf("predict: found prepared examples of %d columns, wanted %d", x.D, m.Meta.Preparation.Width())
	}
	k := m.Map()
	if k == nil {
		return use(x)
	}
	return k.Blocks(ctx, e, x, use)
}
