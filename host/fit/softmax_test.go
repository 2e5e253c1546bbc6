package fit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// readDigits reads the project's digits.
func readDigits(t *testing.T) *dataset.Dataset {
	t.Helper()
	data, err := file.Read(t.Context(), "../../testdata/digits.csv.gz",
		file.Options{Table: file.Table{LabelColumn: "last"}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// digits returns the first n of the project's digits, standardised, with a bias column and
// labels that noise has corrupted if it is not nil.
func digits(t *testing.T, n int, noise func([]string) (*confusion.Matrix,
	error)) *learners.Problem {
	t.Helper()
	data := readDigits(t)
	var err error
	data.N, data.X, data.Y = n, data.X[:n*data.D], data.Y[:n]
	p := &learners.Problem{Q: len(data.Classes), Engine: simd.New(), Bias: true, Seed: 1}
	if noise != nil {
		if p.Noise, err = noise(data.Classes); err != nil {
			t.Fatal(err)
		}
		if data.Y, err = p.Noise.Inject(data.Y, 3); err != nil {
			t.Fatal(err)
		}
	}
	if err := features.Prepare(data, dataset.Steps{Standardize: true, Bias: true}); err != nil {
		t.Fatal(err)
	}
	p.X, p.Y = data.Examples, data.Y
	return p
}

func pairwise(rate float64) func([]string) (*confusion.Matrix, error) {
	return func(classes []string) (*confusion.Matrix, error) {
		return confusion.Pairwise(classes, rate)
	}
}

// twin is the loss in float64, with the library's functions, and its gradient. It shares no
// code with the learner.
type twin struct {
	p       *learners.Problem
	c       []float64 // Q×Q
	weights []float64 // of the labels; nil for 1
	inverse []float64 // for backward correction; nil for forward
	lambda  float64
}

func (v twin) at(w, grad []float64) float64 {
	q, d := v.p.Q, v.p.X.D
	clear(grad)
	sum, total := 0.0, 0.0
	scores, a := make([]float64, q), make([]float64, q)
	for i, y := range v.p.Y {
		u := 1.0
		if v.weights != nil {
			u = v.weights[y]
		}
		total += u
		x := v.p.X.Row(i)
		most := math.Inf(-1)
		for r := range q {
			scores[r] = 0
			for j, f := range x {
				scores[r] += w[r*d+j] * float64(f)
			}
			most = max(most, scores[r])
		}
		z := 0.0
		for _, s := range scores {
			z += math.Exp(s - most)
		}
		logZ := most + math.Log(z)
		if v.inverse != nil {
			for r := range q {
				b := v.inverse[r*q+int(y)]
				sum -= u * b * (scores[r] - logZ)
				a[r] = math.Exp(scores[r]-logZ) - b
			}
		} else {
			noisy := 0.0
			for r := range q {
				noisy += v.c[int(y)*q+r] * math.Exp(scores[r]-logZ)
			}
			sum -= u * math.Log(noisy)
			for r := range q {
				p := math.Exp(scores[r] - logZ)
				a[r] = p - v.c[int(y)*q+r]*p/noisy
			}
		}
		for r := range q {
			for j, f := range x {
				grad[r*d+j] += u * a[r] * float64(f)
			}
		}
	}
	loss := sum / total
	for k := range grad {
		grad[k] /= total
		if !v.p.Bias || k%d != d-1 {
			grad[k] += v.lambda * w[k]
			loss += v.lambda / 2 * w[k] * w[k]
		}
	}
	return loss
}

// best returns the least loss that gonum's L-BFGS finds.
func (v twin) best(t *testing.T) float64 {
	t.Helper()
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(w []float64) float64 { return v.at(w, make([]float64, len(w))) },
		Grad: func(grad, w []float64) { v.at(w, grad) },
	}, make([]float64, v.p.Q*v.p.X.D), &optimize.Settings{
		GradientThreshold: 1e-7, MajorIterations: 2000,
		Converger: &optimize.FunctionConverge{Absolute: 1e-12, Iterations: 50},
	}, &optimize.LBFGS{Store: 20})
	if err != nil {
		t.Fatal(err)
	}
	return result.F
}

// TestLossIsThatOfATwin compares the loss at the weights found with the least that another
// optimiser finds of the same function in float64.
func TestLossIsThatOfATwin(t *testing.T) {
	for _, c := range []struct {
		name   string
		params softmax.Params
		noise  func([]string) (*confusion.Matrix, error)
		lambda float64
		within float64
	}{
		{"right labels", softmax.Params{L2: softmax.L2(0.01)}, nil, 0.01, 1e-6},
		{"none", softmax.Params{Correction: learners.None, L2: softmax.L2(0.001)}, pairwise(0.3), 1e-3,
			1e-6},
		{"forward", softmax.Params{L2: softmax.L2(0.001)}, pairwise(0.3), 1e-3, 1e-5},
		{"forward, balanced", softmax.Params{L2: softmax.L2(0.01), ClassWeights: learners.Balanced},
			pairwise(0.3), 1e-2, 1e-5},
		{"backward", softmax.Params{Correction: learners.Backward, L2: softmax.L2(0.05)}, pairwise(0.2),
			0.05, 1e-5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := digits(t, 400, c.noise)
			params := softmax.Defaults()
			params.L2, params.Iterations, params.Tolerance = c.params.L2, 2000, 1e-8
			if c.params.Correction != "" {
				params.Correction = c.params.Correction
			}
			v := twin{p: p, lambda: c.lambda, c: identity(p.Q)}
			if p.Noise != nil && params.Correction != learners.None {
				v.c = p.Noise.P
			}
			if c.params.ClassWeights != "" {
				params.ClassWeights = c.params.ClassWeights
				v.weigh()
			}
			if params.Correction == learners.Backward {
				inverse := must(p.Noise.Invert())
				v.inverse = inverse.V
			}
			r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 5000})
			if err != nil {
				t.Fatal(err)
			}
			w := make([]float64, len(r.W.W))
			for k, f := range r.W.W {
				w[k] = float64(f)
			}
			got, want := v.at(w, make([]float64, len(w))), v.best(t)
			t.Logf("loss %v after %d steps, the twin's %v: %.1e above", got, r.Steps, want,
				(got-want)/math.Abs(want))
			if !(got-want <= c.within*math.Abs(want)) {
				t.Errorf("loss %v, the twin's is %v, wanted at most %v of it above", got, want, c.within)
			}
		})
	}
}

// TestLossIsThatOfScikitLearn compares the loss of rows of length 1 with the minimum that
// scikit-learn 1.2.1 finds; bench/peers/same_loss.py prints it, also for other penalties.
func TestLossIsThatOfScikitLearn(t *testing.T) {
	const lambda, want = 1e-3, 0.8759664966510066
	data := readDigits(t)
	if err := features.Prepare(data, dataset.Steps{L2: true}); err != nil {
		t.Fatal(err)
	}
	p := &learners.Problem{X: data.Examples, Y: data.Y, Q: len(data.Classes), Engine: simd.New(),
		Seed: 1}
	params := softmax.Defaults()
	params.L2, params.Tolerance = softmax.L2(0.001), 1e-6
	r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 1000})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, len(r.W.W))
	for k, f := range r.W.W {
		w[k] = float64(f)
	}
	got := twin{p: p, lambda: lambda, c: identity(p.Q)}.at(w, make([]float64, len(w)))
	if !(math.Abs(got-want) <= 1e-6*want) {
		t.Errorf("loss %v after %d steps, scikit-learn's is %v, wanted at most 1e-6 of it apart", got,
			r.Steps, want)
	}
}

// weigh gives all labels the same total weight, and adjusts C to the weighted examples.
func (v *twin) weigh() {
	q := v.p.Q
	counts := make([]float64, q)
	for _, y := range v.p.Y {
		counts[y]++
	}
	v.weights = make([]float64, q)
	for k := range q {
		v.weights[k] = 1 / counts[k]
	}
	c := make([]float64, q*q)
	for k := range q {
		for r := range q {
			sum := 0.0
			for m := range q {
				sum += v.weights[m] * v.c[m*q+r]
			}
			c[k*q+r] = v.weights[k] * v.c[k*q+r] / sum
		}
	}
	v.c = c
}

func identity(q int) []float64 {
	c := make([]float64, q*q)
	for k := range q {
		c[k*q+k] = 1
	}
	return c
}

// The search must not fall for a penalty under which classes merge, and must do about as well
// as the best penalty would.
func TestSearchFindsAPenalty(t *testing.T) {
	p := digits(t, 1200, pairwise(0.4))
	errs := func(penalty softmax.Penalty) float64 {
		r := learn(t, p, func(params *softmax.Params) { params.L2 = penalty })
		return wrong(t, p.Engine, r.W, 1200)
	}
	found, best := errs(softmax.Search), 1.0
	for _, l2 := range []float64{1e-4, 1e-3, 1e-2} {
		best = min(best, errs(softmax.L2(l2)))
	}
	t.Logf("test error %.3f by search, %.3f at best", found, best)
	if found > best+0.02 || found > 0.15 {
		t.Errorf("test error %.3f by search, %.3f with the best of three penalties", found, best)
	}
}

func TestBadParams(t *testing.T) {
	for _, c := range []struct {
		edit func(*softmax.Params)
		want string
	}{
		{func(p *softmax.Params) { p.Correction = "both" }, `correction "both"`},
		{func(p *softmax.Params) { p.ClassWeights = "" }, `weights ""`},
		{func(p *softmax.Params) { p.L2 = softmax.L2(-1) }, `l2 "-1"`},
		{func(p *softmax.Params) { p.L2 = softmax.L2(math.NaN()) }, `l2 "NaN"`},
		{func(p *softmax.Params) { p.L2 = softmax.L2(math.Inf(1)) }, `l2 "+Inf"`},
		{func(p *softmax.Params) { p.Iterations = 0 }, "iterations 0"},
		{func(p *softmax.Params) { p.Tolerance = math.NaN() }, "tolerance NaN"},
	} {
		p := softmax.Defaults()
		c.edit(p)
		if err := learners.Check(p); !errors.As(err, new(*learners.ParameterError)) ||
			!facts.Told(err, c.want) {
			t.Errorf("%+v: %v, want %q", p, err, c.want)
		}
		if _, err := fit.Start(t.Context(), p, nil); !facts.Told(err, c.want) {
			t.Errorf("start %+v: %v, want %q", p, err, c.want)
		}
	}
}

// Backward correction needs an inverse; forward does not.
func TestSingularConfusion(t *testing.T) {
	p := digits(t, 100, nil)
	c := must(confusion.Symmetric(names(p.Q), 0))
	for k := range c.P {
		c.P[k] = 1 / float64(p.Q)
	}
	p.Noise = c
	params := softmax.Defaults()
	params.Correction = learners.Backward
	if _, err := fit.Start(t.Context(), params, p); !facts.Told(err, "no inverse") {
		t.Errorf("%v, want no inverse", err)
	}
}

func names(q int) []string {
	all := make([]string, q)
	for k := range all {
		all[k] = string(rune('a' + k))
	}
	return all
}

// Weights too large to begin with are an error, not a loop without end.
func TestWeightsOutOfReach(t *testing.T) {
	p := digits(t, 50, nil)
	from := make([]float32, p.Q*p.X.D)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range from {
		from[i] = float32(rng.NormFloat64() * 1e30)
	}
	_, err := host.Run(t.Context(), softmax.Defaults(), p, host.RunOptions{MaxSteps: 5, From: from})
	if !facts.Told(err, "too large begin") {
		t.Errorf("%v", err)
	}
}

// Who stops a run before its last fit is told that the weights are not a result.
func TestStoppedInASearch(t *testing.T) {
	p := digits(t, 200, pairwise(0.2))
	for _, c := range []struct {
		l2    softmax.Penalty
		steps int
		want  string
	}{{softmax.Search, 3, "ended in the search for a penalty"}, {softmax.L2(0.01), 3, ""},
		{softmax.Search, 5000, ""}} {
		params := softmax.Defaults()
		params.L2 = c.l2
		r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: c.steps})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(fmt.Sprint(r.Doubts), c.want) || c.want == "" && r.Doubts != nil {
			t.Errorf("l2 %v, %s after %d steps: doubts %q, wanted %q", c.l2, r.Stop, r.Steps, r.Doubts,
				c.want)
		}
	}
}
