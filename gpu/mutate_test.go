//go:build linux && cgo && !noopencl

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
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
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
func mutate(t testing.TB, file, from, to string) []string {
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
// the programs whose text differs are compiled.
func (e *deviceEngine) broken(t *testing.T, sources []string) *deviceEngine {
	t.Helper()
	b := &deviceEngine{info: e.info, q: e.q, build: e.build, options: e.options, traits: e.traits}
	b.build.sources = sources
	differ := func(p program) bool { return !slices.Equal(p.text(sources), p.text(e.build.sources)) }
	own, whole := b.programs(), e.programs()
	for at, p := range own {
		if differ(p) {
			if err := b.compile(p); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for n, k := range whole[at].kernels {
			*p.kernels[n].to = *k.to
		}
	}
	if len(b.compiled) == 0 {
		t.Fatal("no program has the text that differs")
	}
	return b
}

// programs returns the library.
func (e *deviceEngine) programs() []program {
	all, dense, evaluator, trees := e.library()
	return []program{all, dense, evaluator, trees}
}

// formOf returns how the engine is opened that a mutant is made of, and the cases that judge it,
// the likely ones first.
func formOf(mutant string) (b build, cases []enginetest.Case) {
	b.style = "cpu"
	if strings.HasPrefix(mutant, "GPU: ") {
		b.style = "gpu"
	}
	project := func(c enginetest.Case) bool { return strings.HasPrefix(c.Name, "project") }
	switch {
	case strings.Contains(mutant, "trees: "):
		cases = enginetest.BinnedCases()
	case strings.Contains(mutant, "evaluate: "):
		b.ranges = 2 // fewer than blocks
		cases = slices.DeleteFunc(enginetest.Cases(),
			func(c enginetest.Case) bool { return !isEvaluation(c) })
	case strings.Contains(mutant, "project: "):
		cases = slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool { return !project(c) })
	default:
		cases = slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool {
			return project(c) || isEvaluation(c) || strings.HasPrefix(c.Name, "trees")
		})
	}
	return b, cases
}

var allMutants = flag.Bool("all", false, "try all mutants of the kernels, not a sample")

// chooser returns random numbers that the text of the kernels decides, so that a change brings
// others.
func chooser(t *testing.T) *rand.Rand {
	t.Helper()
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, text := range sources {
		h.Write([]byte(text))
	}
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// sample returns eight mutants of different kernel files or forms.
func sample(t *testing.T) []mutant {
	t.Helper()
	rng := chooser(t)
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
			style  string
			ranges int
		}
		whole := map[form]*tested{}
		for _, m := range some {
			b, cases := formOf(m.name)
			f := form{b.style, b.ranges}
			if whole[f] == nil {
				whole[f] = openTest(t, i, Options{}, b)
				if err := whole[f].compile(whole[f].programs()...); err != nil {
					t.Fatal(err)
				}
			}
			t.Run(i.ID()+"/"+m.name, func(t *testing.T) {
				e := over(whole[f].broken(t, mutate(t, m.file, m.from, m.to)))
				for _, c := range catcherFirst(t, m.name, cases) {
					if err := c.Check(e.Engine); err != nil {
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
// the operation and the first difference, whichever kernel is broken. All are tried with -all, else
// six.
func TestSelfTestRefuses(t *testing.T) {
	const known, again, dense = " differs from the known answer at index ",
		" differs from that of 17 at index ",
		" of sparse examples differs from that of dense ones at index "
	eachDevice(t, func(i Info) {
		mutants := []struct{ name, style, file, from, to, want string }{
			{"unfused score", "cpu", "score.cl", "fma((vec_t)(x##k[j]), v, acc##k)",
				"(vec_t)(x##k[j]) * v + acc##k", "score" + known},
			{"truncated", "cpu", "contract.cl", "(v + big) - big", "trunc(v)", "class sums" + known},
			{"unfused norms", "cpu", "update.cl", "acc0 = fma(part[0][k], part[0][k], acc0)",
				"acc0 = part[0][k] * part[0][k] + acc0", "norms" + known},
			{"unfused exp", "cpu", "vector.cl", "p = fma(p, r, VECTOR(1.0f));\n\tconst",
				"p = p * r + (vec_t)(1.0f);\n\tconst", "kernel values" + known},
			{"degree", "cpu", "kernelvalue.cl", "int k = 1; k < degree", "int k = 2; k < degree",
				"project" + known},
			{"leaving not subtracted", "gpu", "sums.cl", "entry >= 0 ? q : -q", "q",
				"class sums" + known},
			{"score_16", "gpu", "score.cl", "+ sum[n];", "+ (CLASSES == 16 ? 0 : sum[n]);",
				"score of 17 classes" + known},
			{"score_16, second group", "gpu", "score.cl", "w + (size_t)(column / CLASSES)",
				"w + (size_t)(CLASSES == 16 ? 0 : column / CLASSES)", "score of 17 classes" + known},
			{"score_64", "gpu", "score.cl", "+ sum[n];", "+ (CLASSES == 64 ? 0 : sum[n]);",
				"score of 65 classes" + again},
			{"score_64, second group", "gpu", "score.cl", "w + (size_t)(column / CLASSES)",
				"w + (size_t)(CLASSES == 64 ? 0 : column / CLASSES)", "score of 65 classes" + again},
			{"product, second panel", "gpu", "project.cl", "(begin + MY_COLUMN(v))",
				"(MY_COLUMN(v))", "kernel values" + known},
			{"product, second panel of the factor", "gpu", "project.cl",
				"b += (size_t)(begin / COLUMNS) * lda * COLUMNS", "b += 0", "kernel values" + known},
			{"a step's rows backwards", "gpu", "tile.cl", "(a)[k / 4 * DOWN + l / ACROSS]",
				"(a)[(ROWS - 4 - k) / 4 * DOWN + l / ACROSS]", "kernel values" + known},
			{"trees, children", "cpu", "trees.cl", "node[2 - (", "node[1 + (", "gradients" + known},
			{"trees, signs", "gpu", "trees.cl", "(long)(int)v", "(long)v", "histogram" + known},
			{"weighted, second group", "gpu", "weighted.cl", "min(group + (c), classes - 1)",
				"min((c), classes - 1)", "evaluate of 17 classes" + known},
			{"weighted_64, second group", "gpu", "weighted.cl", "min(group + (c), classes - 1)",
				"min((CLASSES == 64 ? 0 : group) + (c), classes - 1)", "weighted sums of 65 classes" + again},
			{"losses of half a work-group", "gpu", "residual.cl", "rest = GROUP;", "rest = GROUP / 2;",
				"evaluate" + known},
			{"score_sparse", "gpu", "sparse.cl", "fma((vec_t)(values[at]), WHOLE(j, wg), acc)", "acc",
				"score" + dense},
			{"move_sums_sparse", "gpu", "sparse.cl", "entry >= 0 ? q : -q", "q", "class sums" + dense},
			{"product_sparse", "gpu", "projectsparse.cl", "ended(total + acc, ", "ended(total, ",
				"kernel values" + dense},
			{"product_sparse, second panel", "gpu", "projectsparse.cl",
				"(size_t)(u / COLUMNS) * columns_of_b * COLUMNS", "0", "kernel values" + dense},
			{"squares_sparse", "gpu", "projectsparse.cl", "squares[order[r]] = total + acc",
				"squares[order[r]] = total", "kernel values" + dense},
			{"weighted_sparse", "gpu", "weightedsparse.cl",
				"fma(LOAD(0, a + (size_t)i * classes), (vec_t)(values[at]), acc)", "acc", "evaluate" + dense},
			{"weighted_sparse, second group", "gpu", "weightedsparse.cl", "a += group;", "",
				"evaluate of 17 classes" + dense},
		}
		if !*allMutants {
			chooser(t).Shuffle(len(mutants), func(i, j int) {
				mutants[i], mutants[j] = mutants[j], mutants[i]
			})
			mutants = mutants[:6]
		}
		for _, m := range mutants {
			t.Run(i.ID()+"/"+m.name, func(t *testing.T) {
				e := openTest(t, i, Options{}, build{sources: mutate(t, m.file, m.from, m.to), style: m.style})
				if err := engine.SelfTest(e.Engine); err == nil || !strings.HasPrefix(err.Error(),
					"self-test: "+m.want) {
					t.Errorf("%v, want %s…", err, m.want)
				}
			})
		}
	})
}

func TestBuildErrorShowsTheLog(t *testing.T) {
	eachDevice(t, func(i Info) {
		_, err := open(i, Options{}, build{sources: mutate(t, "score.cl", "int rows,",
			"nonsense rows,")})
		if err == nil || !strings.Contains(err.Error(), "nonsense") || strings.Contains(err.Error(),
			"\x00") {
			t.Errorf("error %q, want the compiler's message about nonsense", err)
		}
	})
}
