package sets_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
)

const classes = 5

// world draws examples of Gaussian classes; their probabilities come from an underconfident model.
type world struct {
	rng    *rand.Rand
	centre [classes][6]float64
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 31))}
	for k := range w.centre {
		for j := range w.centre[k] {
			w.centre[k][j] = 1.1 * w.rng.NormFloat64()
		}
	}
	return w
}

func (w *world) draw(n int) (p []float32, y []int32) {
	for range n {
		label := w.rng.IntN(classes)
		var x [6]float64
		for j := range x {
			x[j] = w.centre[label][j] + w.rng.NormFloat64()
		}
		var likelihood [classes]float64
		sum := 0.0
		for k := range likelihood {
			for j := range x {
				likelihood[k] -= 0.4 * (x[j] - w.centre[k][j]) * (x[j] - w.centre[k][j])
			}
			likelihood[k] = math.Exp(likelihood[k])
			sum += likelihood[k]
		}
		for _, v := range likelihood {
			p = append(p, float32(v/sum))
		}
		y = append(y, int32(label))
	}
	return p, y
}

func matrix(t *testing.T, make func([]string, float64) (*confusion.Matrix, error), rate float64,
) *confusion.Matrix {
	t.Helper()
	c, err := make([]string{"a", "b", "c", "d", "e"}, rate)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// estimated returns c as n examples of each class tell it, with its standard errors.
func estimated(rng *rand.Rand, c *confusion.Matrix, n int) *confusion.Matrix {
	e := &confusion.Matrix{Classes: c.Classes, P: make([]float64, classes*classes),
		Error: make([]float64, classes*classes)}
	for t := range classes {
		for range n {
			u, k := rng.Float64(), 0
			for ; k < classes-1 && u >= c.P[k*classes+t]; k++ {
				u -= c.P[k*classes+t]
			}
			e.P[k*classes+t] += 1 / float64(n)
		}
		for k := range classes {
			share := e.P[k*classes+t]
			e.Error[k*classes+t] = math.Sqrt(share * (1 - share) / float64(n))
		}
	}
	return e
}

// The promise of 600 simulations in six settings: coverage is within a point of the level, and sets
// are smaller than by labels whose noise is ignored.
func TestCoverageByNoisyLabels(t *testing.T) {
	const simulations = 100
	pairwise := matrix(t, confusion.Pairwise, 0.3)
	for name, truth := range map[string]*confusion.Matrix{"pairwise": pairwise,
		"symmetric": matrix(t, confusion.Symmetric, 0.4), "estimated": pairwise} {
		for _, level := range []float64{0.9, 0.95} {
			var coverage, size, ignoring float64
			for seed := range uint64(simulations) {
				w := newWorld(seed)
				p, y := w.draw(1000)
				noisy, err := truth.Inject(y, seed)
				if err != nil {
					t.Fatal(err)
				}
				c := truth
				if name == "estimated" {
					c = estimated(w.rng, truth, 40)
				}
				fresh, right := w.draw(1000)
				for _, c := range []*confusion.Matrix{c, nil} {
					rule, err := sets.Calibrate(p, noisy, c,
						sets.Rule{Level: level})
					if err != nil {
						t.Fatal(err)
					}
					j, err := rule.Judge(fresh, right, nil)
					if err != nil {
						t.Fatal(err)
					}
					if c == nil {
						ignoring += j.Size / simulations
						continue
					}
					coverage += j.Coverage / simulations
					size += j.Size / simulations
				}
			}
			t.Logf("%s, level %v: coverage %.4f, %.2f classes, %.2f where noise is ignored", name, level,
				coverage, size, ignoring)
			if math.Abs(coverage-level) > 0.01 || size >= ignoring {
				t.Errorf("%s: coverage %.4f, want %v within 0.01; %.2f classes, want less than %.2f", name,
					coverage, level, size, ignoring)
			}
		}
	}
}

// Of calibrations by 500 examples, a third or more cover less than the level; with Sure at most 5 %
// do, but for the chance of 300 simulations. AtLeast is reached by about 95 %.
func TestSure(t *testing.T) {
	const simulations, level = 300, 0.9
	symmetric := matrix(t, confusion.Symmetric, 0.4)
	for name, truth := range map[string]*confusion.Matrix{"right labels": nil,
		"symmetric": symmetric, "pairwise": matrix(t, confusion.Pairwise, 0.3),
		"estimated": symmetric} {
		var short, farShort, shortSure, below, size, sizeSure float64
		for seed := range uint64(simulations) {
			w := newWorld(seed)
			p, y := w.draw(500)
			c := truth
			if truth != nil {
				var err error
				if y, err = truth.Inject(y, seed); err != nil {
					t.Fatal(err)
				}
			}
			if name == "estimated" {
				c = estimated(w.rng, truth, 100)
			}
			fresh, right := w.draw(4000)
			for _, sure := range []bool{false, true} {
				rule, err := sets.Calibrate(p, y, c, sets.Rule{Level: level, Sure: sure})
				if err != nil {
					t.Fatal(err)
				}
				j, err := rule.Judge(fresh, right, nil)
				if err != nil {
					t.Fatal(err)
				}
				missed := 0.0
				if j.Coverage < level {
					missed = 1.0 / simulations
				}
				if sure {
					shortSure, sizeSure = shortSure+missed, sizeSure+j.Size/simulations
					continue
				}
				short, size = short+missed, size+j.Size/simulations
				if j.Coverage < level-0.05 {
					farShort += 1.0 / simulations
				}
				if j.Coverage < rule.AtLeast {
					below += 1.0 / simulations
				}
			}
		}
		t.Logf("%s: %.3f of calibrations cover less than %v, %.3f by .05 less, %.3f if sure; %.3f less "+
			"than AtLeast; %.2f and %.2f classes", name, short, level, farShort, shortSure, below, size,
			sizeSure)
		if short < 0.3 || shortSure > 0.075 || below > 0.09 {
			t.Errorf("%s: too many calibrations are short", name)
		}
	}
}

// By right labels the threshold is the ⌈(n+1)·level⌉-th smallest nonconformity of the true class.
func TestRightLabelsAreSplitConformal(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(seed)
		n := 20 + w.rng.IntN(200)
		p, y := w.draw(n)
		rule, err := sets.Calibrate(p, y, nil, sets.Rule{Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		var own []float64
		for i, k := range y {
			own = append(own, 1-float64(p[i*classes+int(k)]))
		}
		slices.Sort(own)
		if want := own[int(math.Ceil(float64(n+1)*0.9))-1]; rule.Thresholds[0] != want {
			t.Errorf("seed %d, %d examples: got threshold %v, want %v", seed, n, rule.Thresholds[0], want)
		}
		if j, err := rule.Judge(p, y, nil); err != nil || j.Coverage < 0.9 {
			t.Errorf("seed %d: coverage %v of the examples themselves, want 0.9 or more: %v", seed,
				j.Coverage, err)
		}
	}
}

// A promise by class is kept for a class that is harder than others.
func TestByClass(t *testing.T) {
	c := matrix(t, confusion.Symmetric, 0.2)
	var hard, marginal float64
	const simulations = 40
	for seed := range uint64(simulations) {
		w := newWorld(seed)
		w.centre[1] = w.centre[0] // nothing tells these from each other
		p, y := w.draw(2000)
		noisy, err := c.Inject(y, seed)
		if err != nil {
			t.Fatal(err)
		}
		fresh, right := w.draw(2000)
		own, labels := fresh[:0:0], right[:0:0]
		for i, k := range right {
			if k == 1 {
				own, labels = append(own, fresh[i*classes:(i+1)*classes]...), append(labels, k)
			}
		}
		for _, byClass := range []bool{true, false} {
			rule, err := sets.Calibrate(p, noisy, c,
				sets.Rule{Level: 0.8, ByClass: byClass})
			if err != nil {
				t.Fatal(err)
			}
			j, err := rule.Judge(own, labels, nil)
			if err != nil {
				t.Fatal(err)
			}
			if byClass {
				hard += j.Coverage / simulations
			} else {
				marginal += j.Coverage / simulations
			}
		}
	}
	t.Logf("coverage of the hard class %.4f by class, %.4f by one threshold", hard, marginal)
	if math.Abs(hard-0.8) > 0.015 {
		t.Errorf("coverage %.4f of the hard class, want 0.8 within 0.015", hard)
	}
}

// Where too few examples keep no promise, every class is in every set.
func TestWholeSet(t *testing.T) {
	w := newWorld(1)
	p, y := w.draw(5)
	rule, err := sets.Calibrate(p, y, nil, sets.Rule{Level: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	if rule.Unbounded() != classes || len(rule.Classes(nil, p[:classes])) != classes {
		t.Errorf("got thresholds %v of 5 examples, want %d for each class", rule.Thresholds, sets.Always)
	}
}

// By noisy right answers Judge finds the coverage that right labels show.
func TestJudgeByNoisyLabels(t *testing.T) {
	c, w := matrix(t, confusion.Pairwise, 0.3), newWorld(3)
	p, y := w.draw(20000)
	rule := sets.Rule{Level: 0.9,
		Thresholds: []float64{0.5, 0.6, 0.7, 0.8, 0.9}}
	noisy, err := c.Inject(y, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rule.Judge(p, y, nil)
	got, err2 := rule.Judge(p, noisy, c)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if got.Size != want.Size || got.Error > 0.02 ||
		math.Abs(got.Coverage-want.Coverage) > 4*got.Error {
		t.Errorf("got %+v by noisy labels, want %+v", got, want)
	}
}

func TestBadInput(t *testing.T) {
	w := newWorld(1)
	p, y := w.draw(4)
	good := sets.Rule{Level: 0.9}
	nan := slices.Clone(p)
	nan[3] = float32(math.NaN())
	two, err := confusion.Symmetric([]string{"a", "b"}, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() (sets.Rule, error){
		"no example":    func() (sets.Rule, error) { return sets.Calibrate(nil, nil, nil, good) },
		"ragged":        func() (sets.Rule, error) { return sets.Calibrate(p[1:], y, nil, good) },
		"one class":     func() (sets.Rule, error) { return sets.Calibrate(p[:4], y, nil, good) },
		"NaN":           func() (sets.Rule, error) { return sets.Calibrate(nan, y, nil, good) },
		"label":         func() (sets.Rule, error) { return sets.Calibrate(p, []int32{0, 1, 2, 5}, nil, good) },
		"other classes": func() (sets.Rule, error) { return sets.Calibrate(p, y, two, good) },
		"level":         func() (sets.Rule, error) { return sets.Calibrate(p, y, nil, sets.Rule{Level: 1}) },
	} {
		if _, err := call(); !errors.Is(err, sets.ErrInput) {
			t.Errorf("%s: got error %v, want %v", name, err, sets.ErrInput)
		}
	}
}
