package host

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/learners"
)

// hasOwnMap says whether a learner fits a kernel map of its own.
func hasOwnMap(l learners.Params) bool {
	_, ok := l.(learners.Mapper)
	return ok
}

// checkOwnMap says what of the options means nothing to a learner with a kernel map of its own.
func (o *Options) checkOwnMap() error {
	if !hasOwnMap(o.Learner) {
		return nil
	}
	found := ""
	switch k := o.Kernel; {
	case o.From != nil && o.From.Projection != nil:
		found = "a model with a kernel map to begin with"
	case k == nil:
	case k.Components != 0 || k.Variance != 0:
		found = "a number of components"
	case k.Landmarks != 0 || k.Choice != "" && k.Choice != pca.Uniform:
		found = "landmarks"
	case k.Steps != nil:
		found = "a preparation of components"
	}
	if found == "" {
		return nil
	}
	return fmt.Errorf("found %s, wanted none: learner %s has a kernel map of its own", found, o.Learner.Definition().Name)
}

// fitOwnMap is fitKernel for a learner with a kernel map of its own, of which nothing is prepared.
func (t *training) fitOwnMap(ctx context.Context, l learners.Mapper) (*featuremap.Map, dataset.Stored, error) {
	none := dataset.Stored{}
	f, note, err := t.Kernel.findFunction(t.Engine, &t.data, t.Seed)
	if err != nil {
		return nil, none, err
	}
	if note != "" {
		t.note("kernel: %s", note)
	}
	if t.Kernel.findsGamma() && t.Kernel.Mean {
		if f, err = t.longestMean(ctx, f); err != nil {
			return nil, none, err
		}
	}
	o := pca.Options{Function: f, Cosine: t.Kernel.Cosine}
	if t.Kernel.findsGamma() && t.Kernel.Search {
		best, err := t.searchKernel(ctx, o, []dataset.Steps{{}})
		if err != nil {
			return nil, none, err
		}
		o.Function.Gamma = best.Gamma
	}
	basis, err := fitBasis(ctx, l, t.problem, o, func(format string, args ...any) { t.note("kernel: "+format, args...) })
	if err != nil {
		return nil, none, err
	}
	return featuremap.New(ctx, t.Engine, basis, &t.data, dataset.Steps{})
}

// behindMeans returns how many examples each number of a learner's own map is the mean of; nil of kernel PCA.
func (t *training) behindMeans() []int64 {
	if base := t.base(); base != nil {
		return base.Meta.Kernel.Examples
	}
	if !hasOwnMap(t.Learner) {
		return nil
	}
	counts := make([]int64, t.problem.Q)
	for _, k := range t.problem.Y {
		counts[k]++
	}
	return counts
}

// fitBasis fits what maps the examples of p, prepared and nothing else, for the learner: a map of its
// own, or kernel PCA. note is told what the user should know of the former; it may be nil.
func fitBasis(
	ctx context.Context, l learners.Params, p *learners.Problem, o pca.Options, note func(string, ...any),
) (*pca.Basis, error) {
	own, ok := l.(learners.Mapper)
	if !ok {
		return pca.Fit(ctx, p.Engine, p.Rows(), o)
	}
	if note == nil {
		note = func(string, ...any) {}
	}
	b := &pca.Basis{Cosine: o.Cosine}
	x, release, err := b.Prepare(p.Rows())
	if err != nil {
		return nil, err
	}
	defer release()
	if b.Projection, err = own.FitMap(ctx, p.On(x, p.Y), o.Function, note); err != nil {
		return nil, err
	}
	if b.Offset == nil {
		b.Offset = make([]float32, b.Axes.Q) // which model files have
	}
	return b, nil
}
