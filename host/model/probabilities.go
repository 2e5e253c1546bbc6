package model

import (
	"context"
	"errors"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// ErrNoTemperature is the error of asking a model for probabilities that has no temperature:
// a checkpoint, or one whose scores said nothing of the labels.
var ErrNoTemperature = errors.New("the model has no temperature, without which its scores make " +
	"no probabilities")

// Probabilities returns for each raw example the probability that it is of each class, x.N×Q
// row-major: softmax(scores / Meta.Temperature), each row with the sum 1 but for rounding. The
// bits are the same on every engine (clauses 1 and 15). Errors: ErrNoTemperature, and from
// Scores.
func (m *Model) Probabilities(
	ctx context.Context, e *engine.Engine, x dataset.Examples,
) ([]float32, error) {
	if m.Meta.Temperature == 0 {
		return nil, ErrNoTemperature
	}
	p, err := m.Scores(ctx, e, x)
	if err != nil {
		return nil, err
	}
	return p, m.ToProbabilities(p)
}

// ToProbabilities overwrites scores that the model gave, Q of each example, with
// probabilities. The error is ErrNoTemperature; the scores are then as before.
func (m *Model) ToProbabilities(scores []float32) error {
	t := m.Meta.Temperature
	if t == 0 {
		return ErrNoTemperature
	}
	parallel.Ranges(len(scores)/m.Q, 64, func(from, to int) {
		for i := from; i < to; i++ {
			row := scores[i*m.Q : (i+1)*m.Q]
			top := slices.Max(row)
			for r, s := range row { // in float64, where no difference of scores overflows
				row[r] = float32((float64(s) - float64(top)) / float64(t))
			}
			numerics.Softmax(row, row)
		}
	})
	return nil
}
