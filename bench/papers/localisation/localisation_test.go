package localisation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/bench/papers/localisation"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// apart returns examples that some weights of length 1 tell apart, by a margin of at least γ, and
// that margin.
func apart(seed uint64, n, d, q int, least float64) (p *learners.Problem, margin float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	w, length := make([]float64, q*d), 0.0
	for k := range w {
		w[k] = rng.NormFloat64()
	}
	for j := range d { // rows that add up to 0 are the shortest with these differences
		mean := 0.0
		for r := range q {
			mean += w[r*d+j] / float64(q)
		}
		for r := range q {
			w[r*d+j] -= mean
			length += w[r*d+j] * w[r*d+j]
		}
	}
	p = &learners.Problem{Q: q, Engine: cpuref.New(), Seed: seed, X: dataset.Examples{D: d}}
	margin = math.Inf(1)
	for len(p.Y) < n {
		x, scores := make([]float32, d), make([]float64, q)
		for j := range x {
			x[j] = float32(20*rng.Float64() - 10)
			for r := range scores {
				scores[r] += w[r*d+j] * float64(x[j]) / math.Sqrt(length)
			}
		}
		y := slices.Index(scores, slices.Max(scores))
		own := math.Inf(1)
		for r, s := range scores {
			if r != y {
				own = min(own, scores[y]-s)
			}
		}
		if own < least {
			continue
		}
		margin = min(margin, own)
		p.X.X, p.Y = append(p.X.X, x...), append(p.Y, int32(y))
	}
	p.X.N = n
	return p, margin
}

// result is what a run has found.
type result struct {
	W              engine.Weights
	Counts         []int64 // by prediction and label
	Steps          int
	Doubts         []learners.Doubt
	CompressionSet []int
}

// localised runs the learner to its end, and returns the result with the number of updates.
func localised(t *testing.T, params *localisation.Params, p *learners.Problem) (r result,
	updates int) {
	t.Helper()
	l, err := learners.Start(t.Context(), params, p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r.W = engine.NewWeights(p.Q, p.X.D)
	changed := learners.AllClasses(p.Q)
	for {
		if r.Counts, err = l.Count(t.Context(), r.W, changed); err != nil {
			t.Fatal(err)
		}
		s, err := l.Step(t.Context(), r.W)
		if err != nil {
			t.Fatal(err)
		}
		if s.Done {
			r.Doubts = s.Doubts
			r.CompressionSet = l.(interface{ CompressionSet() []int }).CompressionSet()
			return r, updates
		}
		r.Steps++
		updates += s.Fields[2].Value.(int)
		changed = s.Changed
	}
}

// mistakes returns how many examples the weights of a result predict as another class.
func mistakes(r result) (sum int64) {
	for k, count := range r.Counts {
		if k/r.W.Q != k%r.W.Q {
			sum += count
		}
	}
	return sum
}

// No mistake is left, the updates stay within the bound of Theorem 6.2, and the weights are a sum
// of the examples of the compression set, which alone give the same weights, unless planes are
// chosen at random.
func TestMistakeBound(t *testing.T) {
	for _, oracle := range []string{localisation.Largest, localisation.Smallest,
		localisation.Random} {
		for seed := range uint64(40) {
			q, d := 2+int(seed%3), 2+int(seed%7)
			p, margin := apart(seed, 150, d, q, []float64{0.05, 0.5}[seed%2])
			longest := 0.0
			for i := range p.X.N {
				sum := 0.0
				for _, v := range p.X.Row(i) {
					sum += float64(v) * float64(v)
				}
				longest = max(longest, sum)
			}
			r, updates := localised(t, &localisation.Params{Oracle: oracle, Updates: 1 << 30}, p)
			if mistakes(r) != 0 || r.Doubts != nil {
				t.Fatalf("%s, %d: ended with %d mistakes (%s)", oracle, seed, mistakes(r), r.Doubts)
			}
			// A plane is the difference of two rows, so R² doubles, and with two classes γ is √2
			// times the margin of a single row's plane.
			if bound := 2 * longest / (margin * margin); updates < 1 || float64(updates) > bound {
				t.Errorf("%s, %d: %d updates, wanted 1 to %.0f", oracle, seed, updates, bound)
			}
			if len(r.CompressionSet) > r.Steps || len(r.CompressionSet) < 1 {
				t.Errorf("%s, %d: %d examples are in the compression set of %d planes", oracle, seed,
					len(r.CompressionSet), r.Steps)
			}
			part := dataset.Examples{N: len(r.CompressionSet), D: d}
			var y []int32
			for _, i := range r.CompressionSet {
				part.X, y = append(part.X, p.X.Row(i)...), append(y, p.Y[i])
			}
			alone, _ := localised(t, &localisation.Params{Oracle: oracle, Updates: 1 << 30}, p.On(part, y))
			if oracle != localisation.Random && !slices.Equal(alone.W.W, r.W.W) || mistakes(alone) != 0 {
				t.Errorf("%s, %d: the compression set alone makes %v of it, all examples %v", oracle, seed,
					alone.W.W, r.W.W)
			}
		}
	}
}

// Algorithm 6 as simple as can be, for two classes, with w for class 1 and -w for class 0.
func TestTwin(t *testing.T) {
	p, _ := apart(3, 200, 5, 2, 0.1)
	sign := func(i int) float64 { return 2*float64(p.Y[i]) - 1 }
	w := make([]float64, 5)
	margin := func(i int) (sum float64) {
		for j, v := range p.X.Row(i) {
			sum += sign(i) * w[j] * float64(v)
		}
		return sum
	}
	var set []int
	lowest := func(of []int) (at int, least float64) {
		least = math.Inf(1)
		for _, i := range of {
			if m := margin(i); m < least {
				at, least = i, m
			}
		}
		return at, least
	}
	all := make([]int, 200)
	for i := range all {
		all[i] = i
	}
	updates := 0
	for at, least := lowest(all); least <= 0; at, least = lowest(all) {
		set = append(set, at)
		for at, least := lowest(set); least <= 0; at, least = lowest(set) {
			for j, v := range p.X.Row(at) {
				w[j] += sign(at) * float64(v)
			}
			updates++
		}
	}
	r, own := localised(t, localisation.Defaults(), p)
	slices.Sort(set)
	if own != updates || !slices.Equal(r.CompressionSet, set) {
		t.Fatalf("%d updates with planes of %v, the twin's %d with %v", own, r.CompressionSet, updates,
			set)
	}
	for j, v := range w {
		if math.Abs(float64(r.W.Row(1)[j])-v) > 1e-6*math.Abs(v) || r.W.Row(0)[j] != -r.W.Row(1)[j] {
			t.Errorf("weights %d are %v and %v, the twin's %v", j, r.W.Row(0)[j], r.W.Row(1)[j], v)
		}
	}
}

// Where no weights do, training ends with those for which the planes before hold, and says so.
func TestNoWeightsDo(t *testing.T) {
	p, _ := apart(4, 50, 3, 2, 0.1)
	p.X.X, p.Y = append(p.X.X, p.X.Row(7)...), append(p.Y, 1-p.Y[7])
	p.X.N++
	r, _ := localised(t, localisation.Defaults(), p)
	if r.Doubts == nil || mistakes(r) == 0 || r.Steps == 0 {
		t.Errorf("ended after %d steps with %d mistakes and the doubts %q", r.Steps, mistakes(r),
			r.Doubts)
	}
}
