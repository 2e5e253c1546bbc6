package trees_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// table is a made-up table: numbers, of which the last may be missing, and a category.
type table struct {
	numbers [][]float32 // of each column; NaN for missing
	levels  []int       // of the category
	x       dataset.Examples
	e       *dataset.Encoding
	y       []int32 // true classes
}

const levelCount = 7

// newTable draws n examples of q classes, which depend on two numbers and the category.
func newTable(n, q int, seed uint64) table {
	r := rand.New(rand.NewPCG(seed, 1))
	t := table{numbers: make([][]float32, 4), levels: make([]int, n), y: make([]int32, n),
		e: &dataset.Encoding{Missing: dataset.MissingIndicator}}
	for j := range t.numbers {
		t.e.Columns = append(t.e.Columns, dataset.Column{Name: fmt.Sprint(j),
			Kind: dataset.KindNumber, Mean: new(float32), Indicator: j == 3})
	}
	category := dataset.Column{Name: "level", Kind: dataset.KindCategory}
	for l := range levelCount {
		category.Levels = append(category.Levels, fmt.Sprint(l))
	}
	t.e.Columns = append(t.e.Columns, category)
	t.x = dataset.Examples{N: n, D: t.e.Width(), X: make([]float32, n*t.e.Width())}
	for i := range n {
		row := t.x.Row(i)
		for j := range t.numbers {
			v := float32(r.NormFloat64())
			if j == 1 {
				v = float32(r.IntN(12)) // of few values
			}
			if j == 3 && r.IntN(5) == 0 {
				row[4] = 1
				t.numbers[j] = append(t.numbers[j], float32(math.NaN()))
				continue
			}
			row[j] = v
			t.numbers[j] = append(t.numbers[j], v)
		}
		t.levels[i] = r.IntN(levelCount)
		row[5+t.levels[i]] = 1
		sum := row[0] + row[3] + row[4]
		if t.levels[i]%2 == 0 {
			sum++
		}
		t.y[i] = int32(min(q-1, max(0, int(sum+float32(q)/2))))
	}
	return t
}

// noisy returns the problem of labels that become the next class with probability share, for which
// the matrix is given.
func (t *table) noisy(q int, share float64, e *engine.Engine) *learners.Problem {
	r := rand.New(rand.NewPCG(9, 9))
	c, y := confusion.NoNoise(q).V, slices.Clone(t.y)
	var classes []string
	for k := range q {
		classes = append(classes, fmt.Sprint(k))
		c[k*q+k] = 1 - share
		c[(k+1)%q*q+k] = share
	}
	for i := range y {
		if r.Float64() < share {
			y[i] = (y[i] + 1) % int32(q)
		}
	}
	noise := &confusion.Matrix{Classes: classes, P: c}
	return &learners.Problem{X: t.x, Y: y, Q: q, Noise: noise, Engine: e, Seed: 3}
}

func fit(t *testing.T, p *trees.Params, problem *learners.Problem, e *dataset.Encoding,
) *ensemble.Model {
	t.Helper()
	s, err := trees.Fit(context.Background(), p, problem, e, trees.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Model
	if err := m.Check(problem.X.D); err != nil {
		t.Fatal(err)
	}
	return m
}

// given returns parameters that leave nothing to choose.
func given(mode string) *trees.Params {
	p := trees.Defaults()
	p.Mode, p.Rounds, p.Leaves, p.Least, p.Rate, p.Rows, p.Columns = mode, 6, 7, 1, 0.3, 0.6, 0.5
	if mode == trees.Forest {
		p.Least = 3
	}
	return p
}

// TestTwin compares trees with the trees of a twin that was written from the contract's text. With
// 9000 examples the engine counts labels at the first nodes of a forest; with fewer, the host does.
func TestTwin(t *testing.T) {
	for _, q := range []int{2, 3} {
		for _, n := range []int{60, 400, 9000} {
			data := newTable(n, q, uint64(n+q))
			problem := data.noisy(q, 0.3, cpuref.New())
			w := twin{seed: problem.Seed, q: q, y: problem.Y, c: problem.Noise.P}
			for _, column := range data.numbers {
				bins, count := numberBins(column)
				w.bins, w.counts, w.category = append(w.bins, bins), append(w.counts, count),
					append(w.category, false)
			}
			levels := make([]int, n)
			for i, l := range data.levels {
				levels[i] = l + 1
			}
			w.bins, w.counts, w.category = append(w.bins, levels), append(w.counts, levelCount+1),
				append(w.category, true)
			for _, mode := range []string{trees.Forest, trees.Boost} {
				p := given(mode)
				if n > 400 && mode == trees.Boost {
					break
				}
				if n > 400 {
					p.Rounds, p.Leaves = 1, 3
				}
				m := fit(t, p, problem, data.e)
				w.p = *p
				want := w.forest()
				if mode == trees.Boost {
					want = w.boost(m.Base)
				}
				if len(m.Trees) != len(want) {
					t.Fatalf("%s: got %d trees, want %d", mode, len(m.Trees), len(want))
				}
				for k := range want {
					if !reflect.DeepEqual(m.Trees[k], want[k]) {
						t.Fatalf("%s of %d examples, %d classes: tree %d: got\n%v, want\n%v", mode, n, q, k,
							m.Trees[k], want[k])
					}
				}
			}
		}
	}
}

// TestEveryEngine wants the same model of every engine, in one piece or parts, and from sparse
// examples.
func TestEveryEngine(t *testing.T) {
	data := newTable(12000, 3, 5)
	engines := everyengine.Open(t)
	parts, err := shard.New([]engine.Driver{simd.NewDriver(), cpuref.Driver{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	engines = append(engines, engine.New(parts))
	for _, mode := range []string{trees.Boost, trees.Forest} {
		var want *ensemble.Model
		for k, e := range engines {
			problem := data.noisy(3, 0.3, e)
			if k%2 == 1 {
				problem.X = problem.X.Compressed()
			}
			m := fit(t, given(mode), problem, data.e)
			if want == nil {
				want = m
			}
			if !reflect.DeepEqual(m, want) {
				t.Errorf("%s on %s: got another model than on %s", mode, e.Device().Name,
					engines[0].Device().Name)
			}
		}
	}
}

// wrong returns the share of examples that a model gets wrong.
func wrong(m *ensemble.Model, x dataset.Examples, y []int32, c []float64) float64 {
	scores := make([]float32, x.N*m.Q)
	m.Scores(scores, x, c)
	n := 0
	for i, class := range y {
		row := scores[i*m.Q : (i+1)*m.Q]
		if slices.Index(row, slices.Max(row)) != int(class) {
			n++
		}
	}
	return float64(n) / float64(x.N)
}

// TestCorrection wants what C says to count: with 40 % of the labels moved to the next class trees
// that know it are right far more often, and with C = identity nothing changes.
func TestCorrection(t *testing.T) {
	data, test := newTable(2000, 3, 1), newTable(4000, 3, 2)
	const most = 0.2
	for _, mode := range []string{trees.Boost, trees.Forest} {
		p := given(mode)
		p.Rounds, p.Rate = 60, 0.1
		if mode == trees.Forest {
			p.Leaves, p.Least = trees.MostLeaves, 20
		}
		problem := data.noisy(3, 0.4, simd.New())
		m := fit(t, p, problem, data.e)
		corrected := wrong(m, test.x, test.y, problem.Noise.P)
		p.Correction = learners.None
		plain := wrong(fit(t, p, problem, data.e), test.x, test.y, nil)
		if corrected > most || corrected > plain-0.05 {
			t.Errorf("%s: got error %.3f, and without C %.3f, want at most %.2f and less", mode,
				corrected, plain, most)
		}
		clean := data.noisy(3, 0, simd.New())
		without := fit(t, p, clean, data.e)
		p.Correction = learners.Forward
		if !reflect.DeepEqual(fit(t, p, clean, data.e).Trees, without.Trees) {
			t.Errorf("%s: got another model for C = identity than without one", mode)
		}
		shares := m.Importance()
		if at := slices.Index(shares, slices.Max(shares)); at == 1 || at == 2 {
			t.Errorf("%s: got column %d as the most important of %v, want one that decides", mode, at,
				shares)
		}
	}
}

// TestHeld wants probabilities of examples from trees that have not seen them: they say less of the
// labels than of examples that were learned from, and sum to 1.
func TestHeld(t *testing.T) {
	data := newTable(600, 3, 4)
	problem := data.noisy(3, 0.3, simd.New())
	for _, mode := range []string{trees.Boost, trees.Forest} {
		p := given(mode)
		p.Rounds = 40
		h, err := trees.Held(context.Background(), p, problem, data.e, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h.Settled != *p {
			t.Errorf("%s: got parameters %+v, want the given ones", mode, h.Settled)
		}
		m := fit(t, p, problem, data.e)
		if h.Model != nil && !reflect.DeepEqual(h.Model, m) || (h.Model == nil) != (mode == trees.Boost) {
			t.Errorf("%s: the model is not the one that Fit returns of a forest", mode)
		}
		scores := make([]float32, problem.X.N*3)
		m.Scores(scores, problem.X, problem.Noise.P)
		held, seen := 0.0, 0.0
		for i, y := range problem.Y {
			p := make([]float32, 3)
			numerics.Softmax(p, scores[i*3:(i+1)*3])
			label, sum := 0.0, 0.0
			for k, v := range p {
				label += problem.Noise.P[int(y)*3+k] * float64(v)
				sum += float64(h.Clean[i*3+k])
			}
			held += math.Log(float64(h.Noisy[i*3+int(y)]))
			seen += math.Log(label)
			if math.Abs(sum-1) > 1e-5 {
				t.Fatalf("%s: example %d: got probabilities %v, want a sum of 1", mode, i,
					h.Clean[i*3:(i+1)*3])
			}
		}
		if !(held < seen) {
			t.Errorf("%s: got log-likelihood %.1f of unseen and %.1f of seen examples, want less", mode,
				held, seen)
		}
	}
}

// TestChoice wants fits that choose parameters to settle all of them, to end the search when time
// is short, and to continue to the same bits.
func TestChoice(t *testing.T) {
	data := newTable(400, 2, 6)
	problem := data.noisy(2, 0.2, simd.New())
	var states []trees.State
	watch := trees.Watch{Step: func(s *trees.State) error {
		now := *s
		m := *s.Model
		m.Trees, m.Class, m.Gain = slices.Clone(m.Trees), slices.Clone(m.Class), slices.Clone(m.Gain)
		now.Model = &m
		states = append(states, now)
		return nil
	}}
	p := trees.Defaults()
	want, err := trees.Fit(context.Background(), p, problem, data.e, watch)
	if err != nil {
		t.Fatal(err)
	}
	s := states[len(states)/2]
	if v := s.Settled; v.Mode == trees.Auto || v.Rounds*v.Leaves == 0 ||
		v.Rate*v.Rows*v.Columns == 0 {
		t.Errorf("got settled parameters %+v, want all of them", v)
	}
	if s.Temperature == 0 || s.Temperature == 1 {
		t.Errorf("got temperature %v, want one by examples held out", s.Temperature)
	}
	got, err := trees.Fit(context.Background(), p, problem, data.e, trees.Watch{From: &s})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("continued after %d of %d steps: got another model, %v", len(states)/2, len(states),
			err)
	}
	problem.Spent = func() float64 { return 1 }
	tried := 0
	watch = trees.Watch{Note: func(string, ...any) { tried++ }}
	if _, err := trees.Fit(context.Background(), p, problem, data.e, watch); err != nil || tried > 1 {
		t.Errorf("without time: got %d trials, %v, want 1", tried, err)
	}
}
