// Package softmax is multinomial logistic regression for labels that a known confusion matrix
// C has corrupted. Forward correction: C times the probabilities of the true classes are those
// of the noisy labels, and the weights are those under which the labels are likeliest
//
//	minimise  -1/n Σ_i log (C·softmax(W·x_i))[y_i]  +  λ/2·‖W‖²
//
// by L-BFGS on all examples. What the sum is made of, scores, residuals and their weighted sums, is
// one evaluation on the engine; directions and steps are the host's. With C = identity it is
// scikit-learn's LogisticRegression (without a penalty on the bias) and LIBLINEAR's -s 0.
//
// Beside the published losses, forward and backward (Patrini et al. 2017), stands cross-fitted EM.
// Of the same C, forward correction written with scipy's L-BFGS finds the same weights. This
// learner loses to methods that are not linear, unless a kernel maps the features, and, of a
// hundred examples, to classmean.
//
// The loss is not convex unless C is the identity. From W = 0 this has not been seen to matter.
// From the minimum of a large penalty it does (search.go).
package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// run is the learner in the middle of a run: a row of fits, each by L-BFGS from where the one
// before it ended.
type run struct {
	Params
	noiseOnly bool // the run ends when the noise is learned
	problem   *learners.Problem
	eval      engine.Evaluator
	loss      *loss
	targets   engine.Targets // of all examples by their labels
	evidence  []float32      // log C, Q×Q: row k for label k; of annotators and sets n×Q
	classes   []float32      // what is known of them, n×Q; nil if each example has one
	noise     *labelNoise    // that is learned; nil if it is not
	folds     int            // of EM
	held      []uint8        // the fold of each example in the stage; nil if it has none
	curve     *curvature     // of the loss; nil before the first fit
	short     bool           // half of the time is over
	min       *minimiser     // of the fit under way; nil before its first step
	ridged    float64        // the penalty of ridge regression that ended the run; 0 for none
	aimed     bool           // the loss is that of the fit under way, but for its λ
	state     state
}

// state is what a run keeps between steps, besides the weights: it is what Save writes.
type state struct {
	Stage    stage
	Made     int    // iterations of the fit under way
	Pairs    []pair // of the minimiser
	Curved   curved
	Search   search
	Crossing crossing
	Noise    learnedNoise

	HeadStart bool // w comes from a sample
	Short     bool // a stage before the last was cut short, as time was
}

// curved says of what the curvature is.
type curved struct {
	W      []float32 // the weights where it was measured; empty before that
	Lambda float64   // of its factor
	Made   int       // iterations since it was measured
}

// stage is the kind of fit under way.
type stage int

const (
	learning     stage = iota // of the noise, each without one fold, in rounds
	searching                 // without the examples held out, for one λ after the other
	crossfitting              // each without one fold, in rounds
	fitting                   // all examples
	done
)

// String says what a run is in the middle of.
func (s stage) String() string {
	return [...]string{"learning the noise", "the search for a penalty", "the rounds of soft labels",
		"the fit", "its end"}[s]
}

func (p *Params) start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	l, err := p.startRun(problem)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// startRun loads the examples and returns a run on them.
func (p *Params) startRun(problem *learners.Problem) (l *run, err error) {
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, eval.Close())
		}
	}()
	if err := p.checkEvidence(problem); err != nil {
		return nil, err
	}
	noise, err := newNoise(p, problem)
	if err != nil {
		return nil, err
	}
	targets, err := newTargets(p, problem)
	if err != nil {
		return nil, err
	}
	l = &run{Params: *p, problem: problem, eval: eval, loss: newLoss(eval, problem.Bias),
		targets: targets, noise: noise, folds: p.folds(len(problem.Y)),
		evidence: logRows(confusionOf(p, problem), problem.Q), classes: classesOf(problem)}
	if l.classes != nil {
		l.evidence = logsOf(l.classes, confusionOf(p, problem), problem.Q)
	}
	if noise == nil {
		l.known()
		return l, nil
	}
	l.state.Noise = noise.begin()
	l.aimAtNoise()
	lambda := l.L2.Lambda
	if l.L2.Search {
		lambda = noise.lambda() * meanSquared(problem.Rows(), problem.Bias)
	}
	l.enter(learning, lambda)
	return l, nil
}

// enter begins a stage, of this λ or from it on.
func (l *run) enter(s stage, lambda float64) {
	l.state.Stage, l.state.Search.Lambda = s, lambda
	if s == learning || s == crossfitting {
		l.state.Crossing.W = make([][]float32, l.folds)
	}
	l.deal()
}

// deal puts the examples into the folds of the stage.
func (l *run) deal() {
	count := l.folds
	switch l.state.Stage {
	case fitting, done:
		l.held = nil
		return
	case searching:
		count, _ = l.searchFolds()
	}
	l.held = folds(l.problem.Y, l.problem.Q, count, l.problem.Seed)
}

// known goes on to what comes when the noise is known.
func (l *run) known() {
	l.state.Crossing = crossing{}
	if l.noiseOnly {
		l.state.Stage = done
		return
	}
	if !l.L2.Search {
		l.found(l.L2.Lambda)
		return
	}
	squared := meanSquared(l.problem.Rows(), l.problem.Bias)
	if l.Correction == EM {
		l.found(softLambda * squared / count(l.problem))
		return
	}
	convex := l.noise == nil && (l.classes == nil || l.targets.Given) &&
		slices.Equal(confusionOf(&l.Params, l.problem), confusion.NoNoise(l.problem.Q).V)
	l.state.Search = newSearch(mostLambda*squared, 0, !convex && l.problem.X.D <= mostFactored)
	l.state.Search.Flat = l.problem.X.D > mostFactored
	l.enter(searching, l.state.Search.Lambda)
}

// found goes on to what comes when λ is known.
func (l *run) found(lambda float64) {
	if l.Correction == EM {
		l.enter(crossfitting, lambda)
	} else {
		l.enter(fitting, lambda)
	}
}

func (l *run) Count(_ context.Context, w engine.Weights, changed []int) ([]int64, error) {
	if err := l.rescore(w.W); err != nil {
		return nil, err
	}
	y, q := l.problem.Y, l.problem.Q
	if l.classes == nil {
		return base.CountPredicted(l.eval, w, nil, y)
	}
	predicted := make([]int32, len(y))
	if err := l.eval.Predict(predicted); err != nil {
		return nil, err
	}
	return engine.Count(make([]int64, q*q), predicted, l.problem.Evidence.Labels(predicted, y, q), q),
		nil
}

// rescore has the evaluator score all examples by w, unless it has done that last.
func (l *run) rescore(w []float32) error {
	if slices.Equal(l.loss.scored, w) {
		return nil
	}
	l.loss.scored, l.loss.answer = slices.Clone(w), nil
	return l.eval.Rescore(engine.Weights{Q: l.loss.q, D: l.loss.d, W: w},
		learners.AllClasses(l.loss.q))
}

// Step implements learners.Learner: an iteration of the fit under way, or the first of the next,
// or its head start.
func (l *run) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if l.short = learners.TimeSpent(ctx) >= enough; l.short && l.state.Stage == searching &&
		l.endSearch(w.W) {
		return l.stepped(w), nil
	}
	for l.state.Stage != done {
		if l.min == nil {
			if l.wantsHeadStart(w.W) {
				return l.headStart(ctx, w)
			}
			if err := l.beginFit(w.W); err != nil {
				return learners.Step{}, err
			}
		}
		if !l.fitted() {
			if err := l.renew(); err != nil {
				return learners.Step{}, err
			}
			improved, err := l.min.step(ctx)
			if err != nil {
				return learners.Step{}, err
			}
			if improved {
				l.state.Made++
				l.state.Curved.Made++
				l.state.Pairs = l.min.pairs
				copy(w.W, l.min.now.w)
				return l.stepped(w), nil
			}
		}
		moved, err := l.endFit(ctx, w.W)
		if err != nil {
			return learners.Step{}, err
		}
		if moved {
			return l.stepped(w), nil
		}
	}
	return learners.Step{Done: true, Doubts: l.doubts()}, nil
}

// enough is the share of the time after which stages before the last are cut short.
const enough = 0.5

// onward returns whether to go on with a stage that is not at its end: not when time is short.
func (l *run) onward(more bool) bool {
	l.state.Short = l.state.Short || more && l.short
	return more && !l.short
}

// doubts returns what was left undone before the fit under way, or since the run has ended.
func (l *run) doubts() []learners.Doubt {
	switch {
	case l.state.Stage < fitting:
		return base.EndInDoubt("allow more steps, or give a penalty",
			"softmax: ended in %s: the weights are those of a trial and not a result", l.state.Stage)
	case l.state.Short:
		return base.EndInDoubt("allow more time, or give a penalty",
			"softmax: time was short, so the penalty %.3g is a guess or the best of few, or rounds of "+
				"fits are missing",
			l.state.Search.Lambda)
	}
	return nil
}

// stepped reports an iteration, or that w is now where the next fit begins.
func (l *run) stepped(w engine.Weights) learners.Step {
	s := learners.Step{Changed: learners.AllClasses(w.Q), Stage: l.state.Stage.String(),
		Fields: []learners.Field{{Name: "λ", Value: l.state.Search.Lambda}}, Doubts: l.doubts()}
	if l.ridged > 0 {
		s.Stage, s.Fields[0].Value = "ridge regression", l.ridged
	}
	if l.min != nil && l.ridged == 0 {
		s.Fields = append(s.Fields, learners.Field{Name: "loss", Value: l.min.now.loss},
			learners.Field{Name: "‖gradient‖", Value: l.min.now.length()},
			learners.Field{Name: "evaluations", Value: l.loss.evaluations})
	}
	return s
}

// rough is how much less a fit is worth that is not the result: it has a fraction of the
// iterations, and leaves more of the loss.
const rough = 4

// A fit of at most cheap products an evaluation takes milliseconds, and is made closer.
const (
	cheap  = 1 << 23
	closer = 10
)

// leastIterations are made for each penalty, so that what it changes shows.
const leastIterations = 2

// fitted is the stopping rule: what is left to gain is a share of what chance decides, or the
// iterations are used up.
func (l *run) fitted() bool {
	most, share := l.Iterations, l.Tolerance
	if l.state.Stage != fitting {
		most = (most + rough - 1) / rough
	}
	switch l.state.Stage {
	case searching:
		share *= rough
	case crossfitting:
		switch {
		case len(l.problem.Y) < leastSampled: // a penalty that is too small shows only at its end
			share /= rough
		case l.state.Crossing.Soft == nil: // the rounds go on from there
			share *= rough
		}
	case fitting:
		if float64(len(l.problem.Y))*float64(len(l.min.now.w)) <= cheap {
			share /= closer
		}
	}
	if l.state.Stage == learning {
		most = min(most, learningIterations)
	}
	if l.state.Made < min(leastIterations, most) {
		return false
	}
	return l.state.Made >= most || l.curve.gain(l.min) <=
		share*l.curve.chance(count(l.problem), l.problem.Q)
}

// fresh is the number of iterations for which a curvature is good, or half of a fit's if that is
// more.
const fresh = 16

// renew measures the curvature anew if it is no longer good.
func (l *run) renew() error {
	if l.state.Curved.Made < max(fresh, l.state.Made/2) {
		return nil
	}
	if err := l.measure(l.min.now.w); err != nil {
		return err
	}
	l.min.renew()
	return nil
}

// measure measures the curvature at w for the targets and the penalty of the fit under way.
func (l *run) measure(w []float32) error {
	if err := l.curve.measure(w, l.target()); err != nil {
		return err
	}
	l.state.Curved = curved{W: slices.Clone(w)}
	l.penalise()
	return nil
}

// penalise brings the curvature to the penalty of the fit under way.
func (l *run) penalise() {
	l.curve.penalise(l.state.Search.Lambda, l.state.Stage == fitting)
	l.state.Curved.Lambda = l.curve.lambda
}

// curved makes the curvature that the fit under way begins with from w: of an earlier fit, but for
// the last one, which is of the most examples.
func (l *run) curved(w []float32) (err error) {
	if l.curve == nil {
		if l.curve, err = newCurvature(l.problem); err != nil {
			return err
		}
		if at := l.state.Curved; at.W != nil { // the run goes on
			if err := l.curve.measure(at.W, l.target()); err != nil {
				return err
			}
			l.curve.penalise(at.Lambda, true)
		}
	}
	at := l.state.Curved
	last := l.state.Stage == fitting && l.state.Made == 0
	if at.W == nil || last && !slices.Equal(at.W, w) {
		return l.measure(w)
	}
	l.penalise()
	return nil
}

// beginFit aims the engine at the fit under way and evaluates w, from where it goes on.
func (l *run) beginFit(w []float32) error {
	if !l.aimed {
		t, use := l.fit()
		if err := l.loss.aim(t, len(l.problem.Y), use); err != nil {
			return err
		}
		l.aimed = true
	}
	l.loss.lambda = l.state.Search.Lambda
	now, err := l.loss.at(slices.Clone(w))
	if err != nil {
		return err
	}
	if math.IsInf(now.loss, 1) {
		return fmt.Errorf("softmax: found weights under which scores or losses are too large to begin " +
			"with, wanted a loss below 2^15 for each example; scale the features, or begin from W = 0")
	}
	if err := l.curved(now.w); err != nil {
		return err
	}
	l.min = &minimiser{at: l.loss.at, now: now, curve: l.curve, most: l.memory(),
		pairs: l.state.Pairs}
	return nil
}

// memory returns how many pairs a minimiser keeps.
func (l *run) memory() int {
	if l.problem.X.D > mostFactored {
		return fewMemory
	}
	return memory
}

// fit returns what the fit under way is aimed at, and which examples it uses; nil for all.
func (l *run) fit() (t engine.Targets, use func(i int) bool) {
	c := &l.state.Crossing
	t = l.targets
	if c.Soft != nil {
		t = engine.Targets{Values: c.Soft, Given: true, Weight: l.targets.Weight}
	}
	out := uint8(c.Fold)
	switch l.state.Stage {
	case searching:
		out = uint8(l.state.Search.Fold)
		return t, func(i int) bool { return l.held[i] != out }
	case learning, crossfitting:
		return t, func(i int) bool { return l.held[i] != out }
	}
	return t, nil
}

// target returns what a label tells of the classes in the fit under way, for its curvature.
func (l *run) target() informant {
	t, _ := l.fit()
	f := informant{q: l.problem.Q, weight: t.Weight}
	if !t.Given && !l.perExample() {
		f.c = make([]float64, f.q*f.q)
		for k, v := range l.evidence {
			f.c[k] = float64(numerics.Exp(v))
		}
	}
	return f
}

// endFit takes note of a fit that has ended and chooses the next. If that does not begin from w
// it changes w.
func (l *run) endFit(ctx context.Context, w []float32) (moved bool, err error) {
	from, more := l.min.now.w, false
	pairs, lambda := l.state.Pairs, l.state.Search.Lambda
	l.state.Pairs, l.aimed = nil, false
	switch l.state.Stage {
	case searching:
		t, err := l.judgeHeldOut(from)
		if err != nil {
			return false, err
		}
		_, held := l.searchFolds()
		from, more = l.state.Search.judge(t, from, held)
		switch {
		case !more:
			taken, err := l.ridgeTaken(ctx, &l.state.Search)
			if err != nil {
				return false, err
			}
			if taken != nil {
				from = taken
				break
			}
			l.found(l.state.Search.Lambda)
		case &from[0] == &l.min.now.w[0]:
			l.loss.penalise(pairs, l.state.Search.Lambda-lambda)
			l.state.Pairs, l.aimed = pairs, true
		}
	case learning, crossfitting:
		next, more, err := l.judgeFold(from)
		if err != nil {
			return false, err
		}
		if next != nil {
			from = next
		}
		switch {
		case more:
		case l.state.Stage == learning:
			l.known()
		default:
			l.state.Stage, from = done, l.state.Crossing.mean()
		}
	case fitting:
		l.state.Stage = done
	}
	l.state.Made, l.min = 0, nil
	moved = !slices.Equal(w, from)
	copy(w, from)
	return moved, nil
}

// judgeHeldOut judges the weights of a fit by the examples that the search holds out.
func (l *run) judgeHeldOut(w []float32) (t trial, err error) {
	powers := make([]float64, 4*l.problem.Q)
	err = l.scored(w, l.state.Search.Fold, func(i int, s []float32) {
		u := 1.0
		if l.targets.Weight != nil {
			u = float64(l.targets.Weight[i])
		}
		var known []float32
		if l.classes != nil {
			known = l.classes[i*len(s) : (i+1)*len(s)]
		}
		t.add(u, l.problem.Y[i], s, l.likelihood(i), known, l.targets.Given, powers)
	})
	return t, err
}

// likelihood returns the logarithms of how likely the label of example i is, or its labels
// are, with each class.
func (l *run) likelihood(i int) []float32 {
	q, row := l.problem.Q, int(l.problem.Y[i])
	if l.perExample() {
		row = i
	}
	return l.evidence[row*q : (row+1)*q]
}

// perExample says whether the evidence has a row for each example, in place of each label.
func (l *run) perExample() bool { return l.classes != nil || l.noise != nil && l.noise.crowd }

// scored calls f with the scores by w of each example of a fold, in order. f may change them.
func (l *run) scored(w []float32, fold int, f func(i int, scores []float32)) error {
	if err := l.rescore(w); err != nil {
		return err
	}
	return base.EachScores(l.eval, func(i int, scores []float32) error {
		if int(l.held[i]) == fold {
			f(i, scores)
		}
		return nil
	})
}

// Settled implements learners.Searcher. The penalties by which noise is learned are not those of
// fits.
func (l *run) Settled() learners.Params {
	p := l.Params
	if l.noise == nil {
		p.L2 = L2(l.state.Search.Lambda)
	}
	return &p
}

func (l *run) Close() error {
	err := l.eval.Close()
	if l.curve != nil {
		err = errors.Join(err, l.curve.close())
	}
	return err
}
