//go:build cgo && !noopencl

package gpu

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/enginetest"
)

// catcherFirst moves the case that is likely to catch a mutant to the front.
func catcherFirst(t *testing.T, mutant string, cases []enginetest.Case) []enginetest.Case {
	t.Helper()
	name, known := catchers[mutant]
	if !known {
		return cases
	}
	at := slices.IndexFunc(cases, func(c enginetest.Case) bool {
		return strings.HasPrefix(c.Name, name)
	})
	if at < 0 {
		t.Fatalf("no case begins with %q: mend the catcher of this mutant", name)
	}
	return slices.Concat(cases[at:at+1], cases[:at], cases[at+1:])
}

// mutate returns the kernels with all occurrences of a text in one file replaced.
func mutate(t *testing.T, file, from, to string) []string {
	t.Helper()
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	f := slices.Index(kernels.Names, file)
	if f < 0 || !strings.Contains(sources[f], from) {
		t.Fatalf("%s no longer contains %q: rewrite the mutant", file, from)
	}
	sources[f] = strings.ReplaceAll(sources[f], from, to)
	return sources
}

// broken returns an engine on the queue of a whole one, with kernels of other sources. Only
// programs whose text differs are compiled; of narrow examples, when they are loaded.
func (e *deviceEngine) broken(t *testing.T, sources []string) *deviceEngine {
	t.Helper()
	b := &deviceEngine{info: e.info, q: e.q, build: e.build, options: e.options, traits: e.traits}
	b.Engine = enginecheck.New(unchecked{b}, enginecheck.How{Turns: true})
	b.build.sources = sources
	differ := func(p program) bool { return !slices.Equal(p.text(sources), p.text(e.build.sources)) }
	own, whole := b.library(), e.library()
	for g, group := range own.groups() {
		if !strings.Contains(group[0].macros, "NARROW=0") && slices.ContainsFunc(group, differ) {
			continue
		}
		for at, p := range group {
			if differ(p) {
				if err := b.compile([]program{p}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			for n, k := range whole.groups()[g][at].kernels {
				*p.kernels[n].to = *k.to
			}
		}
	}
	if len(b.compiled) == 0 {
		t.Fatal("no program has the text that differs")
	}
	return b
}

// compileAll compiles every program.
func (e *deviceEngine) compileAll() error {
	l := e.library()
	return e.compile(slices.Concat(l.groups()...))
}

// formOf returns how the engine is opened that a mutant is made of, and the cases that judge it,
// the likely ones first.
func formOf(mutant string) (o Options, b build, cases []enginetest.Case) {
	b.style = "cpu"
	if strings.HasPrefix(mutant, "GPU: ") {
		b.style = "gpu"
	}
	project := func(c enginetest.Case) bool { return strings.HasPrefix(c.Name, "project") }
	switch {
	case strings.Contains(mutant, "evaluate: "):
		b.ranges = 2 // fewer than blocks
		cases = slices.DeleteFunc(enginetest.Cases(),
			func(c enginetest.Case) bool { return !isEvaluation(c) })
	case strings.Contains(mutant, "project: "):
		o.MaxAlloc = 70000 // a product in several pieces
		cases = slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool { return !project(c) })
	default:
		cases = slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool {
			return project(c) || isEvaluation(c)
		})
	}
	return o, b, cases
}

var allMutants = flag.Bool("all", false, "try all mutants of the kernels, not a sample")

// sample returns eight mutants of different kernel files or forms. The text of the kernels chooses
// them, so that a change brings others.
func sample(t *testing.T) []mutant {
	t.Helper()
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, text := range sources {
		h.Write([]byte(text))
	}
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	chosen := map[string]bool{}
	var some []mutant
	for _, k := range rng.Perm(len(mutants)) {
		m := mutants[k]
		form := fmt.Sprint(m.file, strings.HasPrefix(m.name, "GPU: "))
		if !chosen[form] && len(some) < 8 {
			chosen[form] = true
			some = append(some, m)
		}
	}
	return some
}

// TestMutantsAreCaught: each mutant fails a case of the conformance suite.
func TestMutantsAreCaught(t *testing.T) {
	for name := range catchers {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == name }) {
			t.Errorf("there is a catcher of %q, but no such mutant", name)
		}
	}
	for _, m := range mutants {
		mutate(t, m.file, m.from, m.to) // its text is still there
	}
	some := mutants
	if !*allMutants {
		some = sample(t)
	}
	eachDevice(t, func(i Info) {
		type form struct {
			maxAlloc int64
			style    string
			ranges   int
		}
		whole := map[form]*deviceEngine{}
		for _, m := range some {
			o, b, cases := formOf(m.name)
			f := form{o.MaxAlloc, b.style, b.ranges}
			if whole[f] == nil {
				whole[f] = openTest(t, i, o, b)
				if err := whole[f].compileAll(); err != nil {
					t.Fatal(err)
				}
			}
			t.Run(i.ID()+"/"+m.name, func(t *testing.T) {
				e := whole[f].broken(t, mutate(t, m.file, m.from, m.to))
				for _, c := range catcherFirst(t, m.name, cases) {
					if err := c.Check(e); err != nil {
						t.Logf("caught by %s: %v", c.Name, err)
						return
					}
				}
				t.Errorf("the conformance suite does not notice this broken kernel")
			})
		}
	})
}

// A device that computes otherwise is refused when it is opened, by the name of
// the operation and the first difference.
func TestSelfTestRefuses(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, m := range []struct{ file, from, to, want string }{
			{"score.cl", "fma((vec_t)(VALUE(k)), v, acc##k)", "(vec_t)(VALUE(k)) * v + acc##k",
				"self-test: score differs from the known answer at index "},
			{"contract.cl", "(v + big) - big", "trunc(v)",
				"self-test: class sums differs from the known answer at index "},
			{"update.cl", "acc0 = fma(part[0][k], part[0][k], acc0)",
				"acc0 = part[0][k] * part[0][k] + acc0",
				"self-test: norms differs from the known answer at index "},
			{"vector.cl", "p = fma(p, r, VECTOR(1.0f));\n\tconst", "p = p * r + (vec_t)(1.0f);\n\tconst",
				"self-test: kernel values differs from the known answer at index "},
			{"kernelvalue.cl", "int k = 1; k < degree", "int k = 2; k < degree",
				"self-test: project differs from the known answer at index "},
		} {
			e := openTest(t, i, Options{}, build{sources: mutate(t, m.file, m.from, m.to), style: "cpu"})
			if err := engine.SelfTest(e); err == nil || !strings.HasPrefix(err.Error(), m.want) {
				t.Errorf("%s broken: %v, want %s…", m.file, err, m.want)
			}
		}
	})
}

func TestBuildErrorShowsTheLog(t *testing.T) {
	eachDevice(t, func(i Info) {
		_, err := open(i, Options{}, build{sources: mutate(t, "score.cl", "int first,",
			"nonsense first,")})
		if err == nil || !strings.Contains(err.Error(), "nonsense") || strings.Contains(err.Error(),
			"\x00") {
			t.Errorf("error %q, want the compiler's message about nonsense", err)
		}
	})
}
