package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Solver fits weights to the loaded examples of a problem, from what is known of their labels. It
// minimises the mean loss of the examples of a goal, and a penalty:
// Σ_i u_i ℓ_i / Σ_i u_i + λ/2·‖W‖², a bias column left out.
type Solver struct {
	Problem     *learners.Problem
	Labels      learners.Labels
	State       State   // what the next fit, or the one under way, continues from
	Evaluations float64 // of the loss; an evaluation of a part counts by its share of the examples

	eval    *engine.Evaluator
	sums    []int64            // of residuals, Q×d
	scored  []float32          // the weights that the evaluator has scored by; nil if not known
	answer  *engine.Evaluation // of scored, as are sums; nil if that is not known
	unit    float64            // of the sums
	lossBit float64            // of the losses

	aimed  string  // Goal.Aim of what the evaluator is aimed at
	total  float64 // Σ u_i of that
	lambda float64
	curve  *curvature // of the loss; nil before the first fit
}

// State is what a fit continues from, besides its weights.
type State struct {
	Key    string // of the fit under way; empty between fits
	Made   int    // iterations of it
	Pairs  []Pair // of the minimiser, now or at the end of the last fit
	Curved Curved
}

// Curved says what the curvature was measured at.
type Curved struct {
	W      Floats  // empty if it is to be measured
	Lambda float64 // of its factor
	Made   int     // iterations since then
}

// Check returns an error unless s is a state of fits of the given number of weights.
func (s *State) Check(weights int) error {
	wrong := func(v []float32) bool { return len(v) != weights || !learners.Finite(v) }
	wrongPair := func(p Pair) bool { return wrong(p.S) || wrong(p.Y) || !(p.SY > 0) }
	if len(s.Curved.W) > 0 && wrong(s.Curved.W) || slices.ContainsFunc(s.Pairs, wrongPair) {
		return fmt.Errorf("found other numbers of weights, wanted %d", weights)
	}
	return nil
}

// Goal is what a fit minimises, and when it ends.
type Goal struct {
	Aim     string // equal for fits of equal targets and examples
	Targets engine.Targets
	Held    []int // the fold of each example; nil to fit all
	Without int   // the fold that is left out
	Lambda  float64
	Most    int     // iterations
	Share   float64 // of what chance decides of the loss, which may be left to gain
	Warm    bool    // continues with the pairs of the previous fit, whose λ was Before
	Before  float64
	Last    bool // the curvature is measured again, and factored for exactly this λ
}

// NewSolver loads the examples of a problem on its engine. The caller closes the solver.
func NewSolver(p *Params, problem *learners.Problem) (*Solver, error) {
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return nil, err
	}
	f := eval.FixedPoint()
	s := &Solver{Problem: problem, eval: eval, sums: make([]int64, problem.Q*problem.X.D),
		unit: math.Ldexp(1, -f.S), lossBit: math.Ldexp(1, -numerics.LossFormat(f.N).S)}
	if s.Labels, err = learners.NewLabels(p.Correcting(), problem); err != nil {
		return nil, errors.Join(err, eval.Close())
	}
	return s, nil
}

// Close frees what is loaded.
func (s *Solver) Close() error {
	err := s.eval.Close()
	if s.curve != nil {
		err = errors.Join(err, s.curve.close())
	}
	return err
}

// Count returns how many examples w predicts as class p that have label k, at [p*Q+k].
func (s *Solver) Count(w engine.Weights) ([]int64, error) {
	if err := s.rescore(w.W); err != nil {
		return nil, err
	}
	y, q := s.Problem.Y, s.Problem.Q
	if s.Labels.Classes == nil {
		return learners.CountPredicted(s.eval.Scorer, w, nil, y)
	}
	predicted := make([]int32, len(y))
	if err := s.eval.Predict(predicted); err != nil {
		return nil, err
	}
	return engine.Count(make([]int64, q*q), predicted, s.Problem.Evidence.Labels(predicted, y, q), q),
		nil
}

// Scores calls f with the scores by w of each example, in order. f may change but not keep them.
func (s *Solver) Scores(w []float32, f func(i int, scores []float32)) error {
	if err := s.rescore(w); err != nil {
		return err
	}
	return learners.EachScores(s.eval.Scorer, func(i int, scores []float32) error {
		f(i, scores)
		return nil
	})
}

var errOutOfReach = errors.New("softmax: found weights under which scores or losses are too " +
	"large to begin with, wanted a loss below 2^15 for each example; scale the features, or begin " +
	"from W = 0")

// Begin makes the fit of this key the one under way.
func (s *Solver) Begin(key string, g Goal) {
	if g.Warm {
		s.increase(s.State.Pairs, g.Lambda-g.Before)
	} else {
		s.State.Pairs = nil
	}
	s.State.Key, s.State.Made = key, 0
}

// Fit minimises the loss of the goal from w, and calls each after every iteration with the weights,
// their loss and the length of its gradient. It returns the weights of the last one. The fit of
// Begin, or of a State that was saved, is the one under way.
func (s *Solver) Fit(ctx context.Context, g Goal, w []float32,
	each func(w []float32, loss, gradient float64) error) ([]float32, error) {
	if g.Aim != s.aimed {
		if err := s.aim(g); err != nil {
			return nil, err
		}
	}
	s.lambda = g.Lambda
	now, err := s.at(w)
	if err != nil {
		return nil, err
	}
	if math.IsInf(now.loss, 1) {
		return nil, errOutOfReach
	}
	if err := s.bend(ctx, g, w); err != nil {
		return nil, err
	}
	m := &minimiser{at: s.at, now: now, curve: s.curve, most: memoryOf(s.Problem.X.D),
		pairs: s.State.Pairs}
	for !s.ended(g, m) {
		if s.State.Curved.Made >= max(fresh, s.State.Made/2) {
			if err := s.measure(ctx, g, m.now.w); err != nil {
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
		s.State.Made++
		s.State.Curved.Made++
		s.State.Pairs = m.pairs
		if err := each(m.now.w, m.now.loss, math.Sqrt(dot(m.now.grad, m.now.grad))); err != nil {
			return nil, err
		}
	}
	s.State.Key = ""
	return m.now.w, nil
}

// leastIterations are made for each penalty, so that what it changes shows.
const leastIterations = 2

// ended is the stopping rule: what is left to gain is a share of what chance decides, or the
// iterations are used up. Chance is twice the expected excess of the true weights' mean loss over
// the fitted weights' mean loss.
func (s *Solver) ended(g Goal, m *minimiser) bool {
	if s.State.Made < min(leastIterations, g.Most) {
		return false
	}
	chance := s.curve.freedom * float64(s.Problem.Q-1) / s.Problem.Weight()
	return s.State.Made >= g.Most || s.curve.gain(m) <= g.Share*chance
}

// fresh is the number of iterations for which a curvature is good, or half of a fit's if that is
// more.
const fresh = 16

// bend makes the curvature that a fit begins with from w: of an earlier fit, but for the last one,
// which is of the most examples.
func (s *Solver) bend(ctx context.Context, g Goal, w []float32) (err error) {
	at := s.State.Curved
	if s.curve == nil && at.W != nil { // the run continues
		if err := s.measureAt(ctx, at.W, g.Targets); err != nil {
			return err
		}
		s.curve.penalise(at.Lambda, true)
	}
	if at.W == nil || g.Last && s.State.Made == 0 && !slices.Equal(at.W, w) {
		return s.measure(ctx, g, w)
	}
	s.penalise(g)
	return nil
}

// measure measures the curvature at w for the targets and the penalty of a goal.
func (s *Solver) measure(ctx context.Context, g Goal, w []float32) error {
	if err := s.measureAt(ctx, w, g.Targets); err != nil {
		return err
	}
	s.State.Curved = Curved{W: slices.Clone(w)}
	s.penalise(g)
	return nil
}

func (s *Solver) measureAt(ctx context.Context, w []float32, t engine.Targets) (err error) {
	if s.curve == nil {
		if s.curve, err = newCurvature(s.Problem); err != nil {
			return err
		}
	}
	return s.curve.measure(ctx, w, s.informs(t))
}

// informs returns what labels say about the classes in a fit of targets t.
func (s *Solver) informs(t engine.Targets) informant {
	l, q := &s.Labels, s.Problem.Q
	f := informant{q: q, weight: t.Weight}
	if !t.Given && !l.PerExample {
		f.c = make([]float64, q*q)
		for k, v := range l.Evidence {
			f.c[k] = float64(numerics.Exp(v))
		}
	}
	return f
}

// penalise brings the curvature to the penalty of a goal.
func (s *Solver) penalise(g Goal) {
	s.curve.penalise(g.Lambda, g.Last)
	s.State.Curved.Lambda = s.curve.lambda
}

// memoryOf returns how many pairs a minimiser keeps for examples of d features.
func memoryOf(d int) int {
	if d > MostFactored {
		return fewMemory
	}
	return memory
}

// aim sets the targets of a goal. Examples of the fold that is left out get weight 0.
func (s *Solver) aim(g Goal) error {
	t := g.Targets
	s.aimed, s.answer, s.total = g.Aim, nil, 0
	if g.Held != nil {
		t.Weight = slices.Clone(t.Weight)
		if t.Weight == nil {
			t.Weight = slices.Repeat([]float32{1}, len(s.Problem.Y))
		}
		for i, fold := range g.Held {
			if fold == g.Without {
				t.Weight[i] = 0
			}
		}
	}
	if t.Weight == nil {
		s.total = float64(len(s.Problem.Y))
	}
	for _, u := range t.Weight {
		s.total += float64(u)
	}
	return s.eval.SetTargets(t)
}

// rescore has the evaluator score all examples by w, unless it has done that last.
func (s *Solver) rescore(w []float32) error {
	if slices.Equal(s.scored, w) {
		return nil
	}
	s.scored, s.answer = slices.Clone(w), nil
	return s.eval.Rescore(engine.Weights{Q: s.Problem.Q, D: s.Problem.X.D, W: w},
		learners.AllClasses(s.Problem.Q))
}

// at looks at w. Where an example is refused, the loss is +Inf.
func (s *Solver) at(w []float32) (point, error) {
	if s.answer == nil || !slices.Equal(s.scored, w) {
		s.scored, s.answer = nil, nil
		e, err := s.eval.Evaluate(s.sums, engine.Weights{Q: s.Problem.Q, D: s.Problem.X.D, W: w})
		if err != nil {
			return point{}, err
		}
		s.scored, s.answer = w, &e
		s.Evaluations++
	}
	grad := make([]float64, len(w))
	p := point{w: w, loss: float64(s.answer.Loss) * s.lossBit / s.total, grad: grad}
	if s.answer.Refused > 0 {
		p.loss = math.Inf(1)
	}
	unit := s.unit / s.total
	p.loss += s.penalty(len(w), s.lambda, func(from, to int, lambda float64) (squares float64) {
		for i := from; i < to; i++ {
			v := float64(w[i])
			grad[i] = float64(float64(s.sums[i])*unit) + float64(lambda*v)
			squares += float64(v * v)
		}
		return squares
	}) / 2
	return p, nil
}

// increase adjusts L-BFGS pairs for a penalty increase of λ.
func (s *Solver) increase(pairs []Pair, lambda float64) {
	for k := range pairs {
		p := &pairs[k]
		p.scale = 0
		p.SY += s.penalty(len(p.S), lambda, func(from, to int, lambda float64) (squares float64) {
			for i := from; i < to; i++ {
				v := float64(p.S[i])
				p.Y[i] += float32(lambda * v)
				squares += float64(v * v)
			}
			return squares
		})
	}
}

// penalty returns λ times the sum of what f returns of consecutive ranges of n weights. f is given
// λ too, or 0 for the bias.
func (s *Solver) penalty(n int, lambda float64, f func(from, to int, lambda float64) float64,
) float64 {
	return lambda * total(n, func(from, to int) (sum float64) {
		for from < to {
			end := to
			if s.Problem.Bias {
				end = min(to, from/s.Problem.X.D*s.Problem.X.D+s.Problem.X.D-1)
			}
			if sum += f(from, end, lambda); end < to {
				f(end, end+1, 0)
				end++
			}
			from = end
		}
		return sum
	})
}
