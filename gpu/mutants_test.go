//go:build cgo && !noopencl

package gpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// mutant is a way to break the kernels.
type mutant struct {
	name     string // begins with "GPU: " for kernels in the form for GPUs, "bounds: " for engines with bounds
	file     string // kernel file that is changed
	from, to string // text replaced, all occurrences
}

// mutants must each turn the conformance suite red: a guard that nothing trips is no guard.
var mutants = []mutant{
	{"relaxed: unfused multiply-add in score", "score.cl", "fma((vec_t)(VALUE(k)), v, acc##k)", "(vec_t)(VALUE(k)) * v + acc##k"},
	{"GPU: unfused multiply-add in score", "score.cl", "fma((vec_t)(part[l * (WIDTH + 1) + k]), wg[j + k], acc)", "(vec_t)(part[l * (WIDTH + 1) + k]) * wg[j + k] + acc"},
	{"narrow: least code forgotten", "contract.cl", "(fma((v) + least, a, b) * (r))", "(fma((v), a, b) * (r))"},
	{"narrow: length forgotten", "contract.cl", "(fma((v) + least, a, b) * (r))", "fma((v) + least, a, b)"},
	{"narrow: unfused preparation", "contract.cl", "(fma((v) + least, a, b) * (r))", "((((v) + least) * (a) + (b)) * (r))"},
	{"narrow: offsets of the wrong column", "contract.cl", "vload16(0, map + d + j)", "vload16(0, map + d + j - 1)"},
	{"narrow: map of the first chunk", "score.cl", "map + from, to - from", "map, to - from"},
	{"narrow: length of the first example", "score.cl", "min(first + k, end - 1)];\n#define VALUE", "min(first, end - 1)];\n#define VALUE"},
	{"narrow: sums with the length of another example", "sums.cl", "unit[list[at]]", "unit[list[begin]]"},
	{"narrow: sums with the map of the first columns", "sums.cl", "vload8(0, map + from + j)", "vload8(0, map + j)"},
	{"unfused multiply-add in norms", "update.cl", "acc3 = fma(z3, z3, acc3)", "acc3 = z3 * z3 + acc3"},
	{"no chunks in score", "score.cl", "from += CHUNK", "from += 0x10000000"},
	{"chunk of 128 in score", "score.cl", "CHUNK", "128"},
	{"columns backwards in score", "score.cl", "for (int j = from; j < to; j++)", "for (int j = to - 1; j >= from; j--)"},
	{"last class not written", "score.cl", "c < mine", "c < mine - 1"},
	{"last example not written", "score.cl", "if (first + k < end)", "if (first + k < end - 1)"},
	{"GPU: columns backwards in score", "score.cl", "for (int k = 0; k < width; k++)", "for (int k = width - 1; k >= 0; k--)"},
	{"GPU: last class not written", "score.cl", "g * CLASSES + c < m", "g * CLASSES + c < m - 1"},
	{"GPU: last column not read", "score.cl", "if (l % WIDTH < width)", "if (l % WIDTH < width - 1)"},
	{"tie goes to the highest class", "region.cl", "if (s > best)", "if (s >= best)"},
	{"GPU: runner-up forgotten", "region.cl", "second = best;", ""},
	{"GPU: runner-up below the best only", "region.cl", "} else if (s > second) {", "} else if (s < second) {"},
	{"GPU: margin strictly above alpha", "region.cl", "margin >= alpha", "margin > alpha"},
	{"GPU: margin ignored", "region.cl", "margin >= alpha ? 1 : 0", "1"},
	{"GPU: last example dropped in assign", "region.cl", "if (i < (size_t)rows)", "if (i + 1 < (size_t)rows)"},
	{"GPU: one too many examples", "region.cl", "if (i < (size_t)rows)", "if (i <= (size_t)rows)"},
	{"tie goes to the highest class of a lane", "region.cl", "s > best;", "s >= best;"},
	{"runner-up forgotten", "region.cl", "select(select(second, s, s > second), best, leads)", "select(second, s, s > second)"},
	{"runner-up below the best only", "region.cl", "select(select(second, s, s > second), best, leads)", "select(second, best, leads)"},
	{"margin strictly above alpha", "region.cl", "margins[l] >= alpha", "margins[l] > alpha"},
	{"last lane dropped in assign", "region.cl", "b * LANES + l < (size_t)rows", "b * LANES + l + 1 < (size_t)rows"},
	{"one too many lanes", "region.cl", "b * LANES + l < (size_t)rows", "b * LANES + l <= (size_t)rows"},
	{"place not remembered", "region.cl", "place[i] = now;", ""},
	{"first group dropped", "add.cl", "int at = cells[c + 1]", "int at = cells[c + 1] + 1"},
	{"first of a group dropped", "sums.cl", "int at = begin", "int at = begin + 1"},
	{"leaving not subtracted", "add.cl", "cell[j] -= sum[j]", ""},
	{"truncated instead of rounded", "contract.cl", "(v + big) - big", "trunc(v)"},
	{"away from zero instead of to even", "contract.cl", "(v + big) - big", "round(v)"},
	{"last column added dropped", "add.cl", "min(COLUMNS, d - from)", "min(COLUMNS, d - 1 - from)"},
	{"GPU: narrow: length of the first example", "score.cl", "X(example[r], row[r],", "X(example[0], row[r],"},
	{"sums in 32 bits", "sums.cl", "long sum = 0", "int sum = 0"},
	{"sums in float", "sums.cl", "long sum = 0", "float sum = 0"},
	{"sums overwritten", "add.cl", "cell[j] += sum[j]", "cell[j] = sum[j]"},
	{"eight sums by truncation", "sums.cl", "as_long8(fma(convert_double8(VALUES(j)), (double8)(scale), (double8)(MAGIC)))", "as_long8(trunc(convert_double8(VALUES(j)) * (double8)(scale)) + (double8)(MAGIC))"},
	{"eight sums with a little magic left", "sums.cl", "(ulong)(end - begin)", "(ulong)(end - begin - 1)"},
	{"eight sums whatever their size", "sums.cl", "if (small)", "if (1)"},
	{"last column of the sums dropped", "sums.cl", "min(COLUMNS, d - from)", "min(COLUMNS, d - 1 - from)"},
	{"classes backwards in z", "update.cl", "acc = fma(inv_q[k], convert_float(sums_p[(size_t)k * d + j]), acc);", "acc = fma(inv_q[Q - 1 - k], convert_float(sums_p[(size_t)(Q - 1 - k) * d + j]), acc);"},
	{"unit applied to each class", "update.cl", "acc = fma(inv_q[k], convert_float(sums_p[(size_t)k * d + j]), acc);", "acc = fma(inv_q[k] * unit, convert_float(sums_p[(size_t)k * d + j]), acc);"},
	{"sums rounded towards zero", "update.cl", "convert_float(", "convert_float_rtz("},
	{"transposed inverse", "update.cl", "inv + (size_t)pairs[2 * t + 1] * Q", "inv + (size_t)pairs[2 * t] * Q"},
	{"writes past the end of z", "update.cl", "if (j >= d)\n\t\treturn;\n\tconst size_t t", "const size_t t"},
	{"sixteen components unfused", "update.cl", "fma((float16)(inv2[k]), g, z2)", "(float16)(inv2[k]) * g + z2"},
	{"sixteen squares backwards", "update.cl", "acc0 = fma(part[0][k], part[0][k], acc0)", "acc0 = fma(part[0][15 - k], part[0][15 - k], acc0)"},
	{"norms of the last class for that before", "update.cl", "q2 = min(first + 2, Q - 1)", "q2 = Q - 1"},
	{"GPU: unfused multiply-add in norms", "update.cl", "acc = fma(z, z, acc)", "acc = z * z + acc"},
	{"norm skips the last column", "update.cl", "min((c + 1) * CHUNK, d)", "min((c + 1) * CHUNK, d - 1)"},
	{"bounds: what the sketch leaves ignored", "bound.cl", "fma(rho, eta, nu * (theta + slack[r]))", "nu * (theta + slack[r])"},
	{"bounds: the error of the sketch ignored", "bound.cl", "nu * (theta + slack[r])", "nu * slack[r]"},
	{"bounds: only the last change counts", "bound.cl", "(size_t)(then % span)", "(size_t)((now + span - 1) % span)"},
	{"bounds: second class not estimated", "bound.cl", "score[r1] = score[r1] + sum1;", ""},
	{"bounds: rounds too old", "bound.cl", "now - then < span ?", "1 ?"},
	{"bounds: round not noted", "bound.cl", "scored[i] = now;", "scored[i] = now + 1;"},
	{"bounds: estimates taken for exact", "bound.cl", "(low > rival_high)", "(high > rival_low)"},
	{"bounds: margin at best", "bound.cl", "(inside & (low - rival_high >= alpha))", "(inside & (high - rival_low >= alpha))"},
	{"bounds: margin at worst", "bound.cl", "(~inside & (high - rival_low < alpha))", "(~inside & (low - rival_high < alpha))"},
	{"bounds: last class is no rival", "bound.cl", "for (int r = 0; r < Q; r++) {\n\t\tconst lanes_t s", "for (int r = 0; r < Q - 1; r++) {\n\t\tconst lanes_t s"},
	{"bounds: first of the list not scored", "score.cl", "int first = ROWS * (int)get_global_id(0);", "int first = ROWS * (int)get_global_id(0) + (listed && get_global_id(0) == 0);"},
	{"bounds: first of the list not assigned", "bound.cl", "int u = (int)get_global_id(0);", "int u = (int)get_global_id(0) + (get_global_id(0) == 0 ? (int)get_global_size(0) : 0);"},
	{"sparse: unfused multiply-add", "sparse.cl", "acc1 = fma(v, w1[j], acc1)", "acc1 = v * w1[j] + acc1"},
	{"sparse: no chunks", "sparse.cl", "if (j / CHUNK != chunk)", "if (0)"},
	{"sparse: a chunk for each value", "sparse.cl", "if (j / CHUNK != chunk)", "if (1)"},
	{"sparse: last chunk dropped", "sparse.cl", "= total0 + acc0;\n\tscores", "= total0;\n\tscores"},
	{"sparse: first value dropped", "sparse.cl", "int k = lengths[r]", "int k = lengths[r] - 1"},
	{"sparse: last example dropped", "sparse.cl", "if (r >= (size_t)rows)", "if (r + 1 >= (size_t)rows)"},
	{"sparse: leaving not subtracted", "sparse.cl", "entry >= 0 ? q : -q", "q"},
	{"project: unfused multiply-add", "project.cl", "fma(value##k, b##v, acc##k##_##v)", "value##k * b##v + acc##k##_##v"},
	{"project: no chunks", "project.cl", "low += CHUNK", "low += 0x10000000"},
	{"project: last row of a block dropped", "project.cl", "F(4) F(5)", "F(4)"},
	{"project: last example not written", "project.cl", "|| i >= end", "|| i >= end - 1"},
	{"project: totals of other columns forgotten", "project.cl", "if (from > 0)", "if (0)"},
	{"project: distance unfused", "kernelvalue.cl", "fma((vec_t)(-2.0f), total, (vec_t)(*xx) + LOAD(0, more))", "((vec_t)(*xx) - total + (LOAD(0, more) - total))"},
	{"project: negative distances", "kernelvalue.cl", "select(t, (vec_t)(0.0f), t < (vec_t)(0.0f))", "t"},
	{"project: NaN distances are 0", "kernelvalue.cl", "select(t, (vec_t)(0.0f), t < (vec_t)(0.0f))", "fmax(t, (vec_t)(0.0f))"},
	{"project: polynomial unfused", "kernelvalue.cl", "fma(p, r, (vec_t)(0x1.fffffcp-2f))", "p * r + (vec_t)(0x1.fffffcp-2f)"},
	{"project: last step of the polynomial unfused", "kernelvalue.cl", "p = fma(p, r, (vec_t)(1.0f));\n\tconst", "p = p * r + (vec_t)(1.0f);\n\tconst"},
	{"project: no least argument", "kernelvalue.cl", "x < (vec_t)(-0x1.5d589ep6f)", "x < (vec_t)(-0x1p30f)"},
	{"project: NaN kernel values lost", "kernelvalue.cl", ", x, x != x)", ", (vec_t)(0.0f), x != x)"},
	{"project: base of the power unfused", "kernelvalue.cl", "fma((vec_t)(gamma), total, (vec_t)(coef0))", "(vec_t)(gamma) * total + (vec_t)(coef0)"},
	{"project: powers by squaring", "kernelvalue.cl", "for (int k = 1; k < degree; k++)\n\t\t\tv = v * b;", "if (degree == 7)\n\t\t\tv = b * (b * b) * ((b * b) * (b * b));\n\t\telse for (int k = 1; k < degree; k++)\n\t\t\tv = v * b;"},
	{"project: offset forgotten", "kernelvalue.cl", "return total + LOAD(0, more);", "return total;"},
	{"project: lengths of other landmarks", "project.cl", "more + v * WIDTH", "more"},
	{"project: lengths unfused", "project.cl", "acc = fma(a[j], a[j], acc)", "acc = a[j] * a[j] + acc"},
	{"project: sparse, no chunks", "projectsparse.cl", "if (j / CHUNK != chunk)", "if (0)"},
	{"project: sparse, unfused", "projectsparse.cl", "fma((vec_t)(values[at]), LOAD(0, b + (size_t)(j - from) * COLUMNS), acc)", "(vec_t)(values[at]) * LOAD(0, b + (size_t)(j - from) * COLUMNS) + acc"},
	{"project: sparse, other examples", "projectsparse.cl", "const size_t i = (size_t)order[r];", "const size_t i = r;"},
	{"project: sparse, lengths of other examples", "projectsparse.cl", "squares[order[r]]", "squares[r]"},
	{"project: sparse, last chunk dropped", "projectsparse.cl", "ended(total + acc, ", "ended(total, "},
	{"project: sparse, last example dropped", "projectsparse.cl", "if (r >= (size_t)rows)", "if (r + 1 >= (size_t)rows)"},
	{"GPU: project: unfused multiply-add", "project.cl", "fma((vec_t)(ra[s * (TILE + GAP) + mine + k]), bs, acc[k])", "(vec_t)(ra[s * (TILE + GAP) + mine + k]) * bs + acc[k]"},
	{"GPU: project: no chunks", "project.cl", "low += CHUNK", "low += 0x10000000"},
	{"GPU: project: last column not read", "project.cl", "if (n % STEPS < width)", "if (n % STEPS < width - 1)"},
	{"GPU: project: beyond the examples", "project.cl", "if (i < rows)", "if (i <= rows)"},
	{"rounded off too late", "contract.cl", "< 0x1p23f ?", "< 0x1p22f ?"},
	{"sparse: every other value only", "sparse.cl", "k += (int)get_local_size(0)", "k += (int)get_local_size(0) + 1"},
}

// catchers names the cases that catch mutants, by how they begin, where they come late in the suite
// or need few kernels compiled. They are asked first; the order decides nothing but the time.
var catchers = map[string]string{
	"narrow: least code forgotten":                    "bytes (n=301",
	"narrow: length forgotten":                        "bytes (n=301",
	"narrow: unfused preparation":                     "bytes (n=301",
	"narrow: offsets of the wrong column":             "bytes (n=301",
	"narrow: map of the first chunk":                  "bytes (n=301",
	"narrow: length of the first example":             "bytes (n=301",
	"GPU: narrow: length of the first example":        "bytes (n=301",
	"narrow: sums with the length of another example": "bytes of many examples",
	"narrow: sums with the map of the first columns":  "bytes of many examples",
	"no chunks in score":                              "d (n=33 d=257",
	"chunk of 128 in score":                           "d (n=33 d=255",
	"sparse: no chunks":                               "d (n=33 d=257 Q=3, sparse",
	"GPU: runner-up forgotten":                        "margin (",
	"GPU: runner-up below the best only":              "margin (",
	"GPU: margin ignored":                             "margin (",
	"runner-up forgotten":                             "margin (",
	"runner-up below the best only":                   "margin (",
	"truncated instead of rounded":                    "subnormal values",
	"away from zero instead of to even":               "wide exponents (",
	"rounded off too late":                            "wide exponents (",
	"eight sums by truncation":                        "wide exponents of many",
	"eight sums with a little magic left":             "wide exponents of many",
	"bounds: what the sketch leaves ignored":          "drift",
	"bounds: the error of the sketch ignored":         "drift in few dimensions",
	"bounds: only the last change counts":             "drift",
	"bounds: rounds too old":                          "drift in few dimensions",
	"bounds: round not noted":                         "walk of bytes",
	"bounds: second class not estimated":              "walk of bytes",
	"bounds: last class is no rival":                  "walk of halves",
	"bounds: estimates taken for exact":               "walk with margin",
	"bounds: margin at worst":                         "walk with margin",
	"bounds: margin at best":                          "walk with margin",
	"project: no chunks":                              "project d ({rbf 0.1 0 0} n=13 d=257",
	"GPU: project: no chunks":                         "project d ({rbf 0.1 0 0} n=13 d=257",
	"project: totals of other columns forgotten":      "project d ({rbf 0.1 0 0} n=13 d=513",
	"project: sparse, no chunks":                      "project d ({rbf 0.1 0 0} n=13 d=513",
	"project: negative distances":                     "project distances lost in rounding",
	"project: no least argument":                      "project gamma 30",
	"project: base of the power unfused":              "project m without axes ({poly 0.3 -0.7 3} n=11 d=3 m=1 ",
	"project: polynomial unfused":                     "project n ({rbf 0.1 0 0} n=257",
	"project: powers by squaring":                     "project poly (",
	"project: NaN distances are 0":                    "project rbf, overflow (",
	"project: NaN kernel values lost":                 "project rbf, overflow (",
}

// catcherFirst moves the case that is likely to catch a mutant to the front.
func catcherFirst(t *testing.T, mutant string, cases []enginetest.Case) []enginetest.Case {
	t.Helper()
	name, known := catchers[mutant]
	if !known {
		return cases
	}
	at := slices.IndexFunc(cases, func(c enginetest.Case) bool { return strings.HasPrefix(c.Name, name) })
	if at < 0 {
		t.Fatalf("no case begins with %q: mend the catcher of this mutant", name)
	}
	return slices.Concat(cases[at:at+1], cases[:at], cases[at+1:])
}

// mutate returns the kernels with all occurrences of a text in one file replaced.
func mutate(t *testing.T, file, from, to string) []string {
	t.Helper()
	sources, err := kernelSources()
	if err != nil {
		t.Fatal(err)
	}
	f := slices.Index(kernelNames, file)
	if f < 0 || !strings.Contains(sources[f], from) {
		t.Fatalf("%s no longer contains %q: rewrite the mutant", file, from)
	}
	sources[f] = strings.ReplaceAll(sources[f], from, to)
	return sources
}

// broken returns an engine on the queue of a whole one, with kernels of other sources. Only
// programs whose text differs are compiled; of narrow examples, when they are loaded.
func (e *gpuEngine) broken(t *testing.T, sources []string) *gpuEngine {
	t.Helper()
	b := &gpuEngine{
		info: e.info, q: e.q, cpu: e.cpu, shares: e.shares, vector: e.vector, maxAlloc: e.maxAlloc,
		build: e.build, options: e.options, tuning: e.tuning,
	}
	b.build.sources = sources
	differ := func(p program) bool { return !slices.Equal(p.text(sources), p.text(e.build.sources)) }
	for _, width := range widths {
		group := densePrograms(width)
		if width == 0 {
			group = append(group, programs...)
		}
		for _, p := range group {
			if width != 0 && slices.ContainsFunc(group, differ) {
				continue
			}
			if differ(p) {
				if err := b.compile([]program{p}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			to := p.kernels(b)
			for n, k := range p.kernels(e) {
				*to[n].to = *k.to
			}
		}
	}
	if len(b.programs) == 0 {
		t.Fatal("no program has the text that differs")
	}
	return b
}

// formOf returns how the engine is opened that a mutant is made of, and the cases that judge it,
// first those that are likely to catch it.
func formOf(mutant string) (o Options, b build, cases []enginetest.Case) {
	b.style = "cpu"
	if strings.HasPrefix(mutant, "GPU: ") {
		b.style = "gpu"
	}
	project := func(c enginetest.Case) bool { return strings.HasPrefix(c.Name, "project") }
	switch {
	case strings.HasPrefix(mutant, "bounds: "):
		b.bounds = "at once"
		cases = enginetest.WalkCases()
		slices.Reverse(cases) // the last are the hardest
	case strings.Contains(mutant, "project: "):
		o.MaxAlloc = 70000 // a product in several pieces
		cases = slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool { return !project(c) })
	default:
		cases = slices.DeleteFunc(enginetest.Cases(), project)
	}
	return o, b, cases
}

func TestMutantsAreCaught(t *testing.T) {
	for name := range catchers {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == name }) {
			t.Errorf("there is a catcher of %q, but no such mutant", name)
		}
	}
	eachDevice(t, func(i Info) {
		type form struct {
			maxAlloc      int64
			style, bounds string
		}
		whole := map[form]*gpuEngine{}
		for _, m := range mutants {
			o, b, cases := formOf(m.name)
			f := form{o.MaxAlloc, b.style, b.bounds}
			if whole[f] == nil {
				whole[f] = openTest(t, i, o, b)
				for _, width := range widths {
					if err := whole[f].useWidth(width); err != nil {
						t.Fatal(err)
					}
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
			{"score.cl", "fma((vec_t)(VALUE(k)), v, acc##k)", "(vec_t)(VALUE(k)) * v + acc##k", "self-test: score differs from the known answer at index "},
			{"contract.cl", "(v + big) - big", "trunc(v)", "self-test: class sums differs from the known answer at index "},
			{"update.cl", "acc0 = fma(part[0][k], part[0][k], acc0)", "acc0 = part[0][k] * part[0][k] + acc0", "self-test: norms differs from the known answer at index "},
			{"kernelvalue.cl", "p = fma(p, r, (vec_t)(1.0f));\n\tconst", "p = p * r + (vec_t)(1.0f);\n\tconst", "self-test: kernel values differs from the known answer at index "},
			{"kernelvalue.cl", "int k = 1; k < degree", "int k = 2; k < degree", "self-test: project differs from the known answer at index "},
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
		_, err := open(i, Options{}, build{sources: mutate(t, "score.cl", "int listed", "nonsense listed")})
		if err == nil || !strings.Contains(err.Error(), "nonsense") || strings.Contains(err.Error(), "\x00") {
			t.Errorf("error %q, want the compiler's message about nonsense", err)
		}
	})
}
