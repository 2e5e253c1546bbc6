// Package softmax is multinomial logistic regression for labels that a known confusion matrix
// C has corrupted. Forward correction: C times the probabilities of the true classes are the
// probabilities of the noisy labels, and the weights maximise the likelihood of the labels
//
//	minimise  -1/n Σ_i log (C·softmax(W·x_i))[y_i]  +  λ/2·‖W‖²
//
// by L-BFGS on all examples. Scores, residuals and their weighted sums are one evaluation on the
// engine; directions and steps are the host's. With C = identity it is scikit-learn's
// LogisticRegression (without a penalty on the bias) and LIBLINEAR's -s 0.
//
// Beside the published losses, forward and backward (Patrini et al. 2017), it has cross-fitted EM.
// Given the same C, forward correction written with scipy's L-BFGS finds the same weights. This
// learner loses to methods that are not linear, unless a kernel maps the features, and, on a
// hundred examples, to classmean.
//
// The loss is not convex unless C is the identity. From W = 0 this has not been seen to matter.
// From the minimum of a large penalty it does (search.go).
//
// A training is a straight line of fits (train): learn the noise, search for λ, fit. A fit is one
// call of solver.fit. What is finished is kept in a memo; a resumed training follows the same line
// and finds it there.
package softmax

import (
	"context"
	"errors"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// run is one training.
type run struct {
	Params
	problem   *learners.Problem
	noiseOnly bool    // the run ends when the noise is learned
	penalty   float64 // λ while the noise is learned
	loss      *loss
	solver    *solver
	memo      memo
	labels    labels      // what is known of the labels
	noise     *labelNoise // to be learned; nil if it is not

	w      []float32                 // the caller's weights
	after  func(learners.Step) error // called after each step
	stage  stage
	lambda float64 // of the fit under way
	ridged float64 // the penalty of the ridge regression that ended the run; 0 for none
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
	ridging      stage = "ridge regression"
	done         stage = "its end"
)

// load loads the examples and returns a run on them.
func (p *Params) load(problem *learners.Problem) (r *run, err error) {
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
	r = &run{Params: *p, problem: problem, loss: newLoss(eval, problem.Bias)}
	r.solver = &solver{problem: problem, loss: r.loss}
	r.memo.fit = &r.solver.state
	if r.labels, err = newLabels(p, problem); err != nil {
		return nil, err
	}
	if r.noise, err = newNoise(p, problem); err != nil || r.noise == nil {
		return r, err
	}
	r.noise.aim(&r.labels)
	r.penalty = p.L2.Lambda
	if p.L2.Search {
		r.penalty = r.noise.lambda() * meanSquared(problem.X, problem.Bias)
	}
	return r, nil
}

func (r *run) Count(_ context.Context, w engine.Weights, changed []int) ([]int64, error) {
	if err := r.loss.rescore(w.W); err != nil {
		return nil, err
	}
	y, q := r.problem.Y, r.problem.Q
	if r.labels.classes == nil {
		return base.CountPredicted(r.loss.eval.Scorer, w, nil, y)
	}
	predicted := make([]int32, len(y))
	if err := r.loss.eval.Predict(predicted); err != nil {
		return nil, err
	}
	return engine.Count(make([]int64, q*q), predicted, r.problem.Evidence.Labels(predicted, y, q), q),
		nil
}

// Fit implements learners.Fitter. A step is an iteration of a fit, a move to where the next fit
// begins, or the head start.
func (r *run) Fit(ctx context.Context, w engine.Weights, after func(learners.Step) error,
) ([]learners.Doubt, error) {
	r.w, r.after = w.W, after
	r.look()
	if err := r.train(ctx); err != nil {
		return nil, err
	}
	return r.doubts(), nil
}

// train makes all fits of the run, each from where the one before it has ended.
func (r *run) train(ctx context.Context) (err error) {
	w := slices.Clone(r.w)
	if r.noise != nil {
		if w, err = learnNoise(ctx, r, w); err != nil {
			return err
		}
	}
	if !r.noiseOnly {
		var lambda float64
		if lambda, w, err = findPenalty(ctx, r, w); err != nil {
			return err
		}
		switch {
		case r.ridged > 0: // instead of a fit
		case r.Correction == EM:
			w, err = expectMaximise(ctx, r, lambda, w)
		default:
			w, err = r.lastFit(ctx, lambda, w)
		}
		if err != nil {
			return err
		}
	}
	r.stage = done
	return r.move(w)
}

// lastFit fits all examples.
func (r *run) lastFit(ctx context.Context, lambda float64, w []float32) ([]float32, error) {
	r.stage, r.lambda = fitting, lambda
	w, err := headStartFromZero(ctx, r, w, nil)
	if err != nil {
		return nil, err
	}
	share := r.Tolerance
	if float64(len(r.problem.Y))*float64(len(w)) <= cheap {
		share /= closer
	}
	return r.fit(ctx, "fit", goal{aim: "all", targets: r.labels.targets, lambda: lambda,
		most: r.Iterations, share: share, last: true}, w)
}

// A fit of at most cheap products an evaluation takes milliseconds, and is made closer.
const (
	cheap  = 1 << 23
	closer = 10
)

// rough is how much less a fit is worth that is not the result: it has a fraction of the
// iterations, and leaves more of the loss.
const rough = 4

// roughly returns the most iterations of a fit that is not the result.
func roughly(r *run) int { return (r.Iterations + rough - 1) / rough }

// fit makes the fit of this key from weights w.
func (r *run) fit(ctx context.Context, key string, g goal, w []float32) ([]float32, error) {
	r.lambda = g.lambda
	if r.short && r.stage == searching {
		return nil, errShort
	}
	g.informs = r.labels.informs(g.targets, r.problem.Q)
	if !r.memo.resumes(key) {
		if err := r.move(w); err != nil {
			return nil, err
		}
		r.solver.begin(key, g)
	}
	return r.solver.fit(ctx, g, slices.Clone(r.w), func(now point) error {
		copy(r.w, now.w)
		return r.step(learners.Field{Name: "loss", Value: now.loss},
			learners.Field{Name: "‖gradient‖", Value: now.length()},
			learners.Field{Name: "evaluations", Value: r.loss.evaluations})
	})
}

// move makes w the caller's weights, which is a step unless they were that before.
func (r *run) move(w []float32, fields ...learners.Field) error {
	if slices.Equal(r.w, w) {
		return nil
	}
	copy(r.w, w)
	return r.step(fields...)
}

// errShort ends a search for which there is no time.
var errShort = errors.New("softmax: half of the time is over")

// step reports a step, and ends a search when time is short.
func (r *run) step(fields ...learners.Field) error {
	lambda, stage := r.lambda, r.stage
	if r.ridged > 0 {
		lambda, stage = r.ridged, ridging
	}
	err := r.after(learners.Step{Changed: learners.AllClasses(r.problem.Q), Stage: string(stage),
		Fields: append([]learners.Field{{Name: "λ", Value: lambda}}, fields...), Doubts: r.doubts()})
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
func (r *run) look() { r.short = r.problem.TimeSpent() >= enough }

// onward returns whether to go on with a stage that is not at its end: not when time is short.
func (r *run) onward(more bool) bool {
	r.cut = r.cut || more && r.short
	return more && !r.short
}

// doubts returns what was left undone before the fit under way, or after the run has ended.
func (r *run) doubts() []learners.Doubt {
	switch {
	case r.stage != fitting && r.stage != done:
		return base.EndInDoubt("allow more steps, or give a penalty",
			"softmax: ended in %s: the weights belong to a trial and are no result", r.stage)
	case r.cut:
		return base.EndInDoubt("allow more time, or give a penalty",
			"softmax: time was short, so the penalty %.3g is a guess or the best of few, or rounds of "+
				"fits are missing", r.lambda)
	}
	return nil
}

// Found implements learners.Fitter. The penalty by which noise is learned is not one for fits.
func (r *run) Found() learners.Found {
	var f learners.Found
	if r.noise != nil {
		f.Noise = r.noise.found()
	}
	p := r.Params
	if r.noise == nil {
		p.L2 = L2(r.lambda)
	}
	f.Settled = &p
	return f
}

func (r *run) Close() error { return errors.Join(r.loss.eval.Close(), r.solver.close()) }

// scored calls f with the scores by w of each example of a fold, in order. f may change them.
func (r *run) scored(w []float32, held []int, fold int, f func(i int, scores []float32)) error {
	if err := r.loss.rescore(w); err != nil {
		return err
	}
	return base.EachScores(r.loss.eval.Scorer, func(i int, scores []float32) error {
		if held[i] == fold {
			f(i, scores)
		}
		return nil
	})
}

// isConvex reports whether the loss is.
func isConvex(r *run) bool {
	return r.noise == nil && (r.labels.classes == nil || r.labels.targets.Given) &&
		slices.Equal(confusionOf(&r.Params, r.problem), confusion.NoNoise(r.problem.Q).V)
}
