package model

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// pair returns a mixture of two models of unlike preparations.
func pair() *Model {
	first, second := sample(), sample()
	first.W, second.W = slices.Clone(first.W), slices.Clone(first.W)
	for k := range first.W {
		first.W[k], second.W[k] = float32(k-7)/8, float32(k%4)
	}
	first.Meta.Preparation = dataset.Preparation{D: 4, Steps: dataset.Steps{Bias: true}}
	second.Meta.Preparation = dataset.Preparation{D: 4, Steps: dataset.Steps{L2: true, Bias: true}}
	second.Meta.Temperature = 3
	return Mix([]*Model{first, second}, []float64{0.75, 0.25})
}

// TestMixture: a mixture survives its file, and its probabilities are the mean of its members'.
func TestMixture(t *testing.T) {
	m := pair()
	got, err := decode(encode(t, m))
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Fatalf("read back\n%+v, %v, want\n%+v", got, err, m)
	}
	x := dataset.Examples{N: 3, D: 4, X: []float32{1, 2, 3, 4, 0, 0, 0, 0, -1, 5, 0, 2}}
	probabilities := func(m *Model) []float32 {
		t.Helper()
		p, err := m.Probabilities(t.Context(), simd.New(), x)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, second := probabilities(m.Members[0]), probabilities(m.Members[1])
	for k, p := range probabilities(m) {
		if want := 0.75*first[k] + 0.25*second[k]; math.Abs(float64(p-want)) > 1e-5 {
			t.Errorf("probability %d: found %v, want %v", k, p, want)
		}
	}
	scores, err := m.Scores(t.Context(), simd.New(), x)
	if want := numerics.Log(0.75*first[0] + 0.25*second[0]); err != nil || scores[0] != want {
		t.Errorf("found score %v, %v, want %v", scores[0], err, want)
	}
	classes, err := m.Predict(t.Context(), simd.New(), x)
	if err != nil || int(classes[0]) != slices.Index(scores[:3], slices.Max(scores[:3])) {
		t.Errorf("found classes %v, %v of scores %v", classes, err, scores)
	}
}

func TestMixtureRefuses(t *testing.T) {
	for want, change := range map[string]func(m *Model){
		"sum of 0.85":          func(m *Model) { m.Meta.Shares = []float64{0.75, 0.1} },
		"shares above 0":       func(m *Model) { m.Meta.Shares = []float64{1, 0} },
		"2 members with 1":     func(m *Model) { m.Meta.Shares = []float64{1} },
		"mixture in a mixture": func(m *Model) { m.Members[1] = pair() },
		"no temperature":       func(m *Model) { m.Members[1].Meta.Temperature = 0 },
		"other features":       func(m *Model) { m.Members[0].Meta.Features.Count = 5 },
		"weights":              func(m *Model) { m.W = m.Members[0].W },
	} {
		m := pair()
		change(m)
		if _, err := m.members(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}
