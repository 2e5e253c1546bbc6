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

// temperature returns the temperature of the scores of the run's result, fitted to examples that w
// was trained on, evenly chosen; 0, and a note, if there is none. Examples with several candidate
// classes are left out.
func (t *trainer) temperature(ctx context.Context, w engine.Weights) (float32, error) {
	n := len(t.problem.Y)
	m := min(n, max(temperatureLeast, temperatureScores/w.Q))
	var which []int
	for k := range m {
		if e, i := t.problem.Evidence, k*n/m; e == nil || e.One(i, w.Q) {
			which = append(which, i)
		}
	}
	if 2*len(which) < m { // too few to speak for the others
		return 1, nil // the scores are the logarithms of odds, as the learner made them
	}
	var scores []float32
	for block := range slices.Chunk(which, dataset.BlockRows(t.problem.X)) {
		s, err := engine.Scores(t.o.Engine, w, t.problem.X.Pick(block))
		if err != nil {
			return 0, err
		}
		scores = append(scores, s...)
	}
	found, err := confusion.Temperature(ctx, scores, lists.At(t.problem.Y, which), t.problem.Q,
		t.problem.Noise)
	if err != nil {
		t.o.note("no probabilities: %v", err)
		return 0, nil
	}
	return found, nil
}
