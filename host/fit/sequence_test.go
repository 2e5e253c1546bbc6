package fit_test

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

var update = flag.Bool("update", false, "write testdata/sequences.txt anew")

// sequences are trainings that make every kind of fit.
var sequences = []struct {
	name    string
	problem func(*testing.T) *learners.Problem
	change  func(*softmax.Params)
}{
	{"search", noisyDigits, func(*softmax.Params) {}},
	{"search, balanced", noisyDigits, func(p *softmax.Params) { p.ClassWeights = learners.Balanced }},
	{"search, labels are right", func(t *testing.T) *learners.Problem { return digits(t, 400, nil) },
		func(*softmax.Params) {}},
	{"given penalty", noisyDigits, func(p *softmax.Params) { p.L2 = softmax.L2(0.003) }},
	{"backward", noisyDigits, func(p *softmax.Params) { p.Correction = learners.Backward }},
	{"em", noisyDigits, func(p *softmax.Params) { p.Correction, p.Rounds = learners.EM, 4 }},
	{"em, given penalty", noisyDigits, func(p *softmax.Params) {
		p.Correction, p.L2, p.Folds = learners.EM, softmax.L2(0.003), 2
	}},
	{"em, larger penalties", func(t *testing.T) *learners.Problem {
		return bumpy(t, func(classes []string) (*confusion.Matrix, error) {
			return confusion.Pairwise(classes, 0.4)
		})
	}, func(p *softmax.Params) { p.Correction, p.Rounds = learners.EM, 3 }},
	{"annotators", annotated, func(*softmax.Params) {}},
	{"annotators, em", annotated, func(p *softmax.Params) { p.Correction, p.Rounds = learners.EM, 3 }},
	{"distributions, em", soft, func(p *softmax.Params) { p.Correction, p.Rounds = learners.EM, 3 }},
	{"distributions, none", soft, func(p *softmax.Params) { p.Correction = learners.None }},
	{"kernel, labels are right", func(t *testing.T) *learners.Problem { return bumpy(t, nil) },
		func(*softmax.Params) {}},
	{"kernel, ridge", func(t *testing.T) *learners.Problem {
		return bumpy(t, func(classes []string) (*confusion.Matrix, error) {
			return confusion.Symmetric(classes, 0.4)
		})
	}, func(*softmax.Params) {}},
	{"a search that begins again", func(t *testing.T) *learners.Problem {
		p := digits(t, 200, pairwise(0.45))
		bumps(p, 100)
		p.Mapped = false
		return p
	}, func(*softmax.Params) {}},
	{"head start of a fit", large(3 << 12), func(p *softmax.Params) { p.L2 = softmax.L2(0.001) }},
	{"head start of a search", large(5 << 12), func(*softmax.Params) {}},
	{"head start of em", large(3 << 12), func(p *softmax.Params) {
		p.Correction, p.Rounds = learners.EM, 3
	}},
	{"many features", func(t *testing.T) *learners.Problem { return wide(t) },
		func(*softmax.Params) {}},
}

func noisyDigits(t *testing.T) *learners.Problem { return digits(t, 400, pairwise(0.3)) }

func bumpy(t *testing.T, noise func([]string) (*confusion.Matrix, error)) *learners.Problem {
	p := digits(t, 400, noise)
	bumps(p, 100)
	return p
}

func annotated(t *testing.T) *learners.Problem {
	p := digits(t, 400, nil)
	annotate(t, p, kinds(t, p.Q), 0.4)
	return p
}

// soft are digits of which only a distribution over classes is known.
func soft(t *testing.T) *learners.Problem {
	p := noisyDigits(t)
	known := make([]float32, p.X.N*p.Q)
	for i, k := range p.Y {
		row := known[i*p.Q : (i+1)*p.Q]
		row[k], row[(int(k)+1)%p.Q] = 0.75, 0.25
	}
	p.Noise, p.Evidence = nil, &dataset.Evidence{Classes: known}
	return p
}

func large(n int) func(t *testing.T) *learners.Problem {
	return func(t *testing.T) *learners.Problem {
		const d, q = 4, 3
		x, y, c := mislabelled(t, n, d, q, 0.2)
		return &learners.Problem{X: dataset.Examples{N: n, D: d, X: x}, Y: y, Q: q, Noise: c,
			Engine: simd.New(), Seed: 1}
	}
}

// wide are examples of more features than have a whole matrix of information.
func wide(t *testing.T) *learners.Problem {
	const n, d = 300, 2500
	p := digits(t, n, pairwise(0.2))
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: n, D: d, X: make([]float32, 0, n*d)}
	for i := range n {
		x.X = append(x.X, p.X.Row(i)...)
		for range d - p.X.D {
			x.X = append(x.X, float32(rng.IntN(16)/15))
		}
	}
	p.X, p.Bias = x, false
	return p
}

// The iterates of these trainings, each with its penalty, and their weights are the golden ones.
func TestSequences(t *testing.T) {
	const golden = "testdata/sequences.txt"
	var got strings.Builder
	for _, s := range sequences {
		params := softmax.Defaults()
		s.change(params)
		all, penalties := sha256.New(), 0
		var last float64
		r, err := host.Run(t.Context(), params, s.problem(t), host.RunOptions{MaxSteps: 100000,
			OnStep: func(r host.Report) {
				at := slices.IndexFunc(r.Fields, func(f learners.Field) bool { return f.Name == "λ" })
				lambda := r.Fields[at].Value.(float64)
				if lambda != last {
					last, penalties = lambda, penalties+1
				}
				write(t, all, lambda)
				write(t, all, r.W.W)
			}})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		weights := sha256.New()
		write(t, weights, r.W.W)
		fmt.Fprintf(&got, "%-26s %4d steps, %3d penalties, iterates %.8x, weights %x\n", s.name,
			r.Steps, penalties, all.Sum(nil), weights.Sum(nil))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(golden))
	for i, line := range strings.Split(string(want), "\n") {
		if is := strings.Split(got.String(), "\n")[i]; is != line {
			t.Errorf("got  %s\nwant %s", is, line)
		}
	}
}

func write(t *testing.T, h hash.Hash, v any) {
	t.Helper()
	if err := binary.Write(h, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
}
