//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// manyQuestions are the hard ones, all triples of hard numbers, and drawn ones: numbers of any
// bits, and such whose sum nearly cancels their product.
func manyQuestions() []question {
	all := hardQuestions()
	var hard []float32
	for _, v := range []float32{0, 0x1p-149, 0x1.8p-148, 0x1.fffffcp-127, 0x1p-126, 0x1.000002p-126, 0x1.fffffep-64,
		0.5, 0x1.fffffep-1, 1, 0x1.000002p0, 3, 0x1p24, 0x1.000002p63, 0x1.fffffep127,
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

// TestProbe: the integers that stand in for float32 are right, and so is the device that passes.
func TestProbe(t *testing.T) {
	questions := manyQuestions()
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{})
		for _, software := range []bool{false, true} {
			if !software && e.software != "" {
				continue
			}
			answers, _, err := e.probe(e.build.sources, software, questions)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := wrongAnswer(questions, answers); wrong != "" {
				t.Errorf("%s, software %v: %s", i.ID(), software, wrong)
			}
		}
	})
}

// brokenArithmetic are mutants of the software form, which the probe must notice.
var brokenArithmetic = []mutant{
	{"what is shifted out forgotten", "contract.cl", "return s | ((s << by) != v);", "return s;"},
	{"ties away from zero", "contract.cl", "0x3fffffffffUL + ((v >> 39) & 1)", "0x4000000000UL"},
	{"truncated", "contract.cl", "v + 0x3fffffffffUL + ((v >> 39) & 1)", "v"},
	{"subnormal results lost", "contract.cl", "clamp(1 - exponent, 0, 63)", "exponent < 1 ? 63 : 0"},
	{"overflow beyond infinity", "contract.cl", "min(bits, 0x7f800000u)", "bits"},
	{"exponents not held", "contract.cl", "(uint)max(exponent - 1, 0)", "(uint)(exponent - 1)"},
	{"subnormal operands are 0", "contract.cl", "m << (n & 31)", "0"},
	{"exponent of subnormal operands", "contract.cl", "m > 0 ? 1 - n", "m > 0 ? 1"},
	{"zero has an exponent", "contract.cl", ": -1000;", ": 1;"},
	{"unfused", "contract.cl", "((ulong)ma * mb) << 14", "(((ulong)ma * mb) >> 22) << 36"},
	{"sum of opposites is -0", "contract.cl", ": sign & sign_c;", ": sign | sign_c;"},
	{"sign of the addend lost", "contract.cl", "sum < 0 ? sign_c", "sum < 0 ? sign"},
	{"infinity times zero", "contract.cl", "min(size_a, size_b) == 0 || ", ""},
	{"infinity less infinity", "contract.cl", "(size_c == infinity && sign != sign_c)", "0"},
	{"NaN of the addend lost", "contract.cl", "most > infinity || size_c > infinity ||", "most > infinity ||"},
	{"infinite addend lost", "contract.cl", "size_c == infinity ? c : finite", "finite"},
	{"product adds +0", "contract.cl", "software_fma(a, b, (a ^ b) & 0x80000000u); }", "software_fma(a, b, 0u); }"},
	{"-0 below 0", "contract.cl", "^ sign) - sign;", "^ sign);"},
	{"NaN is less", "contract.cl", "(in_order(a) < in_order(b)) & ~(IS_NAN(a) | IS_NAN(b));", "in_order(a) < in_order(b);"},
	{"NaN is at least", "contract.cl", "(in_order(a) >= in_order(b)) & ~(IS_NAN(a) | IS_NAN(b));", "in_order(a) >= in_order(b);"},
	{"infinity is NaN", "contract.cl", "> 0x7f800000u)\n#define FLOAT", ">= 0x7f800000u)\n#define FLOAT"},
	{"least integer positive", "contract.cl", "v < 0 ? 0x80000000u : 0,", "0,"},
	{"fixed point: ties upwards", "contract.cl", "(1L << (n - 1)) - 1 + ((m >> n) & 1)) >> n", "(1L << (n - 1))) >> n"},
	{"fixed point: signs lost", "contract.cl", "v >> 31 ? -size : size", "size"},
	{"fixed point: nothing below 1", "contract.cl", "clamp(150 - e, 1, 25)", "clamp(150 - e, 1, 23)"},
}

func TestBrokenArithmeticIsNoticed(t *testing.T) {
	questions := manyQuestions()
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{})
		for _, m := range brokenArithmetic {
			t.Run(i.ID()+"/"+m.name, func(t *testing.T) {
				answers, _, err := e.probe(mutate(t, m.file, m.from, m.to), true, questions)
				if err != nil {
					t.Fatal(err)
				}
				wrong := wrongAnswer(questions, answers)
				if wrong == "" {
					t.Error("the probe does not notice these broken integers")
				}
				t.Log(wrong)
			})
		}
	})
}

// A device whose own operations are not the contract's gets integers, is told why, and conforms.
// Each question that the probe asks for one kind of device finds it.
func TestProbeChooses(t *testing.T) {
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{arithmetic: own})
		for _, m := range []struct{ name, from, to, want string }{
			{"unfused", "#define FMA(a, b, c) fma(a, b, c)", "#define FMA(a, b, c) ((a) * (b) + (c))", "fma(0x1.001p+00, 0x1.001p+00, -0x1p+00) is "},
			{"fused but flushed", "#define FMA(a, b, c) fma(a, b, c)", flush("FMA", "fma(a, b, c)", "a, b, c"), "fma(0x1p-140, 0x1.8p+01, 0x0p+00) is 0x0p+00, not 0x1.8p-139"},
			{"sums flushed", "#define ADD(a, b) ((a) + (b))", flush("ADD", "(a) + (b)", "a, b"), "sum("},
			{"differences flushed", "#define SUB(a, b) ((a) - (b))", flush("SUB", "(a) - (b)", "a, b"), "difference("},
			{"products flushed", "#define MUL(a, b) ((a) * (b))", flush("MUL", "(a) * (b)", "a, b"), "product("},
			{"comparisons flushed", "#define LESS(a, b) ((a) < (b))", "#define LESS(a, b) ((a) < (b) && (b) - (a) >= 0x1p-126f)", "less("},
			{"at least, flushed", "#define AT_LEAST(a, b) ((a) >= (b))", "#define AT_LEAST(a, b) ((a) >= (b) || (b) - (a) < 0x1p-126f)", "at least("},
			{"no NaN", "#define IS_NAN(a) ((a) != (a))", "#define IS_NAN(a) 0", "NaN(NaN) is 0, not 1"},
			{"negative from 0", "#define NEG(a) (-(a))", "#define NEG(a) (0.0f - (a))", "negative("},
			{"integers truncated", "NAME(convert_float, n)(v)", "NAME(NAME(convert_float, n), _rtz)(v)", "float of integer(16777219) is "},
			{"fixed point truncated", "(v + big) - big", "trunc(v)", "lower half of the fixed point("},
		} {
			answers, _, err := e.probe(mutate(t, "contract.cl", m.from, m.to), false, hardQuestions())
			if err != nil {
				t.Fatal(err)
			}
			if wrong := wrongAnswer(hardQuestions(), answers); !strings.HasPrefix(wrong, m.want) {
				t.Errorf("%s, %s: found %q, want %q", i.ID(), m.name, wrong, m.want)
			}
		}
	})
}

// flush is a macro that computes as a device that takes subnormal numbers for 0.
func flush(name, what, of string) string {
	return "#define " + name + "(" + of + ") (fabs(" + what + ") < 0x1p-126f ? 0.0f : " + what + ")"
}

func TestUnfusedDeviceConforms(t *testing.T) {
	unfused := mutate(t, "contract.cl", "#define FMA(a, b, c) fma(a, b, c)", "#define FMA(a, b, c) ((a) * (b) + (c))")
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{sources: unfused})
		if about := e.Device(); !strings.HasPrefix(about.Software, "fma(") || e.cpu {
			t.Errorf("%+v, for a CPU %v: want integers, and why", about, e.cpu)
		}
		if err := engine.SelfTest(e); err != nil {
			t.Error(err)
		}
		own := openTest(t, i, Options{}, build{sources: unfused, arithmetic: own})
		if about := own.Device(); about.Software != "" {
			t.Errorf("%+v: want its own operations", about)
		}
		if err := engine.SelfTest(own); err == nil || !strings.HasPrefix(err.Error(), "self-test: score differs") {
			t.Errorf("unfused: %v", err)
		}
	})
}

// A driver that ends loops is found out, and so is each kernel of which it ends some.
func TestEndedLoopsAreTold(t *testing.T) {
	sources := mutate(t, "probe.cl", "while (done < rounds)", "while (done < min(rounds, 65535))")
	eachDevice(t, func(i Info) {
		e := openTest(t, i, Options{}, build{sources: sources, style: "gpu"})
		if e.q.loops == nil || !strings.Contains(e.options, "-DLOOPS=1") {
			t.Errorf("%s: loops are not watched", i.ID())
		}
		if err := engine.SelfTest(e); err != nil {
			t.Error(err)
		}
		for _, style := range []string{"cpu", "gpu"} {
			ended := slices.Clone(sources)
			ended[0] = strings.Replace(ended[0], "while (rounds_done < loops[1])", "while (rounds_done < loops[1] - 1)", 1)
			e := openTest(t, i, Options{}, build{sources: ended, style: style, arithmetic: own})
			if err := engine.SelfTest(e); !errors.Is(err, errLoops) {
				t.Errorf("%s, as on a %s: %v, want %v", i.ID(), style, err, errLoops)
			}
		}
	})
}
