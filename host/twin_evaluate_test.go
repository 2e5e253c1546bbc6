package host_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluationTwin compiles testdata/twin/evaluate.c and returns what asks it.
func evaluationTwin(t *testing.T) func(t *testing.T, question []byte, arguments ...string) []byte {
	t.Helper()
	twin := filepath.Join(t.TempDir(), "twin")
	build := exec.Command("cc", "-O2", "-std=c99", "-ffp-contract=off", "-o", twin,
		"../testdata/twin/evaluate.c", "-lm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the twin needs a C compiler: %v\n%s", err, out)
	}
	return func(t *testing.T, question []byte, arguments ...string) []byte {
		t.Helper()
		run := exec.Command(twin, arguments...)
		var answer, said bytes.Buffer
		run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(question), &answer, &said
		if err := run.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", run, err, said.String())
		}
		return answer.Bytes()
	}
}

// encode returns values as a twin reads and writes them.
func encode(t *testing.T, values ...any) (b []byte) {
	t.Helper()
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestEvaluationTwin evaluates weights of random and hard examples and compares every bit with the
// results of testdata/twin/evaluate.c: a program in another language, written from the text of the
// contract.
func TestEvaluationTwin(t *testing.T) {
	ask := evaluationTwin(t)
	all := everyengine.Open(t)
	normal := func(r *rand.Rand) float32 { return float32(r.NormFloat64()) }
	spread := func(by int) func(*rand.Rand) float32 {
		return func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(2*by)-by)) }
	}
	steep := func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 0x1p15) }
	for _, c := range []struct {
		name          string
		n, d, q, sums int
		whole         int // times as many examples as there are
		value, weight func(*rand.Rand) float32
		given, sparse bool
	}{
		{"random", 1500, 40, 5, 3, 1, normal, normal, false, false},
		{"random, targets given", 1100, 33, 10, 1, 1, normal, normal, true, false},
		{"sparse", 2100, 300, 3, 2, 1, normal, normal, false, true},
		{"many classes", 90, 12, 200, 1, 1, normal, normal, false, false},
		{"two chunks", 300, 259, 3, 4, 1, normal, normal, false, false},
		{"part of a large set", 700, 9, 4, 5, 1 << 20, normal, normal, true, false},
		{"wide exponents", 1300, 20, 6, 3, 1, spread(50), spread(50), false, false},
		{"losses around the largest", 1300, 3, 4, 3, 1, normal, steep, false, true},
		{"given, losses around the largest", 1300, 3, 4, 3, 1, normal, steep, true, false},
		{"subnormal", 600, 5, 3, 3, 1,
			func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 0x1p-127) },
			spread(20), false, false},
		{"largest values", 600, 5, 3, 3, 1,
			func(r *rand.Rand) float32 { return float32(r.IntN(3)-1) * 0x1p118 },
			func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 0x1p-104) }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
			draw := func(n int, value func(*rand.Rand) float32) []float32 {
				v := make([]float32, n)
				for i := range v {
					v[i] = value(rng)
				}
				return v
			}
			x := dataset.Examples{N: c.n, D: c.d, X: draw(c.n*c.d, c.value)}
			if c.sparse {
				for k := range x.X {
					if rng.IntN(10) > 0 {
						x.X[k] = 0
					}
				}
			}
			w := engine.Weights{Q: c.q, D: c.d, W: draw(c.q*c.d, c.weight)}
			const rows = 37
			targets := engine.Targets{Given: c.given, Values: draw(rows*c.q, func(r *rand.Rand) float32 {
				if c.given {
					return r.Float32()
				}
				return float32(math.Log(float64(r.IntN(5)) / 5))
			}), Weight: draw(c.n, (*rand.Rand).Float32)}
			for k := 0; k < len(targets.Values); k += c.q {
				targets.Values[k] = 1 // possible, whatever the others are
			}
			for range c.n {
				targets.Row = append(targets.Row, int32(rng.IntN(rows)))
			}
			a := draw(c.n*c.sums, func(r *rand.Rand) float32 { return 2*r.Float32() - 1 })
			given := int32(0)
			if c.given {
				given = 1
			}
			f := numerics.FixedPoint{}
			if c.whole > 1 {
				m, err := engine.MaxAbs(x)
				if err != nil {
					t.Fatal(err)
				}
				f = numerics.NewFixedPoint(m, c.n*c.whole)
			}
			sizes := []int32{int32(c.n), int32(c.d), int32(c.q), int32(c.n * c.whole), given, rows,
				int32(c.sums)}
			want := ask(t, encode(t, sizes, x.X, w.W, targets.Values, targets.Row, targets.Weight, a))
			refused := binary.LittleEndian.Uint64(want)
			t.Logf("%d of %d examples are refused", refused, c.n)
			if refused == uint64(c.n) {
				t.Error("all are: this tests nothing")
			}
			if c.sparse {
				x = x.Compressed()
			}
			for _, e := range all {
				if got := evaluate(t, e, x, f, w, targets, a); !bytes.Equal(got, want) {
					at := 0
					for at < min(len(got), len(want)) && got[at] == want[at] {
						at++
					}
					t.Errorf("%s: differs from the twin at byte %d of %d, the twin's answer has %d",
						e.Device().ID, at, len(got), len(want))
				}
			}
		})
	}
}

// evaluate returns what an engine says in the form of the twin's answer.
func evaluate(
	t *testing.T, e *engine.Engine, x dataset.Examples, f numerics.FixedPoint, w engine.Weights,
	targets engine.Targets, a []float32) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.LoadEvaluator(x, w.Q, f)
	must(err)
	must(r.SetTargets(targets))
	sums, weighted := make([]int64, w.Q*w.D), make([]int64, len(a)/x.N*x.D)
	v, err := r.Evaluate(sums, w)
	must(err)
	must(r.WeightedSums(weighted, a))
	scores := make([]float32, x.N*w.Q)
	must(r.Scores(scores, 0, x.N))
	must(r.Close())
	return encode(t, v.Refused, v.Loss, sums, weighted, scores)
}

// TestFunctionsTwin compares exp, log and reciprocal with the twin's: on numbers of every
// exponent and at the ends of their ranges.
func TestFunctionsTwin(t *testing.T) {
	ask := evaluationTwin(t)
	rng := rand.New(rand.NewPCG(15, 11))
	numbers := []float32{0, 1, 2, 0x1.fffffep0, 0x1p100, 0x1p-126, -0x1.5d589ep6, 0x1.62e42ep6,
		math.Float32frombits(0x3f3504f3), math.Float32frombits(0x3f3504f2), float32(math.Inf(-1)),
		math.MaxFloat32}
	for _, x := range slices.Clone(numbers[1:]) {
		numbers = append(numbers, -x, math.Nextafter32(x, 0))
	}
	for range 300000 {
		numbers = append(numbers, float32(rng.NormFloat64()*30), 1+rng.Float32()*10,
			1+rng.Float32()*0x1p15, float32(math.Ldexp(1+rng.Float64(), rng.IntN(226)-126)))
	}
	answers := ask(t, encode(t, numbers), "functions")
	if len(answers) != 12*len(numbers) {
		t.Fatalf("%d bytes for %d numbers, want 12 each", len(answers), len(numbers))
	}
	for i, x := range numbers {
		size, answer := float32(math.Abs(float64(x))), answers[12*i:]
		judge := func(what string, got float32) {
			bits := binary.LittleEndian.Uint32(answer)
			answer = answer[4:]
			if math.Float32bits(got) != bits {
				t.Errorf("%s of %x: %08x, the twin has %08x", what, x, math.Float32bits(got), bits)
			}
		}
		judge("exp", numerics.Exp(x))
		if size < 0x1p-126 || size > math.MaxFloat32 {
			continue // neither has a logarithm or a reciprocal of it
		}
		judge("log", numerics.Log(size))
		if size >= 1 && size <= 0x1p100 {
			judge("reciprocal", numerics.Reciprocal(size))
		}
	}
}
