package model_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// threeClasses is a model of one feature whose scores are -2, 0 and 1 times the feature.
func threeClasses(temperature float32) *model.Model {
	return &model.Model{Q: 3, D: 1, W: []float32{-2, 0, 1}, Meta: model.Meta{Classes: []string{"a",
		"b", "c"}, Features: model.Features{Count: 1}, Preparation: dataset.Preparation{D: 1},
		Temperature: temperature}}
}

func TestProbabilities(t *testing.T) {
	ctx, e := context.Background(), cpuref.New()
	x := dataset.Examples{N: 7, D: 1, X: []float32{0, 1, -1, 0.3, 50, -1.5e38, 1e-30}}
	for _, temperature := range []float32{1, 0.25, 3, 0x1p-126, math.MaxFloat32} {
		m := threeClasses(temperature)
		p, err := m.Probabilities(ctx, e, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.N {
			s := [3]float64{-2 * float64(x.X[i]), 0, float64(x.X[i])}
			top := slices.Max(s[:])
			sum := 0.0
			for r := range s {
				s[r] = math.Exp((s[r] - top) / float64(temperature))
				sum += s[r]
			}
			for r := range s {
				if got := float64(p[3*i+r]); !(math.Abs(got-s[r]/sum) < 1e-6) {
					t.Errorf("temperature %v, feature %v: found %v, wanted %v in place %d", temperature, x.X[i],
						p[3*i:3*i+3], s[r]/sum, r)
				}
			}
		}
	}
}

// At temperature 1 they are the softmax of clause 15, to the bit.
func TestProbabilitiesAreTheContracts(t *testing.T) {
	ctx, e := context.Background(), cpuref.New()
	m := threeClasses(1)
	x := dataset.Examples{N: 200, D: 1}
	for i := range x.N {
		x.X = append(x.X, float32(i-100)/7)
	}
	p, err := m.Probabilities(ctx, e, x)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Scores(ctx, e, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(scores); i += 3 {
		numerics.Softmax(scores[i:i+3], scores[i:i+3])
	}
	if !slices.Equal(p, scores) {
		t.Error("not the softmax of the scores")
	}
}

func TestNoProbabilities(t *testing.T) {
	m, x := threeClasses(0), dataset.Examples{N: 1, D: 1, X: []float32{1}}
	if _, err := m.Probabilities(context.Background(), cpuref.New(), x); !errors.Is(err,
		model.ErrNoTemperature) {
		t.Errorf("found %v", err)
	}
	scores := []float32{1, 2, 3}
	if err := m.ToProbabilities(scores); !errors.Is(err, model.ErrNoTemperature) || scores[2] != 3 {
		t.Errorf("found %v, %v", err, scores)
	}
}
