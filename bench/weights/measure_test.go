package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestCell compares the errors of the ways with those of runs by their parameters, and asks the
// log before it measures.
func TestCell(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 200, D: 3}, Classes: []string{"a", "b", "c"}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range d.N {
		x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), 1}
		class := int32(0)
		if x[0] > 0.3 {
			class = 1
		} else if x[1] > 0.2 {
			class = 2
		}
		d.X, d.Y = append(d.X, x...), append(d.Y, class)
	}
	noise, err := confusion.Pairwise(d.Classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	y, err := noise.Inject(d.Y, 3)
	if err != nil {
		t.Fatal(err)
	}
	e, steps := cpuref.New(), 25
	path := filepath.Join(t.TempDir(), "log")
	kept, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	j := job{ctx: t.Context(), engine: e, steps: steps, progress: io.Discard, log: kept}
	got, err := j.cell("set", d, d, noise40, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.close(); err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, w := range append(slices.Clone(ways), way{"C = identity", uma.StepAll, 1, learners.BestAverage}) {
		p := &learners.Problem{X: d.Examples, Y: y, Q: len(d.Classes), Noise: noise, Engine: e}
		if w.name == "C = identity" {
			p.Noise = nil
		}
		params := &uma.Params{Step: w.step, Select: uma.SelectError, AlphaUnit: uma.UnitWeights, Tol: 1e-9, Doubt: w.doubt}
		res, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: steps, Weights: w.weights})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := engine.Predict(e, res.W, d.Examples)
		if err != nil {
			t.Fatal(err)
		}
		report, err := metric.Evaluate(d.Y, predicted, d.Classes)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, report.ErrorRate)
	}
	if !slices.Equal(got, want) {
		t.Errorf("errors %v, those of runs are %v", got, want)
	}
	if slices.Sort(want); len(slices.Compact(want)) < 4 {
		t.Errorf("nearly all ways agree (errors %v), so this tells nothing", got)
	}
	// What the log has needs no engine.
	if kept, err = openLog(path); err != nil {
		t.Fatal(err)
	}
	defer kept.close()
	j.engine, j.log = nil, kept
	if again, err := j.cell("set", d, d, noise40, 3); err != nil || !slices.Equal(again, got) {
		t.Errorf("by the log %v, %v; want %v", again, err, got)
	}
}

var noise40 = noise{"pairwise", 0.4}

func TestBadLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{}\nfound\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := openLog(path); err == nil {
		t.Errorf("%v, want an error", l)
	}
	if l, err := openLog(filepath.Dir(path)); err == nil {
		t.Errorf("a folder: %v, want an error", l)
	}
}
