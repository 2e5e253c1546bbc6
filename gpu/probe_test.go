//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// manyQuestions are the hard ones, all triples of hard numbers, and drawn ones: numbers of any
// bits, and such whose sum nearly cancels their product.
func manyQuestions() []question {
	all := hardQuestions()
	var hard []float32
	for _, v := range []float32{0, 0x1p-149, 0x1.8p-148, 0x1.fffffcp-127, 0x1p-126, 0x1.000002p-126,
		0x1.fffffep-64, 0.5, 0x1.fffffep-1, 1, 0x1.000002p0, 3, 0x1p24, 0x1.000002p63, 0x1.fffffep127,
		float32(math.Inf(1)), float32(math.NaN())} {
		hard = append(hard, v, -v)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, a := range hard {
		for _, b := range hard {
			for _, c := range hard {
				all = append(all, question{a, b, c, int64(rng.Uint64()), 0x1p-1})
			}
		}
	}
	for range 100000 {
		a, b := math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
		c := math.Float32frombits(rng.Uint32())
		if rng.IntN(2) == 0 {
			c = math.Float32frombits(math.Float32bits(-a*b) + rng.Uint32N(5) - 2)
		}
		integer := int64(rng.Uint64()) >> rng.IntN(64)
		all = append(all, question{a, b, c, integer, float32(math.Ldexp(1, -1-rng.IntN(126)))})
	}
	return all
}

// TestProbe: a device that passes the few hard questions answers all of them.
func TestProbe(t *testing.T) {
	questions := manyQuestions()
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{})
		answers, _, err := askProbe(e.deviceEngine, questions)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := wrongAnswer(questions, answers); wrong != "" {
			t.Errorf("%s: %s", i.ID(), wrong)
		}
	})
}

// TestProbeRefuses: the probe names each operation that a broken device gets wrong.
func TestProbeRefuses(t *testing.T) {
	flushed := func(v string) string { return "fabs(" + v + ") < 0x1p-126f ? 0.0f : " + v }
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{})
		for _, m := range []struct{ name, from, to, want string }{
			{"unfused", "as_int(fma(a, b, c))", "as_int(a * b + c)", "fma(a, b, c) of a = 0x1.001p+00, b = 0x1.001p+00, c = -0x1p+00"},
			{"fused but flushed", "fma(a, b, c)", flushed("fma(a, b, c)"),
				"fma(a, b, c) of a = 0x1p-140, b = 0x1.8p+01, c = 0x0p+00"},
			{"sums flushed", "a + b", flushed("(a + b)"), "a + b of"},
			{"differences flushed", "a - b", flushed("(a - b)"), "a - b of"},
			{"products flushed", "a * b", flushed("(a * b)"), "a * b of"},
			{"comparisons flushed", "= a < b;", "= a < b && b - a >= 0x1p-126f;", "a < b of"},
			{"at least, flushed", "a >= b", "a >= b || b - a < 0x1p-126f", "a >= b of"},
			{"no NaN", "IS_NAN(a)", "0", "a is NaN of a = NaN"},
			{"negative from 0", "as_int(-a)", "as_int(0.0f - a)", "-a of"},
			{"integers truncated", "convert_float(", "convert_float_rtz(",
				"float of i of"},
			{"fixed point truncated", "integer_of(f, numbers[3])", "(long)(f * numbers[3])",
				"lower half of i·s of"},
			{"fused though it must not be", "fma(a, b, NOTHING_OF(numbers[3])) + c", "fma(a, b, c)",
				"a * b + c of a = 0x1.001p+00, b = 0x1.001p+00"},
			{"loops ended", "while (done < rounds)", "while (done < min(rounds, 65535))",
				"got 65535 rounds, want 131072"},
		} {
			e.build.sources = mutate(t, "probe.cl", m.from, m.to)
			if err := e.probe(); !errors.Is(err, ErrNonconforming) || !strings.Contains(err.Error(),
				m.want) {
				t.Errorf("%s, %s: got %v, want %q", i.ID(), m.name, err, m.want)
			}
		}
	})
}
