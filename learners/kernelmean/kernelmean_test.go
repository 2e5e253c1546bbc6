package kernelmean_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

// copies returns n examples of q classes of several sizes, each example several times, with labels
// whose noise follows a matrix exactly: the share of copies of an example of class t that have
// label p is P[p][t].
func copies(t *testing.T, n, each int, noise *confusion.Matrix) (data *dataset.Dataset,
	truth []int32) {
	t.Helper()
	q := noise.Q()
	rng := rand.New(rand.NewPCG(3, 4))
	data = &dataset.Dataset{Examples: dataset.Examples{D: 3}, Classes: noise.Classes}
	for range n {
		class := min(q-1, rng.IntN(q+1)) // the last is twice as large
		row := make([]float32, 3)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		row[class%3] += 2 - float32(class)
		label, left := 0, 0
		for range each {
			for left == 0 {
				left = int(math.Round(noise.P[label*q+class] * float64(each)))
				label++
			}
			left--
			data.X = append(data.X, row...)
			data.Y = append(data.Y, int32(label-1))
			truth = append(truth, int32(class))
		}
	}
	data.N = len(data.Y)
	return data, truth
}

// scores returns the scores of a twin in float64, which knows the right labels: Σ κ(x_i, x)/n over
// each class, or over n_k if balanced.
func scores(data *dataset.Dataset, labels []int32, gamma float64, balanced bool,
	at []float32) []float64 {
	q := len(data.Classes)
	s, sizes := make([]float64, q), make([]float64, q)
	for i, k := range labels {
		dot, squared := 0.0, 0.0
		for j, v := range data.Row(i) {
			dot += float64(v) * float64(at[j])
			squared += (float64(v) - float64(at[j])) * (float64(v) - float64(at[j]))
		}
		if sizes[k]++; gamma > 0 {
			s[k] += math.Exp(-gamma * squared)
		} else {
			s[k] += dot
		}
	}
	for k := range s {
		if s[k] /= float64(len(labels)); balanced {
			s[k] /= sizes[k] / float64(len(labels))
		}
	}
	return s
}

// weighed returns parameters that weigh classes alike, or as often as they are.
func weighed(balanced bool) *kernelmean.Params {
	p := kernelmean.Defaults()
	p.Balanced = balanced
	return p
}

// TestScores compares scores with the twin's, for right labels and for labels that C corrects,
// without a kernel function and with one, weighted by size and equally. C⁻¹ enlarges rounding by up
// to 5, the condition number of C.
func TestScores(t *testing.T) {
	classes := []string{"a", "b", "c", "d"}
	right, err := confusion.Symmetric(classes, 0)
	if err != nil {
		t.Fatal(err)
	}
	pairwise, err := confusion.Pairwise(classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	const gamma = 0.7
	rbf := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: gamma}}
	for _, noise := range []*confusion.Matrix{right, pairwise} {
		data, truth := copies(t, 60, 10, noise)
		inverse, err := noise.Invert()
		if err != nil {
			t.Fatal(err)
		}
		near := 1e-6 * max(1, inverse.Condition)
		for _, kernel := range []*fitting.Options{nil, rbf} {
			for _, balanced := range []bool{false, true} {
				name := fmt.Sprintf("noise %v, kernel %v, balanced %v", noise != right, kernel != nil, balanced)
				m, err := host.Train(t.Context(), data, noise, host.Options{Engine: simd.New(),
					Learner: weighed(balanced), Kernel: kernel, Preparation: "none"})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got, err := m.Scores(t.Context(), cpuref.New(), data.Examples)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				bend := 0.0
				if kernel != nil {
					bend = gamma
				}
				for i := 0; i < data.N; i += 7 {
					want := scores(data, truth, bend, balanced, data.Row(i))
					largest := 0.0
					for _, v := range want {
						largest = max(largest, math.Abs(v))
					}
					for k, v := range want {
						if off := math.Abs(float64(got[i*len(want)+k]) - v); off > near*largest {
							t.Fatalf("%s: the score of example %d for class %d is %v, %v by the twin", name, i, k,
								got[i*len(want)+k], v)
						}
					}
				}
			}
		}
	}
}

// predict trains on labels, right or wrong, without a word of the noise, and predicts the
// examples.
func predict(t *testing.T, data *dataset.Dataset, labels []int32, noise *confusion.Matrix,
	balanced bool) []int32 {
	t.Helper()
	labelled := *data
	labelled.Y = labels
	m, err := host.Train(t.Context(), &labelled, noise, host.Options{Engine: simd.New(),
		Preparation: "none", Learner: weighed(balanced),
		Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	classes, err := m.Predict(t.Context(), simd.New(), data.Examples)
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

func differ(a, b []int32) (n int) {
	for i, v := range a {
		if v != b[i] {
			n++
		}
	}
	return n
}

// TestSymmetricNoise: 49 of 100 labels wrong change no prediction, of two classes whose sizes are
// not equal, though nothing is known of the noise.
func TestSymmetricNoise(t *testing.T) {
	noise, err := confusion.Symmetric([]string{"a", "b"}, 0.49)
	if err != nil {
		t.Fatal(err)
	}
	data, truth := copies(t, 40, 100, noise)
	want := predict(t, data, truth, nil, false)
	if n := differ(want, truth); n > data.N/5 {
		t.Fatalf("right labels: %d of %d are wrong", n, data.N)
	}
	if n := differ(predict(t, data, data.Y, nil, false), want); n > 0 {
		t.Errorf("%d of %d are predicted otherwise", n, data.N)
	}
}

// TestLabelConditionalNoise: of one class more labels are wrong than of the other. The balanced
// means need no C; weighed by their sizes they do.
func TestLabelConditionalNoise(t *testing.T) {
	noise := &confusion.Matrix{Classes: []string{"a", "b"}, P: []float64{0.9, 0.45, 0.1, 0.55}}
	data, truth := copies(t, 40, 20, noise)
	for _, c := range []struct {
		balanced bool
		noise    *confusion.Matrix
		same     bool
	}{
		{true, nil, true},
		{false, nil, false},
		{false, noise, true},
		{true, noise, true},
	} {
		want := predict(t, data, truth, nil, c.balanced)
		n := differ(predict(t, data, data.Y, c.noise, c.balanced), want)
		if (n == 0) != c.same {
			t.Errorf("balanced %v, C known %v: %d of %d are predicted otherwise than from right labels",
				c.balanced, c.noise != nil, n, data.N)
		}
	}
}

// A class without examples has the score 0.
func TestAbsentClass(t *testing.T) {
	noise, err := confusion.Symmetric([]string{"a", "b", "none"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := copies(t, 30, 1, noise)
	for i, k := range data.Y {
		data.Y[i] = min(k, 1)
	}
	m, err := host.Train(t.Context(), data, nil, host.Options{Engine: simd.New(),
		Learner: kernelmean.Defaults(),
		Kernel:  &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Scores(t.Context(), simd.New(), data.Examples)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data.N {
		if row := s[3*i : 3*i+3]; row[2] != 0 || slices.Max(row) <= 0 {
			t.Fatalf("example %d has the scores %v, wanted 0 for the last class alone", i, row)
		}
	}
}

// TestOwnMapIsJudged: a problem that claims to be mapped has a column for each class.
func TestOwnMapIsJudged(t *testing.T) {
	noise, err := confusion.Symmetric([]string{"a", "b"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := copies(t, 10, 1, noise)
	p := learners.Problem{X: data.Examples, Y: data.Y, Q: 2, Engine: cpuref.New(), OwnMap: true}
	if _, err := learners.Start(t.Context(), kernelmean.Defaults(), &p); err == nil {
		t.Error("three columns pass for the means of two classes")
	}
	p.OwnMap = false
	for _, atoms := range []int{-2, 7} {
		few := kernelmean.Defaults()
		few.Atoms = atoms
		if _, err := learners.Start(t.Context(), few, &p); err == nil {
			t.Errorf("%d atoms are taken without a kernel function", atoms)
		}
	}
	near := kernelmean.Defaults()
	near.AtomError = 0.1
	if _, err := learners.Start(t.Context(), near, &p); err == nil {
		t.Error("an error of atoms is taken without a kernel function")
	}
}

// TestAtoms: few atoms of herding, weighed optimally, predict almost as all examples do.
func TestAtoms(t *testing.T) {
	noise, err := confusion.Pairwise([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	data, truth := copies(t, 80, 10, noise)
	want := predict(t, data, truth, nil, true)
	for _, atoms := range []int{40, 0} {
		p := kernelmean.Defaults()
		p.AtomChoice, p.Atoms = "herding", atoms
		if atoms == 0 { // as few as come that near
			p.AtomError = 0.05
		}
		var said []string
		m, err := host.Train(t.Context(), data, noise, host.Options{Engine: simd.New(),
			Preparation: "none", Learner: p,
			Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}},
			Watch: host.Watch{Note: func(format string, a ...any) {
				said = append(said, fmt.Sprintf(format, a...))
			}}})
		if err != nil {
			t.Fatal(err)
		}
		classes, err := m.Predict(t.Context(), simd.New(), data.Examples)
		if err != nil {
			t.Fatal(err)
		}
		if n := m.Projection.Landmarks.N; n > 80 || atoms == 40 && n > 40 {
			t.Errorf("%d atoms: found %d", atoms, n)
		}
		if n := differ(classes, want); n > data.N/20 {
			t.Errorf("%d atoms: %d of %d are predicted otherwise; %q", atoms, n, data.N, said)
		}
	}
	for _, wrong := range []kernelmean.Params{{Atoms: -2}, {AtomChoice: "x"},
		{AtomChoice: "uniform", AtomWeights: "x"},
		{AtomChoice: "uniform", AtomWeights: "own", AtomError: math.Inf(1)},
		{Atoms: 7, AtomChoice: "uniform", AtomWeights: "own", AtomError: 0.1}} {
		if learners.Check(&wrong) == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
}
