package host_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// weighed returns a random data set of q classes whose weights are 0 to 3, and the same as rows.
func weighed(t *testing.T, rng *rand.Rand, n, d, q int) (with, rows *dataset.Dataset) {
	t.Helper()
	var x, repeated []float32
	var labels, again []string
	var weight []float64
	for i := range n {
		k := i % q
		row := make([]float32, d)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		row[k%d] += 1.5
		if rng.IntN(5) == 0 {
			k = rng.IntN(q)
		}
		name := string(rune('a' + k))
		u := rng.IntN(4)
		if i < q {
			name, u = string(rune('a'+i)), 1
		}
		x, labels, weight = append(x, row...), append(labels, name), append(weight, float64(u))
		for range u {
			repeated, again = append(repeated, row...), append(again, name)
		}
	}
	with = newData(t, x, d, labels)
	if err := with.SetEvidence(&dataset.Evidence{Weight: weight}); err != nil {
		t.Fatal(err)
	}
	return with, newData(t, repeated, d, again)
}

func newData(t *testing.T, x []float32, d int, labels []string) *dataset.Dataset {
	t.Helper()
	data := &dataset.Dataset{Examples: dataset.Examples{N: len(labels), D: d, X: x},
		Classes: slices.Compact(slices.Sorted(slices.Values(labels)))}
	for _, name := range labels {
		data.Y = append(data.Y, int32(slices.Index(data.Classes, name)))
	}
	data.SHA256 = data.Hash()
	return data
}

// symmetric returns the matrix of labels, a share of them wrong.
func symmetric(classes []string, wrong float64) *confusion.Matrix {
	q := len(classes)
	m := &confusion.Matrix{Classes: classes, P: make([]float64, q*q)}
	for k := range m.P {
		m.P[k] = wrong / float64(q-1)
		if k%q == k/q {
			m.P[k] = 1 - wrong
		}
	}
	return m
}

// TestWeightsAreRows compares weights with rows that are there as often, bit by bit: 40 problems,
// each learner that sums, engine after engine.
func TestWeightsAreRows(t *testing.T) {
	engines := everyengine.Open(t)
	em := softmax.Defaults()
	em.Correction = learners.EM
	for number := range 40 {
		rng := rand.New(rand.NewPCG(31, uint64(number)))
		q := 2 + rng.IntN(3)
		with, rows := weighed(t, rng, 30+rng.IntN(60), 2+rng.IntN(6), q)
		noise := symmetric(with.Classes, 0.2)
		for k, one := range []struct {
			params learners.Params
			kernel *fitting.Options
		}{
			{softmax.Defaults(), nil}, {em, nil}, {uma.Defaults(), nil}, {classmean.Defaults(), nil},
			{kernelmean.Defaults(), &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}}},
			{softmax.Defaults(), &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}}},
		} {
			var found [2]*host.Trained
			for turn, data := range []*dataset.Dataset{with, rows} {
				o := host.Options{Learner: one.params, Kernel: one.kernel, MaxSteps: 12, Seed: 1,
					Engine: engines[(number+k+turn)%len(engines)]}
				trained, err := host.Train(context.Background(), data, noise, o)
				if err != nil {
					t.Fatalf("problem %d, learner %d: %v", number, k, err)
				}
				found[turn] = trained
			}
			same(t, fmt.Sprintf("problem %d, %s", number, one.params.Definition().Name), found[0].W,
				found[1].W)
			if a, b := found[0].Meta.DataSHA256, found[1].Meta.DataSHA256; a != b {
				t.Errorf("problem %d: hash %s of the data with weights, wanted %s", number, a, b)
			}
		}
	}
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float32) bool {
		return math.Float32bits(a) == math.Float32bits(b)
	}) {
		t.Errorf("%s: weights %v, wanted %v", what, got, want)
	}
}

// TestFractionalWeights compares weights that are not whole with sums by hand.
func TestFractionalWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	with, _ := weighed(t, rng, 80, 3, 3)
	e := cpuref.New()
	train := func(weight []float64, params learners.Params) (*host.Trained, error) {
		d := *with
		if err := d.SetEvidence(&dataset.Evidence{Weight: weight}); err != nil {
			t.Fatal(err)
		}
		return host.Train(context.Background(), &d, nil, host.Options{Learner: params, Engine: e,
			Preparation: "bias"})
	}
	var weight, scaled []float64
	for _, v := range with.Evidence.Weight {
		weight, scaled = append(weight, v), append(scaled, v*0.37)
	}
	params := softmax.Defaults()
	params.L2, params.Tolerance = softmax.L2(0.01), 1e-9
	rows := must(train(weight, params))
	sums := must(train(scaled, params))
	for i, v := range sums.W {
		if math.Abs(float64(v-rows.W[i])) > 2e-4 {
			t.Errorf("weight %d: %v by sums, wanted %v as of rows", i, v, rows.W[i])
		}
	}
	if _, err := train(scaled, uma.Defaults()); !errors.Is(err, host.ErrEvidence) {
		t.Errorf("uma: error %v, wanted ErrEvidence", err)
	}
}

// TestBadEvidence has what no label can give, and what learners refuse.
func TestBadEvidence(t *testing.T) {
	data := newData(t, []float32{0, 1, 2, 3, 4, 5}, 1, []string{"a", "b", "c", "a", "b", "c"})
	nan := math.NaN()
	ones := func(rows ...float32) []float32 { return rows }
	sets := ones(1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1)
	shares := ones(.5, .5, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1)
	with := func(classes []float32, at int, v float32) []float32 {
		classes = slices.Clone(classes)
		classes[at] = v
		return classes
	}
	for _, c := range []struct {
		name string
		e    dataset.Evidence
		want string
	}{
		{"NaN", dataset.Evidence{Weight: []float64{1, nan, 1, 1, 1, 1}}, "row 2: got weight NaN"},
		{"infinite", dataset.Evidence{Weight: []float64{1, 1, math.Inf(1), 1, 1, 1}}, "row 3: got weight +Inf"},
		{"negative", dataset.Evidence{Weight: []float64{-1, 1, 1, 1, 1, 1}}, "row 1: got weight -1"},
		{"all 0", dataset.Evidence{Weight: make([]float64, 6)}, "got 0 for all 6"},
		{"few weights", dataset.Evidence{Weight: []float64{1, 1}}, "got 2, want one for each of 6"},
		{"empty set", dataset.Evidence{Classes: with(with(sets, 0, 0), 1, 0)}, "got none"},
		{"few rows", dataset.Evidence{Classes: sets[:15]}, "got 15 numbers, want 3 for each of 6"},
		{"sum", dataset.Evidence{Classes: with(shares, 1, .25)}, "got a sum of 0.75"},
		{"NaN share", dataset.Evidence{Classes: with(shares, 1, float32(nan))}, "got NaN"},
		{"negative share", dataset.Evidence{Classes: with(shares, 1, -.5)}, "got -0.5"},
		{"share above 1", dataset.Evidence{Classes: with(shares, 1, 1.5)}, "got 1.5"},
		{"nothing likely", dataset.Evidence{Classes: with(sets, 8, .5), Likely: true}, "got at most 0.5"},
	} {
		d := *data
		if err := d.SetEvidence(&c.e); err == nil || !errors.Is(err, dataset.ErrEvidence) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", c.name, err, c.want)
		}
	}
	noise := symmetric(data.Classes, 0.2)
	params := func(f func(*softmax.Params)) learners.Params {
		p := softmax.Defaults()
		f(p)
		return p
	}
	for _, c := range []struct {
		name    string
		classes []float32
		params  learners.Params
		noise   *confusion.Matrix
		want    string
	}{
		{"uma", sets, uma.Defaults(), noise, "learner softmax"},
		{"backward", sets, params(func(p *softmax.Params) { p.Correction = learners.Backward }), noise,
			"candidate classes"},
		{"forward", shares, params(func(p *softmax.Params) {}), noise, "em or backward"},
		{"balanced", sets, params(func(p *softmax.Params) { p.ClassWeights = learners.Balanced }), nil,
			"class weights"},
		{"both", with(with(shares, 3, 1), 4, 1), params(func(p *softmax.Params) {}), nil, "em"},
	} {
		d := *data
		if err := d.SetEvidence(&dataset.Evidence{Classes: c.classes}); err != nil {
			t.Fatal(err)
		}
		_, err := host.Train(context.Background(), &d, c.noise,
			host.Options{Learner: c.params, Engine: cpuref.New()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", c.name, err, c.want)
		}
	}
}
