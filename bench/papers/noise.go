package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

var kernelMeanNoise = &experiment{
	Name: "kernel-mean-noise", Usage: "the kernel mean and others on real data with symmetric noise",
	Paper: "Symmetric noise (Lemma 10 of the kernel mean's paper)",
	About: `Labels that are wrong by chance, all wrong ones alike, up to where they say nothing: of Q
classes that is a rate of 1 - 1/Q, and noise s is the rate 2s(1 - 1/Q), so that 0.5 is useless, as
of two classes. Errors on test examples with right labels. The mean has all examples and a Gaussian
kernel function, whose gamma is found on noisy labels held out; softmax and UMA have 500 kernel
principal components of 1 / the median squared distance. The first 4000 examples train, where there
are more.`,
	Axis: "noise, as of two classes: 0.5 is useless", Sets: []string{"digits", "letter", "fashion"},
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error {
			s.components = 500
			return r.noiseRows(ctx, s, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49})
		})
	},
}

const noiseMost = 4000 // examples to train on

// The ways of the mean classifier with a kernel function: the first finds its γ, the others have
// the same.
var meanWays = []way{
	{name: "kernel mean", params: meanWay.params, blind: true},
	{name: "kernel mean, balanced", blind: true,
		params: func() learners.Params { return kernelmean.Defaults() }},
	{name: "kernel mean, C", params: meanWay.params},
}

// componentWays learn on kernel principal components.
var componentWays = []way{
	{name: "softmax, C", params: forward.params}, {name: "softmax", params: forward.params,
		blind: true},
	{name: "uma, C", params: umaWay.params},
}

// noiseRows learns in all ways from labels of s with shares of the noise that makes them useless.
func (r *run) noiseRows(ctx context.Context, s set, shares []float64) error {
	train, test, err := s.readFiles(ctx, r)
	if err != nil {
		return err
	}
	train = part(train, 0, min(train.N, noiseMost))
	z, zTest, err := s.mapped(ctx, r, train, test) // which prepares train and test too
	if err != nil {
		return err
	}
	mean := trial{train: components(train, train.Examples), test: components(test, test.Examples),
		preparation: "none"}
	other := trial{train: z, test: zTest, preparation: "none"}
	for level, share := range shares {
		q := float64(len(train.Classes))
		c, err := confusion.Symmetric(train.Classes, 2*share*(1-1/q))
		if err != nil {
			return err
		}
		mean.noise, other.noise = c, c
		gammas := make([]float32, r.Runs)
		row := Row{Data: s.name, Level: level, X: share, Measure: ErrorRate}
		if err := r.repeat(ctx, fmt.Sprintf("%s, noise %v", s.name, share), func(seed uint64) error {
			gammas[seed-r.Seed], err = r.noiseRun(ctx, row, mean, other, seed)
			return err
		}); err != nil {
			return err
		}
		for k := range meanWays {
			r.rows[k].Note = fmt.Sprintf("gamma %v", gammas)
		}
	}
	return nil
}

// noiseRun turns labels, adds the test error of each way, and returns the γ of the means.
func (r *run) noiseRun(ctx context.Context, row Row, mean, other trial, seed uint64,
) (float32, error) {
	labels, err := mean.noise.Inject(mean.train.Y, seed)
	if err != nil {
		return 0, err
	}
	for _, t := range []*trial{&mean, &other} {
		d := *t.train
		d.Y, t.train, t.seed = labels, &d, seed
	}
	kernel := fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Search: true}
	for k, w := range slices.Concat(meanWays, componentWays) {
		t := other
		if k < len(meanWays) {
			t, w.kernel = mean, &kernel
		}
		trained, err := r.fit(ctx, w, t)
		if err != nil {
			return 0, err
		}
		report, err := r.judge(ctx, trained, t)
		if err != nil {
			return 0, err
		}
		row.Learner = w.name
		r.add(row, report.ErrorRate)
		if k == 0 {
			kernel = fitting.Options{Function: trained.Meta.Kernel.Function}
		}
	}
	return kernel.Function.Gamma, nil
}
