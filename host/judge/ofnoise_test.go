package judge_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Noise that is as C says, wherever an example is, raises no doubt; noise of hard examples does,
// and so do standard errors of C.
func TestOfNoise(t *testing.T) {
	for name, c := range map[string]struct {
		easy, hard float64 // noise
		estimated  bool
		want       []string
	}{
		"as C says":       {easy: 0.3, hard: 0.3},
		"of hard ones":    {easy: 0.05, hard: 0.55, want: []string{judge.NoiseByFeatures}},
		"by an estimated": {easy: 0.3, hard: 0.3, estimated: true, want: []string{judge.EstimatedNoise}},
	} {
		noise, err := confusion.Symmetric([]string{"a", "b", "c"}, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		if c.estimated {
			noise.Error = slices.Repeat([]float64{0.01}, 9)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		var p []float32
		var y []int32
		for range 4000 {
			most := float32(0.5 + 0.5*rng.Float64())
			p = append(p, most, (1-most)/2, (1-most)/2)
			class := int32(0)
			if rng.Float32() > most {
				class = 1 + rng.Int32N(2)
			}
			rate := c.easy
			if most < 0.75 {
				rate = c.hard
			}
			if rng.Float64() < rate {
				class = (class + 1 + rng.Int32N(2)) % 3
			}
			y = append(y, class)
		}
		var codes []string
		for _, d := range judge.OfNoise(p, y, noise, true) {
			codes = append(codes, d.Code)
		}
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: doubts %q, wanted %q", name, codes, c.want)
		}
	}
	if all := judge.OfNoise(nil, nil, nil, true); !slices.Equal(all, []learners.Doubt(nil)) {
		t.Errorf("right labels: %v", all)
	}
}
