package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// candidates are the corrections that auto chooses among. The first is the one that has been best or nearly so on
// the labels of people, and is taken unless another is clearly better.
var candidates = []string{EM, Forward, None}

// parts is how many parts the examples of a contest are cut in: each candidate learns without
// one of them, and is judged by it, until enoughJudged examples have been judged.
const (
	parts        = 3
	enoughJudged = 20000
)

// contest chooses among the candidates and goes on as the run of the one it has chosen, by
//
//	1/n Σ_i C⁻¹[ŷ_i][y_i],  ŷ_i the class of example i by the weights that have not seen it,
//
// whose expectation is the share of examples with the right class. The likelihood of labels held
// out is no judge of corrections: noise that depends on the example makes labels likelier under a
// model that believes them. All have the penalty of EM, since penalties differ more than they do.
type contest struct {
	// of the first candidate before the choice, which counts for all; of the chosen one after it
	*run
	params   Params
	inverse  []float64
	part     []uint8
	state    contestState
	decision string // for the user
}

// contestState is what Save writes, besides the run's.
type contestState struct {
	// by candidate the class of each example by weights that have not seen it; empty before one is
	// judged
	Classes [][]int32
	Parts   int    // that are judged
	Run     []byte // after the choice
	Short   bool   // the choice was cut short, as time was
}

func newContest(p *Params, problem *learners.Problem) (learners.Learner, error) {
	if p.LearnConfusion || problem.Annotations != nil {
		return nil, p.checkLearning("a confusion matrix to be learned")
	}
	inverse, err := problem.Inverse()
	if err != nil {
		return nil, err
	}
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return nil, err
	}
	c := &contest{params: *p, inverse: inverse.V,
		part: folds(problem.Y, problem.Q, parts, problem.Seed^stream)}
	first := candidates[0]
	if problem.Noise == nil { // all candidates are one
		first = None
		c.decision = "labels count as right, since there is no confusion matrix"
	}
	if err := c.become(first, problem, eval); err != nil {
		return nil, errors.Join(err, eval.Close())
	}
	return c, nil
}

// with returns the user's parameters with the correction of a candidate.
func (c *contest) with(chosen string) *Params {
	p := c.params
	p.Correction = chosen
	return &p
}

// become makes c the run of a candidate.
func (c *contest) become(chosen string, problem *learners.Problem, eval engine.Evaluator,
) (err error) {
	c.run, err = newRun(c.with(chosen), problem, eval)
	return err
}

// Step implements learners.Learner: the candidates learn without one part of the examples, or the
// run of the chosen one makes a step.
func (c *contest) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if c.decision != "" {
		s, err := c.run.Step(ctx, w)
		s.Doubts = append(s.Doubts, learners.Doubt{Code: learners.CorrectionChosen,
			Finding: "softmax: " + c.decision})
		return s, err
	}
	if learners.TimeSpent(ctx) >= enough {
		if err := c.cutShort(); err != nil {
			return learners.Step{}, err
		}
		return c.Step(ctx, w)
	}
	judged, err := c.judge(ctx, w)
	if err != nil {
		return learners.Step{}, err
	}
	step := learners.Step{Stage: "the choice of a correction",
		Fields: []learners.Field{{Name: "candidates", Value: judged}},
		Doubts: base.EndInDoubt("allow more steps, or give a correction",
			"softmax: ended in the choice of a correction: nothing is learned yet"),
	}
	if judged < len(candidates) { // time is short
		return step, c.cutShort()
	}
	if c.state.Parts++; c.judgedAll() {
		return step, c.decide()
	}
	return step, nil
}

// judgedAll says whether enough parts are judged.
func (c *contest) judgedAll() bool {
	s := &c.state
	return s.Parts == parts || s.Parts*len(c.problem.Y) >= enoughJudged*parts
}

// judge has the candidates learn without the next part of the examples, from w on, takes note of
// its classes by each, and returns how many candidates have learned before the time was short.
func (c *contest) judge(ctx context.Context, w engine.Weights) (count int, err error) {
	s := &c.state
	fit := which(c.part, func(f uint8) bool { return int(f) != s.Parts })
	rest := which(c.part, func(f uint8) bool { return int(f) == s.Parts })
	if s.Classes == nil {
		for range candidates {
			s.Classes = append(s.Classes, make([]int32, len(c.problem.Y)))
		}
	}
	if len(fit) == 0 || len(rest) == 0 {
		return len(candidates), nil
	}
	problem, release, err := partOf(c.problem, fit)
	defer release()
	if err != nil {
		return 0, err
	}
	judged, release, err := c.problem.Rows().Keep(rest)
	defer release()
	if err != nil {
		return 0, err
	}
	lambda := c.params.L2
	if lambda.Search {
		lambda = L2(softLambda * meanSquared(c.problem.Rows(), c.problem.Bias) / float64(len(fit)))
	}
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return 0, err
	}
	l := &run{eval: eval}
	defer func() { err = errors.Join(err, l.Close()) }()
	var first []float32 // the mean weights of EM's first round, where the others begin
	for k, other := range candidates {
		p, v, curve := c.with(other), w.Clone(), l.curve
		p.L2 = lambda
		next, err := newRun(p, problem, eval)
		if err != nil {
			return k, err
		}
		l, l.curve = next, curve
		if k > 0 {
			copy(v.W, first)
		}
		if err := l.toEnd(ctx, v, func() {
			if now := l.state.Crossing; k == 0 && first == nil && now.Round > 0 {
				first = now.mean()
			}
		}); err != nil {
			return k, err
		}
		if learners.TimeSpent(ctx) >= enough {
			return k, nil
		}
		classes, err := engine.Predict(c.problem.Engine, v, judged)
		if err != nil {
			return k, err
		}
		for e, i := range rest {
			s.Classes[k][i] = classes[e]
		}
	}
	return len(candidates), nil
}

// which returns the examples of those folds that want holds of.
func which(folds []uint8, want func(uint8) bool) (some []int) {
	for i, f := range folds {
		if want(f) {
			some = append(some, i)
		}
	}
	return some
}

// partOf returns a problem of some examples, until release is called.
func partOf(problem *learners.Problem, some []int,
) (part *learners.Problem, release func(), err error) {
	y := make([]int32, len(some))
	for k, i := range some {
		y[k] = problem.Y[i]
	}
	rows, release, err := problem.Rows().Keep(some)
	if err != nil {
		return nil, release, err
	}
	return problem.On(rows, y), release, nil
}

// learn runs the learner on some of the examples, from w on, until it ends or its time is up, and
// returns the closed run. A cancelled ctx ends it with ctx's error.
func learn(ctx context.Context, p *Params, problem *learners.Problem, some []int, w engine.Weights,
) (l *run, err error) {
	part, release, err := partOf(problem, some)
	defer release()
	if err != nil {
		return nil, err
	}
	if l, err = p.startRun(part); err != nil {
		return nil, err
	}
	return l, errors.Join(l.toEnd(ctx, w, func() {}), l.Close())
}

// toEnd makes steps from w on until the run ends or its time is up. It calls after after each.
func (l *run) toEnd(ctx context.Context, w engine.Weights, after func()) error {
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: fmt.Sprintf("learning from %d examples", len(l.problem.Y)), Unit: "step"})
	defer task.End()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := l.Step(ctx, w)
		after()
		task.Enter(s.Stage)
		task.Add(1)
		if err != nil || s.Done || learners.TimeSpent(ctx) >= 1 {
			return err
		}
	}
}

// right returns 1 if a candidate's class of example i is the true one, in expectation over labels.
func (c *contest) right(number, i int) float64 {
	return c.inverse[int(c.state.Classes[number][i])*c.problem.Q+int(c.problem.Y[i])]
}

// surely is by how many standard errors of the difference a candidate has to be better than the
// first: that one is seldom far from the best, and C⁻¹ makes differences large by chance.
const surely = 2

// decide chooses a candidate: the first, unless another is surely better.
func (c *contest) decide() error {
	chosen, best := 0, 0.0
	judged := which(c.part, func(f uint8) bool { return int(f) < c.state.Parts })
	judgements := make([]string, len(candidates))
	for k, other := range candidates {
		better, deviation := ahead(len(judged), func(e int) float64 {
			return c.right(k, judged[e]) - c.right(0, judged[e])
		})
		if better > surely*deviation && better > best {
			chosen, best = k, better
		}
		judgements[k] = fmt.Sprintf("%s %+.2f ± %.2f", other, 100*better, 100*deviation)
	}
	share, _ := ahead(len(judged), func(e int) float64 { return c.right(0, judged[e]) })
	judgements[0] = fmt.Sprintf("%s %.2f", candidates[0], 100*share)
	c.decision = fmt.Sprintf("chose the correction %s; %% right of the examples held out, and how "+
		"much more: %s", candidates[chosen], strings.Join(judgements, ", "))
	return c.become(candidates[chosen], c.problem, c.eval)
}

// cutShort chooses the first candidate before all are judged.
func (c *contest) cutShort() error {
	c.state.Short = true
	c.decision = fmt.Sprintf("took the correction %s, as time was too short to judge others",
		candidates[0])
	return c.become(candidates[0], c.problem, c.eval)
}

// ahead returns the mean of n differences, and the standard error of that.
func ahead(n int, difference func(i int) float64) (mean, deviation float64) {
	var squares float64
	for i := range n {
		d := difference(i)
		mean += d
		squares += float64(d * d)
	}
	mean /= float64(n)
	return mean, math.Sqrt(max(0, squares/float64(n)-float64(mean*mean)) / float64(n))
}

// Settled implements learners.Searcher: other examples may want another correction.
func (c *contest) Settled() learners.Params {
	p := c.params
	return &p
}

func (c *contest) Save() (saved []byte, err error) {
	s := c.state
	if c.decision != "" {
		if s.Run, err = c.run.Save(); err != nil {
			return nil, err
		}
	}
	return encode(s)
}

func (c *contest) Restore(saved []byte) error {
	var s contestState
	err := decode(saved, &s)
	if err == nil {
		err = refuse(
			fault{len(s.Classes) > 0 && len(s.Classes) != len(candidates) || s.Parts < 0 ||
				s.Parts > parts || s.Parts > 0 && s.Classes == nil ||
				c.problem.Noise == nil && (len(s.Classes) > 0 || s.Short), "candidates or parts that are none"},
			fault{slices.ContainsFunc(s.Classes, func(classes []int32) bool {
				return len(classes) != len(c.problem.Y) || slices.ContainsFunc(classes,
					func(k int32) bool { return k < 0 || int(k) >= c.problem.Q })
			}), "classes that are none"})
	}
	if err != nil {
		return err
	}
	run := s.Run
	c.state, c.state.Run = s, nil
	if s.Short {
		if err := c.cutShort(); err != nil {
			return err
		}
	} else if c.judgedAll() {
		if err := c.decide(); err != nil {
			return err
		}
	}
	if (c.decision != "") != (len(run) > 0) {
		return refuse(fault{true, "a run before the choice of a correction, or none after it"})
	}
	if len(run) > 0 {
		return c.run.Restore(run)
	}
	return nil
}
