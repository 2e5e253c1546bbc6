package model

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Predict returns the class of each raw example, as an index of Meta.Classes: x.N of them. x has
// the features that m was trained on, in their order, and is not changed. A cancelled ctx ends it
// with ctx's error. Errors also come from preparing, mapping and the engine.
func (m *Model) Predict(ctx context.Context, e *engine.Engine, x dataset.Examples) ([]int32,
	error) {
	prepared, err := features.Apply(&m.Meta.Preparation, x)
	if err != nil {
		return nil, err
	}
	return m.PredictPrepared(ctx, e, prepared)
}

// PredictPrepared is Predict for examples that went through Meta.Preparation.
func (m *Model) PredictPrepared(ctx context.Context, e *engine.Engine, x dataset.Examples,
) ([]int32, error) {
	if m.Trees != nil || m.Members != nil {
		scores, err := m.ScoresPrepared(ctx, e, x)
		return engine.Predicted(scores, m.Q), err
	}
	return eachBlock(ctx, m, e, x, 1, engine.Predict)
}

// Scores returns the score of each raw example for each class, x.N×Q row-major; the class
// that Predict gives has the largest, the first of equal ones. Otherwise it is Predict.
func (m *Model) Scores(ctx context.Context, e *engine.Engine, x dataset.Examples) ([]float32,
	error) {
	prepared, err := features.Apply(&m.Meta.Preparation, x)
	if err != nil {
		return nil, err
	}
	return m.ScoresPrepared(ctx, e, prepared)
}

// ScoresPrepared is Scores for examples that went through Meta.Preparation.
func (m *Model) ScoresPrepared(ctx context.Context, e *engine.Engine, x dataset.Examples,
) ([]float32, error) {
	scores := engine.Scores
	switch {
	case m.Members != nil:
		scores = m.mixtureScores(ctx)
	case m.Trees != nil:
		scores = m.treeScores
	}
	return eachBlock(ctx, m, e, x, m.Q, scores)
}

// eachBlock returns what say says of prepared examples: width numbers of each.
func eachBlock[T int32 | float32](ctx context.Context, m *Model, e *engine.Engine,
	x dataset.Examples, width int,
	say func(*engine.Engine, engine.Weights, dataset.Examples) ([]T, error)) ([]T, error) {
	all := make([]T, 0, x.N*width)
	err := m.blocks(ctx, e, x, func(z dataset.Examples) error {
		block, err := say(e, engine.Weights{Q: m.Q, D: m.D, W: m.W}, z)
		all = append(all, block...)
		return err
	})
	return all, err
}

// Names returns the names of classes that Predict gave.
func (m *Model) Names(classes []int32) []string {
	return lists.At(m.Meta.Classes, classes)
}

// predictedValues is about how many values are predicted from between two looks at a context;
// tests take fewer.
var predictedValues = 1 << 25

// blocks hands prepared examples, mapped if m has a map, to use, in order, a block
// after the other.
func (m *Model) blocks(
	ctx context.Context, e *engine.Engine, x dataset.Examples,
	use func(dataset.Examples) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.D != m.Meta.Preparation.Width() {
		return fmt.Errorf("predict: found prepared examples of %d columns, wanted %d", x.D,
			m.Meta.Preparation.Width())
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "predicting", Unit: "example",
		Total: int64(x.N)})
	defer task.End()
	counted := func(z dataset.Examples) error {
		err := use(z)
		task.Add(int64(z.N))
		return err
	}
	if k := m.Map(); k != nil {
		return k.Blocks(ctx, e, x, counted)
	}
	each := x.D
	if x.Sparse() {
		each = x.Size() / max(1, x.N)
	}
	rows := max(1, predictedValues/max(1, each))
	for from := 0; from < x.N; from += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := counted(x.Part(from, min(from+rows, x.N))); err != nil {
			return err
		}
	}
	return nil
}
