// Package localisation is the perceptron on cutting planes (Algorithms 6 and 7 of Louche's
// thesis), for right labels. Of all weights those that make no mistake are a convex set, the
// version space, cut out by a plane for each example and each class that is not its own: ⟨w_y -
// w_r, x⟩ > 0. An oracle finds one plane that the weights so far are on the wrong side of, and the
// perceptron goes on from these until they are on the right side of all planes that were found;
// until the oracle finds none.
//
// The updates are those of a perceptron that was shown a part of the examples, so of two classes
// there are no more than R²/γ², R being the longest example and γ the margin that is possible
// (Theorem 6.2). The planes are a compression set: the weights are a sum of their examples alone,
// from which the oracles largest and smallest make the same weights again.
//
// The oracle is one product on the engine, of all examples with the weights. Everything else is
// small, and the host's, in float64: the planes' products with each other, in increasing order of
// the columns, each product rounded before it is added, and how often each was added. So W,
// float32 of the sum of the examples in the order of their planes, does not depend on the order of
// the updates but by these numbers.
package localisation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// run is the learner in the middle of a run.
type run struct {
	Params
	problem   *learners.Problem
	scorer    engine.Scorer
	predicted []int32
	planes    planes
	random    rand.PCG
	closed    bool
}

// stream keeps this package's random numbers apart from those that other parts draw from the same
// seed.
const stream = 0x706c616e6573 // "planes"

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	scorer, err := problem.Load()
	if err != nil {
		return nil, err
	}
	return &run{
		Params: *p, problem: problem, scorer: scorer, predicted: make([]int32, problem.X.N),
		planes: newPlanes(problem.X, problem.Y), random: *rand.NewPCG(problem.Seed, stream),
	}, nil
}

// Count implements learners.Learner.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	return learners.CountScored(l.scorer, w, changed, l.predicted, l.problem.Y)
}

// Step implements learners.Learner: one more plane.
func (l *run) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if l.closed {
		return s, fmt.Errorf("localisation: %w", engine.ErrClosed)
	}
	if len(l.planes.all) == 0 { // the first weights are 0, whatever those are that the run was given
		if err := l.scorer.Rescore(engine.NewWeights(w.Q, w.D), learners.AllClasses(w.Q)); err != nil {
			return s, err
		}
	}
	random := l.random
	chosen, mistakes, err := l.ask(rand.New(&random))
	if err != nil {
		return s, err
	}
	if mistakes == 0 {
		return learners.Step{Done: true}, nil
	}
	if err := l.planes.add(chosen); err != nil {
		return s, err
	}
	updates, holds, err := l.planes.satisfy(ctx, l.Updates)
	if err != nil || !holds {
		l.planes.takeBack()
	}
	if err != nil {
		return s, err
	}
	if !holds {
		return learners.Step{Done: true, Doubts: learners.EndInDoubt(
			"perhaps no weights do: take another learner, such as svm, or allow more updates",
			"localisation: found no weights for which %d planes hold in %d updates", len(l.planes.all)+1,
			l.Updates)}, nil
	}
	next := l.planes.weights(w.Q, w.D)
	if slices.ContainsFunc(next, func(v float32) bool { return v-v != 0 }) {
		return s, errors.New("localisation: found weights too large for float32; normalise the features")
	}
	copy(w.W, next)
	l.random = random
	return learners.Step{
		Changed: learners.AllClasses(w.Q),
		Fields: []learners.Field{
			{Name: "mistakes", Value: mistakes}, {Name: "planes", Value: len(l.planes.all)},
			{Name: "updates", Value: updates},
		},
	}, nil
}

// ask is the oracle: it returns the plane that it chooses, of how many mistakes. Each example has
// one plane at most, that of the class which comes nearest to its own.
func (l *run) ask(random *rand.Rand) (chosen plane, mistakes int, err error) {
	const block = 4096
	n, q := l.problem.X.N, l.problem.Q
	scores := make([]float32, min(block, n)*q)
	best := 0.0
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		if err := l.scorer.Scores(scores[:(to-from)*q], from, to); err != nil {
			return chosen, 0, err
		}
		for i := from; i < to; i++ {
			rival, margin := rivalOf(scores[(i-from)*q:(i-from+1)*q], int(l.problem.Y[i]))
			p := plane{int32(i), rival}
			if !(margin <= 0) || !l.planes.cuts(p) {
				continue
			}
			mistakes++
			if mistakes == 1 || l.Oracle == Largest && margin < best || l.Oracle == Smallest &&
				margin > best || l.Oracle == Random && random.IntN(mistakes) == 0 {
				chosen, best = p, margin
			}
		}
	}
	return chosen, mistakes, nil
}

// rivalOf returns the class of the highest score but y, the lowest on a tie, and how much higher
// the score of y is.
func rivalOf(scores []float32, y int) (rival int32, margin float64) {
	rival = -1
	for r, s := range scores {
		if r != y && (rival < 0 || s > scores[rival]) {
			rival = int32(r)
		}
	}
	return rival, float64(scores[y]) - float64(scores[rival])
}

// CompressionSet implements learners.Compressor.
func (l *run) CompressionSet() []int { return l.planes.examples() }

// Close implements learners.Learner.
func (l *run) Close() error {
	l.closed = true
	return l.scorer.Close()
}
