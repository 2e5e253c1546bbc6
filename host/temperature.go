package host

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// The number of training examples that their own temperature is fitted to: more tell no more, and
// take longer than some trainings.
const (
	temperatureScores = 1 << 16 // examples × classes
	temperatureLeast  = 1000    // examples, whatever the number of classes
)

// temperature returns the temperature of the scores of the run's result; 0, and a note, if
// there is none.
func (t *trainer) temperature(ctx context.Context, r *Result) (float32, error) {
	scores, y, err := t.ownScores(r.W)
	if err != nil {
		return 0, err
	}
	if len(y) == 0 {
		return 1, nil // the scores are the logarithms of odds, as the learner made them
	}
	found, err := confusion.Temperature(ctx, scores, y, t.problem.Q, t.problem.Noise)
	if err != nil {
		t.o.note("no probabilities: %v", err)
		return 0, nil
	}
	return found, nil
}

// ownScores returns the scores of examples that w was trained on, evenly chosen, and their labels.
// Examples with several candidate classes are left out.
func (t *trainer) ownScores(w engine.Weights) (scores []float32, y []int32, err error) {
	n := len(t.problem.Y)
	m := min(n, max(temperatureLeast, temperatureScores/w.Q))
	which := make([]int, m)
	for k := range which {
		which[k] = k * n / m
	}
	if e := t.problem.Evidence; e != nil {
		which = slices.DeleteFunc(which, func(i int) bool { return !e.One(i, w.Q) })
	}
	for block := range slices.Chunk(which, dataset.BlockRows(t.problem.X)) {
		s, err := engine.Scores(t.o.Engine, w, t.problem.X.Pick(block))
		if err != nil {
			return nil, nil, err
		}
		scores, y = append(scores, s...), append(y, lists.At(t.problem.Y, block)...)
	}
	return scores, y, nil
}
