package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// wrong returns the share of the digits from first on that w gets wrong.
func wrong(t *testing.T, e *engine.Engine, w engine.Weights, first int) float64 {
	t.Helper()
	all := digits(t, 1797, nil)
	test := all.X
	test.N, test.X = test.N-first, test.X[first*test.D:]
	classes := must(engine.Predict(e, w, test))
	n := 0
	for i, c := range classes {
		if c != all.Y[first+i] {
			n++
		}
	}
	return float64(n) / float64(test.N)
}

func learn(t *testing.T, p *learners.Problem, change func(*softmax.Params)) host.Result {
	t.Helper()
	params := softmax.Defaults()
	change(params)
	r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 100000})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// annotate gives the examples of p labels by annotators of these kinds, who each label a
// share of them: true classes y become labels by the kind's matrix.
func annotate(t *testing.T, p *learners.Problem, kinds []*confusion.Matrix, share float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	labels := make([][]int32, len(kinds))
	a := &dataset.Annotations{Classes: names(p.Q), Start: []int{0}}
	for k, m := range kinds {
		a.Names = append(a.Names, fmt.Sprintf("w%02d", k))
		var err error
		if labels[k], err = m.Inject(p.Y, uint64(k+1)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range p.Y {
		for len(a.By) == a.Start[i] {
			for k := range kinds {
				if rng.Float64() < share {
					a.By, a.Label = append(a.By, int32(k)), append(a.Label, labels[k][i])
				}
			}
		}
		a.Start = append(a.Start, len(a.By))
	}
	p.Annotations, p.Y, p.Noise = a, a.Votes(1), nil
}

// kinds are good annotators, spammers, who label at random, and one who takes each class for the
// next.
func kinds(t *testing.T, q int) []*confusion.Matrix {
	t.Helper()
	var all []*confusion.Matrix
	for range 3 {
		all = append(all, must(confusion.Symmetric(names(q), 0.25)))
	}
	for range 4 {
		all = append(all, must(confusion.Symmetric(names(q), 0.9)))
	}
	return append(all, must(confusion.Pairwise(names(q), 0.9)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAnnotators(t *testing.T) {
	for _, correction := range []string{learners.Forward, learners.EM} {
		t.Run(string(correction), func(t *testing.T) {
			p := digits(t, 1300, nil)
			truth := p.Y
			all := kinds(t, p.Q)
			annotate(t, p, all, 0.4)
			votes := 0
			for i, y := range p.Y {
				if y != truth[i] {
					votes++
				}
			}
			r := learn(t, p, func(params *softmax.Params) { params.Correction = correction })
			voted := wrong(t, p.Engine, learn(t, p.On(p.X, p.Y), func(*softmax.Params) {}).W, 1300)
			learned := wrong(t, p.Engine, r.W, 1300)
			t.Logf("%d of %d votes wrong; error %.3f, from votes %.3f", votes, len(truth), learned, voted)
			if learned > 0.10 || learned > voted-0.05 {
				t.Errorf("error %.3f, from votes %.3f", learned, voted)
			}
			for k, a := range r.Noise.Annotators {
				far := 0.0
				for e, v := range a.P {
					far += math.Abs(v-all[k].P[e]) / float64(2*p.Q)
				}
				right := all[k].P[0]
				t.Logf("%s: %d labels, right %.2f, off by %.3f", a.Name, a.Labels, a.Right(p.Q), far)
				// Shares of 10 classes among 50 labels of each are off by 0.17 of themselves.
				if math.Abs(a.Right(p.Q)-right) > 0.06 || far > 0.21 {
					t.Errorf("%s is right for %.2f, wanted %.2f; the matrix is off by %.3f", a.Name, a.Right(p.Q),
						right, far)
				}
			}
		})
	}
}

// Annotators who all make one mistake are found out by a chief who has checked few of the
// examples, if the chief is trusted.
func TestTrusted(t *testing.T) {
	for _, correction := range []string{learners.Forward, learners.EM} {
		found := map[bool]float64{}
		for _, trust := range []bool{false, true} {
			p := digits(t, 1000, nil)
			truth := p.Y
			shared := must(confusion.Pairwise(names(10), 0.6))
			annotate(t, p, []*confusion.Matrix{shared, shared}, 1)
			a := p.Annotations
			with := &dataset.Annotations{Classes: a.Classes, Names: append(a.Names, "w99"), Start: []int{0}}
			for i := range truth {
				by, labels := a.Of(i)
				with.By, with.Label = append(with.By, by...), append(with.Label, labels...)
				if i%10 == 0 {
					with.By, with.Label = append(with.By, 2), append(with.Label, truth[i])
				}
				with.Start = append(with.Start, len(with.By))
			}
			if trust {
				with.Right = []bool{false, false, true}
			}
			p.Annotations, p.Y = with, with.Votes(1)
			r := learn(t, p, func(params *softmax.Params) { params.Correction = correction })
			found[trust] = wrong(t, p.Engine, r.W, 1000)
			if trust {
				for k, v := range r.Noise.Annotators[2].P {
					if want := map[bool]float64{true: 1}[k/10 == k%10]; v != want {
						t.Fatalf("%s: of the chief %v is at %d, wanted %v", correction, v, k, want)
					}
				}
				if v := r.Noise.Annotators[0].Right(10); math.Abs(v-0.4) > 0.1 {
					t.Errorf("%s: who is right for 0.4 is found to be for %.2f", correction, v)
				}
			}
		}
		t.Logf("%s: error %.3f, trusting the chief %.3f", correction, found[false], found[true])
		if found[true] > 0.2 || found[true] > found[false]/2 {
			t.Errorf("%s: error %.3f, trusting the chief %.3f", correction, found[false], found[true])
		}
	}
}

// What a run has learned of the noise has the same bits on another engine, from sparse
// examples, and after being resumed from any stage.
func TestLearnedNoiseBits(t *testing.T) {
	for name, change := range map[string]func(*learners.Problem, *softmax.Params){
		"annotators": func(p *learners.Problem, s *softmax.Params) { s.Folds = 3 },
		"annotators, em": func(p *learners.Problem, s *softmax.Params) {
			s.Correction, s.L2, s.Rounds, s.Folds = learners.EM, softmax.L2(0.001), 3, 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := digits(t, 150, pairwise(0.3))
			annotate(t, p, kinds(t, p.Q), 0.5)
			params := softmax.Defaults()
			params.Iterations = 8
			change(p, params)
			var kept []host.Snapshot
			o := host.RunOptions{MaxSteps: 100000}
			o.Keep = func(s host.Snapshot) error { kept = append(kept, s); return nil }
			o.Due = func(steps int) bool { return steps%19 == 0 }
			want := must(host.Run(t.Context(), params, p, o))
			same := func(what string, got host.Result) {
				t.Helper()
				if !reflect.DeepEqual(got.W, want.W) || !reflect.DeepEqual(got.Noise, want.Noise) {
					t.Errorf("%s: other weights or matrices", what)
				}
			}
			if len(kept) < 3 {
				t.Fatalf("%d snapshots of %d steps, wanted 3 or more", len(kept), want.Steps)
			}
			for k := 0; k < len(kept); k += 1 + len(kept)/5 {
				s := kept[k]
				same(fmt.Sprintf("resumed after %d steps", s.Steps),
					must(host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 100000, Resume: &s})))
			}
			p.Engine = cpuref.New()
			same("cpuref", must(host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 100000})))
			p.Engine, p.X = simd.New(), sparse(p.X)
			same("sparse", must(host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 100000})))
		})
	}
}

// sparse returns x without its zeros.
func sparse(x dataset.Examples) dataset.Examples {
	s := dataset.Examples{N: x.N, D: x.D, Starts: []int64{0}}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, int64(len(s.Values)))
	}
	return s
}

func TestLearningRefuses(t *testing.T) {
	for _, c := range []struct {
		edit func(*softmax.Params)
		want string
	}{
		{func(p *softmax.Params) { p.Correction = learners.None },
			"correction: got none with %s, want forward or em"},
		{func(p *softmax.Params) { p.Correction = learners.Backward }, "correction: got backward with %s"},
		{func(p *softmax.Params) { p.ClassWeights = learners.Balanced },
			"class weights: got balanced with %s, want equal"},
	} {
		p := softmax.Defaults()
		c.edit(p)
		if err := learners.Check(p); err != nil {
			t.Fatal(err)
		}
		crowded := digits(t, 50, nil)
		annotate(t, crowded, kinds(t, crowded.Q), 0.5)
		if _, err := fit.Start(t.Context(), p, crowded); !facts.Told(err,
			fmt.Sprintf(c.want, "annotations")) {
			t.Errorf("annotations: %v, want %q", err, c.want)
		}
	}
}
