package bpm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

// clouds returns examples of length 1 around a direction for each class, with their right labels.
func clouds(n, d, q int, seed uint64) (p *learners.Problem) {
	random := rand.New(rand.NewPCG(seed, 7))
	p = &learners.Problem{Q: q, Engine: simd.New(), Seed: seed, X: dataset.Examples{N: n, D: d}}
	for i := range n {
		row, length := make([]float64, d), 0.0
		for j := range row {
			row[j] = 0.3 * random.NormFloat64()
			if j == i%q {
				row[j]++
			}
			length += row[j] * row[j]
		}
		for _, v := range row {
			p.X.X = append(p.X.X, float32(v/math.Sqrt(length)))
		}
		p.Y = append(p.Y, int32(i%q))
	}
	return p
}

func train(t *testing.T, p *learners.Problem, params *Params) engine.Weights {
	t.Helper()
	l, err := fit.Start(t.Context(), params, p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, steps := engine.NewWeights(p.Q, p.X.D), 0
	_, err = l.Fit(t.Context(), w, func(learners.Step) error {
		if steps++; steps == 200 {
			return errors.New("found no centre after 200 steps")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mistakes returns how many of right labels w does not predict.
func mistakes(t *testing.T, w engine.Weights, x dataset.Examples, right []int32) (count int) {
	t.Helper()
	predicted, err := engine.Predict(simd.New(), w, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range predicted {
		if r != right[i] {
			count++
		}
	}
	return count
}

// The weights of two classes are the centre of expectation propagation, in units of its
// doubt, and its opposite. A column of zeros changes nothing.
func TestTwoClasses(t *testing.T) {
	p := clouds(60, 3, 2, 1)
	params := &Params{Softness: 0.05, Tolerance: 1e-6}
	w := train(t, p, params)
	rows, of := make([]float64, len(p.X.X)), make([]evidence, p.X.N)
	for k, v := range p.X.X {
		rows[k] = float64(v)
	}
	for i, y := range p.Y {
		of[i] = evidence{above: float64(y), below: float64(1 - y)}
	}
	centre := prior(t, 3, rows, params.Softness)
	for centre.moved > params.Tolerance {
		if err := centre.pass(of); err != nil {
			t.Fatal(err)
		}
	}
	for j, v := range centre.mean {
		want := v / math.Sqrt(params.Softness) / centre.doubt()
		if got := float64(w.Row(1)[j]); math.Abs(got-want) > 1e-5*math.Abs(want) ||
			w.Row(0)[j] != -w.Row(1)[j] {
			t.Errorf("feature %d: found %g and %g, wanted %g and its opposite", j, got, w.Row(0)[j], want)
		}
	}
	wide := clouds(60, 3, 2, 1)
	wide.X = dataset.Examples{N: 60, D: 4}
	for i := range 60 {
		wide.X.X = append(append(wide.X.X, 0), p.X.Row(i)...)
	}
	for j, v := range train(t, wide, params).Row(1) {
		if want := append([]float32{0}, w.Row(1)...)[j]; v != want {
			t.Errorf("with a column of zeros, feature %d: found %g, wanted %g", j, v, want)
		}
	}
}

// C says which walls to mind: of labels that are wrong more often than right for some classes, the
// right ones are learned.
func TestWrongLabels(t *testing.T) {
	for q, share := range map[int]float64{2: 0.3, 4: 0.55} {
		right, test := clouds(400, 8, q, 2), clouds(400, 8, q, 3)
		names := []string{"a", "b", "c", "d"}[:q]
		c, err := confusion.Pairwise(names, share)
		if err != nil {
			t.Fatal(err)
		}
		noisy := clouds(400, 8, q, 2)
		if noisy.Y, err = c.Inject(right.Y, 4); err != nil {
			t.Fatal(err)
		}
		params := Defaults()
		clean := mistakes(t, train(t, right, params), test.X, test.Y)
		without := mistakes(t, train(t, noisy, params), test.X, test.Y)
		noisy.Noise = c
		with := mistakes(t, train(t, noisy, params), test.X, test.Y)
		t.Logf("%d classes: %d mistakes of 400 with right labels, %d with C, %d without", q, clean, with,
			without)
		if with > clean+20 || q > 2 && without < 100 {
			t.Errorf("%d classes: found %d mistakes of 400 with C and %d without, wanted about %d with it",
				q, with, without, clean)
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, p := range map[string]*Params{
		"softness 0":    {Softness: 0, Tolerance: 1},
		"softness NaN":  {Softness: math.NaN(), Tolerance: 1},
		"tolerance 0":   {Softness: 1},
		"tolerance Inf": {Softness: 1, Tolerance: math.Inf(1)},
	} {
		if _, err := learners.Start(context.Background(), p, clouds(9, 3, 3, 1)); !errors.As(err,
			new(*learners.ParameterError)) || !facts.Told(strings.Replace(err.Error(), "+Inf", "Inf", 1),
			want) {
			t.Errorf("%+v: found the error %v, wanted one with %q", p, err, want)
		}
	}
	p := clouds(9, 3, 3, 1)
	l, err := fit.Start(context.Background(), Defaults(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Fit(context.Background(), engine.NewWeights(3, 3), nil); !errors.Is(err,
		engine.ErrClosed) {
		t.Errorf("a step of a run that is closed: found the error %v, wanted ErrClosed", err)
	}
}
