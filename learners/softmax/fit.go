package softmax

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// solver fits weights to loaded examples.
type solver struct {
	problem *learners.Problem
	loss    *loss
	curve   *curvature // of the loss; nil before the first fit
	aimed   string     // goal.aim of what the loss is aimed at
	state   fitState
}

// fitState is what a fit continues from, besides its weights.
type fitState struct {
	Key    string // of the fit under way; empty between fits
	Made   int    // iterations of it
	Pairs  []pair // of the minimiser, now or at the end of the last fit
	Curved curved
}

// curved says what the curvature was measured at.
type curved struct {
	W      floats  // empty if it is to be measured
	Lambda float64 // of its factor
	Made   int     // iterations since then
}

// goal is what a fit minimises, and when it ends.
type goal struct {
	aim     string // equal for fits of equal targets and examples
	targets engine.Targets
	informs informant
	held    []int // the fold of each example; nil to fit all
	without int   // the fold that is left out
	lambda  float64
	most    int     // iterations
	share   float64 // of what chance decides of the loss, which may be left to gain
	warm    bool    // continues with the pairs of the previous fit, whose λ was before
	before  float64
	last    bool // the curvature is measured again, and factored for exactly this λ
}

var errOutOfReach = errors.New("softmax: found weights under which scores or losses are too " +
	"large to begin with, wanted a loss below 2^15 for each example; scale the features, or begin " +
	"from W = 0")

// begin makes the fit of this key the one under way.
func (s *solver) begin(key string, g goal) {
	if g.warm {
		s.loss.penalise(s.state.Pairs, g.lambda-g.before)
	} else {
		s.state.Pairs = nil
	}
	s.state.Key, s.state.Made = key, 0
}

// fit minimises the loss of the goal from w, and calls each after every iteration. It returns the
// weights of the last one. The fit of begin, or of a state that was saved, is the one under way.
func (s *solver) fit(ctx context.Context, g goal, w []float32, each func(point) error,
) ([]float32, error) {
	if g.aim != s.aimed {
		if err := s.aim(g); err != nil {
			return nil, err
		}
	}
	s.loss.lambda = g.lambda
	now, err := s.loss.at(w)
	if err != nil {
		return nil, err
	}
	if math.IsInf(now.loss, 1) {
		return nil, errOutOfReach
	}
	if err := s.bend(g, w); err != nil {
		return nil, err
	}
	m := &minimiser{at: s.loss.at, now: now, curve: s.curve, most: memoryOf(s.problem.X.D),
		pairs: s.state.Pairs}
	for !s.ended(g, m) {
		if s.state.Curved.Made >= max(fresh, s.state.Made/2) {
			if err := s.measure(g, m.now.w); err != nil {
				return nil, err
			}
			m.renew()
		}
		improved, err := m.step(ctx)
		if err != nil {
			return nil, err
		}
		if !improved {
			break
		}
		s.state.Made++
		s.state.Curved.Made++
		s.state.Pairs = m.pairs
		if err := each(m.now); err != nil {
			return nil, err
		}
	}
	s.state.Key = ""
	return m.now.w, nil
}

// aim sets targets and weights for a goal.
func (s *solver) aim(g goal) error {
	var use func(i int) bool
	if g.held != nil {
		use = func(i int) bool { return g.held[i] != g.without }
	}
	s.aimed = g.aim
	return s.loss.aim(g.targets, len(s.problem.Y), use)
}

// leastIterations are made for each penalty, so that what it changes shows.
const leastIterations = 2

// ended is the stopping rule: what is left to gain is a share of what chance decides, or the
// iterations are used up.
func (s *solver) ended(g goal, m *minimiser) bool {
	if s.state.Made < min(leastIterations, g.most) {
		return false
	}
	return s.state.Made >= g.most ||
		s.curve.gain(m) <= g.share*s.curve.chance(count(s.problem), s.problem.Q)
}

// fresh is the number of iterations for which a curvature is good, or half of a fit's if that is
// more.
const fresh = 16

// bend makes the curvature that a fit begins with from w: of an earlier fit, but for the last one,
// which is of the most examples.
func (s *solver) bend(g goal, w []float32) (err error) {
	at := s.state.Curved
	if s.curve == nil && at.W != nil { // the run continues
		if err := s.measureAt(at.W, g.informs); err != nil {
			return err
		}
		s.curve.penalise(at.Lambda, true)
	}
	if at.W == nil || g.last && s.state.Made == 0 && !slices.Equal(at.W, w) {
		return s.measure(g, w)
	}
	s.penalise(g)
	return nil
}

// measure measures the curvature at w for the targets and the penalty of a goal.
func (s *solver) measure(g goal, w []float32) error {
	if err := s.measureAt(w, g.informs); err != nil {
		return err
	}
	s.state.Curved = curved{W: slices.Clone(w)}
	s.penalise(g)
	return nil
}

func (s *solver) measureAt(w []float32, f informant) (err error) {
	if s.curve == nil {
		if s.curve, err = newCurvature(s.problem); err != nil {
			return err
		}
	}
	return s.curve.measure(w, f)
}

// penalise brings the curvature to the penalty of a goal.
func (s *solver) penalise(g goal) {
	s.curve.penalise(g.lambda, g.last)
	s.state.Curved.Lambda = s.curve.lambda
}

func (s *solver) close() error {
	if s.curve == nil {
		return nil
	}
	return s.curve.close()
}

// memoryOf returns how many pairs a minimiser keeps for examples of d features.
func memoryOf(d int) int {
	if d > mostFactored {
		return fewMemory
	}
	return memory
}
