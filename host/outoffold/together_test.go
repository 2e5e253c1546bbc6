package outoffold_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// sideBySide are ways to train of all kinds that can be made together: some converge early, some
// draw random numbers, some keep the best weights.
func sideBySide() (ways []host.Options) {
	pa1 := func(c float64) learners.Params {
		p := online.New("pa1")
		p.Aggressiveness = c
		return p
	}
	last := online.New("perceptron")
	last.NoAverage, last.NoShuffle = true, true
	random := online.New("ultraconservative")
	random.Step = online.StepRandom
	for k, p := range []learners.Params{pa1(0.001), pa1(0.1), pa1(10), last, random,
		online.New("copa"), online.New("mira")} {
		o := host.Options{Engine: simd.New(), Learner: p, Seed: 5, Preparation: "standardize,bias,l2",
			MaxSteps: 2 + k%3}
		if k%2 == 1 {
			o.Weights = learners.Best
		}
		ways = append(ways, o)
	}
	ways[3].MaxSteps = 40
	return append(ways, host.Options{Engine: ways[0].Engine, Learner: pa1(1), Seed: 5,
		Preparation: "standardize,bias,l2", MaxSteps: host.NoSteps})
}

// Each way has the bits that it has alone, with noise and without, dense and sparse, on any number
// of processors.
func TestOutOfFoldAllIsOutOfFold(t *testing.T) {
	data, noise, _ := noisyDigits()
	data = &dataset.Dataset{Examples: data.Examples.Part(0, 300), Y: data.Y[:300],
		Classes: data.Classes}
	ways := sideBySide()
	judge := func(data *dataset.Dataset, noise *confusion.Matrix) {
		t.Helper()
		got := must(outoffold.AllScores(t.Context(), data, noise, ways, 3))
		for k, o := range ways {
			want := must(outoffold.Scores(t.Context(), data, noise, o, 3))
			if !slices.Equal(got[k].Scores, want.Scores) || !slices.Equal(got[k].Fold, want.Fold) ||
				got[k].Temperature != want.Temperature {
				t.Errorf("way %d, %s: other bits than alone", k, o.Learner.Definition().Name)
			}
		}
	}
	judge(data, noise)
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	judge(data, nil)
	data.Examples = data.Examples.Compressed()
	for k := range ways {
		ways[k].Preparation = "l2"
	}
	judge(data, nil)
	if err := features.Prepare(data, must(dataset.ParseSteps("l2"))); err != nil {
		t.Fatal(err)
	}
	judge(data, nil)
}

func TestOutOfFoldAllRefuses(t *testing.T) {
	data, _, _ := noisyDigits()
	a, b := sideBySide()[0], sideBySide()[1]
	b.Seed++
	mean := a
	mean.Learner = classmean.Defaults()
	kernel := a
	kernel.Kernel = &fitting.Options{}
	for k, ways := range [][]host.Options{{a, b}, {a, mean}, {kernel}} {
		_, err := outoffold.AllScores(t.Context(), data, nil, ways, 2)
		if !errors.Is(err, host.ErrTogether) {
			t.Errorf("case %d: found %v", k, err)
		}
	}
	if all, err := outoffold.AllScores(t.Context(), data, nil, nil, 2); len(all) > 0 || err != nil {
		t.Errorf("of no way found %v, %v", all, err)
	}
	if _, err := outoffold.AllScores(t.Context(), data, nil, []host.Options{a}, 1); err == nil {
		t.Error("one fold is not refused")
	}
}
