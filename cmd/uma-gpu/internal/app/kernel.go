package app

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
)

// Cosine is the kernel function that is kernel.Linear on rows of length 1.
const Cosine = "cosine"

type Kernel struct {
	Kind       string // "" for none
	Gamma      string // a number, or a word
	Coef0      float64
	Degree     int
	Components int
	Variance   float64
	Landmarks  string // a number, or a word
	Normalize  string // steps for the components, of training alone

	common *Common
}

// Flag returns --kernel, and sets the defaults of the flags of details for commands without them.
func (k *Kernel) Flag(o *Common) cli.Flag {
	*k = Kernel{Gamma: "auto", Coef0: 1, Degree: 3, Landmarks: "auto", Normalize: "auto", common: o}
	return Grouped("Kernel", Choice(&k.Kind, "kernel", "",
		"kernel `FUNCTION`: rbf, poly, linear or cosine", kernel.RBF, kernel.Poly, kernel.Linear,
		Cosine))[0]
}

// DetailFlags returns the other flags of a kernel function and of its components.
func (k *Kernel) DetailFlags() []cli.Flag {
	return Grouped("Kernel",
		Text(&k.Gamma, "gamma", "auto",
			"`G` of rbf and poly: a number above 0, median, search, mean, or auto"),
		Number(&k.Coef0, "coef0", 1, "constant `C` of poly"),
		Count(&k.Degree, "degree", 3, 1, math.MaxInt, "`DEGREE` of poly, at least 1"),
		Count(&k.Components, "components", 0, 1, math.MaxInt,
			"number `D` of components").Unless("500, or all"),
		Number(&k.Variance, "variance", 0,
			"the fewest components that explain this `SHARE` of the variance"),
		Text(&k.Landmarks, "landmarks", "auto",
			"number `M` of examples that span the components; all, or auto"))
}

// StepsFlag returns the flag of the preparation of components, for commands that train on them.
func (k *Kernel) StepsFlag() cli.Flag {
	return Grouped("Kernel", Text(&k.Normalize, "normalize-components", "auto",
		"preparation `STEPS` of components"))[0]
}

// KernelDetails are the names of all flags of kernels but --kernel.
var KernelDetails = []string{"gamma", "coef0", "degree", "components", "variance", "landmarks",
	"normalize-components"}

// FitOptions returns the kernel map of a training, nil for none.
func (k *Kernel) FitOptions() (*fitting.Options, error) {
	kinds := map[string][]string{"gamma": {kernel.RBF, kernel.Poly}, "coef0": {kernel.Poly},
		"degree": {kernel.Poly}}
	for _, flag := range KernelDetails {
		switch {
		case !k.common.Given(flag):
		case k.Kind == "":
			return nil, Usage("--%s is given without --kernel", flag)
		case kinds[flag] != nil && !slices.Contains(kinds[flag], k.Kind):
			return nil, Usage("--%s does not apply to --kernel %s, only to %s", flag, k.Kind,
				strings.Join(kinds[flag], " and "))
		}
	}
	if k.Kind == "" {
		return nil, nil
	}
	if k.common.Given("variance") && (!(k.Variance > 0 && k.Variance <= 1) || k.Components > 0) {
		return nil, Usage("--variance is %v, wanted a share above 0, at most 1, and no --components",
			k.Variance)
	}
	o := &fitting.Options{Components: k.Components, Variance: k.Variance}
	o.Function.Kind = k.Kind
	switch k.Kind {
	case Cosine:
		o.Function.Kind, o.Cosine = kernel.Linear, true
	case kernel.Poly:
		o.Function.Coef0, o.Function.Degree = float32(k.Coef0), k.Degree
	}
	trial := o.Function // with some γ, if it is to be found
	if words := []string{"median", "search", "mean", "auto"}; trial.Kind != kernel.Linear {
		trial.Gamma = 1
		o.Median, o.Search, o.Mean = k.Gamma == "median", k.Gamma == "search", k.Gamma == "mean"
		if !slices.Contains(words, k.Gamma) {
			g, err := strconv.ParseFloat(k.Gamma, 32)
			if err != nil {
				return nil, Usage("--gamma is %q, wanted a number above 0, %s", k.Gamma, OrList(words))
			}
			o.Function.Gamma, trial.Gamma = float32(g), float32(g)
		}
	}
	if err := trial.Check(); err != nil {
		return nil, Usage("%v", err)
	}
	switch k.Landmarks {
	case "auto":
	case "all":
		o.Landmarks = fitting.AllLandmarks
	default:
		var err error
		if o.Landmarks, err = ParseCount(k.Landmarks); err != nil || o.Landmarks < 1 {
			return nil, Usage("--landmarks is %q, wanted a number of at least 1, all or auto", k.Landmarks)
		}
	}
	if k.Normalize != "auto" {
		steps, err := dataset.ParseSteps(k.Normalize)
		if err != nil {
			return nil, Usage("--normalize-components: %v", err)
		}
		o.Steps = &steps
	}
	return o, nil
}
