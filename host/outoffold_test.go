package host_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
)

// halves returns the examples inside and outside a fold, and the labels of those outside.
func halves(d *dataset.Dataset, h *judge.HeldOut, fold int) (outside *dataset.Dataset,
	inside []int) {
	var out []int
	for i, f := range h.Fold {
		if f == fold {
			inside = append(inside, i)
		} else {
			out = append(out, i)
		}
	}
	outside = &dataset.Dataset{Examples: d.Examples.Pick(out), Classes: d.Classes}
	for _, i := range out {
		outside.Y = append(outside.Y, d.Y[i])
	}
	return outside, inside
}

// Each example is scored by the model of the other folds, as Train fits it, up to the fold's unit.
func TestOutOfFoldIsTrain(t *testing.T) {
	ctx := context.Background()
	data, noise, _ := noisyDigits()
	o := host.Options{Engine: simd.New(), Learner: classmean.Defaults(), Seed: 3}
	h := must(host.OutOfFold(ctx, data, noise, o, 3))
	for f := range 3 {
		outside, inside := halves(data, h, f)
		m := must(host.Train(ctx, outside, noise, o))
		scores := must(m.Scores(ctx, o.Engine, data.Examples.Pick(inside)))
		unit := float64(h.Scores[inside[0]*h.Q]) / float64(scores[0])
		if !(unit > 0.5 && unit < 2) {
			t.Fatalf("fold %d is in the unit %v, wanted about 1", f, unit)
		}
		for k, i := range inside {
			for r, s := range scores[k*h.Q : (k+1)*h.Q] {
				got, want := float64(h.Scores[i*h.Q+r]), float64(s)*unit
				if !(math.Abs(got-want) <= 1e-5*math.Abs(want)) {
					t.Fatalf("example %d, class %d: score %v, wanted %v", i, r, got, want)
				}
			}
		}
	}
	if want := must(confusion.Temperature(t.Context(), h.Scores, data.Y, h.Q,
		noise)); h.Temperature != want {
		t.Errorf("temperature %v, wanted %v", h.Temperature, want)
	}
}

// Every label is shared out evenly, and what is held out is predicted better than by chance.
func TestOutOfFoldShares(t *testing.T) {
	data, noise, right := noisyDigits()
	o := host.Options{Engine: simd.New(), MaxSteps: 60}
	h := must(host.OutOfFold(context.Background(), data, noise, o, 5))
	count := map[[2]int]int{}
	for i, f := range h.Fold {
		count[[2]int{int(data.Y[i]), f}]++
	}
	for k := range len(data.Classes) {
		var sizes []int
		for f := range 5 {
			sizes = append(sizes, count[[2]int{k, f}])
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("label %d in the folds: %v, wanted as many in each", k, sizes)
		}
	}
	p := must(h.Probabilities())
	said := make([]int32, data.N)
	for i := range said {
		row := p[i*h.Q : (i+1)*h.Q]
		said[i] = int32(slices.Index(row, slices.Max(row)))
	}
	if got := share(said, right); got < 85 {
		t.Errorf("%d %% of the right labels, wanted 85", got)
	}
}

// The bits depend neither on the engine nor on the number of processors, with a kernel map as
// without.
func TestOutOfFoldSameBits(t *testing.T) {
	data, noise, _ := noisyDigits()
	data = &dataset.Dataset{Examples: data.Examples.Part(0, 300), Y: data.Y[:300],
		Classes: data.Classes}
	rbf := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.01}, Components: 20}
	for _, kernel := range []*fitting.Options{nil, rbf} {
		o := host.Options{Engine: cpuref.New(), MaxSteps: 10, Kernel: kernel}
		want := must(host.OutOfFold(t.Context(), data, noise, o, 2))
		before := runtime.GOMAXPROCS(3)
		o.Engine = simd.New()
		got := must(host.OutOfFold(t.Context(), data, noise, o, 2))
		runtime.GOMAXPROCS(before)
		if !slices.Equal(got.Scores, want.Scores) || got.Temperature != want.Temperature {
			t.Errorf("other scores on another engine, kernel %v", kernel)
		}
	}
}

// All learners have scores of what they have not seen; a class may be missing from a fold, and
// prepared examples stay as they are.
func TestOutOfFoldEveryLearner(t *testing.T) {
	data, _, _ := noisyDigits()
	data.Examples, data.Y = data.Examples.Part(0, 120), data.Y[:120]
	for i, k := range data.Y { // 9 is the label of one example alone
		if k == 9 {
			data.Y[i] = 0
		}
	}
	data.Y[7] = 9
	if err := host.Prepare(data, "l2", false); err != nil {
		t.Fatal(err)
	}
	for _, d := range catalog.All() {
		var said string
		o := host.Options{Engine: simd.New(), Learner: d.New(), MaxSteps: 20}
		o.Watch.Note = func(format string, _ ...any) { said += format }
		h, err := host.OutOfFold(t.Context(), data, nil, o, 3)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if slices.Min(h.Scores) == slices.Max(h.Scores) || !facts.Told(said, "%d folds") {
			t.Errorf("%s: no scores, or no note: %q", d.Name, said)
		}
	}
}

// Annotations go into the folds with their examples.
func TestOutOfFoldAnnotations(t *testing.T) {
	data, _, right := noisyDigits()
	data.Examples, data.Y = data.Examples.Part(0, 200), nil
	a := &dataset.Annotations{Classes: data.Classes, Names: []string{"a", "b"}, Start: []int{0}}
	for i := range data.N {
		a.By, a.Label = append(a.By, 0, 1), append(a.Label, right[i], right[i])
		a.Start = append(a.Start, len(a.By))
	}
	o := host.Options{Engine: simd.New(), Annotations: a, MaxSteps: 30}
	h := must(host.OutOfFold(t.Context(), data, nil, o, 2))
	if p, err := h.Probabilities(); err != nil || len(p) != data.N*h.Q {
		t.Errorf("%d probabilities, %v", len(p), err)
	}
}

func TestOutOfFoldRefuses(t *testing.T) {
	data, noise, _ := noisyDigits()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := host.Options{Engine: simd.New(), MaxSteps: 1}
	if _, err := host.OutOfFold(ctx, data, noise, o, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, folds := range []int{-1, 0, 1, judge.MostFolds + 1} {
		if _, err := host.OutOfFold(t.Context(), data, noise, o, folds); !facts.Told(err,
			"1797 examples 2 100") {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
	from := o
	from.From = &model.Model{}
	if _, err := host.OutOfFold(t.Context(), data, noise, from, 2); !facts.Told(err,
		"seen all examples") {
		t.Errorf("a model to begin with: %v", err)
	}
	data.Y = nil
	if _, err := host.OutOfFold(t.Context(), data, noise, o, 2); !facts.Told(err,
		"0 labels 1797 examples") {
		t.Errorf("no labels: %v", err)
	}
	h := judge.HeldOut{Q: 2, Scores: []float32{1, 2}}
	if _, err := h.Probabilities(); !errors.Is(err, model.ErrNoTemperature) {
		t.Errorf("no temperature: %v", err)
	}
}
