package host

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/learners"
)

// AllLandmarks is the value of Kernel.Landmarks for exact kernel PCA.
const AllLandmarks = -1

// Unless a Kernel says otherwise, every example is a landmark where that is not too much,
// and as many components as these are had.
const (
	defaultComponents = 500
	exactExamples     = 5000
	manyLandmarks     = 4000
)

// Preparations of the components. Equally long ones tell classes apart better, and fit
// noise sooner if they are many (docs/kernel.md).
var (
	equalSteps = dataset.Steps{Standardize: true, L2: true}
	plainSteps = dataset.Steps{L2: true}
)

// manyComponents is which share of the examples components may come to before equally
// long ones fit noise.
const manyComponents = 0.1

// A trial of the search for γ makes so many steps at most, or the share searchShare of those
// that a run makes, if that is more.
const (
	searchSteps = 300
	searchShare = 0.3
)

// Kernel describes a classifier with curved boundaries: its learner is linear in kernel
// principal components of the examples, and Kernel says in which.
type Kernel struct {
	Function   kernel.Function // Gamma 0 of rbf and poly stands for 1 / the median squared distance of examples
	Search     bool            // find the best of seven values of γ near 1 / that median (KernelSearch)
	Mean       bool            // take the γ that sets the means of the classes farthest apart in feature space
	Cosine     bool            // scale each example to length 1 first
	Components int             // 0 for 500, or as many as there are
	Variance   float64         // instead of Components: the share of the variance that they have; 0 for none
	Landmarks  int             // AllLandmarks, a number, or 0: all of up to 5000 examples, else 4000
	Choice     string          // of landmarks: pca.Uniform (also ""), KMeans or Farthest
	Steps      *dataset.Steps  // preparation of the components; nil for a choice by noise and number
	Memory     int64           // most bytes for the fit; 0 for no limit
}

// findsGamma says whether γ is to be found.
func (k *Kernel) findsGamma() bool {
	return k.Function.Kind != kernel.Linear && (k.Search || k.Mean || k.Function.Gamma == 0)
}

// Options returns what to fit to n examples of d features, with γ = 1 where it is to be
// found.
func (k *Kernel) Options(n, d int, seed uint64) pca.Options {
	o := pca.Options{
		Function: k.Function, Cosine: k.Cosine, Components: k.Components, Variance: k.Variance,
		Landmarks: k.Landmarks, Choice: k.Choice, Seed: seed, MemoryLimit: k.Memory,
	}
	if k.findsGamma() {
		o.Function.Gamma = 1
	}
	switch {
	case k.Landmarks == AllLandmarks:
		o.Landmarks = 0
	case k.Landmarks == 0 && n > exactExamples:
		o.Landmarks = manyLandmarks
	}
	if o.Components == 0 && o.Variance == 0 {
		o.Components = min(defaultComponents, o.MostComponents(n, d))
	}
	return o
}

// Plan says what the fit to examples x takes, on this rank if ranks share them; it looks at their number alone.
// Errors: those of pca.NewPlan, and memory.ErrBudget if there is no room for it and the components.
func (k *Kernel) Plan(rows dataset.Rows) (pca.Plan, error) {
	x := rows.Stored()
	p, err := pca.NewPlan(x, k.Options(x.N, x.D, 0))
	if err != nil {
		return p, err
	}
	from, to := x.Own()
	components := memory.Product(to-from, max(1, k.MostComponents(x.N, x.D)), 8) // twice, while they are prepared
	return p, memory.Check(memory.Sum(p.Total(), components),
		fmt.Sprintf("kernel PCA of %d examples × %d features", to-from, x.D))
}

// MostComponents returns the most components that a learner can see of n examples of d
// features.
func (k *Kernel) MostComponents(n, d int) int {
	o := k.Options(n, d, 0)
	if o.Components == 0 { // whatever the variance asks for
		return o.MostComponents(n, d)
	}
	return o.Components
}

// FindOptions returns what Options does, with γ computed from x where Function.Gamma is 0 or
// Search or Mean is set. note tells the user that γ; it is "" if γ was given, or is only where
// these begin. Errors: those of Plan and pca.MedianGamma.
func (k *Kernel) FindOptions(
	e engine.Engine, rows dataset.Rows, seed uint64,
) (o pca.Options, note string, err error) {
	x := rows.Stored()
	o = k.Options(x.N, x.D, seed)
	_, err = k.Plan(x)
	if err := x.Agree(err); err != nil {
		return o, "", err
	}
	o.Function, note, err = k.findFunction(e, x, seed)
	return o, note, err
}

// findFunction returns the kernel function, with γ as FindOptions finds it, and its note.
func (k *Kernel) findFunction(e engine.Engine, x dataset.Rows, seed uint64) (kernel.Function, string, error) {
	f := k.Function
	if !k.findsGamma() {
		return f, "", nil
	}
	var err error
	if f.Gamma, err = pca.MedianGamma(e, x, seed); err != nil || k.Search || k.Mean {
		return f, "", err
	}
	return f, fmt.Sprintf("gamma %v, 1 / median squared distance", f.Gamma), nil
}

// fitKernel fits the kernel map to the prepared data, and returns it with what it makes of
// them.
func (t *training) fitKernel(ctx context.Context) (*featuremap.Map, dataset.Stored, error) {
	if own, ok := t.Learner.(learners.Mapper); ok {
		return t.fitOwnMap(ctx, own)
	}
	none := dataset.Stored{}
	x := t.data.Stored()
	o, note, err := t.Kernel.FindOptions(t.Engine, x, t.Seed)
	if err != nil {
		return nil, none, err
	}
	if note != "" {
		t.note("kernel: %s", note)
	}
	if t.Kernel.findsGamma() && t.Kernel.Mean {
		if o.Function, err = t.longestMean(ctx, o.Function); err != nil {
			return nil, none, err
		}
	}
	steps := []dataset.Steps{equalSteps, plainSteps}
	if t.Kernel.Steps != nil {
		steps = []dataset.Steps{*t.Kernel.Steps}
	}
	if t.Kernel.findsGamma() && t.Kernel.Search {
		best, err := t.searchKernel(ctx, o, steps)
		if err != nil {
			return nil, none, err
		}
		o.Function.Gamma, steps = best.Gamma, []dataset.Steps{best.Steps}
	} else if len(steps) > 1 && t.inverse.Condition > 1 && float64(o.Components) > manyComponents*float64(x.N) {
		steps = []dataset.Steps{plainSteps}
	}
	k, z, err := featuremap.Fit(ctx, t.Engine, x, o, steps[0])
	if err != nil {
		return nil, none, err
	}
	for _, note := range append(k.Basis.Notes(), k.Basis.Summary()) {
		t.note("kernel: %s", note)
	}
	return k, z, nil
}

// searchKernel returns the best of some values of γ around the median, with the
// preparations given.
func (t *training) searchKernel(ctx context.Context, o pca.Options, steps []dataset.Steps) (KernelTrial, error) {
	most := max(searchSteps, int(searchShare*float64(t.Learner.Definition().MaxSteps)))
	s := KernelSearch{
		Options: o, Steps: steps, Learner: t.Learner, MaxSteps: min(t.MaxSteps, most), Weights: t.Weights,
		OnTrial: func(trial KernelTrial) {
			t.note("kernel: gamma %v, %s: estimated error %.4f on the examples held out, %d components", trial.Gamma,
				trial.Steps, trial.EstimatedError, trial.Components)
		},
	}
	factors := []float32{0.25, 0.5, 1, 2, 4, 8, 16}
	if hasOwnMap(t.Learner) { // means blur what narrow kernel functions tell apart (docs/kernel-mean.md)
		factors = []float32{1, 2, 4, 8, 16, 32, 64}
	}
	for _, factor := range factors {
		s.Gammas = append(s.Gammas, factor*o.Function.Gamma)
	}
	trials, at, err := s.Find(ctx, t.problem)
	if err != nil {
		return KernelTrial{}, err
	}
	t.note("kernel: gamma %v, %s is taken", trials[at].Gamma, trials[at].Steps)
	return trials[at], nil
}
