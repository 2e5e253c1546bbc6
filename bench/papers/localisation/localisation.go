// Package localisation is the perceptron on cutting planes (Algorithms 6 and 7 of Louche's thesis),
// for correct labels. The weights without mistakes form a convex set, the version space, bounded by
// a plane ⟨w_y - w_r, x⟩ > 0 for each example and each class r other than its label. An oracle
// finds a plane that the weights violate, and the perceptron continues on the planes so far until
// all of them hold. This repeats until the oracle finds none.
//
// The perceptron makes the updates of a perceptron on a subset of the examples: for two classes at
// most R²/γ², where R is the length of the longest example and γ the largest margin (Theorem 6.2).
// The planes are a compression set: the weights are a sum of their examples, and oracles largest
// and smallest find the same weights from these examples alone.
//
// The oracle takes one product of all examples with the weights on the engine. Everything else runs
// on the host in float64: the inner products of the planes, in increasing order of the columns,
// each product rounded before it is added, and the number of updates of each. W is the float32 sum
// of the examples in the order of their planes.
package localisation

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Oracles: how to choose the mistake that becomes the next cutting plane.
const (
	Largest  = "largest"  // the one of the lowest margin
	Smallest = "smallest" // the one of the highest
	Random   = "random"   // any, all alike
)

// Params are the parameters of the learner.
type Params struct {
	Oracle  string
	Updates int // of the perceptron at most for one more plane; ≥ 1
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Oracle: Largest, Updates: 10000} }

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "localisation",
		Summary: "perceptron on cutting planes: finds weights that make no mistake, if there are any, " +
			"by a few examples, for right labels",
		Paper: "Louche, From confusion noise to active learning (thesis), 2016, Algorithms 6 and 7, " +
			"Theorem 6.2; Louche & Ralaivola, From cutting planes algorithms to compression schemes and " +
			"active learning, IJCNN 2015",
		Step:     "a cutting plane, and updates of the perceptron until all planes so far hold",
		MaxSteps: 1000,
		Weights:  []learners.Rule{learners.Last, learners.Best},
		New:      func() learners.Params { return Defaults() },

		Loads:        learners.LoadsScorer,
		IgnoresNoise: true,

		Parameters: []learners.Parameter{
			learners.OneOf("oracle", &p.Oracle, "which mistake is the next cutting plane",
				Largest, "of the lowest margin", Smallest, "of the highest margin",
				Random, "any, all alike"),
			learners.Int("updates", &p.Updates, 1, math.MaxInt,
				"most updates of the perceptron for one more plane; training ends where these are too few"),
		},
		Start: learners.StartScored("localisation", func(s *learners.Scored) (learners.Learner, error) {
			x, y := s.Problem.X, s.Problem.Y
			return &learner{Params: *p, Scored: s, random: *rand.NewPCG(s.Problem.Seed, stream),
				planes: planes{x: x, y: y, known: map[plane]bool{}}}, nil
		}),
	}
}

type learner struct {
	Params
	*learners.Scored
	planes planes
	random rand.PCG
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x706c616e6573 // "planes"

// Step implements learners.Learner: one more plane.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
		return s, err
	}
	if len(l.planes.all) == 0 { // the first weights are 0, whatever those are that the run was given
		if err := l.Scorer.Rescore(engine.NewWeights(w.Q, w.D), learners.AllClasses(w.Q)); err != nil {
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
	if err := learners.CheckFinite("localisation", next, ""); err != nil {
		return s, err
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

// ask is the oracle: it returns the plane that it chooses, and the number of mistakes. Each example
// has at most one plane, for the class that comes nearest to its own.
func (l *learner) ask(random *rand.Rand) (chosen plane, mistakes int, err error) {
	best := 0.0
	err = learners.EachScores(l.Scorer, func(i int, scores []float32) error {
		rival, margin := rivalOf(scores, int(l.Problem.Y[i]))
		p := plane{int32(i), rival}
		if !(margin <= 0) || !l.planes.cuts(p) {
			return nil
		}
		mistakes++
		if mistakes == 1 || l.Oracle == Largest && margin < best || l.Oracle == Smallest &&
			margin > best || l.Oracle == Random && random.IntN(mistakes) == 0 {
			chosen, best = p, margin
		}
		return nil
	})
	return chosen, mistakes, err
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

// CompressionSet returns the examples, in increasing order, whose sum the weights are.
func (l *learner) CompressionSet() (all []int) {
	for _, p := range l.planes.all {
		all = append(all, int(p.Example))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// counted is a plane as a state has it.
type counted struct {
	plane
	Times int64
}

// Save implements learners.Learner: the random numbers, and the planes with how often each was
// added.
func (l *learner) Save() ([]byte, error) {
	all := make([]counted, len(l.planes.all))
	for a, p := range l.planes.all {
		all[a] = counted{p, l.planes.times[a]}
	}
	return learners.Pack(&l.random, all)
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *learner) Restore(saved []byte) error {
	s := learners.Unpack(saved)
	s.Read(&l.random)
	for s.More() {
		var c counted
		if !s.Read(&c) {
			break
		}
		p := c.plane
		if p.Example < 0 || int(p.Example) >= l.Problem.X.N || p.Rival < 0 ||
			int(p.Rival) >= l.Problem.Q || p.Rival == l.Problem.Y[p.Example] ||
			c.Times < 0 || c.Times > 1<<53 || !l.planes.cuts(p) {
			s.Refuse(errors.New("found an invalid plane"))
			break
		}
		if err := l.planes.add(p); err != nil {
			return err
		}
		l.planes.times[len(l.planes.all)-1] = c.Times
	}
	return s.End("localisation")
}
