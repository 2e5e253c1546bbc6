package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr := succeed(t, "train", "--learner", "uma", "--data", digits, "--dry-run", "--json")
	r := decode[train.Plan](t, stdout)
	if r.Device.ID != "cpu" || r.Examples != 1797 || r.Features != 65 || r.Classes != 10 ||
		r.Storage != "dense" ||
		r.Plan.Examples != 4*65*1797 || r.Plan.ClassSums != 8*100*65 || !r.Plan.InPlace ||
		r.Plan.Limit != 0 {
		t.Errorf("found %+v", r)
	}
	if m := r.Memory; m.Taken < 1<<20 ||
		m.More < r.Plan.Examples/2+r.Plan.Scores+r.Plan.ClassSums+r.Plan.Scratch {
		t.Errorf("memory: found %+v", m)
	}
	if m := r.Estimate.Measured; m.Examples != 1797 || m.Bytes != r.Plan.Examples || m.Seconds <= 0 ||
		math.Abs(r.Estimate.SecondsPerPass/m.Seconds-1) > 1e-9 || r.Estimate.Streamed != nil {
		t.Errorf("found %+v", r.Estimate)
	}
	if !facts.Told(stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
	stdout, _ = succeed(t, "train", "--data", digits, "--dry-run", "--json", "--learner", "softmax")
	if r := decode[train.Plan](t, stdout); r.Plan.ClassSums != 0 || r.Plan.Scratch < 4*10*65 {
		t.Errorf("softmax, which has no class sums: found %+v", r.Plan)
	}
	model := filepath.Join(dir, "m.npz")
	stdout, _ = succeed(t, "train", "--data", digits, "--dry-run", "--model", model, "--storage",
		"sparse")
	for _, want := range []string{"device         cpu ",
		"1797 examples × 64 features, 10 classes, sparse\n", "\nscores         70.6 KiB\n",
		"in all ", "\nmemory         about ", "no limit", "tiles          1, with 0 aside\n",
		"expected pass "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if left := names(t, dir); left != nil {
		t.Errorf("a dry run wrote %q", left)
	}
	// What would end training ends the dry run.
	fail(t, app.ExitFailure, "such file", "train", "--data", digits, "--dry-run", "--confusion",
		filepath.Join(dir, "C.csv"))
	fail(t, app.ExitUsage, "--data missing", "train", "--dry-run")
	code, stdout, stderr := interrupt(t, "device:", "train", "--data", digits, "--dry-run")
	if code != app.ExitInterrupted || stdout != "" || !facts.Told(stderr, "nothing written") {
		t.Errorf("interrupted: exit code %d, stdout %s, stderr %s", code, stdout, stderr)
	}
}

// slowEngine has a clock of its own: it reads resident examples at one speed and
// streams what is beyond its memory at another.
type slowEngine struct {
	engine.Engine
	memory           int64
	resident, stream float64 // bytes per second
}

func (e slowEngine) Plan(x dataset.Rows, y []int32, classes int) (engine.Plan, error) {
	p, err := e.Engine.Plan(x, y, classes)
	p.InPlace, p.Limit = false, e.memory
	p.Aside = max(0, p.Examples+p.Scores-e.memory)
	return p, err
}

func (e slowEngine) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	p, err := e.Plan(x, nil, classes)
	if err != nil {
		return nil, err
	}
	r, err := e.Engine.Load(x, classes)
	seconds := float64(p.Examples-p.Aside)/e.resident + float64(p.Aside)/e.stream
	return slowResident{r, time.Duration(seconds * float64(time.Second))}, err
}

type slowResident struct {
	engine.Scorer
	pass time.Duration
}

func (r slowResident) Rescore(engine.Weights, []int) error { time.Sleep(r.pass); return nil }

// The expectation is what the whole would take on a device of two speeds, though
// only a part of it is measured.
func TestExpect(t *testing.T) {
	x := dataset.Examples{N: 20 << 10, D: 4 << 10} // 320 MiB
	x.X = make([]float32, x.N*x.D)
	sparse := dataset.Examples{N: x.N, D: x.D, Starts: make([]int64, x.N+1)}
	for i := range x.N {
		sparse.Starts[i+1] = int64(512 * (i + 1))
	}
	sparse.Columns, sparse.Values = make([]int32, 512*x.N), make([]float32, 512*x.N)
	for k := range sparse.Columns {
		sparse.Columns[k] = int32(k % 512)
	}
	for name, c := range map[string]struct {
		x        dataset.Examples
		memory   int64
		streamed bool
	}{
		"all resident":  {x, 1 << 30, false},
		"some streamed": {x, 200 << 20, true},
		"most streamed": {x, 70 << 20, true},
		"sparse":        {sparse, 1 << 30, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := slowEngine{cpuref.New(), c.memory, 1e9, 1e8}
				plan, err := e.Plan(c.x, nil, 2)
				if err != nil {
					t.Fatal(err)
				}
				reopened := false
				g, err := train.Expect(t.Context(), e, plan, c.x, 2, func(limit int64) (engine.Engine,
					error) {
					reopened = true
					small := e
					small.memory = limit
					return small, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				want := float64(plan.Examples-plan.Aside)/1e9 + float64(plan.Aside)/1e8
				if math.Abs(g.SecondsPerPass/want-1) > 1e-3 {
					t.Errorf("expects %v s, want %v: %+v", g.SecondsPerPass, want, g)
				}
				if reopened != c.streamed || (g.Streamed != nil) != c.streamed {
					t.Errorf("reopened %v, streamed %+v", reopened, g.Streamed)
				}
				if m := g.Measured; m.Bytes > train.MeasuredBytes+1<<18 ||
					m.Bytes < train.MeasuredBytes/2 {
					t.Errorf("measured on %d bytes", m.Bytes)
				}
			})
		})
	}
	e := slowEngine{cpuref.New(), 70 << 20, 1e12, 1e12}
	plan, err := e.Plan(x, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := train.Expect(t.Context(), e, plan, x, 2, func(int64) (engine.Engine, error) {
		return nil, broken
	}); !errors.Is(err, broken) {
		t.Errorf("found %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := train.Expect(cancelled, e, plan, x, 2, nil); !errors.Is(err, app.ErrInterrupted) {
		t.Errorf("found %v", err)
	}
}

func TestFirstExamples(t *testing.T) {
	dense := dataset.Examples{N: 5, D: 2, X: []float32{1, 2, 0, 0, 5, 6, 0, 8, 9, 10}}
	for bytes, want := range map[int]int{0: 1, 8: 1, 15: 1, 16: 2, 40: 5, 1000: 5} {
		f := train.FirstExamples(dense, bytes)
		if err := f.Check(); err != nil || f.N != want {
			t.Errorf("dense, %d bytes: %d examples, %v, want %d", bytes, f.N, err, want)
		}
	}
	// rows of 2, 0, 2, 1, 2 values
	for bytes, want := range map[int]int{0: 1, 16: 2, 31: 2, 32: 3, 1000: 5} {
		f := train.FirstExamples(dense.Compressed(), bytes)
		if err := f.Check(); err != nil || f.N != want {
			t.Errorf("sparse, %d bytes: %d examples, %v, want %d", bytes, f.N, err, want)
		}
	}
}

func TestAdviseMemory(t *testing.T) {
	err := app.AdviseMemory(fmt.Errorf("plan: %w: 9 bytes", engine.ErrMemory))
	if !errors.Is(err, engine.ErrMemory) || app.ExitCode(err) != app.ExitMemory ||
		!strings.HasSuffix(err.Error(),
			"9 bytes; allow more with --memory-limit and --max-alloc if you gave them, choose another "+
				"--device, or train with fewer examples or classes") {
		t.Errorf("found %v", err)
	}
	if other := errors.New("other"); app.AdviseMemory(other) != other || app.AdviseMemory(nil) != nil {
		t.Error("another error is changed")
	}
	d := device.Device{}
	if _, err := d.Reopen("opencl:9.9", 1); !errors.Is(err, app.ErrNoSuchDevice) {
		t.Errorf("found %v", err)
	}
}
