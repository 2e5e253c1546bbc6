package clean_test

import (
	"context"
	"errors"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// must returns value, or ends the test.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// noisyDigits reads real digits and moves the labels of 40 % of them to the next class;
// right are the labels as they were.
func noisyDigits() (data *dataset.Dataset, noise *confusion.Matrix, right []int32) {
	data = must(file.Read(context.Background(), "../../testdata/digits.csv.gz", file.Options{}))
	noise = must(confusion.Pairwise(data.Classes, 0.4))
	right = data.Y
	data.Y = must(noise.Inject(right, 1))
	return data, noise, right
}

// someDigits are a few of noisyDigits, with the true classes of every fifth.
func someDigits(n int) (data *dataset.Dataset, noise *confusion.Matrix, known []int32) {
	data, noise, right := noisyDigits()
	data.Examples, data.Y, data.SHA256 = data.Examples.Part(0, n), data.Y[:n], ""
	known = slices.Repeat([]int32{-1}, n)
	for i := 0; i < n; i += 5 {
		known[i] = right[i]
	}
	return data, noise, known
}

func entriesOff(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += math.Abs(a[k] - b[k])
	}
	return sum / float64(len(a))
}

// Strong noise is found, and of right labels the identity is kept.
func TestEstimateNoiseContest(t *testing.T) {
	data, noise, _ := someDigits(600)
	o := clean.NoiseOptions{Options: host.Options{Engine: simd.New()}}
	found := must(clean.EstimateNoise(t.Context(), data, o))
	if strings.HasPrefix(found.Evidence, "none") || !(entriesOff(found.P, noise.P) < 0.045) {
		t.Errorf("%v off, %+v", entriesOff(found.P, noise.P), found.Hypotheses)
	}
	plain := must(file.Read(t.Context(), "../../testdata/digits.csv.gz", file.Options{}))
	plain.Examples, plain.Y, plain.SHA256 = plain.Examples.Part(0, 600), plain.Y[:600], ""
	found = must(clean.EstimateNoise(t.Context(), plain, o))
	if !strings.HasPrefix(found.Evidence, "none") || found.P[0] < 0.98 {
		t.Errorf("right labels: %v, %+v", found.P[:10], found.Hypotheses)
	}
}

func TestEstimateNoiseSameBits(t *testing.T) {
	data, _, _ := someDigits(80)
	for _, method := range []clean.NoiseMethod{clean.AutoNoise, clean.ConfidentJoint} {
		o := clean.NoiseOptions{Options: host.Options{Engine: simd.New()}, Method: method, Folds: 2}
		fast := must(clean.EstimateNoise(t.Context(), data, o))
		o.Engine = cpuref.New()
		plain := must(clean.EstimateNoise(t.Context(), data, o))
		if !slices.Equal(fast.P, plain.P) || !slices.Equal(fast.Error, plain.Error) {
			t.Errorf("%s: other bits on another engine", method)
		}
	}
}

// A few known classes decide the contest, and make the estimate better.
func TestEstimateNoiseClean(t *testing.T) {
	data, noise, known := someDigits(500)
	o := clean.NoiseOptions{Options: host.Options{Engine: simd.New()}, Folds: 2, Right: known}
	off := map[clean.NoiseMethod]float64{}
	alone := must(clean.EstimateNoise(t.Context(), data, clean.NoiseOptions{Options: o.Options,
		Folds: 2, Method: clean.ConfidentJoint}))
	for _, method := range []clean.NoiseMethod{
		clean.AutoNoise, clean.CleanCounts, clean.ConfidentJoint, clean.NoNoise,
	} {
		o.Method = method
		found := must(clean.EstimateNoise(t.Context(), data, o))
		off[method] = entriesOff(found.P, noise.P)
	}
	if !(off[clean.AutoNoise] < 1.1*off[clean.CleanCounts]) ||
		!(off[clean.CleanCounts] < off[clean.NoNoise]/2) ||
		!(off[clean.ConfidentJoint] < 0.7*entriesOff(alone.P, noise.P)) {
		t.Errorf("off: %v, confident joint alone %v", off, entriesOff(alone.P, noise.P))
	}
}

func TestEstimateNoiseRefuses(t *testing.T) {
	data, _, known := someDigits(60)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range []clean.NoiseMethod{clean.AutoNoise, clean.ConfidentJoint} {
		o := clean.NoiseOptions{Options: host.Options{Engine: simd.New()}, Method: method, Folds: 2}
		if _, err := clean.EstimateNoise(ctx, data, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled: %v", method, err)
		}
	}
	for want, o := range map[string]clean.NoiseOptions{
		`"best"`:      {Method: "best"},
		"3 true":      {Right: known[:3]},
		"true class":  {Method: clean.CleanCounts},
		"annotations": {Options: host.Options{Annotations: &dataset.Annotations{}}},
	} {
		o.Engine = simd.New()
		if _, err := clean.EstimateNoise(t.Context(), data, o); !facts.Told(err, want) {
			t.Errorf("%v, wanted %q", err, want)
		}
	}
}

// Curved classes are no noise: of two that no line divides, the estimate is of a curved model.
func TestEstimateCurved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := &dataset.Dataset{Classes: []string{"in", "out"}}
	d.N, d.D = 800, 2
	for range d.N {
		x, y := 2*r.Float32()-1, 2*r.Float32()-1
		class := int32(0)
		if x*x+y*y > 0.6 {
			class = 1
		}
		if r.Float32() < 0.3 {
			class = 1 - class
		}
		d.X, d.Y = append(d.X, x, y), append(d.Y, class)
	}
	found := must(clean.EstimateNoise(t.Context(), d, clean.NoiseOptions{
		Options: host.Options{Engine: simd.New()}}))
	for p := range 2 {
		for k := range 2 {
			want := 0.3
			if p == k {
				want = 0.7
			}
			got, errs := found.P[p*2+k], found.Error[p*2+k]
			if !found.Identified(k) || !(math.Abs(got-want) <= 2*errs) || !(4*errs < 0.4) {
				t.Errorf("entry %d, %d: %v with the error %v, want %v", p, k, got, errs, want)
			}
		}
	}
}

// Where linear models tell labels no better than chance, others do.
func TestEstimateCurvedContest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := &dataset.Dataset{Classes: []string{"even", "odd"}}
	d.N, d.D = 1200, 2
	for range d.N {
		x, y := 2*r.Float32()-1, 2*r.Float32()-1
		class := int32(0)
		if x*y > 0 {
			class = 1
		}
		if r.Float32() < 0.2 {
			class = 1 - class
		}
		d.X, d.Y = append(d.X, x, y), append(d.Y, class)
	}
	o := clean.NoiseOptions{Options: host.Options{Engine: simd.New(), Seed: 2}, Folds: 2}
	found := must(clean.EstimateNoise(t.Context(), d, o))
	if math.Abs(found.P[0]-0.8) > max(0.05, 2*found.Error[0]) {
		t.Errorf("%v ± %v, %+v", found.P, found.Error, found.Hypotheses)
	}
}
