package svm

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// clouds are classes that overlap, some of them rare; half of the values are 0, and one example
// is.
func clouds(n, d, q int) *examples {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(q)))
	x, y := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, make([]int32, n)
	for i := range n {
		y[i] = int32(rng.ExpFloat64()*2) % int32(q)
		row := x.Row(i)
		if i == 7 {
			continue
		}
		for j := range row {
			if rng.IntN(2) == 0 {
				row[j] = float32(rng.NormFloat64())
			}
		}
		row[y[i]]++
	}
	costs := make([]float64, q)
	for k := range costs {
		costs[k] = 0.1 * float64(1+k)
	}
	return newExamples(x, y, costs)
}

// scores returns ⟨w_r,x_i⟩ of all classes.
func scores(e *examples, w [][]float64, i int) []float64 {
	s := make([]float64, len(w))
	for r := range s {
		for j, v := range e.x.Row(i) {
			s[r] += w[r][j] * float64(v)
		}
	}
	return s
}

func squared(w []float64) (sum float64) {
	for _, v := range w {
		sum += v * v
	}
	return sum
}

// near says whether the values of the problem and of its dual, the former never below the latter,
// are equal but for what the tolerance explains, and whether w is what the dual variables make it.
func near(primal, dual float64, w, sum []float64) error {
	for k, v := range w {
		if math.Abs(v-sum[k]) > 1e-9*(1+math.Abs(v)) {
			return fmt.Errorf("weight %d is %v, the examples add up to %v", k, v, sum[k])
		}
	}
	if gap := primal - dual; !(gap > -1e-9*primal && gap < 1e-6*primal) {
		return fmt.Errorf("the objective is %v, its dual %v, wanted the same", primal, dual)
	}
	return nil
}

func solve(t *testing.T, m machine) (passes int) {
	t.Helper()
	for done := false; !done; passes++ {
		if passes == 100000 {
			t.Fatal("no end after 100000 passes")
		}
		m.(descender).pass()
		_, done = m.unmet()
	}
	return passes
}

// The solution of one class against the rest, by its duality gap, which is 0 at the solution
// alone.
func TestOVRIsOptimal(t *testing.T) {
	for _, loss := range []string{Hinge, Squared} {
		e := clouds(300, 12, 3)
		p := &Params{Loss: loss, Tolerance: 1e-7}
		o := newOVR(e, 1, false, p, 3)
		least := int64(len(o.alpha))
		for done := false; !done; _, done = o.unmet() {
			o.pass()
			least = min(least, o.order.active)
		}
		if least > 250 {
			t.Errorf("%s: at least %d of 300 examples were never left out", loss, least)
		}
		primal, dual, sum := squared(o.w)/2, -squared(o.w)/2, make([]float64, 12)
		for i, a := range o.alpha {
			c, sign := e.costs[e.y[i]], -1.0
			if e.y[i] == 1 {
				sign = 1
			}
			xi := max(0, 1-sign*scores(e, [][]float64{o.w}, i)[0])
			if a < 0 || loss == Hinge && a > c {
				t.Fatalf("%s: α of example %d is %v", loss, i, a)
			}
			if loss == Squared {
				primal += c * xi * xi
				dual += a - a*a/(4*c)
			} else {
				primal += c * xi
				dual += a
			}
			for j, v := range e.x.Row(i) {
				sum[j] += sign * a * float64(v)
			}
		}
		if err := near(primal, dual, o.w, sum); err != nil {
			t.Errorf("%s: %v", loss, err)
		}
	}
}

// The solution of all classes at once, likewise.
func TestTogetherIsOptimal(t *testing.T) {
	for _, q := range []int{2, 3, 6} {
		e := clouds(300, 12, q)
		m := newCrammerSinger(e, q, &Params{Loss: Hinge, Multiclass: All, Tolerance: 1e-7}, 3)
		least, fewest := int64(300), int32(q)
		for done := false; !done; _, done = m.unmet() {
			m.pass()
			least = min(least, m.order.active)
			for _, left := range m.left {
				fewest = min(fewest, left)
			}
		}
		if least > 250 || fewest > 1 {
			t.Errorf("%d classes: %d of 300 examples and %d classes of each were never left out", q, least,
				fewest)
		}
		w, sum, flat := make([][]float64, q), make([]float64, q*12), make([]float64, 0, q*12)
		for r := range w {
			for j := range 12 {
				w[r] = append(w[r], m.w[j*q+r])
			}
			flat = append(flat, w[r]...)
		}
		primal, dual := squared(flat)/2, -squared(flat)/2
		for i, y := range e.y {
			s, most, total := scores(e, w, i), 0.0, 0.0
			for r, a := range m.alpha[i*q : (i+1)*q] {
				total += a
				if r == int(y) && a > e.costs[y] || r != int(y) && a > 0 {
					t.Fatalf("%d classes: α of example %d, class %d is %v", q, i, r, a)
				}
				if r != int(y) {
					most = max(most, 1+s[r]-s[y])
					dual -= a
				}
				for j, v := range e.x.Row(i) {
					sum[r*12+j] += a * float64(v)
				}
			}
			if math.Abs(total) > 1e-9 {
				t.Fatalf("%d classes: α of example %d add up to %v", q, i, total)
			}
			if e.norms2[i] == 0 {
				dual += e.costs[y] // α of an example that is 0 could be C and moves nothing: it stays 0
			}
			primal += e.costs[y] * most
		}
		if err := near(primal, dual, flat, sum); err != nil {
			t.Errorf("%d classes: %v", q, err)
		}
	}
}

// The step for one example of all classes at once is the best one: no other that is allowed is
// better.
func TestTogetherStepIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		q := 2 + rng.IntN(5)
		e := clouds(20, 8, q)
		m := newCrammerSinger(e, q, &Params{Tolerance: 1e-3}, 1)
		m.pass()
		i := rng.IntN(20)
		if i == 7 {
			continue
		}
		y, before := e.y[i], append([]float64(nil), m.alpha[i*q:(i+1)*q]...)
		m.all()
		m.slopes(i)
		slope := append([]float64(nil), m.slope...)
		m.solve(i)
		loss := func(alpha []float64) (sum float64) {
			for k, a := range alpha {
				r := m.classes[i*q+k]
				by := a - before[r]
				sum += by*slope[k] + by*by*e.norms2[i]/2
			}
			return sum
		}
		inOrder := func(alpha []float64) (of []float64) {
			for _, r := range m.classes[i*q : (i+1)*q] {
				of = append(of, alpha[r])
			}
			return of
		}
		best := inOrder(m.alpha[i*q : (i+1)*q])
		least := loss(best)
		for range 200 {
			from, to, by := rng.IntN(q), rng.IntN(q), math.Pow(10, -1-5*rng.Float64())
			other := append([]float64(nil), best...)
			other[from] -= by
			other[to] += by
			if other[to] > m.bound(i, m.classes[i*q+to]) {
				continue
			}
			if l := loss(other); l < least-1e-12 {
				t.Fatalf("%d classes, own %d: %v has %v, %v has %v", q, y, best, least, other, l)
			}
		}
	}
}

// A pass of one class against the rest as simple as can be: no example is left out in the first.
func TestFirstPassIsThatOfATwin(t *testing.T) {
	e := clouds(100, 9, 3)
	o := newOVR(e, 2, false, &Params{Loss: Hinge, Tolerance: 1e-3}, 8)
	w, alpha, of := make([]float64, 9), make([]float64, 100), make([]int, 100)
	for i := range of {
		of[i] = i
	}
	random := rand.New(rand.NewPCG(8, 0x73766d0002))
	for s := range 100 {
		t := s + int(random.Int64N(int64(100-s)))
		of[s], of[t] = of[t], of[s]
	}
	for _, i := range of {
		sign, x, sum, norm2 := -1.0, e.x.Row(i), 0.0, 0.0
		if e.y[i] == 2 {
			sign = 1
		}
		for j := range x {
			sum += float64(w[j] * float64(x[j]))
			norm2 += float64(x[j]) * float64(x[j])
		}
		if norm2 == 0 {
			alpha[i] = e.costs[e.y[i]]
			continue
		}
		slope := float64(sign*sum) - 1
		next := min(max(0, alpha[i]-slope/norm2), e.costs[e.y[i]])
		for j := range x {
			w[j] += float64(float64(sign*(next-alpha[i])) * float64(x[j]))
		}
		alpha[i] = next
	}
	o.pass()
	for j := range w {
		if w[j] != o.w[j] {
			t.Fatalf("weight %d is %v, the twin's %v", j, o.w[j], w[j])
		}
	}
	for i := range alpha {
		if alpha[i] != o.alpha[i] {
			t.Fatalf("α of example %d is %v, the twin's %v", i, o.alpha[i], alpha[i])
		}
	}
}

// Two classes share one machine: the first class's weights are the second class's with the opposite
// sign.
func TestMirrored(t *testing.T) {
	e := clouds(100, 9, 2)
	o := newOVR(e, 1, true, Defaults(), 8)
	solve(t, o)
	w := engine.NewWeights(2, 9)
	if classes := o.weights(w); len(classes) != 2 {
		t.Errorf("classes %v have changed, wanted both", classes)
	}
	for j, v := range w.Row(1) {
		if v == 0 || w.Row(0)[j] != -v {
			t.Errorf("weights %d are %v and %v", j, w.Row(0)[j], v)
		}
	}
}

// The bits of W, which are the same on every processor.
func TestBits(t *testing.T) {
	params := func(loss string) *Params { return &Params{Loss: loss, Tolerance: 0.01} }
	for _, c := range []struct {
		name string
		m    machine
		want uint64
	}{
		{"hinge", newOVR(clouds(200, 30, 3), 1, false, params(Hinge), 4), 0x99000b5fe4e21b44},
		{"squared", newOVR(clouds(200, 30, 3), 1, false, params(Squared), 4), 0x386b4329e95d4e69},
		{"all", newCrammerSinger(clouds(200, 30, 3), 3, params(Hinge), 4), 0xaa2523f0f2279d5d},
	} {
		solve(t, c.m)
		w := engine.NewWeights(3, 30)
		c.m.weights(w)
		hash := fnv.New64()
		if err := binary.Write(hash, binary.LittleEndian, w.W); err != nil {
			t.Fatal(err)
		}
		if got := hash.Sum64(); got != c.want {
			t.Errorf("%s: the weights have the hash %#x, wanted %#x", c.name, got, c.want)
		}
	}
}
