package clean

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// stackContest returns a contest of n examples. Somebody has checked the first examples, as many as
// checked says, and their true classes are known.
func stackContest(t *testing.T, n, checked int) *contest {
	t.Helper()
	d, _ := rings(t, n, 0, 9)
	right := slices.Repeat([]int32{-1}, n)
	for i := range checked {
		right[i] = (d.Y[i] + 1) % 3
	}
	c, err := newContest(d, Options{Right: right, Options: host.Options{Engine: simd.New()}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// saying is a candidate that gives class(i) of example i the probability p, and has the others
// share the rest.
func (c *contest) saying(w way, p float32, class func(i int) int32) *candidate {
	s := &candidate{way: w, models: []*model.Model{nil}, p: make([]float32, len(c.rows)*c.q)}
	for k, i := range c.rows {
		for t := range c.q {
			if s.p[k*c.q+t] = (1 - p) / float32(c.q-1); int32(t) == class(i) {
				s.p[k*c.q+t] = p
			}
		}
	}
	assess(&c.cases, s)
	return s
}

func (c *contest) label(i int) int32 { return c.data.Y[i] }
func (c *contest) next3(i int) int32 { return (c.data.Y[i] + 1) % 3 }

func noiseMatrix(diagonal float64) *estimate.Estimate {
	e := &estimate.Estimate{Matrix: confusion.Matrix{Classes: []string{"a", "b", "c"}}}
	for k := range 9 {
		v := (1 - diagonal) / 2
		if k%4 == 0 {
			v = diagonal
		}
		e.P = append(e.P, v)
	}
	return e
}

// A candidate that is right everywhere is all of the model; of two that are right on a half each
// both have half; neighbours, which are no model, have no share.
func TestSharesOfCandidates(t *testing.T) {
	c := stackContest(t, 300, 0)
	good := c.saying(way{}, 0.9, c.label)
	bad := c.saying(way{weighty: true}, 0.9, c.next3)
	near := c.saying(way{neighbours: true}, 0.99, c.label)
	near.models = nil
	c.said = []*candidate{bad, good, near}
	parts := stack(&c.cases, c.said)
	if len(parts) != 1 || parts[0].candidate != good || parts[0].share != 1 {
		t.Errorf("got %+v, want the good one alone", parts)
	}
	half := func(first bool) func(int) int32 {
		return func(i int) int32 {
			if (i < 150) == first {
				return c.label(i)
			}
			return c.next3(i)
		}
	}
	c.said = []*candidate{c.saying(way{}, 0.9, half(true)),
		c.saying(way{weighty: true}, 0.9, half(false))}
	parts = stack(&c.cases, c.said)
	if len(parts) != 2 || math.Abs(parts[0].share-0.5) > 0.02 || parts[0].share < parts[1].share ||
		math.Abs(parts[0].share+parts[1].share-1) > 1e-12 {
		t.Errorf("got %+v, want halves", parts)
	}
	c.said = []*candidate{near}
	if parts := stack(&c.cases, c.said); parts != nil {
		t.Errorf("got %+v of what is no model, want none", parts)
	}
}

// The model is of one kind: curved candidates have to be surely likelier, by more than chance.
func TestCurvedModelsAreSurelyLikelier(t *testing.T) {
	for misses, curved := range map[int]bool{30: true, 5: false} {
		c := stackContest(t, 300, 0)
		missing := func(every, at int) func(int) int32 {
			return func(i int) int32 {
				if i%every == at {
					return c.next3(i)
				}
				return c.label(i)
			}
		}
		c.said = []*candidate{c.saying(way{}, 0.9, missing(300/misses, 0)),
			c.saying(way{kernel: true}, 0.9, missing(75, 1))}
		parts := stack(&c.cases, c.said)
		if len(parts) != 1 || parts[0].way.kernel != curved {
			t.Errorf("%d labels missed beside 4: got %+v", misses, parts)
		}
	}
}

// Enough checked rows decide the shares, with the others as a prior; fewer are rows like others.
func TestCheckedRowsWeighInShares(t *testing.T) {
	for checked, trusting := range map[int]bool{LeastRight: true, LeastRight - 1: false} {
		c := stackContest(t, 600, checked)
		ofLabels := c.saying(way{}, 0.9, c.label)
		ofChecked := c.saying(way{weighty: true}, 0.9, c.next3) // right of checked rows alone
		c.said = []*candidate{ofLabels, ofChecked}
		parts := stack(&c.cases, c.said)
		if first := parts[0].candidate; (first == ofChecked) != trusting {
			t.Errorf("%d checked rows: got %s first", checked, first.way)
		}
	}
}

// Without checked rows a candidate is trusted only if its noise leaves most labels right, is told
// by the labels, and does not contradict them surely more often than the best that believes them.
func TestTrustedNoise(t *testing.T) {
	for _, of := range []struct {
		name    string
		checked int
		noise   *estimate.Estimate
		misses  int // examples of 300 that it gives another class than their label
		want    bool
	}{
		{"labels are right", 0, nil, 300, true},
		{"some are wrong", 0, noiseMatrix(0.6), 10, true},
		{"most are wrong, none as often as right", 0, noiseMatrix(0.45), 10, true},
		{"labels tell little more than chance", 0, noiseMatrix(0.42), 10, false},
		{"labels tell little, and rows were checked", LeastRight, noiseMatrix(0.42), 10, true},
		{"others are more frequent", 0, noiseMatrix(0.28), 10, false},
		{"others are more frequent, and rows were checked", LeastRight, noiseMatrix(0.28), 10, true},
		{"contradicts labels", 0, noiseMatrix(0.6), 60, false},
		{"contradicts labels, and rows were checked", LeastRight, noiseMatrix(0.6), 60, true},
	} {
		c := stackContest(t, 300, of.checked)
		some := func(n int) func(int) int32 {
			return func(i int) int32 {
				if i >= 300-n {
					return c.next3(i)
				}
				return c.label(i)
			}
		}
		s := c.saying(way{noise: learned}, 0.9, some(of.misses))
		s.noise = of.noise
		c.said = []*candidate{c.saying(way{}, 0.9, some(20)), s}
		if got := trusted(&c.cases, s, c.said); got != of.want {
			t.Errorf("%s: got %v, want %v", of.name, got, of.want)
		}
		if of.noise != nil {
			of.noise.Unidentified = []int{1}
			if got := trusted(&c.cases, s, c.said); got != of.want {
				t.Errorf("%s, one class not told: got %v, want %v", of.name, got, of.want)
			}
			of.noise.Unidentified = []int{0, 1, 2}
			if trusted(&c.cases, s, c.said) {
				t.Errorf("%s: trusted although labels tell no class", of.name)
			}
		}
	}
}

// What is known of a row is its true class if it was checked, else its label, by the noise of the
// candidate; of one that knows little of labels by that of others.
func TestLikelihoodsOfRows(t *testing.T) {
	c := stackContest(t, 30, 3)
	s := c.saying(way{noise: learned}, 0.8, c.label)
	s.noise = noiseMatrix(0.7)
	of := c.saying(way{noise: alone}, 0.8, c.label)
	for _, said := range [][]*candidate{{s, of}, {of}} {
		c.said = said
		for _, one := range said {
			got := likelihoods(&c.cases, one, c.said)
			want := 0.7*0.8 + 0.15*0.2 // P(label | same class)·P(same) + P(label | other)·P(other)
			if said[0] == of {
				want = 0.8 // nothing tells the noise
			}
			for k, i := range c.rows {
				if w := want; i < 3 && math.Abs(got[k]-0.1) > 1e-6 || i >= 3 && math.Abs(got[k]-w) > 1e-6 {
					t.Fatalf("%s: row %d: got %v, want %v, of checked ones 0.1", one.way, i, got[k], w)
				}
			}
		}
	}
	if got := labelled([]float32{0.2, 0.8, 0}, 1, nil); math.Abs(got-0.8) > 1e-6 {
		t.Errorf("got %v, want 0.8", got)
	}
}

// Mixed probabilities are the weighted geometric means, made to sum to 1.
func TestBlendIsGeometric(t *testing.T) {
	a := &candidate{p: []float32{0.9, 0.1, 0.5, 0.5}}
	b := &candidate{p: []float32{0.2, 0.8, 0.25, 0.75}}
	of := func(s part) ([]float32, error) { return s.p, nil }
	p, err := blend([]part{{a, 0.75}, {b, 0.25}}, of, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		u := math.Pow(float64(a.p[2*i]), 0.75) * math.Pow(float64(b.p[2*i]), 0.25)
		v := math.Pow(float64(a.p[2*i+1]), 0.75) * math.Pow(float64(b.p[2*i+1]), 0.25)
		if want := u / (u + v); math.Abs(float64(p[2*i])-want) > 1e-6 ||
			math.Abs(float64(p[2*i]+p[2*i+1])-1) > 1e-6 {
			t.Errorf("row %d: got %v, want %.6f", i, p[2*i:2*i+2], want)
		}
	}
	if one, err := blend([]part{{b, 1}}, of, 2); err != nil || &one[0] != &b.p[0] {
		t.Errorf("one part: got %v, %v, want it as it is", one, err)
	}
}
