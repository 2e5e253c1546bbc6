//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluation is a data set with what is asked of it.
type evaluation struct {
	x       dataset.Examples
	q       int
	targets []engine.Targets
	w       []engine.Weights
	a       []float32 // coefficients, q+1 for each example
}

// drawEvaluation has examples whose values are mostly zeros, targets of every kind, and scores;
// some are too large.
func drawEvaluation(n, d, q int) evaluation {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d*q)))
	v := evaluation{x: dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, q: q, a: make([]float32,
		n*(q+1))}
	for k := range v.x.X {
		if rng.IntN(3) == 0 || k%d == 0 {
			v.x.X[k] = float32(rng.NormFloat64())
		}
	}
	for k := range v.a {
		v.a[k] = float32(2*rng.Float64() - 1)
	}
	table, own, given := make([]float32, q*q), make([]float32, n*q), make([]float32, n*q)
	for k := range table {
		table[k] = float32(math.Inf(-1))
		if k%(q+1) == 0 || rng.IntN(2) == 0 {
			table[k] = float32(math.Log(rng.Float64()))
		}
	}
	for k := range own {
		own[k], given[k] = float32(math.Log(rng.Float64())), 1/float32(q)
	}
	row, weight := make([]int32, n), make([]float32, n)
	for i := range row {
		row[i], weight[i] = int32(rng.IntN(q)), float32(rng.Float64())
	}
	v.targets = []engine.Targets{{Values: table, Row: row}, {Values: own, Weight: weight},
		{Values: given, Given: true}}
	for _, size := range []float64{0, 1, 1e4, 1e30} {
		w := engine.NewWeights(q, d)
		for k := range w.W {
			w.W[k] = float32(size * rng.NormFloat64())
		}
		v.w = append(v.w, w)
	}
	return v
}

// results is an engine's output of an evaluation.
type results struct {
	sums   [][]int64
	totals []engine.Evaluation
	scores []float32
}

func (v evaluation) ask(e *engine.Engine, x dataset.Examples,
	judge func(*engine.Evaluator)) (a results, err error) {
	r, err := e.LoadEvaluator(x, v.q, numerics.FixedPoint{})
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	judge(r)
	for _, t := range v.targets {
		if err := r.SetTargets(t); err != nil {
			return a, err
		}
		for _, w := range v.w {
			sums := make([]int64, v.q*x.D)
			total, err := r.Evaluate(sums, w)
			if err != nil {
				return a, err
			}
			a.sums, a.totals = append(a.sums, sums), append(a.totals, total)
		}
	}
	sums := make([]int64, (v.q+1)*x.D)
	a.sums = append(a.sums, sums)
	a.scores = make([]float32, x.N*v.q)
	return a, errors.Join(r.WeightedSums(sums, v.a), r.Scores(a.scores, 0, x.N))
}

// difference says what differs.
func (a results) difference(b results) string {
	bits := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
	switch {
	case !slices.Equal(a.totals, b.totals):
		return "losses"
	case !slices.EqualFunc(a.scores, b.scores, bits):
		return "scores"
	}
	for k := range a.sums {
		if !slices.Equal(a.sums[k], b.sums[k]) {
			return "sums"
		}
	}
	return ""
}

// TestEvaluateInLittleMemory has tiles and buffers of every size, down to what does not fit.
func TestEvaluateInLittleMemory(t *testing.T) {
	v := drawEvaluation(1700, 90, 7)
	want, err := v.ask(cpuref.New(), v.x, func(*engine.Evaluator) {})
	if err != nil {
		t.Fatal(err)
	}
	sparse := v.x.Compressed()
	eachDevice(t, func(i Info) {
		for _, b := range []build{{}, {style: "gpu"}} {
			fitted := 0
			for _, o := range []Options{
				{}, {MaxAlloc: 200000}, {MaxAlloc: 92160}, {MaxAlloc: 92159}, {MemoryLimit: 700000},
				{MemoryLimit: 400000},
				{MemoryLimit: 1}, {MaxAlloc: 2000, MemoryLimit: 1 << 20},
			} {
				e := openTest(t, i, o, b)
				for _, form := range []dataset.Examples{v.x, sparse} {
					got, err := v.ask(e.Engine, form, func(*engine.Evaluator) {})
					at := fmt.Sprintf("%s, style %q, %+v, sparse %v", i.ID(), b.style, o, form.Sparse())
					if err == nil {
						fitted++
						if what := got.difference(want); what != "" {
							t.Errorf("%s: %s differ from cpuref's", at, what)
						}
					} else if !errors.Is(err, engine.ErrMemory) {
						t.Errorf("%s: %v", at, err)
					}
					if e.q.inUse != 0 {
						t.Errorf("%s: %d bytes are in use afterwards", at, e.q.inUse)
					}
				}
			}
			if fitted < 7 || fitted > 13 {
				t.Errorf("%s, %+v: %d evaluations fit, of 16", i.ID(), b.style, fitted)
			}
		}
	})
}
