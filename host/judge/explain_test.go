package judge

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// draw returns counts of n labels for each predicted class; a share of them is of another true
// class, which c makes noisy.
func draw(c *confusion.Matrix, n int, wrong float64, seed uint64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	q := c.Q()
	counts := make([]int64, q*q)
	for p := range q {
		for range n {
			truth := p
			if rng.Float64() < wrong {
				truth = rng.IntN(q)
			}
			k, u := 0, rng.Float64()-c.P[truth]
			for ; u >= 0 && k < q-1; u -= c.P[k*q+truth] {
				k++
			}
			counts[p*q+k]++
		}
	}
	return counts
}

func must(c *confusion.Matrix, err error) *confusion.Matrix {
	if err != nil {
		panic(err)
	}
	return c
}

// A right matrix is hardly ever contradicted, however often the model errs; one that claims more
// noise than there is, or noise to the other side, is.
func TestExplain(t *testing.T) {
	classes := []string{"a", "b", "c", "d", "e", "f"}
	pair := func(rate float64) *confusion.Matrix { return must(confusion.Pairwise(classes, rate)) }
	symmetric := func(rate float64) *confusion.Matrix {
		return must(confusion.Symmetric(classes, rate))
	}
	turned := pair(0.4)
	for p := range 6 {
		for q := range p {
			turned.P[p*6+q], turned.P[q*6+p] = turned.P[q*6+p], turned.P[p*6+q]
		}
	}
	for _, v := range []struct {
		name        string
		claim, true *confusion.Matrix
		want        bool // a contradiction
	}{
		{"right", pair(0.4), pair(0.4), false}, {"right, symmetric", symmetric(0.3), symmetric(0.3),
			false},
		{"49 for 40 %", pair(0.49), pair(0.4), true}, {"45 for 40 %", pair(0.45), pair(0.4), true},
		{"turned", turned, pair(0.4), true}, {"40 for 0 %", symmetric(0.4), symmetric(0), true},
		{"40 for 30 %", symmetric(0.4), symmetric(0.3), true},
		{"the identity explains everything", pair(0), pair(0.4), false},
	} {
		contradictions := 0
		for seed := range uint64(30) {
			for _, wrong := range []float64{0, 0.1} {
				e := explain(v.claim, draw(v.true, 800, wrong, seed))
				if e.P < 1e-3 && (wrong == 0 || !v.want) { // a model's errors may hide a small one
					contradictions++
				}
				if v.want && wrong == 0 && (e.Worst.Found <= e.Worst.Explained || e.Unexplained == 0) {
					t.Fatalf("%s: %+v", v.name, e)
				}
			}
		}
		t.Logf("%s: contradicted %d times", v.name, contradictions)
		if v.want && contradictions < 28 || !v.want && contradictions > 0 {
			t.Errorf("%s: contradicted %d times", v.name, contradictions)
		}
	}
}

// No examples, and classes without any, contradict nothing.
func TestExplainNothing(t *testing.T) {
	c := must(confusion.Symmetric([]string{"a", "b"}, 0.2))
	for _, counts := range [][]int64{{0, 0, 0, 0}, {8, 2, 0, 0}} {
		if e := explain(c, counts); e.P < 0.1 || e.Unexplained > 0.01 {
			t.Errorf("%v: %+v", counts, e)
		}
	}
}
