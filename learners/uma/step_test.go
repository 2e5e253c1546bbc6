package uma

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// sample makes n examples of d features in q classes that overlap.
func sample(n, d, q int) (x dataset.Examples, y []int32) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y = dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(rng.NormFloat64())
		}
		x.Row(i)[y[i]] += 1.5
	}
	return x, y
}

// TestAllIsBatchPerceptron compares steps that correct all, at C = identity, with the perceptron
// that reads all examples before it changes its weights: each mistake is added to the weights of
// its label and subtracted from the weights of its prediction.
func TestAllIsBatchPerceptron(t *testing.T) {
	const n, d, q, steps = 300, 8, 4, 60
	x, y := sample(n, d, q)
	params := Defaults()
	params.Step = StepAll
	l, err := params.Definition().Start(t.Context(),
		&learners.Problem{X: x, Y: y, Q: q, Engine: cpuref.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, changed := engine.NewWeights(q, d), learners.AllClasses(q)
	var plain [q][d]float64
	for range steps {
		_, changed = advance(t, l, w, changed)
		next := plain
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
				next[y[i]][j] += float64(v) / n
				next[p][j] -= float64(v) / n
			}
		}
		plain = next
	}
	for c := range q {
		for j := range d {
			if math.Abs(float64(w.Row(c)[j])-plain[c][j]) > 1e-5 {
				t.Errorf("W[%d][%d] = %v, the batch perceptron has %v", c, j, w.Row(c)[j], plain[c][j])
			}
		}
	}
}

// naive is UMA in float64 and in the words of the paper: sums over examples, no fixed point,
// no order of additions.
type naive struct {
	Params
	x       dataset.Examples
	y       []int32
	q       int
	inverse []float64
	length  float64 // mean of ‖x‖²
	w       [][]float64
}

// step makes a step and returns what it has corrected.
func (s *naive) step() (done []engine.Pair) {
	square, alpha := 0.0, 0.0
	for _, row := range s.w {
		square += inner(row, row)
	}
	length := math.Sqrt(square / float64(s.q))
	if square > 0 {
		alpha = float64(s.Alpha)
	}
	unit := 1.0
	if s.AlphaUnit == UnitWeights {
		unit = length
	}
	sums := map[engine.Pair][]float64{} // by region and label
	regions := make([]int, s.x.N)
	for i := range s.x.N {
		x, scores := make([]float64, s.x.D), make([]float64, s.q)
		for j, v := range s.x.Row(i) {
			x[j] = float64(v)
		}
		for c := range scores {
			scores[c] = inner(s.w[c], x)
		}
		p := slices.Index(scores, slices.Max(scores))
		others := slices.Delete(slices.Clone(scores), p, p+1)
		if scores[p]-slices.Max(others) < alpha*unit {
			regions[i] = -1
			continue
		}
		regions[i] = p
		for label := range s.q {
			cell := engine.Pair{P: p, Q: label}
			if sums[cell] == nil {
				sums[cell] = make([]float64, s.x.D)
			}
			if label == int(s.y[i]) {
				for j, v := range x {
					sums[cell][j] += v / float64(s.x.N)
				}
			}
		}
	}
	type mistake struct {
		engine.Pair
		z    []float64
		norm float64
	}
	var found []mistake
	for p := range s.q {
		for c := range s.q {
			if p == c || sums[engine.Pair{P: p}] == nil {
				continue
			}
			m := mistake{Pair: engine.Pair{P: p, Q: c}, z: make([]float64, s.x.D)}
			for label := range s.q {
				for j, v := range sums[engine.Pair{P: p, Q: label}] {
					m.z[j] += s.inverse[c*s.q+label] * v
				}
			}
			m.norm = math.Sqrt(inner(m.z, m.z))
			// Each example of the region adds B[c][y]·x, whose mean over its noisy labels y is x or
			// 0: the square of B[c][y] less the mean is how far one label throws it off.
			off := 0.0
			for i := range s.x.N {
				if regions[i] == p {
					b := s.inverse[c*s.q+int(s.y[i])]
					off += (b*b - b) * s.length / float64(s.x.N*s.x.N)
				}
			}
			if m.norm <= s.Doubt*math.Sqrt(max(0, off)) {
				continue
			}
			long := 1.0
			if s.AlphaUnit == UnitWeights {
				long = m.norm
			}
			if m.norm > s.Tol && inner(m.z, s.w[p])-inner(m.z, s.w[c]) >= alpha*unit*long {
				found = append(found, m)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	first := slices.MaxFunc(found, func(a, b mistake) int { return cmp.Compare(a.norm, b.norm) })
	for _, m := range found {
		if s.Step == StepPair && m.Pair != first.Pair || s.Step == StepRegion && m.P != first.P {
			continue
		}
		done = append(done, m.Pair)
		for j, v := range m.z {
			s.w[m.P][j] -= v
			s.w[m.Q][j] += v
		}
	}
	return done
}

func inner(a, b []float64) (sum float64) {
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// TestStepsEqualNaive runs each policy with and without a margin, in both units, beside the
// naive twin. The region of a step, how much it corrects and the weights are the same.
func TestStepsEqualNaive(t *testing.T) {
	const n, d, q, steps = 400, 7, 5, 40
	x, truth := sample(n, d, q)
	noise, err := confusion.Pairwise([]string{"a", "b", "c", "d", "e"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	y, err := noise.Inject(truth, 1)
	if err != nil {
		t.Fatal(err)
	}
	inverse, err := noise.Invert()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, p := range []Params{
		{Step: StepPair}, {Step: StepRegion}, {Step: StepAll},
		{Step: StepPair, Alpha: 0.2}, {Step: StepRegion, Alpha: 0.2}, {Step: StepAll, Alpha: 0.2},
		{Step: StepAll, Doubt: 1}, {Step: StepRegion, Doubt: 2},
		{Step: StepAll, Alpha: 0.01, AlphaUnit: UnitScore}, {Step: StepRegion, Alpha: 0.01,
			AlphaUnit: UnitScore},
	} {
		p.Select, p.AlphaUnit, p.Tol = SelectError, cmp.Or(p.AlphaUnit, UnitWeights), 1e-9
		t.Run(fmt.Sprintf("%s alpha %v %s", p.Step, p.Alpha, p.AlphaUnit), func(t *testing.T) {
			l, err := p.Definition().Start(t.Context(),
				&learners.Problem{X: x, Y: y, Q: q, Noise: noise,
					Engine: cpuref.New()})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			w, changed := engine.NewWeights(q, d), learners.AllClasses(q)
			twin := naive{Params: p, x: x, y: y, q: q, inverse: inverse.V}
			for _, v := range x.X {
				twin.length += float64(v) * float64(v) / n
			}
			for range q {
				twin.w = append(twin.w, make([]float64, d))
			}
			for step := range steps {
				var pair engine.Pair
				pair, changed = advance(t, l, w, changed)
				want := twin.step()
				if (changed == nil) != (want == nil) {
					t.Fatalf("step %d: changed classes %v, the twin corrects %v", step, changed, want)
				}
				if want == nil {
					break
				}
				kinds[fmt.Sprint(p.Step, len(want))] = true
				is := make([]bool, q)
				for _, c := range want {
					is[c.P], is[c.Q] = true, true
				}
				for r := range q {
					if is[r] != slices.Contains(changed, r) {
						t.Fatalf("step %d: changed classes %v, the twin corrects %v", step, changed, want)
					}
				}
				if !slices.Contains(want, pair) {
					t.Fatalf("step %d: corrected %v, the twin %v", step, pair, want)
				}
				for r := range q {
					for j := range d {
						if math.Abs(float64(w.Row(r)[j])-twin.w[r][j]) > 1e-5 {
							t.Fatalf("step %d: W[%d][%d] = %v, the twin has %v", step, r, j, w.Row(r)[j], twin.w[r][j])
						}
					}
				}
			}
		})
	}
	if len(kinds) < 8 {
		t.Errorf("steps were of these kinds alone, by policy and pairs: %v", kinds)
	}
}

// TestRoom computes the update vectors of a step one by one, two at a time and all at once.
func TestRoom(t *testing.T) {
	const n, d, q, steps = 200, 6, 5, 10
	x, y := sample(n, d, q)
	var all [][]float32
	for _, room := range []int{1, 2 * d, room} {
		l, err := Defaults().Definition().Start(t.Context(),
			&learners.Problem{X: x, Y: y, Q: q, Engine: cpuref.New()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		l.(*learner).room = room
		w, changed := engine.NewWeights(q, d), learners.AllClasses(q)
		for range steps {
			if _, changed = advance(t, l, w, changed); changed == nil {
				t.Fatal("converged")
			}
		}
		all = append(all, w.W)
	}
	if !slices.Equal(all[0], all[2]) || !slices.Equal(all[1], all[2]) {
		t.Errorf("W depends on how many update vectors there is room for: %v", all)
	}
}

// TestDoneIsOdd has ten classes, and a margin in the score's unit that nothing reaches after one
// step: the run ends with a word about it. One that has corrected all ends without.
func TestDoneIsOdd(t *testing.T) {
	const n, d, q = 400, 12, 10
	x, y := sample(n, d, q)
	for _, c := range []struct {
		params Params
		odd    bool
	}{
		{Params{Step: StepPair, Alpha: 0.1, AlphaUnit: UnitScore}, true},
		{Params{Step: StepAll, Alpha: 0.1, AlphaUnit: UnitScore}, true},
		{Params{Step: StepAll, AlphaUnit: UnitWeights}, false},
	} {
		c.params.Select = SelectError
		if !c.odd { // examples that are their class
			for i := range n {
				clear(x.Row(i))
				x.Row(i)[y[i]] = 1
			}
		}
		l, err := c.params.Definition().Start(t.Context(),
			&learners.Problem{X: x, Y: y, Q: q, Engine: cpuref.New()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		w, changed := engine.NewWeights(q, d), learners.AllClasses(q)
		var s learners.Step
		steps := 0
		for ; !s.Done; steps++ {
			if _, err := l.Count(t.Context(), w, changed); err != nil {
				t.Fatal(err)
			}
			if s, err = l.Step(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			changed = s.Changed
		}
		if got := strings.Contains(fmt.Sprint(s.Doubts), "% of the predictions are wrong"); got != c.odd {
			t.Errorf("%+v: done after %d steps with doubts %q", c.params, steps-1, s.Doubts)
		}
	}
}
