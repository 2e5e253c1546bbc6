package active

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active/versionspace"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/bpm"
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

func ask(t testing.TB, p *Pool, o Options) []int {
	t.Helper()
	var which []int
	trained, err := p.Fit(t.Context(), o.Noise, o.Train)
	if err == nil {
		which, err = p.Ask(t.Context(), o, trained.Model)
	}
	if err != nil {
		t.Fatalf("%s: %v", o.Strategy, err)
	}
	return which
}

// TestAskOnEveryEngine: each strategy asks about the wanted number of examples, none twice, none
// labelled or put aside, and about the same ones on every engine and in both storages.
func TestAskOnEveryEngine(t *testing.T) {
	d, y := clouds(60, 5, 3, 3)
	want := map[Strategy][]int{}
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
		for _, s := range Strategies {
			o := Options{Strategy: s, K: 4, Seed: 5, Train: host.Options{Engine: e}}
			got, err := p.Ask(t.Context(), o, trained.Model)
			if err != nil {
				t.Fatal(err)
			}
			if want[s] == nil {
				want[s] = got
			}
			if !slices.Equal(got, want[s]) {
				t.Errorf("%s, %s, sparse %v: found %v, wanted %v", s, e.Device().ID, data.Sparse(), got,
					want[s])
			}
			distinct := slices.Compact(slices.Sorted(slices.Values(got)))
			if len(distinct) != 4 || distinct[0] < 9 || slices.Contains(got, 20) {
				t.Errorf("%s: asks about %v", s, got)
			}
		}
	}
}

// TestAskBeginsAtRandom: without labels of two classes nothing is known to ask by, and at the end
// little is left.
func TestAskBeginsAtRandom(t *testing.T) {
	d, y := clouds(12, 3, 2, 1)
	e := simd.New()
	defer e.Close()
	p := begun(t, e, d, y, 0, host.Options{})
	o := Options{Strategy: Margin, K: 5, Train: host.Options{Engine: e}}
	first, err := p.Ask(t.Context(), o, nil)
	if err != nil || len(first) != 5 {
		t.Fatalf("found %v, %v", first, err)
	}
	o.Seed++
	if second, err := p.Ask(t.Context(), o, nil); err != nil || slices.Equal(first, second) {
		t.Errorf("found %v for another seed, %v", second, err)
	}
	copy(p.Labels, y[:9])
	for _, s := range Strategies {
		o.Strategy = s
		if got := ask(t, p, o); len(got) != 3 {
			t.Errorf("%s: asks about %v where three are left", s, got)
		}
	}
	copy(p.Labels, y)
	if got := ask(t, p, o); len(got) != 0 {
		t.Errorf("asks about %v where nothing is left", got)
	}
}

// naive returns the constraints of class 1 against class 0: the examples with signs.
func naive(p *Pool) []float64 {
	var rows []float64
	for _, i := range p.labelled() {
		for _, v := range p.Examples.Row(i) {
			rows = append(rows, float64(v)*float64(2*p.Labels[i]-1))
		}
	}
	return rows
}

// TestCentresAreThoseOfFeatures: what is found in the span of the labelled examples is what
// versionspace finds in the features themselves, be they more or fewer than examples. A margin
// that is exact to 1e-9 leaves the direction some 1e-4.
func TestCentresAreThoseOfFeatures(t *testing.T) {
	e := simd.New()
	defer e.Close()
	for _, c := range []struct {
		d, known int
		strategy Strategy
		apart    float64
	}{{3, 12, SVM, 1e-3}, {9, 5, SVM, 1e-3}, {3, 12, BPM, 0.02}, {6, 4, BPM, 0.03}} {
		d, y := clouds(30, c.d, 2, 4)
		p := begun(t, e, d, y, c.known, host.Options{Preparation: "l2"})
		o := Options{Strategy: c.strategy, Train: host.Options{Engine: e}}
		o.Steps = 1 << 14
		w, slack, err := p.Centre(t.Context(), o)
		if err != nil || slack != 0 {
			t.Fatalf("slack %v, %v", slack, err)
		}
		space, err := versionspace.New(c.d, naive(p))
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		if c.strategy == SVM {
			ball, err := space.Ball()
			if err != nil {
				t.Fatal(err)
			}
			want = ball.Centre
		} else {
			centroid, err := space.Centroid(t.Context(), 99, 1<<14)
			if err != nil {
				t.Fatal(err)
			}
			want = centroid.Centre
		}
		dot, square := 0.0, 0.0
		for j, v := range want {
			dot += v * float64(w.W[c.d+j])
			square += v * v
			if w.W[j] != -w.W[c.d+j] {
				t.Errorf("the two classes do not have opposite weights: %v", w.W)
			}
		}
		if far := math.Sqrt(max(0, 2-2*dot/math.Sqrt(square))); far > c.apart {
			t.Errorf("%s, %d features, %d examples: %g from the centre in features, wanted %g", c.strategy,
				c.d, c.known, far, c.apart)
		}
	}
}

// TestContradictions: labels that no classifier is right about are asked on with slack.
func TestContradictions(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(40, 3, 3, 2)
	y[6], y[7] = y[7], y[6]
	p := begun(t, e, d, y, 20, host.Options{Preparation: "bias,l2"})
	o := Options{Strategy: BPM, Train: host.Options{Engine: e}}
	w, slack, err := p.Centre(t.Context(), o)
	if err != nil || slack != DefaultSlack {
		t.Fatalf("slack %v, %v", slack, err)
	}
	scores, err := engine.Scores(e, w, p.Examples)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, class := range engine.Predicted(scores, 3) {
		if class == y[i] {
			right++
		}
	}
	if right < 30 {
		t.Errorf("the classifier is right about %d of 40", right)
	}
	for _, s := range []Strategy{SVM, BPM} {
		o.Strategy = s
		ask(t, p, o)
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

// learned asks round for round, and returns the errors on the pool after each.
func learned(t *testing.T, p *Pool, y []int32, rounds int, o Options,
	answers []int32) (wrong []int) {
	t.Helper()
	for range rounds {
		trained, err := p.Fit(t.Context(), o.Noise, o.Train)
		if err != nil {
			t.Fatal(err)
		}
		scores := scoresOf(t, p, o.Train.Engine, trained.Model)
		n := 0
		for i, class := range engine.Predicted(scores, len(p.Classes)) {
			if class != y[i] {
				n++
			}
		}
		wrong = append(wrong, n)
		which, err := p.Ask(t.Context(), o, trained.Model)
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
	kernel := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: 20}
	for _, c := range []struct {
		name string
		o    Options
		pool host.Options
		most int
	}{
		{"margin", Options{Strategy: Margin}, host.Options{}, 15},
		{"noisy", Options{Strategy: Margin, Noise: noise}, host.Options{}, 30},
		{"bpm", Options{Strategy: BPM, Train: host.Options{Learner: bpm.Defaults()}}, host.Options{}, 15},
		{"kernel", Options{Strategy: Margin}, host.Options{Kernel: kernel}, 20},
	} {
		p := begun(t, e, d, y, 3, c.pool)
		c.o.K, c.o.Seed, c.o.Train.Engine = 8, 1, e
		answers := y
		if c.o.Noise != nil {
			var err error
			if answers, err = c.o.Noise.Inject(y, 1); err != nil {
				t.Fatal(err)
			}
		}
		wrong := learned(t, p, y, 6, c.o, answers)
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

func TestAskRefuses(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(30, 3, 2, 5)
	p := begun(t, e, d, y, 6, host.Options{})
	train := host.Options{Engine: e}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Strategy: "guess", Train: train}, `strategy "guess"`},
		{Options{K: -1, Train: train}, "ask -1"},
		{Options{Slack: -1, Train: train}, "slack -1"},
		{Options{}, "engine"},
		{Options{Train: train}, "model"},
	} {
		if _, err := p.Ask(t.Context(), c.o, nil); !facts.Told(err, c.want) {
			t.Errorf("%+v: found the error %v, wanted one with %q", c.o, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []Strategy{BPM, SVM} {
		if _, err := p.Ask(ctx, Options{Strategy: s, Train: train}, nil); err == nil {
			t.Errorf("%s: a cancelled context is no error", s)
		}
	}
}

// TestAskByCentre: by the weights that Centre returns, the questions are those without them.
func TestAskByCentre(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(60, 5, 3, 3)
	p := begun(t, e, d, y, 9, host.Options{})
	for _, s := range []Strategy{SVM, BPM} {
		o := Options{Strategy: s, K: 4, Seed: 5, Train: host.Options{Engine: e}}
		want, err := p.Ask(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Weights, _, err = p.Centre(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Ask(t.Context(), o, nil); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: found %v, %v, wanted %v", s, got, err, want)
		}
	}
	if _, err := p.Ask(t.Context(), Options{Strategy: SVM}, nil); err == nil {
		t.Error("found no error, wanted one about the engine")
	}
}
