// Package enginetest is the conformance suite that every engine runs: the same
// bits as the contract's text, at sizes around every width a kernel could like,
// with hard values, fences around every slice, and the same kinds of error.
package enginetest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Case is one judgement of an engine. It does not need a *testing.T, so that a
// test can also ask that a broken engine fails.
type Case struct {
	Name  string
	Check func(engine.Engine) error
}

// Cases lists the suite.
func Cases() []Case {
	var all []Case
	for _, p := range problems() {
		all = append(all, Case{p.String(), p.check})
		if p.narrow == 0 {
			p.sparse = true
			all = append(all, Case{p.String(), p.check})
		}
	}
	all = append(all, WalkCases()...)
	for _, p := range projections() {
		all = append(all, Case{p.String(), p.check})
	}
	all = append(all, partCases()...)
	all = append(all, EvaluationCases()...)
	all = append(all, TogetherCases()...)
	return append(all, Case{"errors", checkErrors},
		Case{"plan", checkPlan}, Case{"errors of project", checkProjectErrors},
		Case{"no labels", checkNoLabels}, Case{"two residents", checkTwoResidents},
		Case{"self-test", engine.SelfTest})
}

// WalkCases are the cases of many small changes of the weights, of which an engine with
// bounds must get each right though it scores few examples.
func WalkCases() []Case {
	var all []Case
	for _, w := range walks() {
		all = append(all, Case{w.name, w.check})
	}
	return append(all, Case{"rounding decides", checkRounding})
}

// WideCases have more columns than 16 bits count, which takes more memory than
// an engine that is made to cut the others in tiles may be given.
func WideCases() []Case {
	p := problem{name: "wide", n: 21, d: 70001, q: 3, edit: thinOut}
	dense := Case{p.String(), p.check}
	p.sparse = true
	k := evaluation{problem: p, aims: []aim{labels}, counts: []int{1}}
	k.sparse = false
	return append(k.cases(), dense, Case{p.String(), p.check}, Case{"more memory than there is",
		checkMemory})
}

// ShortCases are for what makes an engine many times slower and looks for other faults
// than wrong bits, such as the race detector: the tiny cases, one with enough examples
// to be shared out, and misuse.
func ShortCases() []Case {
	all := append(append(TinyCases(), partCases()...), evaluationParts()...)
	all = append(all, TogetherCases()...)
	all = append(all, Case{"errors", checkErrors}, Case{"evaluate: errors", checkEvaluateErrors},
		Case{"errors of project", checkProjectErrors}, Case{"two residents", checkTwoResidents})
	for _, w := range walks() {
		if w.n > 2000 {
			all = append(all, Case{w.name, w.check})
		}
	}
	return all
}

// AllCases are Cases and WideCases, or with go test -short ShortCases.
func AllCases() []Case {
	if testing.Short() {
		return ShortCases()
	}
	return append(Cases(), WideCases()...)
}

// TinyCases are some cases small enough for an interpreter of kernels.
func TinyCases() []Case {
	var all []Case
	for _, p := range []problem{
		{name: "tiny", n: 1, d: 1, q: 2},
		{name: "tiny with margin", n: 35, d: 5, q: 3, alpha: 0.5},
		{name: "tiny with two chunks", n: 17, d: 259, q: 3},
		{name: "tiny with many classes", n: 20, d: 2, q: 17, value: digits, weight: digits},
		{name: "tiny bytes", n: 19, d: 18, q: 5, narrow: 1},
		{name: "tiny halves", n: 5, d: 258, q: 2, narrow: 2},
	} {
		all = append(all, Case{p.String(), p.check})
		if p.narrow == 0 {
			p.sparse = true
			all = append(all, Case{p.String(), p.check})
		}
	}
	for _, p := range tinyProjections() {
		all = append(all, Case{p.String(), p.check})
	}
	all = append(all, tinyEvaluations()...)
	tiny := walk{name: "tiny walk", n: 20, d: 5, q: 3, noise: 0.1, stride: 0.2}
	return append(all, Case{tiny.name, tiny.check}, Case{"no labels", checkNoLabels})
}

// Run runs cases, such as those of Cases, as subtests of t.
func Run(t *testing.T, e engine.Engine, cases []Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("the conformance suite is empty")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Check(e); err != nil {
				t.Fatalf("%s: %v", e.Device().Name, err)
			}
		})
	}
}

// small is a well-formed problem for the checks of misuse.
func small() (dataset.Examples, []int32) {
	return dataset.Examples{N: 3, D: 2, X: []float32{1, 2, 3, 4, 5, 6}}, []int32{0, 1, 1}
}

func checkErrors(e engine.Engine) error {
	x, y := small()
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		what string
		x    dataset.Rows
		y    []int32
		q    int
		want error
	}{
		{"no examples", dataset.Examples{N: 0, D: 2}, nil, 2, engine.ErrShape},
		{"no features", dataset.Examples{N: 3, D: 0}, y, 2, engine.ErrShape},
		{"no classes", x, y, 0, engine.ErrShape},
		{"negative size", dataset.Examples{N: -3, D: -2, X: x.X}, y, 2, engine.ErrShape},
		{"too few values", dataset.Examples{N: 3, D: 2, X: x.X[:5]}, y, 2, engine.ErrShape},
		{"too many values", dataset.Examples{N: 2, D: 2, X: x.X}, y[:2], 2, engine.ErrShape},
		{"no labels", x, nil, 2, engine.ErrShape},
		{"too few labels", x, y[:2], 2, engine.ErrShape},
		{"label too large", x, []int32{0, 1, 2}, 2, engine.ErrLabel},
		{"label negative", x, []int32{0, 1, -1}, 2, engine.ErrLabel},
		{"NaN", dataset.Examples{N: 1, D: 2, X: []float32{1, nan}}, []int32{0}, 2, engine.ErrValue},
		{"infinite", dataset.Examples{N: 1, D: 2, X: []float32{inf, 1}}, []int32{0}, 2, engine.ErrValue},
		{"infinite, sparse", dataset.Examples{N: 2, D: 2, Starts: []int64{0, 0, 1}, Columns: []int32{1},
			Values: []float32{inf}}, []int32{0, 0}, 2, engine.ErrValue},
		{"column beyond the width", dataset.Examples{N: 1, D: 2, Starts: []int64{0, 1},
			Columns: []int32{2}, Values: []float32{1}}, []int32{0}, 2, engine.ErrShape},
		{"columns not increasing", dataset.Examples{N: 1, D: 3, Starts: []int64{0, 2}, Columns: []int32{1,
			1}, Values: []float32{1, 1}}, []int32{0}, 2, engine.ErrShape},
		{"starts beyond the values", dataset.Examples{N: 2, D: 3, Starts: []int64{0, 2, 1},
			Columns: []int32{1}, Values: []float32{1}}, []int32{0, 0}, 2, engine.ErrShape},
		{"a start missing", dataset.Examples{N: 2, D: 3, Starts: []int64{0, 1}, Columns: []int32{1},
			Values: []float32{1}}, []int32{0, 0}, 2, engine.ErrShape},
		{"narrow examples of another shape", dataset.Stored{Examples: x,
			At: &store.Store{Codes: &store.Codes{
				Bytes: make([]uint8, 5), Map: make([]float32, 4), Unit: make([]float32, 3)}}}, y, 2,
			engine.ErrShape},
		{"both forms", dataset.Examples{N: 1, D: 1, X: []float32{1}, Starts: []int64{0, 1},
			Columns: []int32{0}, Values: []float32{1}}, []int32{0}, 2, engine.ErrShape},
	} {
		r, err := e.LoadCells(c.x, c.y, c.q, numerics.FixedPoint{})
		if !errors.Is(err, c.want) || r != nil {
			return fmt.Errorf("load cells with %s: %v, want %v", c.what, err, c.want)
		}
		if c.x.Stored().N == x.N && c.x.Stored().Check() == nil && c.q == 2 {
			continue // the labels are at fault
		}
		if r, err := e.Load(c.x, c.q); !errors.Is(err, c.want) || r != nil {
			return fmt.Errorf("load with %s: %v, want %v", c.what, err, c.want)
		}
		v, err := e.LoadEvaluator(c.x, c.q, numerics.FixedPoint{})
		if !errors.Is(err, c.want) || v != nil {
			return fmt.Errorf("load evaluator with %s: %v, want %v", c.what, err, c.want)
		}
	}
	r, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	w, f, i32, i64 := engine.NewWeights(2, 2), make([]float32, 64), make([]int32, 64), make([]int64,
		64)
	for _, c := range []struct {
		what string
		err  error
	}{
		{"rescore: class too large", r.Rescore(w, []int{2})},
		{"rescore: class negative", r.Rescore(w, []int{-1})},
		{"rescore: class twice", r.Rescore(w, []int{1, 0, 1})},
		{"rescore: width", r.Rescore(engine.NewWeights(2, 3), []int{0})},
		{"rescore: classes", r.Rescore(engine.NewWeights(3, 2), []int{0})},
		{"rescore: values", r.Rescore(engine.Weights{Q: 2, D: 2, W: w.W[:3]}, []int{0})},
		{"scores: length", r.Scores(f[:5], 0, 3)},
		{"scores: range", r.Scores(f[:8], 0, 4)},
		{"scores: negative", r.Scores(f[:8], -1, 3)},
		{"scores: reversed", r.Scores(f[:0], 2, 1)},
		{"predict: length", r.Predict(i32[:4])},
		{"class sums: length", r.ClassSums(i64[:3], 0)},
		{"class sums: region", r.ClassSums(i64[:4], 2)},
		{"norms: length", r.Norms(f[:3], f[:4])},
		{"norms: inverse", r.Norms(f[:4], f[:5])},
		{"update vectors: length", r.UpdateVectors(f[:3], []engine.Pair{{P: 0, Q: 1}}, f[:4])},
		{"update vectors: inverse", r.UpdateVectors(f[:2], []engine.Pair{{P: 0, Q: 1}}, f[:3])},
		{"update vectors: region", r.UpdateVectors(f[:4], []engine.Pair{{P: 0, Q: 1}, {P: 2, Q: 1}},
			f[:4])},
		{"update vectors: class", r.UpdateVectors(f[:2], []engine.Pair{{P: 0, Q: -1}}, f[:4])},
	} {
		if !errors.Is(c.err, engine.ErrShape) {
			return fmt.Errorf("%s: %v, want %v", c.what, c.err, engine.ErrShape)
		}
	}
	return checkClosed(r)
}

func checkClosed(r engine.Cells) error {
	for range 2 {
		if err := r.Close(); err != nil {
			return fmt.Errorf("close: %v", err)
		}
	}
	if err := refuses(r, engine.ErrClosed); err != nil {
		return fmt.Errorf("after close: %w", err)
	}
	return nil
}

func checkNoLabels(e engine.Engine) error {
	x, _ := small()
	r, err := e.Load(x, 2)
	if err != nil {
		return err
	}
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, -1, 1}}
	if err := r.Rescore(w, []int{0, 1}); err != nil {
		return err
	}
	// Scores are 1, 3, 5 against 1, 1, 1.
	if err := into([]int32{0, 0, 0}, "predict", same[int32], func(dst []int32) error {
		return r.Predict(dst)
	}); err != nil {
		return err
	}
	if _, ok := r.(engine.Cells); ok {
		return errors.New("load returns something with cells")
	}
	return r.Close()
}

// checkTwoResidents interleaves two data sets on one engine.
func checkTwoResidents(e engine.Engine) error {
	a := problem{name: "a", n: 40, d: 5, q: 3}
	x, y, inv, rng := a.build()
	ra, err := e.LoadCells(x, y, a.q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	w := engine.NewWeights(a.q, a.d)
	for j := range w.W {
		w.W[j] = normal(rng)
	}
	va := newNaive(x.Examples, y, a.q)
	va.rescore(w, []int{0, 1, 2})
	if err := ra.Rescore(w, []int{0, 1, 2}); err != nil {
		return err
	}
	b := problem{name: "b", n: 70, d: 9, q: 4}
	if err := b.check(e); err != nil {
		return err
	}
	if err := a.round(ra, va, w, nil, 0, inv, rng, "two residents"); err != nil {
		return fmt.Errorf("after another data set was used: %w", err)
	}
	return ra.Close()
}
