package host_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestTwin trains on real data with wrong labels and compares every bit of W with the result of
// testdata/twin/uma.c on the same file: a program in another language, written from the text of the
// contract alone.
func TestTwin(t *testing.T) {
	twin := filepath.Join(t.TempDir(), "twin")
	build := exec.Command("cc", "-O2", "-std=c99", "-ffp-contract=off", "-o", twin,
		"../testdata/twin/uma.c", "-lm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the twin needs a C compiler: %v\n%s", err, out)
	}
	all := everyengine.Open(t)
	for _, c := range []struct {
		file, label string
		rows        int
		pairwise    float64
		known       bool // C is given; else the identity
		steps       string
		sel         string
		alpha       float32
		max         int
		weights     learners.Rule
		step        string // "" is pair
		unit        string // "" is score
		doubt       float64
	}{
		{"digits.csv.gz", "last", 400, 0.4, true, "l2", uma.SelectError, 0, 120, learners.Average, "", "",
			0},
		{"digits.csv.gz", "last", 400, 0.4, true, "standardize,bias,l2", uma.SelectConfusion, 0.01, 60,
			learners.Last, "", "", 0},
		{"digits.csv.gz", "last", 300, 0.2, true, "maxabs,bias", uma.SelectError, 0.5, 60, learners.Best,
			"", "", 0},
		{"digits.csv.gz", "last", 300, 0.3, false, "none", uma.SelectError, 0, 40, learners.Last, "", "",
			0},
		{"letter.csv.gz", "first", 500, 0.4, true, "standardize,bias,l2", uma.SelectError, 0, 100,
			learners.Average, "", "", 0},
		{"letter.csv.gz", "first", 500, 0.3, true, "standardize,l2", uma.SelectConfusion, 0.001, 40,
			learners.Best, "", "", 0},
		{"digits.csv.gz", "last", 400, 0.4, true, "standardize,bias,l2", uma.SelectError, 0, 50,
			learners.BestAverage, uma.StepAll, uma.UnitWeights, 1},
		{"digits.csv.gz", "last", 400, 0.3, false, "l2", uma.SelectError, 0.01, 40, learners.BestAverage,
			uma.StepAll, uma.UnitWeights, 1.4},
		{"letter.csv.gz", "first", 500, 0.4, true, "standardize,bias,l2", uma.SelectConfusion, 0.05, 40,
			learners.Best, uma.StepRegion, uma.UnitWeights, 0},
		{"letter.csv.gz", "first", 500, 0.3, true, "none", uma.SelectError, 0, 30, learners.BestAverage,
			uma.StepRegion, uma.UnitScore, 1.4},
		{"letter.csv.gz", "first", 500, 0.2, true, "l2", uma.SelectError, 0.001, 40, learners.Average,
			uma.StepPair, uma.UnitWeights, 0.5},
	} {
		c.step, c.unit = cmp.Or(c.step, uma.StepPair), cmp.Or(c.unit, uma.UnitScore)
		name := fmt.Sprintf("%s %s %s %s %s alpha %v", c.file, c.steps, c.step, c.sel, c.weights, c.alpha)
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, err := file.Read(t.Context(), "../testdata/"+c.file,
				file.Options{Table: file.Table{LabelColumn: c.label}})
			if err != nil {
				t.Fatal(err)
			}
			noise, err := confusion.Pairwise(data.Classes, c.pairwise)
			if err != nil {
				t.Fatal(err)
			}
			data.N, data.X = c.rows, data.X[:c.rows*data.D]
			if data.Y, err = noise.Inject(data.Y[:c.rows], 1); err != nil {
				t.Fatal(err)
			}
			train, table := filepath.Join(dir, "train.csv"), "identity"
			if err := file.Write(t.Context(), train, data,
				file.WriteOptions{LabelColumn: c.label}); err != nil {
				t.Fatal(err)
			}
			if c.known {
				table = filepath.Join(dir, "c.csv")
				if err := osfile.Write(table, noise.Write); err != nil {
					t.Fatal(err)
				}
			} else if noise, err = confusion.Symmetric(data.Classes, 0); err != nil {
				t.Fatal(err)
			}

			const tol = 1e-9
			run := exec.Command(twin, train, c.label, c.steps, table, string(c.sel),
				fmt.Sprint(c.alpha), fmt.Sprint(tol), fmt.Sprint(c.max), string(c.weights),
				string(c.step), string(c.unit), fmt.Sprint(c.doubt))
			var want, said bytes.Buffer
			run.Stdout, run.Stderr = &want, &said
			if err := run.Run(); err != nil {
				t.Fatalf("%v: %v\n%s", run, err, said.String())
			}
			for _, e := range all {
				res := trainFile(t, e, train, c.label, c.steps, noise,
					&uma.Params{Step: c.step, Select: c.sel, Alpha: c.alpha, AlphaUnit: c.unit, Tol: tol,
						Doubt: c.doubt}, c.max, c.weights)
				got, err := binary.Append(nil, binary.LittleEndian, res.W.W)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want.Bytes()) {
					t.Errorf("%s: W differs from the twin's (%d bytes, the twin's has %d)", e.Device().ID,
						len(got), want.Len())
				}
				line := fmt.Sprintf("steps %d stop %s error %.17g", res.Steps, res.Stop, res.EstimatedError)
				if strings.TrimSpace(said.String()) != line {
					t.Errorf("%s: %s\ntwin: %s", e.Device().ID, line, said.String())
				}
			}
		})
	}
}

// trainFile is the whole way from a file to a result.
func trainFile(
	t *testing.T, e *engine.Engine, path, label, steps string, c *confusion.Matrix, params *uma.Params,
	max int, rule learners.Rule) host.Result {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := file.Read(t.Context(), path,
		file.Options{Table: file.Table{LabelColumn: label}})
	must(err)
	s, err := dataset.ParseSteps(steps)
	must(err)
	prep, err := features.Fit(s, data.Examples)
	must(err)
	x, err := features.Apply(prep, data.Examples)
	must(err)
	p := &learners.Problem{X: x, Y: data.Y, Q: len(data.Classes), Noise: c, Engine: e}
	res, err := host.Run(context.Background(), params, p, host.RunOptions{MaxSteps: max,
		Weights: rule})
	must(err)
	return res
}
