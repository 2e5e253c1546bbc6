package fitting

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Learning configures how the search for γ learns, and who hears of the fit.
type Learning struct {
	Learner  learners.Params
	MaxSteps int
	// Learn returns the weights that the learner finds for a problem in at most maxSteps steps.
	Learn func(ctx context.Context, p *learners.Problem, maxSteps int) (engine.Weights, error)
	Note  func(format string, args ...any)
}

// Fit fits the kernel map to the prepared examples of p, or the learner's own, whose numbers are
// not prepared, and returns it and the mapped examples. Errors: errors from FindPCA, from the
// search, and from pca.Fit.
func (k *Options) Fit(ctx context.Context, p *learners.Problem, l Learning,
) (m *pca.Map, z dataset.Examples, err error) {
	own := l.Learner.Definition().FitMap != nil
	tell := func(format string, args ...any) { l.Note("kernel: "+format, args...) }
	var o pca.Options
	note := ""
	if own {
		o.Function, note, err = k.findFunction(p.Engine, p.X, p.Seed)
	} else {
		o, note, err = k.FindPCA(p.Engine, p.X, p.Seed)
	}
	if err != nil {
		return nil, z, err
	}
	if note != "" {
		tell("%s", note)
	}
	if k.findsGamma() && k.Mean {
		if o.Function, err = longestMean(ctx, p, l, o.Function); err != nil {
			return nil, z, err
		}
	}
	steps := []dataset.Steps{equalSteps, plainSteps}
	switch {
	case own:
		steps = []dataset.Steps{{}}
	case k.Steps != nil:
		steps = []dataset.Steps{*k.Steps}
	case o.Coordinates:
		steps = []dataset.Steps{{Bias: true}}
	}
	var r *ridge
	switch {
	case !k.searches():
	case own:
		o.Function.Gamma, err = searchOwn(ctx, p, l, o.Function)
	default:
		o.Function.Gamma, r, err = ridgeGamma(ctx, p, o, tell)
	}
	if err != nil {
		return nil, z, err
	}
	if len(steps) > 1 && float64(o.Components) > manyComponents*float64(p.X.N) {
		inverse, err := p.Inverse()
		if err != nil {
			return nil, z, err
		}
		if inverse.Condition > 1 {
			steps = []dataset.Steps{plainSteps}
		}
	}
	if o.Coordinates && o.Landmarks < p.X.N {
		if o.Rows, err = boundary(ctx, p, o, r); err != nil {
			return nil, z, err
		}
		o.Landmarks = len(o.Rows)
	}
	var basis *pca.Basis
	if own {
		basis, err = fitOwn(ctx, l.Learner, p, o.Function, tell)
	} else {
		basis, err = pca.Fit(ctx, p.Engine, p.X, o)
	}
	if err != nil {
		return nil, z, err
	}
	if m, z, err = pca.NewMap(ctx, p.Engine, basis, p.X, steps[0]); err != nil || own {
		return m, z, err
	}
	for _, note := range append(m.Basis.Notes(), m.Basis.Summary()) {
		tell("%s", note)
	}
	return m, z, nil
}

// fitOwn fits the learner's own map of the prepared examples of p. note receives remarks on it.
func fitOwn(ctx context.Context, l learners.Params, p *learners.Problem, f kernel.Function,
	note func(string, ...any)) (*pca.Basis, error) {
	projection, err := l.Definition().FitMap(ctx, p, f, note)
	if err != nil {
		return nil, err
	}
	b := &pca.Basis{Projection: projection}
	if b.Offset == nil {
		b.Offset = make([]float32, b.Axes.Q) // which model files have
	}
	return b, nil
}

// longestMean returns f with the γ, of 13 around its own, that sets the mean vectors of the
// classes farthest apart (Theorem 6 of the paper of the kernel mean): one reading of the examples,
// and no clean label.
func longestMean(ctx context.Context, p *learners.Problem, l Learning, f kernel.Function,
) (kernel.Function, error) {
	var functions []kernel.Function
	for power := -4; power <= 8; power++ {
		one := f
		one.Gamma = f.Gamma * float32(math.Ldexp(1, power))
		functions = append(functions, one)
	}
	inverse, err := p.Inverse()
	if err != nil {
		return f, err
	}
	lengths, within, err := means.Lengths(ctx, p.Engine, p.X, p.Y, p.Q, inverse.V, functions,
		p.Seed)
	if err != nil {
		return f, err
	}
	best := lengths[0]
	for _, one := range lengths[1:] {
		if one.U > best.U {
			best = one
		}
	}
	l.Note("kernel: gamma %v, whose means are %.3g apart, is taken; the true ones are within %.2g of "+
		"that, in 95 samples of 100", best.Function.Gamma, math.Sqrt(max(0, best.U)), within)
	return best.Function, nil
}
