package confusion

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// forecasts draws n rows of q scores, labels by softmax(scores/t), and noisy ones by m.
func forecasts(t *testing.T, m *Matrix, n int, temperature float64) (scores []float32,
	noisy []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 11))
	q := m.Q()
	right := make([]int32, n)
	for i := range right {
		weights, sum := make([]float64, q), 0.0
		for r := range q {
			s := float32(rng.NormFloat64())
			scores = append(scores, s)
			weights[r] = math.Exp(float64(s) / temperature)
			sum += weights[r]
		}
		u := rng.Float64() * sum
		for r, w := range weights {
			if u -= w; u < 0 {
				right[i] = int32(r)
				break
			}
		}
	}
	noisy, err := m.Inject(right, 3)
	if err != nil {
		t.Fatal(err)
	}
	return scores, noisy
}

// matrices are confusion matrices of q classes: pairwise, symmetric and random noise, and none.
func matrices(t *testing.T, q int) []*Matrix {
	t.Helper()
	classes := make([]string, q)
	for r := range classes {
		classes[r] = string(rune('a' + r))
	}
	var list []*Matrix
	for _, build := range []func() (*Matrix, error){
		func() (*Matrix, error) { return Pairwise(classes, 0.4) },
		func() (*Matrix, error) { return Symmetric(classes, 0.4) },
		func() (*Matrix, error) { return Random(classes, 0.5, 2) },
		func() (*Matrix, error) { return Symmetric(classes, 0) },
	} {
		m, err := build()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// The temperature by which labels were drawn is found though 40 % of them are wrong.
func TestTemperatureIsFound(t *testing.T) {
	for k, m := range matrices(t, 5) {
		want := []float64{0.125, 0.5}[k%2]
		scores, noisy := forecasts(t, m, 20000, want)
		before, labels := slices.Clone(scores), slices.Clone(noisy)
		got, err := Temperature(t.Context(), scores, noisy, 5, m)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := float64(got) / want; ratio < 0.94 || ratio > 1.06 {
			t.Errorf("matrix %d: found %v, labels were drawn at %v", k, got, want)
		}
		if !slices.Equal(before, scores) || !slices.Equal(labels, noisy) {
			t.Error("the arguments were changed")
		}
	}
}

// The twin looks at corrected Brier scores on finer and finer grids, with the exponential of
// package math and the definition of the score.
func TestTemperatureAgainstTwin(t *testing.T) {
	for k, m := range matrices(t, 4) {
		scores, noisy := forecasts(t, m, 500, 0.3)
		got, err := Temperature(t.Context(), scores, noisy, 4, m)
		if err != nil {
			t.Fatal(err)
		}
		best, want := math.Inf(1), 0.3
		for _, step := range []float64{1.1, 1.01, 1.0002} {
			middle := want
			for k := -60.0; k <= 60; k++ {
				at := middle * math.Pow(step, k)
				if b := twinBrier(scores, noisy, m, at); b < best {
					best, want = b, at
				}
			}
		}
		if ratio := float64(got) / want; ratio < 0.999 || ratio > 1.001 {
			t.Errorf("matrix %d: found %v, the twin %v", k, got, want)
		}
	}
}

// twinBrier is the sum over examples i of Σ_k ((C·p_i)_k - [k = y_i])², and the mean over
// examples and true classes t of Σ_r (p_ir - [r = t])².
func twinBrier(scores []float32, noisy []int32, m *Matrix, temperature float64) float64 {
	n, q := len(noisy), m.Q()
	square := func(p []float64, at int) float64 {
		sum := 0.0
		for r, v := range p {
			if r == at {
				v--
			}
			sum += v * v
		}
		return sum
	}
	all := 0.0
	for i, k := range noisy {
		p, sum := make([]float64, q), 0.0
		for r := range p {
			p[r] = math.Exp(float64(scores[i*q+r]) / temperature)
			sum += p[r]
		}
		c := make([]float64, q)
		for r := range p {
			p[r] /= sum
			for noisy := range c {
				c[noisy] += m.P[noisy*q+r] * p[r]
			}
		}
		all += square(c, int(k))
		for truth := range q {
			all += square(p, truth) / float64(n*q)
		}
	}
	return all
}

// Scores of another unit have a temperature of that unit; a constant added to all scores of
// an example changes nothing.
func TestTemperatureHasTheUnitOfScores(t *testing.T) {
	m := matrices(t, 3)[0]
	scores, noisy := forecasts(t, m, 300, 0.5)
	first, err := Temperature(t.Context(), scores, noisy, 3, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []float32{0x1p-90, 0x1p-20, 0x1p10, 0x1p100, 0x1p126} {
		other := slices.Clone(scores)
		for i := range other {
			other[i] *= unit
		}
		if got, err := Temperature(t.Context(), other, noisy, 3, m); err != nil || got != first*unit {
			t.Errorf("unit %v: found %v, %v, wanted %v", unit, got, err, first*unit)
		}
	}
	for i := range scores {
		scores[i] = float32(math.Round(float64(scores[i])*1024)) / 1024 // so that adding is exact
	}
	if first, err = Temperature(t.Context(), scores, noisy, 3, m); err != nil {
		t.Fatal(err)
	}
	for i := range scores {
		scores[i] += float32(16 * (i / 3 % 5))
	}
	if got, err := Temperature(t.Context(), scores, noisy, 3, m); err != nil || got != first {
		t.Errorf("found %v, %v, wanted %v", got, err, first)
	}
}

// The bits are the same on every processor.
func TestTemperatureBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores, noisy := make([]float32, 4*1000), make([]int32, 1000)
	for i := range scores {
		scores[i] = float32(rng.Int32N(4096)) / 512
	}
	m := matrices(t, 4)[2]
	right := make([]int32, len(noisy))
	for i := range right {
		right[i] = rng.Int32N(4)
		scores[4*i+int(right[i])] += 2
	}
	noisy, err := m.Inject(right, 5)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Temperature(t.Context(), scores, noisy, 4, m)
	if want := uint32(0x40195800); err != nil || math.Float32bits(got) != want {
		t.Errorf("found %v, bits %#x, %v, wanted bits %#x", got, math.Float32bits(got), err, want)
	}
}

// Labels without a mistake ask for little doubt, and less the more of them there are.
func TestTemperatureWithoutMistakes(t *testing.T) {
	scores, y := []float32{3, 1, 0, 2, 1, 4}, []int32{0, 1, 1}
	before := float32(2)
	for range 8 {
		got, err := Temperature(t.Context(), scores, y, 2, nil)
		if err != nil || !(got > 0.1 && got < before) {
			t.Errorf("%d examples: found %v, %v, wanted less than %v", len(y), got, err, before)
		}
		before, scores, y = got, append(scores, scores...), append(y, y...)
	}
}

func TestTemperatureErrors(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		scores []float32
		y      []int32
		want   string
	}{
		{[]float32{1, 2}, nil, "2 scores 0 labels 2"},
		{[]float32{1, 2, 3}, []int32{0}, "3 scores 1 labels 2"},
		{[]float32{1, 2, 1, 2}, []int32{0, 2}, "example 1 0 label 2 0 1"},
		{[]float32{1, 2, 1, nan}, []int32{0, 1}, "example 1 0 NaN finite"},
		{[]float32{1, 1, 2, 2}, []int32{0, 1}, "scores predict labels"},
		{[]float32{1, 2, 2, 1}, []int32{0, 1}, "scores predict labels"},
		{[]float32{1e-44, 0, 0, 1e-44}, []int32{0, 1}, "float32"},
	} {
		if got, err := Temperature(t.Context(), c.scores, c.y, 2, nil); !facts.Told(err, c.want) ||
			got != 0 {
			t.Errorf("found %v, %v\nwanted %s", got, err, c.want)
		}
	}
	three := matrices(t, 3)[0]
	if _, err := Temperature(t.Context(), []float32{1, 2}, []int32{0}, 2, three); !facts.Told(err,
		"3 classes 2") {
		t.Errorf("found %v", err)
	}
}

// The identity is no noise.
func TestTemperatureWithoutNoise(t *testing.T) {
	identity := matrices(t, 4)[3]
	scores, y := forecasts(t, identity, 400, 0.3)
	want, err := Temperature(t.Context(), scores, y, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Temperature(t.Context(), scores, y, 4, identity); err != nil || got != want {
		t.Errorf("found %v, %v, wanted %v", got, err, want)
	}
}
