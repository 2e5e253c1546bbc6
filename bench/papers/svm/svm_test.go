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

func solve(t *testing.T, m *machine) {
	t.Helper()
	for passes := 0; !m.done; passes++ {
		if passes == 100000 {
			t.Fatal("no end after 100000 passes")
		}
		m.pass()
	}
}

// The solution of one class against the rest, by its duality gap, which is 0 at the solution
// alone.
func TestMachineIsOptimal(t *testing.T) {
	for _, loss := range []string{Hinge, Squared} {
		e := clouds(300, 12, 3)
		p := &Params{Loss: loss, Tolerance: 1e-7}
		o := newMachine(e, 1, false, p, 3)
		least := int64(len(o.alpha))
		for !o.done {
			o.pass()
			least = min(least, o.active)
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

// A pass of one class against the rest as simple as can be: no example is left out in the first.
func TestFirstPassHasTwin(t *testing.T) {
	e := clouds(100, 9, 3)
	o := newMachine(e, 2, false, &Params{Loss: Hinge, Tolerance: 1e-3}, 8)
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
	o := newMachine(e, 1, true, Defaults(), 8)
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
		m    *machine
		want uint64
	}{
		{"hinge", newMachine(clouds(200, 30, 3), 1, false, params(Hinge), 4), 0x99000b5fe4e21b44},
		{"squared", newMachine(clouds(200, 30, 3), 1, false, params(Squared), 4), 0x386b4329e95d4e69},
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
