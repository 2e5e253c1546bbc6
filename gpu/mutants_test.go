//go:build cgo && !noopencl

package gpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// mutants are ways to break the kernels. Each must turn the conformance suite
// red: a guard that nothing trips is no guard.
var mutants = []struct {
	name     string
	file     string // kernel file that is changed
	from, to string // text replaced, all occurrences
}{
	{"relaxed: unfused multiply-add in score", "score.cl", "acc0 = fma(v, (lanes_t)(w0[j]), acc0)", "acc0 = v * (lanes_t)(w0[j]) + acc0"},
	{"unfused multiply-add in norms", "update.cl", "acc = fma(z, z, acc)", "acc = z * z + acc"},
	{"no chunks in score", "score.cl", "from += CHUNK", "from += 0x10000000"},
	{"chunk of 128 in score", "score.cl", "CHUNK", "128"},
	{"columns backwards in score", "score.cl", "const lanes_t v = xi[j * step];", "const int jj = from + to - 1 - j; const lanes_t v = xi[jj * step];"},
	{"second class not written", "score.cl", "scores[classes[c1] * blocks + b] = total1;", "if (m % 2) scores[classes[c1] * blocks + b] = total1;"},
	{"tie goes to the highest class", "region.cl", "if (s > best)", "if (s >= best)"},
	{"runner-up forgotten", "region.cl", "second = best;", ""},
	{"runner-up below the best only", "region.cl", "} else if (s > second) {", "} else if (s < second) {"},
	{"margin strictly above alpha", "region.cl", "margin >= alpha", "margin > alpha"},
	{"margin ignored", "region.cl", "margin >= alpha ? 1 : 0", "1"},
	{"last example dropped in assign", "region.cl", "if (i >= (size_t)rows)", "if (i + 1 >= (size_t)rows)"},
	{"one too many examples", "region.cl", "if (i >= (size_t)rows)", "if (i > (size_t)rows)"},
	{"place not remembered", "region.cl", "place[i] = now;", ""},
	{"first move dropped", "sums.cl", "int at = cells[c + 1]", "int at = cells[c + 1] + 1"},
	{"leaving not subtracted", "sums.cl", "entry >= 0 ? k : -k", "entry >= 0 ? k : 0"},
	{"truncated instead of rounded", "contract.cl", "(v + big) - big", "trunc(v)"},
	{"away from zero instead of to even", "contract.cl", "(v + big) - big", "round(v)"},
	{"sums in 32 bits", "sums.cl", "long sum[VEC]", "int sum[VEC]"},
	{"sums in float", "sums.cl", "long sum[VEC]", "float sum[VEC]"},
	{"sums overwritten", "sums.cl", "cell[j] += sum[j]", "cell[j] = sum[j]"},
	{"last column of the sums dropped", "sums.cl", "min(VEC, d - from)", "min(VEC, d - 1 - from)"},
	{"classes backwards in z", "update.cl", "acc = fma(inv_q[k], convert_float_rte(sums_p[(size_t)k * d + j]), acc);", "acc = fma(inv_q[Q - 1 - k], convert_float_rte(sums_p[(size_t)(Q - 1 - k) * d + j]), acc);"},
	{"unit applied to each class", "update.cl", "acc = fma(inv_q[k], convert_float_rte(sums_p[(size_t)k * d + j]), acc);", "acc = fma(inv_q[k] * unit, convert_float_rte(sums_p[(size_t)k * d + j]), acc);"},
	{"sums rounded towards zero", "update.cl", "convert_float_rte", "convert_float_rtz"},
	{"transposed inverse", "update.cl", "inv + (size_t)q * Q", "inv + (size_t)p * Q"},
	{"writes past the end of z", "update.cl", "if (j >= d)\n\t\treturn;\n\tz[(", "z[("},
	{"norm skips the last column", "update.cl", "min((c + 1) * CHUNK, d)", "min((c + 1) * CHUNK, d - 1)"},
	{"sparse: unfused multiply-add", "sparse.cl", "acc1 = fma(v, w1[j], acc1)", "acc1 = v * w1[j] + acc1"},
	{"sparse: no chunks", "sparse.cl", "if (j / CHUNK != chunk)", "if (0)"},
	{"sparse: a chunk for each value", "sparse.cl", "if (j / CHUNK != chunk)", "if (1)"},
	{"sparse: last chunk dropped", "sparse.cl", "= total0 + acc0;\n\tscores", "= total0;\n\tscores"},
	{"sparse: first value dropped", "sparse.cl", "int k = lengths[r]", "int k = lengths[r] - 1"},
	{"sparse: last example dropped", "sparse.cl", "if (r >= (size_t)rows)", "if (r + 1 >= (size_t)rows)"},
	{"sparse: leaving not subtracted", "sparse.cl", "entry >= 0 ? q : -q", "q"},
	{"rounded off too late", "contract.cl", "< 0x1p23f ?", "< 0x1p22f ?"},
	{"sparse: every other value only", "sparse.cl", "k += (int)get_local_size(0)", "k += (int)get_local_size(0) + 1"},
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

func TestMutantsAreCaught(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, m := range mutants {
			t.Run(i.ID()+"/"+m.name, func(t *testing.T) {
				e := openTest(t, i, Options{}, build{sources: mutate(t, m.file, m.from, m.to)})
				for _, c := range enginetest.Cases() {
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
			{"score.cl", "acc0 = fma(v, (lanes_t)(w0[j]), acc0)", "acc0 = v * (lanes_t)(w0[j]) + acc0", "self-test: score differs from the known answer at index "},
			{"contract.cl", "(v + big) - big", "trunc(v)", "self-test: class sums differs from the known answer at index "},
			{"update.cl", "acc = fma(z, z, acc)", "acc = z * z + acc", "self-test: norms differs from the known answer at index "},
		} {
			e := openTest(t, i, Options{}, build{sources: mutate(t, m.file, m.from, m.to)})
			if err := engine.SelfTest(e); err == nil || !strings.HasPrefix(err.Error(), m.want) {
				t.Errorf("%s broken: %v, want %s…", m.file, err, m.want)
			}
		}
	})
}

func TestBuildErrorShowsTheLog(t *testing.T) {
	eachDevice(t, func(i Info) {
		_, err := open(i, Options{}, build{sources: mutate(t, "score.cl", "ulong blocks", "nonsense blocks")})
		if err == nil || !strings.Contains(err.Error(), "nonsense") || strings.Contains(err.Error(), "\x00") {
			t.Errorf("error %q, want the compiler's message about nonsense", err)
		}
	})
}
