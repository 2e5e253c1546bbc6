package versionspace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// labelled returns n examples of d features on both sides of a plane, and evidence of their sides
// by labels, a share of them wrong.
func labelled(n, d int, right, wrong float64, seed uint64) (x []float64, evidence []Evidence) {
	random := rand.New(rand.NewPCG(seed, 98))
	w := make([]float64, d)
	direct(w, random)
	x = make([]float64, n*d)
	for i := range n {
		row := x[i*d : (i+1)*d]
		direct(row, random)
		if above := dot(row, w) > 0; above != (random.Float64() < wrong) {
			evidence = append(evidence, Evidence{right, 1 - right})
		} else {
			evidence = append(evidence, Evidence{1 - right, right})
		}
	}
	return x, evidence
}

func soft(t testing.TB, d int, x []float64, softness float64) *Soft {
	t.Helper()
	s, err := NewSoft(d, x, softness)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// centre makes passes until nothing moves.
func centre(t testing.TB, s *Soft, evidence []Evidence) *Propagation {
	t.Helper()
	p := s.Propagate()
	for range 400 {
		if err := p.Pass(evidence); err != nil {
			t.Fatal(err)
		}
		if p.Moved() < 1e-10 {
			return p
		}
	}
	t.Fatalf("found the centre still moving by %g after 400 passes", p.moved)
	return nil
}

// The centre is that of random points, and each counts as much as the evidence lets it: a
// judge that knows no factors.
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
		x, evidence := labelled(c.n, c.d, c.right, c.wrong, uint64(c.n))
		s := soft(t, c.d, x, c.softness)
		p := centre(t, s, evidence)
		random := rand.New(rand.NewPCG(3, 3))
		sum, w, total := make([]float64, c.d), make([]float64, c.d), 0.0
		for range points {
			for j := range w {
				w[j] = random.NormFloat64()
			}
			weight := 1.0
			for i, e := range evidence {
				if weight < 1e-14 {
					break // as good as none
				}
				z := math.Erfc(-dot(s.row(i), w)/math.Sqrt2) / 2
				weight *= e.Above*z + e.Below*(1-z)
			}
			addScaled(sum, weight, w)
			total += weight
		}
		scale(sum, 1/total)
		got := apart(sum, p.Centre()) * 180 / math.Pi
		length := math.Sqrt(dot(p.Centre(), p.Centre()) / dot(sum, sum))
		t.Logf("%+v: %.2f degrees, length %.4f", c, got, length)
		if got > c.within || math.Abs(length-1) > 0.03 {
			t.Errorf("%+v: found %v, wanted %v: %.2f degrees away, %.3f times as long", c, p.Centre(), sum,
				got, length)
		}
	}
}

// Softness is a feature of each example's own: with it, the walls are hard, and the billiard finds
// their centroid.
func TestSoftnessIsAFeatureOfItsOwn(t *testing.T) {
	const n, d, softness = 12, 3, 0.2
	x, evidence := labelled(n, d, 1, 0.2, 5)
	rows := make([]float64, n*(d+n))
	for i, e := range evidence {
		row := rows[i*(d+n) : (i+1)*(d+n)]
		addScaled(row, e.Above-e.Below, x[i*d:(i+1)*d])
		row[d+i] = math.Sqrt(softness)
	}
	hard, err := space(t, d+n, rows...).Centroid(Options{Seed: 1, Angle: 0.01})
	if err != nil || !hard.Agreed {
		t.Fatal(hard, err)
	}
	p := centre(t, soft(t, d, x, softness), evidence)
	if got := apart(hard.Centre[:d], p.Centre()) * 180 / math.Pi; got > 1.5 {
		t.Errorf("found %v, the billiard %v: %.2f degrees apart", p.Centre(), hard.Centre[:d], got)
	}
}

func TestPropagationKnown(t *testing.T) {
	// One example along one axis: the mean of a normal distribution cut at 0 and blurred is
	// √(2/π)/√(1+λ).
	for _, softness := range []float64{1e-6, 0.5, 4} {
		p := centre(t, soft(t, 2, []float64{1, 0}, softness), []Evidence{{1, 0}})
		want := math.Sqrt(2/math.Pi) / math.Sqrt(1+softness)
		if got := p.Centre(); math.Abs(got[0]-want) > 1e-9 || got[1] != 0 {
			t.Errorf("softness %g: found %v, wanted %g, 0", softness, got, want)
		}
	}
	// Evidence for both sides alike, of a label that cannot be, or of an example at 0 says nothing.
	for _, e := range []Evidence{{0.3, 0.3}, {0, 0}} {
		p := centre(t, soft(t, 1, []float64{0, 1, 2}, 1), []Evidence{{1, 0}, {1, 0}, e})
		q := centre(t, soft(t, 1, []float64{1}, 1), []Evidence{{1, 0}})
		if math.Abs(p.Centre()[0]-q.Centre()[0]) > 1e-12 {
			t.Errorf("evidence %v: found %v, wanted %v", e, p.Centre(), q.Centre())
		}
	}
	// Without examples nothing is known.
	p := soft(t, 2, nil, 1).Propagate()
	if err := p.Pass(nil); err != nil || p.Doubt() != 1 || p.Centre()[0] != 0 {
		t.Errorf("no examples: found %v, doubt %g, %v", p.Centre(), p.Doubt(), err)
	}
}

// Labels turned round turn the centre round.
func TestPropagationMirrored(t *testing.T) {
	x, evidence := labelled(30, 4, 0.9, 0.1, 8)
	s := soft(t, 4, x, 0.1)
	p := centre(t, s, evidence)
	for i, e := range evidence {
		evidence[i] = Evidence{e.Below, e.Above}
	}
	q := centre(t, s, evidence)
	for j, v := range p.Centre() {
		if math.Abs(v+q.Centre()[j]) > 1e-5 {
			t.Errorf("found %v and %v, wanted opposite ones", p.Centre(), q.Centre())
		}
	}
}

// A propagation goes on from a saved state with the same bits, for any number of processors; they
// are those written here on every machine.
func TestPropagationSameBits(t *testing.T) {
	const want = "8cd4306d6cc3ab04"
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	x, evidence := labelled(601, 33, 0.9, 0.1, 4)
	s := soft(t, 33, x, 0.02)
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		p := s.Propagate()
		for pass := range 6 {
			if err := p.Pass(evidence); err != nil {
				t.Fatal(err)
			}
			if pass == 2 {
				var state bytes.Buffer
				before := p
				p = s.Propagate()
				for k, place := range p.Places() {
					if err := binary.Write(&state, binary.LittleEndian, before.Places()[k]); err != nil {
						t.Fatal(err)
					}
					if err := binary.Read(&state, binary.LittleEndian, place); err != nil {
						t.Fatal(err)
					}
				}
				if err := p.Resume(); err != nil {
					t.Fatal(err)
				}
			}
		}
		h := fnv.New64a()
		binary.Write(h, binary.LittleEndian, p.mean)
		binary.Write(h, binary.LittleEndian, p.tau)
		binary.Write(h, binary.LittleEndian, []float64{p.Doubt()})
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
		{"no dimension", 0, nil, 1, "d ≥ 1"},
		{"half an example", 2, []float64{1}, 1, "1 numbers"},
		{"hard", 1, []float64{1}, 0, "softness 0"},
		{"not a number", 1, []float64{1}, math.NaN(), "softness NaN"},
		{"not an example", 1, []float64{1, math.NaN()}, 1, "example 1 2"},
		{"too long", 1, []float64{1e200}, 1, "example 0 1"},
	} {
		if _, err := NewSoft(c.d, c.x, c.softness); !facts.Told(err, c.want) {
			t.Errorf("%s: found the error %v, wanted one with %q", c.name, err, c.want)
		}
	}
	s := soft(t, 1, []float64{1, 2}, 1)
	for name, change := range map[string]func(*Propagation){
		"NaN":       func(p *Propagation) { p.cavity = []float64{0, math.NaN()} },
		"infinite":  func(p *Propagation) { p.nu = []float64{math.Inf(1), 0} },
		"negative":  func(p *Propagation) { p.tau = []float64{0, -1} },
		"no step":   func(p *Propagation) { p.step = 0 },
		"not moved": func(p *Propagation) { p.moved = math.NaN() },
	} {
		p := centre(t, s, []Evidence{{1, 0}, {1, 0}})
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
		change(p)
		if err := p.Resume(); err == nil {
			t.Errorf("%s: the state is taken, wanted an error", name)
		}
	}
}

// The Bayes point of a thousand examples of 64 features.
func BenchmarkPropagation(b *testing.B) {
	x, evidence := labelled(1000, 64, 1, 0.05, 1)
	s := soft(b, 64, x, 0.03)
	for b.Loop() {
		centre(b, s, evidence)
	}
}
