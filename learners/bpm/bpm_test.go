package bpm_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/versionspace"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/bpm"
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

func train(t *testing.T, p *learners.Problem, params *bpm.Params) host.Result {
	t.Helper()
	r, err := host.Run(context.Background(), params, p, host.RunOptions{MaxSteps: 200})
	if err != nil || r.Stop != host.Converged {
		t.Fatalf("found %v after %d steps, %v, wanted the centre", r.Stop, r.Steps, err)
	}
	return r
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

// The weights of two classes are the centre that package versionspace finds, in units of its
// doubt, and its opposite. A column of zeros changes nothing.
func TestTwoClasses(t *testing.T) {
	p := clouds(60, 3, 2, 1)
	params := &bpm.Params{Softness: 0.05, Tolerance: 1e-6}
	r := train(t, p, params)
	rows, evidence := make([]float64, len(p.X.X)), make([]versionspace.Evidence, p.X.N)
	for k, v := range p.X.X {
		rows[k] = float64(v)
	}
	for i, y := range p.Y {
		evidence[i] = versionspace.Evidence{Above: float64(y), Below: float64(1 - y)}
	}
	space, err := versionspace.NewSoft(3, rows, params.Softness)
	if err != nil {
		t.Fatal(err)
	}
	centre := space.Propagate()
	for centre.Moved() > params.Tolerance {
		if err := centre.Pass(evidence); err != nil {
			t.Fatal(err)
		}
	}
	for j, v := range centre.Centre() {
		want := v / math.Sqrt(params.Softness) / centre.Doubt()
		if got := float64(r.W.Row(1)[j]); math.Abs(got-want) > 1e-5*math.Abs(want) ||
			r.W.Row(0)[j] != -r.W.Row(1)[j] {
			t.Errorf("feature %d: found %g and %g, wanted %g and its opposite", j, got, r.W.Row(0)[j], want)
		}
	}
	wide := clouds(60, 3, 2, 1)
	wide.X = dataset.Examples{N: 60, D: 4}
	for i := range 60 {
		wide.X.X = append(append(wide.X.X, 0), p.X.Row(i)...)
	}
	for j, v := range train(t, wide, params).W.Row(1) {
		if want := append([]float32{0}, r.W.Row(1)...)[j]; v != want {
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
		params := bpm.Defaults()
		clean := mistakes(t, train(t, right, params).W, test.X, test.Y)
		without := mistakes(t, train(t, noisy, params).W, test.X, test.Y)
		noisy.Noise = c
		with := mistakes(t, train(t, noisy, params).W, test.X, test.Y)
		t.Logf("%d classes: %d mistakes of 400 with right labels, %d with C, %d without", q, clean, with,
			without)
		if with > clean+20 || q > 2 && without < 100 {
			t.Errorf("%d classes: found %d mistakes of 400 with C and %d without, wanted about %d with it",
				q, with, without, clean)
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, p := range map[string]*bpm.Params{
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
	l, err := learners.Start(context.Background(), bpm.Defaults(), p)
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
