package app

import (
	"errors"
	"fmt"
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

// FunctionFlags say what --kernel names.
func FunctionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "gamma", Value: "median", Usage: "`G` of rbf and poly: a number above 0, or median"},
		&cli.Float64Flag{Name: "coef0", Value: 1, Usage: "constant `C` of poly"},
		&cli.IntFlag{Name: "degree", Value: 3, Usage: "`DEGREE` of poly, at least 1"},
	}
}

// KernelFlags say what kernel PCA to fit.
func KernelFlags() []cli.Flag {
	return append(FunctionFlags(),
		&cli.IntFlag{Name: "components", DefaultText: "500, or all there are", Usage: "number `D` of components"},
		&cli.Float64Flag{Name: "variance", Usage: "as many components as have this `SHARE` of the variance"},
		&cli.StringFlag{Name: "landmarks", Value: "auto", Usage: "number `M` of examples that stand for all; all, or auto"},
		&cli.StringFlag{Name: "landmark-choice", Value: pca.Uniform,
			Usage: "`HOW` to choose landmarks: uniform, kmeans++ or farthest"},
		&cli.StringFlag{Name: "kernel-memory", Value: "0", DefaultText: "no limit",
			Usage: "`SIZE` of the memory for the fit, such as 2G"})
}

// TrainKernelFlags are those of train that make it nonlinear.
func TrainKernelFlags() []cli.Flag {
	flags := KernelFlags()
	flags[0] = &cli.StringFlag{Name: "gamma", Value: "median",
		Usage: "`G` of rbf and poly: a number above 0, median, search or mean"}
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernel", Usage: "kernel `FUNCTION`: rbf, poly, linear or cosine"},
		&cli.StringFlag{Name: "normalize-components", Value: "auto", Usage: "preparation `STEPS` of components"},
	}, flags...)
}

// NewTrainKernel checks the flags of trainKernelFlags; nil for no kernel.
func NewTrainKernel(c *cli.Context) (*fitting.Options, error) {
	k, err := NewKernel(c, true)
	if k == nil || err != nil {
		return nil, err
	}
	if text := c.String("normalize-components"); text != "auto" {
		steps, err := dataset.ParseSteps(text)
		if err != nil {
			return nil, Usagef(c, "--normalize-components: %v", err)
		}
		k.Steps = &steps
	}
	return k, nil
}

// NewKernel checks the flags of kernelFlags, for the kernel function that --kernel names;
// nil for none.
func NewKernel(c *cli.Context, search bool) (*fitting.Options, error) {
	kind := c.String("kernel")
	if kind == "" {
		for _, f := range append([]string{"normalize-components"}, FlagNames(KernelFlags())...) {
			if c.IsSet(f) {
				return nil, Usagef(c, "--%s is given without --kernel", f)
			}
		}
		return nil, nil
	}
	k := &fitting.Options{
		Components: c.Int("components"), Variance: c.Float64("variance"), Choice: c.String("landmark-choice"),
	}
	if err := SetFunction(c, k, search); err != nil {
		return nil, err
	}
	switch text := c.String("landmarks"); text {
	case "auto":
	case "all":
		k.Landmarks = fitting.AllLandmarks
	default:
		m, err := ParseCount(text)
		if err != nil || m < 1 {
			return nil, Usagef(c, "--landmarks is %q, wanted a number of at least 1, all or auto", text)
		}
		k.Landmarks = m
	}
	if c.IsSet("components") && (c.IsSet("variance") || k.Components < 1) {
		return nil, Usagef(c, "wanted --components of at least 1, or --variance")
	}
	if v := k.Variance; c.IsSet("variance") && !(v > 0 && v <= 1) {
		return nil, Usagef(c, "--variance is %v, wanted a share above 0, at most 1", v)
	}
	if _, err := OneOf(c, "landmark-choice", pca.Uniform, pca.KMeans, pca.Farthest); err != nil {
		return nil, err
	}
	var err error
	if k.Memory, err = ParseBytes(c.String("kernel-memory")); err != nil {
		return nil, Usagef(c, "--kernel-memory: %v", err)
	}
	return k, nil
}

// SetFunction checks the flags of functionFlags, for the kernel function that --kernel names, and sets it.
func SetFunction(c *cli.Context, k *fitting.Options, search bool) error {
	kind := c.String("kernel")
	if _, err := OneOf(c, "kernel", kernel.RBF, kernel.Poly, kernel.Linear, Cosine); err != nil {
		return err
	}
	k.Function.Kind = kind
	for flag, kinds := range map[string][]string{"gamma": {kernel.RBF, kernel.Poly}, "coef0": {kernel.Poly},
		"degree": {kernel.Poly}} {
		if c.IsSet(flag) && !slices.Contains(kinds, kind) {
			return Usagef(c, "--%s says nothing about --kernel %s, only about %s", flag, kind,
				strings.Join(kinds, " and "))
		}
	}
	f := &k.Function
	if kind == Cosine {
		f.Kind, k.Cosine = kernel.Linear, true
	}
	if kind == kernel.Poly {
		f.Coef0, f.Degree = float32(c.Float64("coef0")), c.Int("degree")
	}
	trial := *f // with some γ, if it is to be found
	if f.Kind != kernel.Linear {
		text := c.String("gamma")
		if g, err := strconv.ParseFloat(text, 32); err == nil {
			f.Gamma, trial.Gamma = float32(g), float32(g)
		} else if k.Search, k.Mean = text == "search", text == "mean"; text == "median" || search && (k.Search || k.Mean) {
			trial.Gamma = 1
		} else {
			return Usagef(c, "--gamma is %q, wanted a number above 0, %s", text,
				map[bool]string{true: "median, search or mean", false: "or median"}[search])
		}
	}
	if err := trial.Check(); err != nil {
		return Usagef(c, "%v", err)
	}
	return nil
}

// AdviseKernel adds to an error of a kernel PCA that cannot be what to do in flags.
func AdviseKernel(err error) error {
	switch {
	case errors.Is(err, pca.ErrMemory):
		return fmt.Errorf("%w (--components, --landmarks; the limit is --kernel-memory)", err)
	case errors.Is(err, pca.ErrOptions):
		return fmt.Errorf("%w (--components, --variance, --landmarks)", err)
	}
	return err
}
