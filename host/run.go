package host

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrAnnotations marks a learner that cannot learn from the labels of annotators.
var ErrAnnotations = errors.New("learner cannot learn from annotations")

// Stop is why a run ended.
type Stop string

const (
	Converged   Stop = "converged"   // the learner found nothing left to improve
	MaxSteps    Stop = "max-steps"   // RunOptions.MaxSteps steps were made
	Interrupted Stop = "interrupted" // the context was cancelled
	TimeUp      Stop = "time"        // Options.Time is over
)

// RunOptions of Run.
type RunOptions struct {
	MaxSteps int           // at least 0
	Weights  learners.Rule // "" is the learner's own default
	From     []float32     // W_0, Q×d row-major; nil is 0
	// of a run with the same parameters on the same problem, which goes on; nil for none
	Resume  *Snapshot
	OnStart func() // called when the examples are on the engine, if not nil
	// called after each step, if not nil; without it passes that need no count have none
	OnStep func(Report)

	// Keep is called with a snapshot of the run before the first step, and after each step that is
	// Due; nil for no snapshots. Its error ends the run.
	Keep func(Snapshot) error
	Due  func(steps int) bool
}

// Report describes one step.
type Report struct {
	Step           int              // 1 for the first
	EstimatedError float64          // of the weights before the step
	Fields         []learners.Field // the learner's own
	W              engine.Weights   // after the step; to be read during the call only
}

// Result is a finished run.
type Result struct {
	W              engine.Weights
	Steps          int
	Stop           Stop
	Doubts         []learners.Doubt // the learner's own, of the end; mostly none
	EstimatedError float64          // of W on the training examples, without a clean label (clause 10)
	Counts         []int64          // Q×Q, examples by W's prediction (row) and noisy label
	// Noise is the noise that the learner has learned; nil if none. EstimatedError is then by its
	// matrix, if that has an inverse.
	Noise   *confusion.Learned
	Inverse *confusion.Inverse // C⁻¹ of EstimatedError
	// Settled are the parameters without the searches that the run has made: for runs of other
	// examples of the same kind. It is nil for learners that search for nothing, and before the end.
	Settled  learners.Params
	Snapshot *Snapshot // of a run that was interrupted or whose time was up; nil for others
}

// Snapshot is a run between two steps: the weights that its result would have, and the state to
// resume it from. It shares no memory with the run.
type Snapshot struct {
	Kept           engine.Weights // what the rule keeps if the run ends here
	EstimatedError *float64       // of Kept, if it is known
	model.State
}

// Run returns the result of a learner on a problem: it steps until the learner has converged,
// MaxSteps steps were made, ctx is cancelled, or one step was made and the time of the problem is
// up. A cancelled run has a result like any other. Errors come from the engine and the learner.
func Run(ctx context.Context, params learners.Params, p *learners.Problem,
	o RunOptions) (_ Result, err error) {
	r, err := start(ctx, params, p, o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.learner.Close()) }()
	if o.OnStart != nil {
		o.OnStart()
	}
	if o.Keep != nil && o.Resume == nil {
		if err := r.snapshot(o.Keep); err != nil {
			return Result{}, err
		}
	}
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "learning", Unit: "step", From: int64(r.steps)})
	defer task.End()
	r.everyStep = o.OnStep != nil || r.choice.rule != learners.Last ||
		!params.Definition().Uncounted
	first := r.steps
	// between looks at the weights between two steps, and ends the run if it has to.
	between := func(changed []int) error {
		if err := r.look(ctx, changed); err != nil {
			return err
		}
		task.Reach(int64(r.steps))
		switch {
		case r.steps >= o.MaxSteps:
			r.res.Stop = MaxSteps
		case ctx.Err() != nil:
			r.res.Stop = Interrupted
		case r.steps > first && p.TimeSpent() >= 1:
			r.res.Stop = TimeUp
		default:
			return nil
		}
		return errStop
	}
	doubts, err := []learners.Doubt(nil), between(learners.AllClasses(p.Q))
	if err == nil {
		doubts, err = r.learner.Fit(ctx, r.w, func(step learners.Step) error {
			r.steps++
			r.res.Doubts = step.Doubts
			task.Enter(step.Stage)
			r.choice.add(r.w)
			if o.OnStep != nil {
				o.OnStep(Report{Step: r.steps, EstimatedError: r.res.EstimatedError,
					Fields: step.Fields, W: r.w})
			}
			if o.Keep != nil && o.Due(r.steps) {
				if err := r.snapshot(o.Keep); err != nil {
					return err
				}
			}
			return between(step.Changed)
		})
	}
	switch {
	case errors.Is(err, errStop):
	case err == nil:
		r.res.Stop, r.res.Doubts = Converged, doubts
		if r.choice.rule == learners.BestAverage { // averages only come near to the last iterate
			r.choice.offer(r.w, r.res.EstimatedError, r.res.Counts)
		}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		r.res.Stop = Interrupted
	default:
		return Result{}, fmt.Errorf("step %d: %w", r.steps+1, err)
	}
	if !r.everyStep {
		r.res.Counts, r.res.EstimatedError, err = r.count(ctx, r.w, learners.AllClasses(p.Q))
		if err != nil {
			return Result{}, fmt.Errorf("step %d: %w", r.steps+1, err)
		}
	}
	return r.finish(ctx)
}

// errStop ends a run between two steps.
var errStop = errors.New("the run is stopped")

// loop is a run between two steps.
type loop struct {
	problem   *learners.Problem
	inverse   *confusion.Inverse
	learner   fit.Run
	choice    *choice
	w         engine.Weights
	steps     int
	everyStep bool   // weights are counted after every step, and not at the end only
	res       Result // as far as it is known
}

// look counts the examples by the weights between two steps, and by their average if the rule may
// choose that. changed are the classes whose weights have changed.
func (r *loop) look(ctx context.Context, changed []int) (err error) {
	if r.choice.tries(r.steps) { // before the iterate, from whose Count the next step starts
		w := r.choice.average(r.steps)
		changed = learners.AllClasses(r.problem.Q)
		counts, estimate, err := r.count(ctx, w, changed)
		if err != nil {
			return fmt.Errorf("average of %d steps: %w", r.steps, err)
		}
		r.choice.offer(w, estimate, counts)
	}
	if !r.everyStep {
		return nil
	}
	if r.res.Counts, r.res.EstimatedError, err = r.count(ctx, r.w, changed); err != nil {
		return err
	}
	if rule := r.choice.rule; rule == learners.Best || rule == learners.BestAverage && r.steps == 0 {
		r.choice.offer(r.w, r.res.EstimatedError, r.res.Counts)
	}
	return nil
}

// start begins a run, or resumes one.
func start(ctx context.Context, params learners.Params, p *learners.Problem, o RunOptions) (_ *loop,
	err error) {
	rule, err := params.Definition().Rule(string(o.Weights))
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	switch name := params.Definition().Name; {
	case learners.IsProbabilistic(params):
	case p.Annotations != nil:
		return nil, fmt.Errorf("run: %w: got learner %s, want one such as softmax (or give their votes "+
			"as labels)", ErrAnnotations, name)
	case p.Evidence != nil:
		return nil, fmt.Errorf("run: %w: got learner %s, want one such as softmax", ErrEvidence, name)
	}
	r := &loop{problem: p, w: engine.NewWeights(p.Q, p.X.D)}
	r.choice = newChoice(rule, r.w)
	if r.inverse, err = p.Inverse(); err != nil {
		return nil, err
	}
	if o.From != nil {
		if len(o.From) != len(r.w.W) {
			return nil, fmt.Errorf("run: weights to start from: got %d, want %d×%d", len(o.From), p.Q, p.X.D)
		}
		copy(r.w.W, o.From)
	}
	if r.learner, err = fit.Start(ctx, params, p); err != nil {
		return nil, err
	}
	if o.Resume != nil {
		if err := r.restore(o.Resume); err != nil {
			return nil, errors.Join(fmt.Errorf("run: %w: state: %w", ErrResume, err), r.learner.Close())
		}
	}
	return r, nil
}

// restore puts the run where s was taken.
func (r *loop) restore(s *Snapshot) error {
	if len(s.Last) != len(r.w.W) {
		return fmt.Errorf("found %d weights, wanted %d×%d", len(s.Last), r.w.Q, r.w.D)
	}
	if err := r.choice.restore(s); err != nil {
		return err
	}
	copy(r.w.W, s.Last)
	r.steps = s.Steps
	return r.learner.Restore(s.Learner)
}

// snapshot calls f with a snapshot of the run.
func (r *loop) snapshot(f func(Snapshot) error) error {
	saved, err := r.learner.Save()
	if err != nil {
		return err
	}
	s := Snapshot{State: model.State{Steps: r.steps, Last: slices.Clone(r.w.W), Learner: saved}}
	r.choice.save(&s, r.w)
	return f(s)
}

// count counts the examples by prediction and noisy label, and estimates the error.
func (r *loop) count(ctx context.Context, w engine.Weights, changed []int,
) (counts []int64, estimate float64, err error) {
	// A step that was made is counted, even if the context is cancelled.
	counts, err = r.learner.Count(context.WithoutCancel(ctx), w, changed)
	if err != nil {
		return nil, 0, err
	}
	return counts, r.inverse.EstimatedError(counts, r.problem.X.N), nil
}

// finish returns the weights of the rule, with their estimated error and counts.
func (r *loop) finish(ctx context.Context) (Result, error) {
	res := r.res
	res.Steps = r.steps
	if res.Stop == Interrupted || res.Stop == TimeUp {
		err := r.snapshot(func(s Snapshot) error { res.Snapshot = &s; return nil })
		if err != nil {
			return Result{}, err
		}
	}
	k := r.choice
	switch {
	case k.chooses():
		res.W, res.EstimatedError, res.Counts = k.best, k.bestError, k.bestCounts
	case k.rule == learners.Average && r.steps > 0:
		res.W = k.average(r.steps)
		var err error
		if res.Counts, res.EstimatedError, err = r.count(ctx, res.W,
			learners.AllClasses(res.W.Q)); err != nil {
			return Result{}, fmt.Errorf("averaged weights: %w", err)
		}
	default:
		res.W = r.w
	}
	res.Inverse = r.inverse
	found := r.learner.Found()
	if res.Noise = found.Noise; res.Noise != nil {
		if inverse, err := inverseOf(res.Noise); err == nil {
			res.Inverse, res.EstimatedError = inverse, inverse.EstimatedError(res.Counts, r.problem.X.N)
		}
	}
	if res.Stop == Converged {
		res.Settled = found.Settled
	}
	return res, nil
}

// inverseOf returns C⁻¹ of the noise that a learner has found.
func inverseOf(l *confusion.Learned) (*confusion.Inverse, error) {
	m := &confusion.Matrix{P: l.P}
	for k := 0; k*k < len(l.P); k++ {
		m.Classes = append(m.Classes, strconv.Itoa(k))
	}
	return m.Invert()
}

// choice chooses the weights of a run by a rule: it sees the iterates, and keeps what the
// rule needs.
type choice struct {
	rule       learners.Rule
	q, d       int
	sum        []float64      // Average, BestAverage: Σ of W after each step
	best       engine.Weights // Best, BestAverage: empty before the first count
	bestError  float64
	bestCounts []int64
}

func newChoice(rule learners.Rule, w engine.Weights) *choice {
	k := &choice{rule: rule, q: w.Q, d: w.D}
	if k.averages() {
		k.sum = make([]float64, w.Q*w.D)
	}
	return k
}

// chooses returns whether the rule keeps the weights of least estimated error.
func (k *choice) chooses() bool { return k.rule == learners.Best || k.rule == learners.BestAverage }

// averages returns whether the rule needs the sum of the iterates.
func (k *choice) averages() bool {
	return k.rule == learners.Average || k.rule == learners.BestAverage
}

// tries returns whether the average after the given steps is one to choose from: four binary
// digits and zeros write the number (clause 19). These are 1 to 16, then eight numbers up to each
// power of two.
func (k *choice) tries(steps int) bool {
	low := bits.Len(uint(steps)) - 4
	return k.rule == learners.BestAverage && steps > 0 && (low <= 0 || steps&(1<<low-1) == 0)
}

// offer takes weights to choose from, and their estimated error.
func (k *choice) offer(w engine.Weights, estimated float64, counts []int64) {
	if k.best.W == nil || estimated < k.bestError {
		k.best, k.bestError, k.bestCounts = w.Clone(), estimated, slices.Clone(counts)
	}
}

// add takes an iterate that a step has just made.
func (k *choice) add(w engine.Weights) {
	if k.averages() {
		for i, v := range w.W {
			k.sum[i] += float64(v)
		}
	}
}

// average returns the mean of the iterates after the given number of steps.
func (k *choice) average(steps int) engine.Weights {
	w := engine.NewWeights(k.q, k.d)
	for i, s := range k.sum {
		w.W[i] = float32(s / float64(steps))
	}
	return w
}

// save enters the weights of k in s, and the ones that it would choose if the run ended at w.
func (k *choice) save(s *Snapshot, w engine.Weights) {
	if k.averages() && s.Steps > 0 {
		s.Sum = slices.Clone(k.sum)
	}
	switch {
	case k.chooses() && k.best.W != nil:
		estimate := k.bestError
		s.Kept, s.EstimatedError, s.Counts = k.best.Clone(), &estimate, slices.Clone(k.bestCounts)
	case k.rule == learners.Average && s.Steps > 0:
		s.Kept = k.average(s.Steps)
	default:
		s.Kept = w.Clone()
	}
}

// restore is the opposite of save.
func (k *choice) restore(s *Snapshot) error {
	if k.chooses() && s.EstimatedError != nil {
		if len(s.Kept.W) != k.q*k.d || len(s.Counts) != k.q*k.q {
			return fmt.Errorf("found %d best weights with %d counts, wanted %d×%d and %d×%d",
				len(s.Kept.W), len(s.Counts), k.q, k.d, k.q, k.q)
		}
		k.best = engine.Weights{Q: k.q, D: k.d, W: slices.Clone(s.Kept.W)}
		k.bestError, k.bestCounts = *s.EstimatedError, slices.Clone(s.Counts)
	}
	if k.averages() && s.Steps > 0 {
		if len(s.Sum) != k.q*k.d {
			return fmt.Errorf("found a sum of %d weights, wanted %d×%d", len(s.Sum), k.q, k.d)
		}
		copy(k.sum, s.Sum)
	}
	return nil
}
