package propagation

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// labelled returns n examples of d features on both sides of a plane, and evidence of their sides
// by labels, a share of them wrong.
func labelled(n, d int, right, wrong float64, seed uint64) (x []float64, of []evidence) {
	random := rand.New(rand.NewPCG(seed, 98))
	w := make([]float64, d)
	direct(w, random)
	x = make([]float64, n*d)
	for i := range n {
		row := x[i*d : (i+1)*d]
		direct(row, random)
		if above := numerics.Dot64(row, w) > 0; above != (random.Float64() < wrong) {
			of = append(of, evidence{right, 1 - right})
		} else {
			of = append(of, evidence{1 - right, right})
		}
	}
	return x, of
}

func prior(t testing.TB, d int, x []float64, softness float64) *propagation {
	t.Helper()
	p, err := newPropagation(d, x, softness)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// centre makes passes until nothing moves.
func centre(t testing.TB, p *propagation, of []evidence) *propagation {
	t.Helper()
	for range 400 {
		if err := p.pass(of); err != nil {
			t.Fatal(err)
		}
		if p.moved < 1e-10 {
			return p
		}
	}
	t.Fatalf("found the centre still moving by %g after 400 passes", p.moved)
	return nil
}

// direct sets v to a random direction of length 1, of the same bits on every machine: by
// Marsaglia's polar method.
func direct(v []float64, random *rand.Rand) {
	for j := 0; j < len(v); j += 2 {
		for {
			a, b := float64(2*random.Float64())-1, float64(2*random.Float64())-1
			if s := float64(a*a) + float64(b*b); s > 0x1p-60 && s < 1 {
				f := math.Sqrt(float64(-2*float64(numerics.Log(float32(s)))) / s)
				copy(v[j:], []float64{a * f, b * f})
				break
			}
		}
	}
	by := 1 / math.Sqrt(numerics.Dot64(v, v))
	for j := range v {
		v[j] *= by
	}
}

// apart returns the angle between x and y in degrees.
func apart(x, y []float64) float64 {
	lengths := math.Sqrt(numerics.Dot64(x, x) * numerics.Dot64(y, y))
	return math.Acos(min(1, numerics.Dot64(x, y)/lengths)) * 180 / math.Pi
}

// The centre equals a weighted mean of random points, each weighted by the likelihood of the
// evidence: a judge that knows no factors.
func TestPropagationAgainstRandomPoints(t *testing.T) {
	const points = 300_000
	for _, c := range []struct {
		n, d                   int
		softness, right, wrong float64
		within                 float64 // degrees
	}{
		{3, 2, 1e-4, 1, 0, 1},
		{10, 2, 0.1, 1, 0, 1},
		{6, 3, 1e-3, 1, 0, 1},
		{15, 3, 0.3, 1, 0.2, 1},
		{10, 4, 0.01, 1, 0, 1},
		{20, 4, 1, 1, 0.3, 1},
		{12, 5, 0.03, 1, 0, 1.5},
		{25, 3, 0.1, 0.8, 0.2, 2},
		{30, 5, 0.3, 0.7, 0.3, 2},
	} {
		x, of := labelled(c.n, c.d, c.right, c.wrong, uint64(c.n))
		s := prior(t, c.d, x, c.softness)
		p := centre(t, s, of)
		random := rand.New(rand.NewPCG(3, 3))
		sum, w, total := make([]float64, c.d), make([]float64, c.d), 0.0
		for range points {
			for j := range w {
				w[j] = random.NormFloat64()
			}
			weight := 1.0
			for i, e := range of {
				if weight < 1e-14 {
					break // as good as none
				}
				z := math.Erfc(-numerics.Dot64(s.row(i), w)/math.Sqrt2) / 2
				weight *= e.above*z + e.below*(1-z)
			}
			numerics.AddScaled64(sum, weight, w)
			total += weight
		}
		for j := range sum {
			sum[j] /= total
		}
		got := apart(sum, p.mean)
		length := math.Sqrt(numerics.Dot64(p.mean, p.mean) / numerics.Dot64(sum, sum))
		t.Logf("%+v: %.2f degrees, length %.4f", c, got, length)
		if got > c.within || math.Abs(length-1) > 0.03 {
			t.Errorf("%+v: found %v, wanted %v: %.2f degrees away, %.3f times as long", c, p.mean, sum,
				got, length)
		}
	}
}

func TestPropagationKnown(t *testing.T) {
	// One example along one axis: the mean of a normal distribution cut at 0 and blurred is
	// √(2/π)/√(1+λ).
	for _, softness := range []float64{1e-6, 0.5, 4} {
		p := centre(t, prior(t, 2, []float64{1, 0}, softness), []evidence{{1, 0}})
		want := math.Sqrt(2/math.Pi) / math.Sqrt(1+softness)
		if got := p.mean; math.Abs(got[0]-want) > 1e-9 || got[1] != 0 {
			t.Errorf("softness %g: found %v, wanted %g, 0", softness, got, want)
		}
	}
	// Evidence for both sides alike, of a label that cannot be, or of an example at 0 says nothing.
	for _, e := range []evidence{{0.3, 0.3}, {0, 0}} {
		p := centre(t, prior(t, 1, []float64{0, 1, 2}, 1), []evidence{{1, 0}, {1, 0}, e})
		q := centre(t, prior(t, 1, []float64{1}, 1), []evidence{{1, 0}})
		if math.Abs(p.mean[0]-q.mean[0]) > 1e-12 {
			t.Errorf("evidence %v: found %v, wanted %v", e, p.mean, q.mean)
		}
	}
	// Without examples nothing is known.
	p := prior(t, 2, nil, 1)
	if err := p.pass(nil); err != nil || p.mean[0] != 0 {
		t.Errorf("no examples: found %v, %v", p.mean, err)
	}
}

// Labels turned round turn the centre round.
func TestPropagationMirrored(t *testing.T) {
	x, of := labelled(30, 4, 0.9, 0.1, 8)
	p := centre(t, prior(t, 4, x, 0.1), of)
	for i, e := range of {
		of[i] = evidence{e.below, e.above}
	}
	q := centre(t, prior(t, 4, x, 0.1), of)
	for j, v := range p.mean {
		if math.Abs(v+q.mean[j]) > 1e-5 {
			t.Errorf("found %v and %v, wanted opposite ones", p.mean, q.mean)
		}
	}
}

// A propagation has the same bits for any number of processors.
func TestPropagationSameBits(t *testing.T) {
	const want = "778bd1da686d855c"
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	x, of := labelled(601, 33, 0.9, 0.1, 4)
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		p := prior(t, 33, x, 0.02)
		for range 6 {
			if err := p.pass(of); err != nil {
				t.Fatal(err)
			}
		}
		h := fnv.New64a()
		binary.Write(h, binary.LittleEndian, p.mean)
		binary.Write(h, binary.LittleEndian, p.tau)
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want {
			t.Errorf("%d processors: found the bits %s, wanted %s", processors, got, want)
		}
	}
}

func TestSoftRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		d        int
		x        []float64
		softness float64
		want     string
	}{
		{"not an example", 1, []float64{1, math.NaN()}, 1, "example 1 2"},
		{"too long", 1, []float64{1e200}, 1, "example 0 1"},
	} {
		if _, err := newPropagation(c.d, c.x, c.softness); !facts.Told(err, c.want) {
			t.Errorf("%s: found the error %v, wanted one with %q", c.name, err, c.want)
		}
	}
}
