// Package fit runs learners. A learner with steps of one kind is a loop over them. The searches of
// softmax are here: a training is a straight line of fits (train), each one call of Solver.Fit.
// It learns the noise, searches for the penalty λ, fits. What is finished is kept in a memo; a
// resumed training follows the same line and finds it there.
//
// The loss is not convex unless C is the identity. From W = 0 this has not been seen to matter.
// From the minimum of a large penalty it does (penalty.go).
package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Run is one run of a learner from its beginning to its end.
type Run interface {
	// Count is as in learners.Learner.
	Count(ctx context.Context, w engine.Weights, changed []int) (predicted []int64, err error)

	// Fit improves w in place until nothing is left to improve, and returns the doubts about the
	// result. It calls after when it has made a step and w is what the step has left. If that returns
	// an error, the run ends with it. If ctx is cancelled the run may end with its error, and w is as
	// the last step left it.
	Fit(ctx context.Context, w engine.Weights, after func(learners.Step) error,
	) ([]learners.Doubt, error)

	// Found returns what the run has found so far besides w.
	Found() Found

	// Save, Restore and Close are as in learners.Learner. Save may be called in after, and when Fit
	// has ended by an error of after or of ctx.
	Save() ([]byte, error)
	Restore(saved []byte) error
	Close() error
}

// Found is what a run has found besides weights. It becomes the caller's.
type Found struct {
	// Noise is what was learned of how labels are wrong; nil if nothing was to be.
	Noise *confusion.Learned
	// Settled are the parameters with the values found by searches, once Fit has ended well: for runs
	// of similar examples of similar number. It is nil if there is nothing to search for.
	Settled learners.Params
}

// Start checks the parameters and begins a run of their learner, to which later changes of them do
// not matter. It loads the problem's examples on its engine.
func Start(ctx context.Context, p learners.Params, problem *learners.Problem) (Run, error) {
	if err := learners.Check(p); err != nil {
		return nil, err
	}
	var r *training
	var err error
	switch p := p.(type) {
	case *softmax.Params:
		r, err = newTraining(p, problem)
	default:
		l, err := learners.Start(ctx, p, problem)
		if err != nil {
			return nil, err
		}
		return steps{l}, nil
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// steps is the run of a learner whose steps are all alike.
type steps struct{ learners.Learner }

func (s steps) Fit(ctx context.Context, w engine.Weights, after func(learners.Step) error,
) ([]learners.Doubt, error) {
	for {
		step, err := s.Step(ctx, w)
		if err != nil || step.Done {
			return step.Doubts, err
		}
		if err := after(step); err != nil {
			return nil, err
		}
	}
}

func (steps) Found() (f Found) { return f }

// training is one run of softmax.
type training struct {
	softmax.Params
	problem *learners.Problem
	penalty float64 // λ while the noise is learned
	solver  *softmax.Solver
	memo    memo
	noise   *labelNoise // to be learned; nil if it is not

	w      []float32                 // the caller's weights
	after  func(learners.Step) error // called after each step
	stage  stage
	lambda float64 // of the fit under way
	part   bool    // gives a run of more examples a head start
	short  bool    // half of the time is over
	cut    bool    // a stage before the last was cut short, because time was
}

// stage is the kind of fit under way.
type stage string

const (
	learning     stage = "learning the noise"
	searching    stage = "the search for a penalty"
	crossfitting stage = "the rounds of soft labels"
	fitting      stage = "the fit"
	done         stage = "its end"
)

// newTraining loads the examples and returns a run on them.
func newTraining(p *softmax.Params, problem *learners.Problem) (*training, error) {
	solver, err := softmax.NewSolver(p, problem)
	if err != nil {
		return nil, err
	}
	r := &training{Params: *p, problem: problem, solver: solver}
	r.memo.fit = &solver.State
	if r.noise, err = newNoise(p, problem); err != nil {
		return nil, errors.Join(err, solver.Close())
	}
	if r.noise == nil {
		return r, nil
	}
	r.noise.aim(&solver.Labels)
	r.penalty = p.L2.Lambda
	if p.L2.Search {
		r.penalty = crowdLambda * meanSquared(problem.X, problem.Bias)
	}
	return r, nil
}

func (r *training) Count(_ context.Context, w engine.Weights, _ []int) ([]int64, error) {
	return r.solver.Count(w)
}

// Fit implements Run. A step is an iteration of a fit, a move to where the next fit begins, or the
// head start.
func (r *training) Fit(ctx context.Context, w engine.Weights, after func(learners.Step) error,
) ([]learners.Doubt, error) {
	r.w, r.after = w.W, after
	r.look()
	if err := train(ctx, r); err != nil {
		return nil, err
	}
	return r.doubts(), nil
}

// train makes all fits of the run, each from where the one before it has ended.
func train(ctx context.Context, r *training) (err error) {
	w := slices.Clone(r.w)
	if r.noise != nil {
		if w, err = learnNoise(ctx, r, w); err != nil {
			return err
		}
	}
	if ridges(r) {
		w, err = regressInRounds(ctx, r)
	} else {
		w, err = fitBest(ctx, r, w)
	}
	if err != nil {
		return err
	}
	r.stage = done
	return r.move(w)
}

// fitBest finds a penalty, and fits with it.
func fitBest(ctx context.Context, r *training, w []float32) ([]float32, error) {
	lambda, w, err := findPenalty(ctx, r, w)
	switch {
	case err != nil:
		return nil, err
	case r.Correction == learners.EM:
		return expectMaximise(ctx, r, lambda, w)
	}
	return fitAll(ctx, r, lambda, w)
}

// A fit of at most cheap products an evaluation takes milliseconds, and is made closer.
const (
	cheap  = 1 << 23
	closer = 10
)

// fitAll fits all examples.
func fitAll(ctx context.Context, r *training, lambda float64, w []float32) ([]float32, error) {
	r.stage, r.lambda = fitting, lambda
	w, err := headStartFromZero(ctx, r, w, nil)
	if err != nil {
		return nil, err
	}
	share := r.Tolerance
	if float64(len(r.problem.Y))*float64(len(w)) <= cheap {
		share /= closer
	}
	return r.fit(ctx, "fit", softmax.Goal{Aim: "all", Targets: r.solver.Labels.Targets,
		Lambda: lambda, Most: r.Iterations, Share: share, Last: true}, w)
}

// rough is how much less a fit is worth that is not the result: it has a fraction of the
// iterations, and leaves more of the loss.
const rough = 4

// roughly returns the most iterations of a fit that is not the result.
func roughly(r *training) int { return (r.Iterations + rough - 1) / rough }

// fit makes the fit of this key from weights w.
func (r *training) fit(ctx context.Context, key string, g softmax.Goal, w []float32,
) ([]float32, error) {
	r.lambda = g.Lambda
	if r.short && r.stage == searching {
		return nil, errShort
	}
	if !r.memo.resumes(key) {
		if err := r.move(w); err != nil {
			return nil, err
		}
		r.solver.Begin(key, g)
	}
	return r.solver.Fit(ctx, g, slices.Clone(r.w), func(w []float32, loss, gradient float64) error {
		copy(r.w, w)
		return r.step(learners.Field{Name: "loss", Value: loss},
			learners.Field{Name: "‖gradient‖", Value: gradient},
			learners.Field{Name: "evaluations", Value: r.solver.Evaluations})
	})
}

// move makes w the caller's weights, which is a step unless they were that before.
func (r *training) move(w []float32, fields ...learners.Field) error {
	if slices.Equal(r.w, w) {
		return nil
	}
	copy(r.w, w)
	return r.step(fields...)
}

// errShort ends a search for which there is no time.
var errShort = errors.New("softmax: half of the time is over")

// step reports a step, and ends a search when time is short.
func (r *training) step(fields ...learners.Field) error {
	err := r.after(learners.Step{Changed: learners.AllClasses(r.problem.Q), Stage: string(r.stage),
		Fields: append([]learners.Field{{Name: "λ", Value: r.lambda}}, fields...), Doubts: r.doubts()})
	if err != nil {
		return err
	}
	if r.look(); r.short && r.stage == searching {
		return errShort
	}
	return nil
}

// enough is the share of the time after which stages before the last are cut short.
const enough = 0.5

// look sets short.
func (r *training) look() { r.short = r.problem.TimeSpent() >= enough }

// onward returns whether to go on with a stage that is not at its end: not when time is short.
func (r *training) onward(more bool) bool {
	r.cut = r.cut || more && r.short
	return more && !r.short
}

// doubts returns what was left undone before the fit under way, or after the run has ended.
func (r *training) doubts() []learners.Doubt {
	d := learners.Doubt{Code: learners.EndsInDoubt}
	switch {
	case r.stage != fitting && r.stage != done:
		d.Finding = fmt.Sprintf("softmax: ended in %s: the weights belong to a trial and are no result",
			r.stage)
		d.Advice = "allow more steps, or give a penalty"
	case r.cut:
		d.Finding = fmt.Sprintf("softmax: time was short, so the penalty %.3g is a guess or the best "+
			"of few, or rounds of fits are missing", r.lambda)
		d.Advice = "allow more time, or give a penalty"
	default:
		return nil
	}
	return []learners.Doubt{d}
}

// Found implements Run. The penalty by which noise is learned is not one for fits.
func (r *training) Found() Found {
	var f Found
	if r.noise != nil {
		f.Noise = r.noise.found()
	}
	p := r.Params
	if r.noise == nil && !ridges(r) {
		p.L2 = softmax.L2(r.lambda)
	}
	f.Settled = &p
	return f
}

func (r *training) Close() error { return r.solver.Close() }

// scoreFold calls f with the scores by w of each example of a fold, in order. f may change them.
func scoreFold(r *training, w []float32, held []int, fold int, f func(i int, scores []float32),
) error {
	return r.solver.Scores(w, func(i int, scores []float32) {
		if held[i] == fold {
			f(i, scores)
		}
	})
}

// isConvex reports whether the loss is.
func isConvex(r *training) bool {
	labels := &r.solver.Labels
	return r.noise == nil && (labels.Classes == nil || labels.Targets.Given) &&
		slices.Equal(r.Correcting().Confusion(r.problem), confusion.NoNoise(r.problem.Q).V)
}

// deal returns the fold of each example.
func deal(r *training, count int) []int {
	return dataset.DrawFolds(r.problem.Y, r.problem.Q, count, r.problem.Seed, dataset.InnerFolds)
}
