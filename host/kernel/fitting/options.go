// Package fitting fits the kernel map of a training: it finds γ, fits kernel PCA or the learner's
// own means, and chooses the preparation of the components.
package fitting

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// AllLandmarks is the value of Options.Landmarks for exact kernel PCA.
const AllLandmarks = -1

// Defaults of Options: every example is a landmark up to usualLandmarks.
const (
	defaultComponents = 500
	usualLandmarks    = 1000
)

// Preparations of the components. Components of equal variance separate classes better, but fit
// noise sooner if they are many (docs/kernel.md).
var (
	equalSteps = dataset.Steps{Standardize: true, L2: true}
	plainSteps = dataset.Steps{L2: true}
)

// manyComponents is the ratio of components to examples above which components of equal variance
// fit noise.
const manyComponents = 0.1

// Options describe the kernel map of a classifier with curved boundaries: its learner is linear in
// kernel principal components of the examples.
type Options struct {
	// Gamma 0 of rbf and poly means the γ that Search finds if coordinates are taken; otherwise,
	// and with Median, 1 / the median squared distance of examples
	Function kernel.Function
	Median   bool
	// find the best of some values of γ near 1 / that median, by ridge regression on a sample; for a
	// learner with a map of its own of seven, by training with each
	Search bool
	// take the γ that sets the means of the classes farthest apart in feature space
	Mean       bool
	Components int // 0 for 500, or all if there are fewer, or all coordinates
	Landmarks  int // AllLandmarks, a number, or 0: all of up to 1000 examples, else 1000
	// Coordinates takes, unless Components or AllLandmarks ask for principal components, all
	// coordinates of the landmarks, which cost less: of learners that see no rotation
	Coordinates bool
	Steps       *dataset.Steps // preparation of the components; nil for a choice by noise and number
}

// findsGamma reports whether γ has to be found.
func (k *Options) findsGamma() bool {
	return k.Function.Kind != kernel.Linear && (k.Search || k.Mean || k.Function.Gamma == 0)
}

// coordinates reports whether all coordinates of the landmarks are used.
func (k *Options) coordinates() bool {
	return k.Coordinates && k.Components == 0 && k.Landmarks != AllLandmarks
}

// searches reports whether γ is searched for.
func (k *Options) searches() bool {
	return k.findsGamma() && (k.Search || k.coordinates() && !k.Median && !k.Mean)
}

// PCA returns the kernel PCA to fit to n examples of d features, with γ = 1 where it is to be
// found.
func (k *Options) PCA(n, d int, seed uint64) pca.Options {
	o := pca.Options{
		Function: k.Function, Components: k.Components, Landmarks: k.Landmarks, Seed: seed,
	}
	if k.findsGamma() {
		o.Function.Gamma = 1
	}
	o.Coordinates = k.coordinates()
	switch {
	case o.Coordinates:
		if k.Landmarks == 0 {
			o.Landmarks = min(usualLandmarks, n)
		}
		return o
	case k.Landmarks == AllLandmarks:
		o.Landmarks = 0
	case k.Landmarks == 0 && n > usualLandmarks:
		o.Landmarks = usualLandmarks
	}
	if o.Components == 0 {
		o.Components = min(defaultComponents, o.MostComponents(n, d))
	}
	return o
}

// Check reports whether the kernel map can be fitted to x, judging by its size alone. Errors:
// errors from pca.Bytes, and memory.ErrBudget if there is no room for the fit and the components.
func (k *Options) Check(x dataset.Examples) error {
	needed, err := pca.Bytes(x, k.PCA(x.N, x.D, 0))
	if err != nil {
		return err
	}
	// twice, while they are prepared
	components := memory.Product(x.N, max(1, k.MostComponents(x.N, x.D)), 8)
	return memory.Check(memory.Sum(needed, components),
		fmt.Sprintf("kernel PCA of %d examples × %d features", x.N, x.D))
}

// MostComponents returns the most components that a learner can see of n examples of d features.
func (k *Options) MostComponents(n, d int) int {
	o := k.PCA(n, d, 0)
	if o.Coordinates {
		return o.MostComponents(n, d)
	}
	return o.Components
}

// FindPCA returns PCA's result, with γ from the median distance of x if it has to be found. note
// tells the user this γ; it is "" if γ was given, or only starts a search. Errors: errors from
// Check and pca.MedianGamma.
func (k *Options) FindPCA(e *engine.Engine, x dataset.Examples, seed uint64,
) (o pca.Options, note string, err error) {
	o = k.PCA(x.N, x.D, seed)
	if err := k.Check(x); err != nil {
		return o, "", err
	}
	o.Function, note, err = k.findFunction(e, x, seed)
	return o, note, err
}

// findFunction returns the kernel function, with γ as FindPCA finds it, and its note.
func (k *Options) findFunction(e *engine.Engine, x dataset.Examples, seed uint64) (kernel.Function,
	string, error) {
	f := k.Function
	if !k.findsGamma() {
		return f, "", nil
	}
	var err error
	if f.Gamma, err = pca.MedianGamma(e, x, seed); err != nil || k.searches() || k.Mean {
		return f, "", err
	}
	return f, fmt.Sprintf("gamma %v, 1 / median squared distance", f.Gamma), nil
}
