package active

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
)

// clouds returns n examples of q classes around points on a circle, and their classes.
func clouds(n, d, q int, seed uint64) (*dataset.Dataset, []int32) {
	random := rand.New(rand.NewPCG(seed, 3))
	x, names := dataset.Examples{N: n, D: d, X: make([]float32, n*d)},
		strings.Fields("ash beech cedar durmast elm")[:q]
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(i % q)
		angle := 2 * math.Pi * float64(y[i]) / float64(q)
		for j := range d {
			x.X[i*d+j] = float32(0.7 * random.NormFloat64())
		}
		x.X[i*d] += float32(2 * math.Cos(angle))
		x.X[i*d+1] += float32(2 * math.Sin(angle))
	}
	return &dataset.Dataset{Examples: x, Classes: names}, y
}

// begun returns a pool whose first known examples are labelled.
func begun(t testing.TB, e *engine.Engine, d *dataset.Dataset, y []int32, known int,
	o host.Options) *Pool {
	t.Helper()
	o.Engine = e
	p, err := NewPool(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	copy(p.Labels, y[:known])
	return p
}

// TestAskOnEveryEngine: the wanted number of examples is asked about, none twice, none labelled or
// put aside, and the same ones on every engine and in both storages.
func TestAskOnEveryEngine(t *testing.T) {
	d, y := clouds(60, 5, 3, 3)
	var want []int
	for k, e := range everyengine.Open(t) {
		data := *d
		if k%2 == 1 {
			data.Examples = d.Compressed()
		}
		p := begun(t, e, &data, y, 9, host.Options{Preparation: "bias,l2"})
		p.Labels[20] = Aside
		trained, err := p.Fit(t.Context(), nil, host.Options{Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Ask(e, trained.Model, 4, 5)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, sparse %v: found %v, wanted %v", e.Device().ID, data.Sparse(), got, want)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(got)))
		if len(distinct) != 4 || distinct[0] < 9 || slices.Contains(got, 20) {
			t.Errorf("asks about %v", got)
		}
	}
}

// TestAskAtRandom: without a model examples are drawn by the seed, and at the end little is left.
func TestAskAtRandom(t *testing.T) {
	d, y := clouds(12, 3, 2, 1)
	e := simd.New()
	defer e.Close()
	p := begun(t, e, d, y, 0, host.Options{})
	first, err := p.Ask(e, nil, 5, 0)
	if err != nil || len(first) != 5 {
		t.Fatalf("found %v, %v", first, err)
	}
	if second, err := p.Ask(e, nil, 5, 1); err != nil || slices.Equal(first, second) {
		t.Errorf("found %v for another seed, %v", second, err)
	}
	for _, known := range []int{9, 12} {
		copy(p.Labels, y[:known])
		trained, err := p.Fit(t.Context(), nil, host.Options{Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*model.Model{trained.Model, nil} {
			if got, err := p.Ask(e, m, 5, 0); err != nil || len(got) != 12-known {
				t.Errorf("asks about %v of the last %d, %v", got, 12-known, err)
			}
		}
	}
}

// scoresOf returns the scores of the examples by m, which Fit returned.
func scoresOf(t *testing.T, p *Pool, e *engine.Engine, m *model.Model) []float32 {
	t.Helper()
	scores, err := engine.Scores(e, engine.Weights{Q: m.Q, D: m.D, W: m.W}, p.Examples)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// learned asks for eight labels round for round, and returns the errors on the pool after each.
func learned(t *testing.T, p *Pool, y []int32, rounds int, noise *confusion.Matrix, o host.Options,
	answers []int32) (wrong []int) {
	t.Helper()
	for range rounds {
		trained, err := p.Fit(t.Context(), noise, o)
		if err != nil {
			t.Fatal(err)
		}
		scores := scoresOf(t, p, o.Engine, trained.Model)
		n := 0
		for i, class := range engine.Predicted(scores, len(p.Classes)) {
			if class != y[i] {
				n++
			}
		}
		wrong = append(wrong, n)
		which, err := p.Ask(o.Engine, trained.Model, 8, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range which {
			p.Labels[i] = answers[i]
		}
	}
	return wrong
}

// TestFewLabelsGoFar: with few labels of a noisy expert, whose C is known, as with right ones, the
// model is nearly as good as one of all labels, with another learner and a kernel map too.
func TestFewLabelsGoFar(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(300, 3, 3, 21)
	noise, err := confusion.Pairwise(d.Classes, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	noisy, err := noise.Inject(y, 1)
	if err != nil {
		t.Fatal(err)
	}
	kernel := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: 20}
	for _, c := range []struct {
		name    string
		noise   *confusion.Matrix
		answers []int32
		learner learners.Params
		pool    host.Options
		most    int
	}{
		{"margin", nil, y, nil, host.Options{}, 15},
		{"noisy", noise, noisy, nil, host.Options{}, 30},
		{"kernel", nil, y, nil, host.Options{Kernel: kernel}, 20},
	} {
		p := begun(t, e, d, y, 3, c.pool)
		wrong := learned(t, p, y, 6, c.noise, host.Options{Engine: e, Learner: c.learner}, c.answers)
		if last := wrong[len(wrong)-1]; last > c.most || last > wrong[0] {
			t.Errorf("%s: %v of 300 are wrong after each round, wanted at most %d", c.name, wrong, c.most)
		}
	}
}

// TestFitPredictsRaw: the model of a pool is one of raw examples.
func TestFitPredictsRaw(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(60, 3, 2, 5)
	kernel := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: 9}
	for _, k := range []*fitting.Options{nil, kernel} {
		p := begun(t, e, d, y, 20, host.Options{Kernel: k})
		trained, err := p.Fit(t.Context(), nil, host.Options{Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		scores := scoresOf(t, p, e, trained.Model)
		raw, err := trained.Predict(t.Context(), e, d.Examples)
		if err != nil || !slices.Equal(raw, engine.Predicted(scores, 2)) {
			t.Errorf("kernel %v: predictions differ, %v", k, err)
		}
		if err := trained.Save(t.TempDir() + "/m.npz"); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewPool(t.Context(), d, host.Options{Engine: e,
		Kernel: &fitting.Options{Search: true}}); err == nil {
		t.Error("a γ to search for is no error")
	}
}
