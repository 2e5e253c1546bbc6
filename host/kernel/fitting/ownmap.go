package fitting

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/learners"
)

// HasOwnMap returns whether a learner fits a kernel map of its own.
func HasOwnMap(l learners.Params) bool {
	_, ok := l.(learners.Mapper)
	return ok
}

// fitOwnMap is Fit for a learner with a kernel map of its own, whose numbers are not prepared.
func (k *Options) fitOwnMap(
	ctx context.Context, p *learners.Problem, l Learning, own learners.Mapper,
) (*featuremap.Map, dataset.Stored, error) {
	none := dataset.Stored{}
	f, note, err := k.findFunction(p.Engine, p.Rows(), p.Seed)
	if err != nil {
		return nil, none, err
	}
	if note != "" {
		l.Note("kernel: %s", note)
	}
	if k.findsGamma() && k.Mean {
		if f, err = longestMean(ctx, p, l, f); err != nil {
			return nil, none, err
		}
	}
	o := pca.Options{Function: f, Cosine: k.Cosine}
	if k.findsGamma() && k.Search {
		best, err := search(ctx, p, l, o, []dataset.Steps{{}})
		if err != nil {
			return nil, none, err
		}
		o.Function.Gamma = best.Gamma
	}
	basis, err := fitBasis(ctx, own, p, o, func(format string, args ...any) {
		l.Note("kernel: "+format, args...)
	})
	if err != nil {
		return nil, none, err
	}
	return featuremap.New(ctx, p.Engine, basis, p.Rows(), dataset.Steps{})
}

// fitBasis fits the map of the prepared examples of p for the learner: its own map, or kernel PCA.
// note is told about the learner's own map; it may be nil.
func fitBasis(
	ctx context.Context, l any, p *learners.Problem, o pca.Options, note func(string, ...any),
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
