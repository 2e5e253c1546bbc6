package svm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// planeAt returns the plane that touches the losses at w, and these losses, with scores of
// float32.
func planeAt(s *oneSlack, w []float64) (p plane, losses float64) {
	for i := range s.x.N {
		scores := make([]float32, max(s.rows, 3))
		for r := range scores {
			row := min(r, s.rows-1)
			for j, v := range s.x.Row(i) {
				scores[r] += float32(w[row*s.x.D+j]) * v
			}
		}
		losses += s.miss(&p, i, scores)
	}
	return p, losses
}

// A plane is below the losses of every w, and touches them where it was found; its products with
// others equal the products of the vectors.
func TestPlaneIsBelowLosses(t *testing.T) {
	for _, class := range []int{1, -1} {
		s := newOneSlack(clouds(60, 6, 3), class, 3, false, &Params{Tolerance: 1e-3})
		rng := rand.New(rand.NewPCG(4, 5))
		draw := func() []float64 {
			w := make([]float64, len(s.w))
			for k := range w {
				w[k] = float64(float32(rng.NormFloat64()))
			}
			return w
		}
		var vectors [][]float64
		for range 8 {
			at := draw()
			p, losses := planeAt(s, at)
			a := make([]float64, len(s.w))
			s.each(&p, func(i, row int, c float64) { s.add(a[row*6:(row+1)*6], i, c) })
			value := func(w []float64) float64 {
				sum := p.offset
				for k, v := range a {
					sum += v * w[k]
				}
				return sum
			}
			if v := value(at); math.Abs(v-losses) > 1e-5*losses {
				t.Errorf("class %d: the plane has %v where it was found, the losses are %v", class, v, losses)
			}
			for range 20 {
				w := draw()
				if _, losses := planeAt(s, w); value(w) > losses+1e-5 {
					t.Errorf("class %d: the plane has %v, the losses are %v", class, value(w), losses)
				}
			}
			vectors = append(vectors, a)
			row := s.products(&p)
			for j, v := range row[1:] {
				want := 0.0
				for k := range a {
					want += a[k] * vectors[j][k]
				}
				if math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("class %d: product %d is %v, wanted %v", class, j, v, want)
				}
			}
			s.keep(p, row)
		}
	}
}

// The α of some planes are the best: no other that add up to 1 have a higher dual, and w is what
// they make it.
func TestSolveIsBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for class := -1; class < 2; class++ {
		s := newOneSlack(clouds(60, 6, 3), class, 3, false, &Params{Tolerance: 1e-3})
		for range 12 {
			w := make([]float64, len(s.w))
			for k := range w {
				w[k] = rng.NormFloat64() / 2
			}
			p, _ := planeAt(s, w)
			s.keep(p, s.products(&p))
		}
		s.solve(1e-12)
		sum := 0.0
		for _, a := range s.alpha {
			sum += a
			if a < 0 {
				t.Errorf("class %d: α is %v", class, a)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("class %d: α add up to %v", class, sum)
		}
		_, _, best := s.terms()
		was := append([]float64(nil), s.alpha...)
		for range 2000 {
			copy(s.alpha, was)
			from, to := rng.IntN(len(was)), rng.IntN(len(was))
			by := s.alpha[from] * rng.Float64()
			s.alpha[from] -= by
			s.alpha[to] += by
			if _, _, dual := s.terms(); dual > best*(1+1e-9) {
				t.Fatalf("class %d: found a dual of %v, %v with other α", class, best, dual)
			}
		}
		copy(s.alpha, was)
		s.sum()
		square := 0.0
		for _, v := range s.w {
			square += v * v
		}
		if of, _, _ := s.terms(); math.Abs(square-of) > 1e-9*of {
			t.Errorf("class %d: ‖w‖² is %v, by the products %v", class, square, of)
		}
	}
}

// A plane that is not above the others at w, where scores of float32 say that losses are, ends a
// problem.
func TestPlaneThatIsKnown(t *testing.T) {
	s := newOneSlack(clouds(60, 6, 3), 1, 3, false, &Params{Tolerance: 1e-3})
	first, losses := planeAt(s, s.w)
	for range 2 {
		if s.done {
			t.Fatal("done before the second plane")
		}
		if err := s.improve(first, losses); err != nil {
			t.Fatal(err)
		}
	}
	if !s.done || !s.stuck || len(s.planes) != 2 {
		t.Errorf("done is %t, stuck %t, with %d planes; wanted both, with 2", s.done, s.stuck,
			len(s.planes))
	}
}
