package fit_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/synth"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// mislabelled returns n generated examples of d features, their labels of q classes with pairwise
// noise of a rate, and its matrix.
func mislabelled(t *testing.T, n, d, q int, rate float64) ([]float32, []int32, *confusion.Matrix) {
	t.Helper()
	x, y, err := synth.Generate(t.Context(), n, d, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := confusion.Pairwise([]string{"a", "b", "c"}[:q], rate)
	if err != nil {
		t.Fatal(err)
	}
	if y, err = c.Inject(y, 1); err != nil {
		t.Fatal(err)
	}
	return x, y, c
}

// A head start changes where a fit comes from and not where it ends, saves most of its iterations,
// has the same bits on another engine of sparse examples, and is not made twice when a run goes
// on.
func TestHeadStart(t *testing.T) {
	const n, d, q = 3 << 12, 4, 3 // the sample has a head start too
	x, y, c := mislabelled(t, n, d, q, 0.2)
	p := &learners.Problem{X: dataset.Examples{N: n, D: d, X: x}, Y: y, Q: q, Noise: c,
		Engine: simd.New(), Seed: 1}
	params := softmax.Defaults()
	params.L2, params.Tolerance = softmax.L2(0.001), 1e-5
	train := func(p *learners.Problem, o host.RunOptions) host.Result {
		t.Helper()
		o.MaxSteps = 1000
		r := must(host.Run(t.Context(), params, p, o))
		return r
	}
	loss := func(r host.Result) float64 {
		v, w := twin{p: p, c: c.P, lambda: 0.001}, make([]float64, q*d)
		for k, f := range r.W.W {
			w[k] = float64(f)
		}
		return v.at(w, make([]float64, q*d))
	}

	var first host.Snapshot
	due := true
	whole := train(p, host.RunOptions{
		Due:  func(int) bool { return due },
		Keep: func(s host.Snapshot) error { first, due = s, false; return nil },
	})
	nearZero := make([]float32, q*d)
	nearZero[0] = 0x1p-100
	straight := train(p, host.RunOptions{From: nearZero}) // which has none
	if a, b := loss(whole), loss(straight); a > b*(1+1e-7) || b > a*(1+1e-7) {
		t.Errorf("loss %v, and %v without a head start", a, b)
	}
	if whole.Steps >= straight.Steps {
		t.Errorf("%d steps, and %d without a head start", whole.Steps, straight.Steps)
	}
	t.Logf("%d steps, %d without a head start", whole.Steps, straight.Steps)

	other := *p.On(p.X.Compressed(), p.Y)
	other.Engine = cpuref.New()
	for name, r := range map[string]host.Result{
		"another engine": train(&other, host.RunOptions{}), "gone on": train(&other,
			host.RunOptions{Resume: &first}),
	} {
		if !slices.Equal(r.W.W, whole.W.W) || r.Steps != whole.Steps {
			t.Errorf("%s: other weights after %d steps, wanted those after %d", name, r.Steps, whole.Steps)
		}
	}
}

// EM learns from many examples with probabilities of noisy labels. Some examples have no label:
// from these no head start by forward correction can learn.
func TestHeadStartOfProbabilities(t *testing.T) {
	const n, d, q = 1 << 12, 4, 3
	x, y, c := mislabelled(t, n, d, q, 0.2)
	_, right, err := synth.Generate(t.Context(), n, d, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	known := make([]float32, n*q)
	for i, k := range y {
		row := known[i*q : (i+1)*q]
		row[k], row[(k+1)%q] = 0.9, 0.1
		if i%3 == 0 {
			copy(row, []float32{1, 1, 1})
		}
	}
	p := &learners.Problem{X: dataset.Examples{N: n, D: d, X: x}, Y: y, Q: q, Noise: c,
		Engine: simd.New(), Seed: 1, Evidence: &dataset.Evidence{Classes: known}}
	r := learn(t, p, func(params *softmax.Params) {
		params.Correction, params.Rounds = learners.EM, 3
	})
	predicted := must(engine.Predict(p.Engine, r.W, p.X))
	wrong := 0
	for i, k := range predicted {
		if k != right[i] {
			wrong++
		}
	}
	if wrong > n/10 {
		t.Errorf("%d of %d examples are wrong", wrong, n)
	}
}
