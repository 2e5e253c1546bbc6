package uma_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

func invert(t *testing.T, m *confusion.Matrix, err error) *confusion.Inverse {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	inv, err := m.Invert()
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func identity(t *testing.T, q int) *confusion.Inverse {
	m, err := confusion.Identity([]string{"a", "b", "c", "d", "e", "f"}[:q])
	return invert(t, m, err)
}

func TestBadConfig(t *testing.T) {
	inv := identity(t, 3)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		config uma.Config
		want   string
	}{
		{uma.Config{}, "no confusion matrix"},
		{uma.Config{Inverse: inv, Select: "best"}, `selection "best" is not known`},
		{uma.Config{Inverse: inv, Alpha: -1}, "margin alpha is -1"},
		{uma.Config{Inverse: inv, Alpha: float32(nan)}, "margin alpha is NaN"},
		{uma.Config{Inverse: inv, Tol: -1}, "tolerance is -1"},
		{uma.Config{Inverse: inv, Tol: inf}, "tolerance is +Inf"},
	} {
		if _, err := uma.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}

// TestIsBatchPerceptron compares UMA at C = identity with a plain batch
// perceptron in float64 that knows nothing of confusion matrices: sum the
// mistakes by (predicted, label), add the largest sum to the label's weights,
// take it off those of the prediction.
func TestIsBatchPerceptron(t *testing.T) {
	const n, d, q, steps = 300, 8, 4, 60
	rng := rand.New(rand.NewPCG(5, 6))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(rng.NormFloat64())
		}
		x.Row(i)[y[i]] += 1.5
	}
	learner, err := uma.New(uma.Config{Inverse: identity(t, q)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := cpuref.New().LoadCells(x, y, q, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	w := engine.NewWeights(q, d)
	var plain [q][d]float64
	for step := range steps {
		a, err := r.Assign(0)
		if err != nil {
			t.Fatal(err)
		}
		u, err := learner.Step(learners.State{Examples: r, W: w, Assignment: a, Steps: step})
		if err != nil || u.Converged {
			t.Fatalf("step %d: %+v, %v", step, u, err)
		}
		if err := r.Rescore(w, u.Changed); err != nil {
			t.Fatal(err)
		}

		var sums [q][q][d]float64
		for i := range n {
			p, best := 0, math.Inf(-1)
			for c := range q {
				score := 0.0
				for j, v := range x.Row(i) {
					score += plain[c][j] * float64(v)
				}
				if score > best {
					p, best = c, score
				}
			}
			for j, v := range x.Row(i) {
				sums[p][y[i]][j] += float64(v) / n
			}
		}
		bp, bk, best := 0, 0, 0.0
		for p := range q {
			for k := range q {
				norm := 0.0
				for _, v := range sums[p][k] {
					norm += v * v
				}
				if p != k && norm > best {
					bp, bk, best = p, k, norm
				}
			}
		}
		for j, z := range sums[bp][bk] {
			plain[bk][j] += z
			plain[bp][j] -= z
		}
		if u.P != bp || u.Q != bk {
			t.Fatalf("step %d: corrected (%d,%d), the plain perceptron (%d,%d)", step, u.P, u.Q, bp, bk)
		}
	}
	for c := range q {
		for j := range d {
			if math.Abs(float64(w.Row(c)[j])-plain[c][j]) > 1e-5 {
				t.Errorf("W[%d][%d] = %v, the plain perceptron has %v", c, j, w.Row(c)[j], plain[c][j])
			}
		}
	}
}

// scripted is a data set whose norms and update vectors are given.
type scripted struct {
	engine.Cells
	n, q  int
	norms []float32
	z     map[engine.Pair]float32 // z_pq, one feature; 1 where not given
}

func (s *scripted) Shape() (n, d, q int) { return s.n, 1, s.q }
func (s *scripted) Norms(dst, inv []float32) error {
	copy(dst, s.norms)
	return nil
}
func (s *scripted) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	for i, pair := range pairs {
		dst[i] = 1
		if z, ok := s.z[pair]; ok {
			dst[i] = z
		}
	}
	return nil
}

func TestChoice(t *testing.T) {
	full := []int64{9, 9, 9, 9, 9, 9, 9, 9, 9}
	for _, c := range []struct {
		name    string
		config  uma.Config
		norms   []float32
		regions []int64
		z       map[engine.Pair]float32
		want    [2]int    // {0,0}: converged
		changes []float32 // W, if given
	}{
		{name: "largest", norms: []float32{9, 1, 4, 1, 9, 3, 1, 1, 9}, want: [2]int{0, 2}},
		{name: "tie: lowest p, then lowest q", norms: []float32{0, 1, 2, 2, 0, 2, 2, 2, 0}, want: [2]int{0, 2}},
		{name: "tie in q", norms: []float32{0, 2, 2, 1, 0, 2, 2, 2, 0}, want: [2]int{0, 1}},
		{name: "an empty region is passed over", norms: []float32{0, 1, 2, 9, 0, 9, 1, 1, 0},
			regions: []int64{1, 0, 0, 0, 0, 0, 0, 0, 1}, want: [2]int{0, 2}},
		{name: "the tolerance itself is too small", config: uma.Config{Tol: 3}, norms: []float32{0, 9, 9, 9, 0, 9, 9, 9, 0}},
		{name: "just above the tolerance", config: uma.Config{Tol: 2.999}, norms: []float32{0, 9, 9, 9, 0, 9, 9, 9, 0}, want: [2]int{0, 1}},
		{name: "nothing left", norms: make([]float32, 9)},
		// W is (2, 1, 0) there: z > 0 is a mistake of W iff w_p ≥ w_q.
		{name: "no mistake of W: the next pair", norms: []float32{0, 2, 1, 9, 0, 3, 8, 7, 0}, want: [2]int{1, 2}, changes: []float32{2, 0, 1}},
		{name: "z turns the error set round", norms: []float32{0, 2, 1, 9, 0, 3, 8, 7, 0}, z: map[engine.Pair]float32{{P: 1, Q: 0}: -1},
			want: [2]int{1, 0}, changes: []float32{1, 2, 0}},
		{name: "margin of the error set", config: uma.Config{Alpha: 1.5}, norms: []float32{0, 9, 8, 1, 0, 7, 1, 1, 0}, want: [2]int{0, 2}},
		{name: "no mistake at all", norms: []float32{0, 0, 0, 9, 0, 0, 8, 7, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Inverse = identity(t, 3)
			learner, err := uma.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			if c.regions == nil {
				c.regions = full
			}
			s := &scripted{n: 81, q: 3, norms: c.norms, z: c.z}
			w := engine.Weights{Q: 3, D: 1, W: []float32{2, 1, 0}}
			u, err := learner.Step(learners.State{Examples: s, W: w, Steps: 1,
				Assignment: engine.Assignment{Regions: c.regions, Predicted: full}})
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int{u.P, u.Q}; got != c.want || u.Converged != (c.want == [2]int{}) {
				t.Errorf("step %+v, want %v", u, c.want)
			}
			if c.changes != nil && !slices.Equal(w.W, c.changes) {
				t.Errorf("W = %v, want %v", w.W, c.changes)
			}
		})
	}
}

// While W = 0 the margin counts as 0: else no first step would be possible.
func TestFirstStepHasNoMargin(t *testing.T) {
	learner, err := uma.New(uma.Config{Inverse: identity(t, 2), Alpha: 5})
	if err != nil {
		t.Fatal(err)
	}
	for steps, converged := range []bool{false, true} {
		s := &scripted{n: 4, q: 2, norms: []float32{0, 1, 1, 0}}
		u, err := learner.Step(learners.State{Examples: s, W: engine.NewWeights(2, 1), Steps: steps,
			Assignment: engine.Assignment{Regions: []int64{2, 2, 0, 0}, Predicted: []int64{2, 2, 0, 0}}})
		if err != nil || u.Converged != converged {
			t.Errorf("after %d steps: %+v, %v; want converged %v", steps, u, err, converged)
		}
	}
}

// Selection by confusion weighs a small class up: 90 examples of class a, 10 of b.
func TestSelectConfusion(t *testing.T) {
	for rule, want := range map[uma.Select][2]int{uma.SelectError: {1, 0}, uma.SelectConfusion: {0, 1}} {
		learner, err := uma.New(uma.Config{Inverse: identity(t, 2), Select: rule})
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{n: 100, q: 2, norms: []float32{0, 1, 4, 0}}
		u, err := learner.Step(learners.State{Examples: s, W: engine.NewWeights(2, 1),
			Assignment: engine.Assignment{Regions: []int64{80, 4, 10, 6}, Predicted: []int64{80, 4, 10, 6}}})
		if err != nil || [2]int{u.P, u.Q} != want {
			t.Errorf("%s: %+v, %v; want %v", rule, u, err, want)
		}
	}
}

func TestSelectRandom(t *testing.T) {
	draw := func(seed uint64) (pairs [][2]int) {
		learner, err := uma.New(uma.Config{Inverse: identity(t, 3), Select: uma.SelectRandom, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			s := &scripted{n: 81, q: 3, norms: []float32{0, 1, 1, 1, 0, 0, 5, 1, 0}}
			u, err := learner.Step(learners.State{Examples: s, W: engine.NewWeights(3, 1), Assignment: engine.Assignment{
				Regions: slices.Repeat([]int64{9}, 9), Predicted: slices.Repeat([]int64{9}, 9)}})
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]int{u.P, u.Q})
		}
		return pairs
	}
	first := draw(1)
	if !slices.Equal(first, draw(1)) {
		t.Error("the same seed draws other pairs")
	}
	if slices.Equal(first, draw(2)) {
		t.Error("another seed draws the same pairs")
	}
	count := map[[2]int]int{}
	for _, p := range first {
		count[p]++
	}
	if len(count) != 5 || count[[2]int{1, 2}] != 0 {
		t.Errorf("drawn %v, want the five pairs with a norm above 0", count)
	}
	for p, c := range count {
		if c < 30 || c > 95 { // 60 expected, 5 sigma is 35
			t.Errorf("pair %v was drawn %d times of 300, want about 60", p, c)
		}
	}
}

func TestOverflowIsAnError(t *testing.T) {
	for _, bad := range []float32{float32(math.Inf(1)), float32(math.NaN())} {
		learner, err := uma.New(uma.Config{Inverse: identity(t, 2)})
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{n: 4, q: 2, norms: []float32{0, bad, 1, 0}}
		_, err = learner.Step(learners.State{Examples: s, W: engine.NewWeights(2, 1),
			Assignment: engine.Assignment{Regions: []int64{2, 2, 0, 0}, Predicted: []int64{2, 2, 0, 0}}})
		if err == nil || !strings.Contains(err.Error(), "too large for float32") {
			t.Errorf("norm %v: %v, want an error about large features", bad, err)
		}
	}
}

func TestWrongConfusionMatrix(t *testing.T) {
	learner, err := uma.New(uma.Config{Inverse: identity(t, 2)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = learner.Step(learners.State{Examples: &scripted{n: 4, q: 3}, W: engine.NewWeights(3, 1)})
	if err == nil || !strings.Contains(err.Error(), "3 classes, the confusion matrix 2") {
		t.Errorf("%v, want an error about 3 and 2 classes", err)
	}
}
