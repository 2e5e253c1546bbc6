package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
	"github.com/uma-gpu/uma-gpu/host/mercer"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// cosine is the kernel function that is mercer.Linear on rows of length 1.
const cosine = "cosine"

// defaultComponents is how many components there are if no flag says how many, and as
// many are to be had.
const defaultComponents = 500

// Where every example is a landmark unless a flag says otherwise, and how many landmarks
// there are where that is too much.
const (
	exactExamples = 5000
	manyLandmarks = 4000
)

// kernelFlags say what kernel PCA to fit.
func kernelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "gamma", Value: "median", Usage: "`G` of rbf and poly, above 0, or median (1 / median squared distance of examples)"},
		&cli.Float64Flag{Name: "coef0", Value: 1, Usage: "constant `C` of poly"},
		&cli.IntFlag{Name: "degree", Value: 3, Usage: "`DEGREE` of poly, at least 1"},
		&cli.IntFlag{Name: "components", Usage: "number `D` of kernel principal components (default: 500, or as many as there are)"},
		&cli.Float64Flag{Name: "variance", Usage: "take the fewest components that have this `SHARE` of the variance in feature space, instead of --components"},
		&cli.StringFlag{Name: "landmarks", Value: "auto", Usage: "number `M` of examples that stand for all (Nyström), all, or auto (all of up to 5000, else 4000)"},
		&cli.StringFlag{Name: "landmark-choice", Value: kernelpca.Uniform, Usage: "`HOW` landmarks are chosen: uniform, kmeans++ or farthest (each the farthest from those before)"},
		&cli.StringFlag{Name: "kernel-memory", Value: "0", Usage: "most host memory for the fit, in `BYTES`, with suffix K, M or G; 0 is no limit"},
	}
}

// kernelChoice is what the flags of kernelFlags ask for.
type kernelChoice struct {
	options   kernelpca.Options
	gamma     string
	landmarks string
}

// newKernelChoice checks the flags, for the kernel function that --kernel names; nil for
// none.
func newKernelChoice(c *cli.Context, search bool) (*kernelChoice, error) {
	kind := c.String("kernel")
	if kind == "" {
		for _, f := range append([]string{"normalize-components"}, flagNames(kernelFlags())...) {
			if c.IsSet(f) {
				return nil, usagef(c, "--%s is given without --kernel", f)
			}
		}
		return nil, nil
	}
	if _, err := oneOf(c, "kernel", mercer.RBF, mercer.Poly, mercer.Linear, cosine); err != nil {
		return nil, err
	}
	k := &kernelChoice{gamma: c.String("gamma"), landmarks: c.String("landmarks"), options: kernelpca.Options{
		Function:   mercer.Function{Kind: kind},
		Components: c.Int("components"), Variance: c.Float64("variance"), Choice: c.String("landmark-choice"), Seed: c.Uint64("seed"),
	}}
	for flag, kinds := range map[string][]string{"gamma": {mercer.RBF, mercer.Poly}, "coef0": {mercer.Poly}, "degree": {mercer.Poly}} {
		if c.IsSet(flag) && !slices.Contains(kinds, kind) {
			return nil, usagef(c, "--%s says nothing about --kernel %s, only about %s", flag, kind, strings.Join(kinds, " and "))
		}
	}
	f := &k.options.Function
	if kind == cosine {
		f.Kind, k.options.Cosine = mercer.Linear, true
	}
	if kind == mercer.Poly {
		f.Coef0, f.Degree = float32(c.Float64("coef0")), c.Int("degree")
	}
	if f.Kind != mercer.Linear {
		f.Gamma = 1 // until it is found
		if g, err := strconv.ParseFloat(k.gamma, 32); err == nil {
			f.Gamma = float32(g)
		} else if k.gamma != "median" && !(search && k.gamma == "search") {
			return nil, usagef(c, "--gamma is %q, wanted a number above 0, %s", k.gamma, map[bool]string{true: "median or search", false: "or median"}[search])
		}
	}
	if err := f.Check(); err != nil {
		return nil, usagef(c, "%v", err)
	}
	switch k.landmarks {
	case "auto", "all":
	default:
		m, err := strconv.Atoi(k.landmarks)
		if err != nil || m < 1 {
			return nil, usagef(c, "--landmarks is %q, wanted a number of at least 1, all or auto", k.landmarks)
		}
		k.options.Landmarks = m
	}
	if c.IsSet("components") && (c.IsSet("variance") || k.options.Components < 1) {
		return nil, usagef(c, "wanted --components of at least 1, or --variance")
	}
	if v := k.options.Variance; c.IsSet("variance") && !(v > 0 && v <= 1) {
		return nil, usagef(c, "--variance is %v, wanted a share above 0, at most 1", v)
	}
	if _, err := oneOf(c, "landmark-choice", kernelpca.Uniform, kernelpca.KMeans, kernelpca.Farthest); err != nil {
		return nil, err
	}
	var err error
	if k.options.MemoryLimit, err = parseBytes(c.String("kernel-memory")); err != nil {
		return nil, usagef(c, "--kernel-memory: %v", err)
	}
	return k, nil
}

// plan completes the options for n examples of d features and judges them before any work.
func (k *kernelChoice) plan(n, d int) (kernelpca.Plan, error) {
	o := &k.options
	if k.landmarks == "auto" && n > exactExamples {
		o.Landmarks = manyLandmarks
	}
	if o.Components == 0 && o.Variance == 0 {
		o.Components = defaultComponents
		limits := []int{n - 1}
		if o.Landmarks > 0 {
			limits = append(limits, o.Landmarks)
		}
		if o.Function.Kind == mercer.Linear {
			limits = append(limits, d)
		}
		for _, most := range limits {
			o.Components = min(o.Components, most)
		}
	}
	p, err := kernelpca.NewPlan(n, d, *o)
	if err != nil {
		return p, err
	}
	components := memory.Product(n, max(1, o.Components), 8) // twice, while they are prepared
	what := fmt.Sprintf("kernel PCA of %d examples × %d features", n, d)
	if err := memory.Check(memory.Sum(p.Total(), components), what); err != nil {
		return p, fmt.Errorf("%w (--components, --landmarks, --kernel-memory)", err)
	}
	return p, nil
}

// findMedian sets γ if it is to be found from distances.
func (k *kernelChoice) findMedian(e engine.Engine, x dataset.Examples, n notes) error {
	f := &k.options.Function
	if f.Kind == mercer.Linear || k.gamma != "median" && k.gamma != "search" {
		return nil
	}
	var err error
	if f.Gamma, err = kernelpca.MedianGamma(e, x, k.options.Seed); err != nil {
		return err
	}
	if k.gamma == "median" {
		n.say("kernel: gamma %v, 1 / median squared distance", f.Gamma)
	}
	return nil
}

// sayBasis tells what was found.
func sayBasis(b *kernelpca.Basis, n notes) {
	for _, note := range b.Notes() {
		n.say("kernel: %s", note)
	}
	n.say("kernel: %d components of %d landmarks have %.4g %% of the variance", b.Axes.Q, b.Landmarks.N, 100*b.Explained)
}

// kernelOf describes a fitted map for a file.
func kernelOf(k *host.KernelMap) (*model.Kernel, *model.Projection) {
	b := k.Basis
	return &model.Kernel{
			Function: b.Function, Cosine: b.Cosine, Landmarks: b.Landmarks.N, Components: b.Axes.Q,
			Explained: b.Explained, Preparation: *k.Preparation,
		},
		&model.Projection{Landmarks: b.Landmarks, Axes: b.Axes.W, Offset: b.Offset}
}

// kernelMap is the opposite of kernelOf.
func kernelMap(k *model.Kernel, p *model.Projection) *host.KernelMap {
	b := &kernelpca.Basis{Cosine: k.Cosine, Explained: k.Explained}
	b.Projection = engine.Projection{
		Function: k.Function, Landmarks: p.Landmarks,
		Axes: engine.Weights{Q: k.Components, D: k.Landmarks, W: p.Axes}, Offset: p.Offset,
	}
	return &host.KernelMap{Basis: b, Preparation: &k.Preparation}
}

// flagNames are the first names of flags.
func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// adviseKernel adds to an error of a kernel PCA that cannot be what to do in flags.
func adviseKernel(err error) error {
	switch {
	case errors.Is(err, kernelpca.ErrMemory):
		return fmt.Errorf("%w (--components, --landmarks; the limit is --kernel-memory)", err)
	case errors.Is(err, kernelpca.ErrOptions):
		return fmt.Errorf("%w (--components, --variance, --landmarks)", err)
	}
	return err
}
