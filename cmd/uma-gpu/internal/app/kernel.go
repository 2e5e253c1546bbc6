package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
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
		Count(&k.Degree, "degree", 3, math.MinInt, math.MaxInt, "`DEGREE` of poly, at least 1"),
		Count(&k.Components, "components", 0, math.MinInt, math.MaxInt,
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

// KernelFlagNames returns the names of all flags of kernels but --kernel.
func KernelFlagNames() []string {
	k := new(Kernel)
	return FlagNames(append(k.DetailFlags(), k.StepsFlag()))
}

// TrainKernel returns the kernel of a training, nil for none.
func (k *Kernel) TrainKernel() (*fitting.Options, error) {
	if k.Kind == "" {
		for _, f := range KernelFlagNames() {
			if k.common.Given(f) {
				return nil, Usage("--%s is given without --kernel", f)
			}
		}
		return nil, nil
	}
	found := &fitting.Options{Components: k.Components, Variance: k.Variance}
	if err := k.function(found); err != nil {
		return nil, err
	}
	switch k.Landmarks {
	case "auto":
	case "all":
		found.Landmarks = fitting.AllLandmarks
	default:
		m, err := ParseCount(k.Landmarks)
		if err != nil || m < 1 {
			return nil, Usage("--landmarks is %q, wanted a number of at least 1, all or auto", k.Landmarks)
		}
		found.Landmarks = m
	}
	components, variance := k.common.Given("components"), k.common.Given("variance")
	if components && (variance || k.Components < 1) {
		return nil, Usage("wanted --components of at least 1, or --variance")
	}
	if v := k.Variance; variance && !(v > 0 && v <= 1) {
		return nil, Usage("--variance is %v, wanted a share above 0, at most 1", v)
	}
	if k.Normalize != "auto" {
		steps, err := dataset.ParseSteps(k.Normalize)
		if err != nil {
			return nil, Usage("--normalize-components: %v", err)
		}
		found.Steps = &steps
	}
	return found, nil
}

// function sets the kernel function in found.
func (k *Kernel) function(found *fitting.Options) error {
	for flag, kinds := range map[string][]string{"gamma": {kernel.RBF, kernel.Poly},
		"coef0": {kernel.Poly}, "degree": {kernel.Poly}} {
		if k.common.Given(flag) && !slices.Contains(kinds, k.Kind) {
			return Usage("--%s does not apply to --kernel %s, only to %s", flag, k.Kind,
				strings.Join(kinds, " and "))
		}
	}
	f := &found.Function
	if f.Kind = k.Kind; k.Kind == Cosine {
		f.Kind, found.Cosine = kernel.Linear, true
	}
	if k.Kind == kernel.Poly {
		f.Coef0, f.Degree = float32(k.Coef0), k.Degree
	}
	trial := *f // with some γ, if it is to be found
	if f.Kind != kernel.Linear {
		words := []string{"a number above 0", "median", "search", "mean", "auto"}
		g, err := strconv.ParseFloat(k.Gamma, 32)
		switch {
		case err == nil:
			f.Gamma, trial.Gamma = float32(g), float32(g)
		case slices.Contains(words[1:], k.Gamma):
			trial.Gamma = 1
			found.Search, found.Mean = k.Gamma == "search", k.Gamma == "mean"
			found.Median = k.Gamma == "median"
		default:
			return Usage("--gamma is %q, wanted %s", k.Gamma, OrList(words))
		}
	}
	if err := trial.Check(); err != nil {
		return Usage("%v", err)
	}
	return nil
}

// AdviseKernel adds flags to an error about impossible options of kernel PCA.
func AdviseKernel(err error) error {
	if errors.Is(err, pca.ErrOptions) {
		return fmt.Errorf("%w (--components, --variance, --landmarks)", err)
	}
	return err
}

// Failure returns err with advice and with the path of the file, which is named once; or that ctx
// has ended; or nil.
func Failure(ctx context.Context, path string, err error) error {
	if ended := Interrupted(ctx); ended != nil || err == nil {
		return ended
	}
	err = AdviseMemory(AdviseKernel(err))
	if named := (*dataset.FileError)(nil); errors.As(err, &named) && named.Path == path {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
