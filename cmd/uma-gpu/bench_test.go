package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/bench"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/timing"
)

var small = []string{
	"bench", "--synthetic", "300,5,3", "--learner", "uma", "--step", "pair", "--doubt", "0", "--steps",
	"4",
	"--repeat", "2",
}

// judgeBench judges all of a report that does not depend on time.
func judgeBench(t *testing.T, r bench.Report, device string, n, d, q, steps int) {
	t.Helper()
	if r.Device.ID != device || r.Data.Examples != n || r.Data.Features != d || r.Data.Classes != q ||
		r.Data.Storage != "dense" || r.ExampleBytes < int64(4*n*d) ||
		!(r.Bandwidth > 0) || !(r.Seconds > 0) || r.Repeat != 2 {
		t.Errorf("found %+v", r)
	}
	var found []string
	judge := func(o timing.Operation) {
		t.Helper()
		if !(0 < o.Least && o.Least <= o.Seconds && o.Seconds <= o.Most) {
			t.Errorf("times of %+v", o)
		}
		if (o.BytesRead == nil) != (o.GBPerSecond == nil) ||
			(o.BytesRead == nil) != (o.BandwidthShare == nil) ||
			(o.Launches == nil) != (o.Transfers == nil) {
			t.Errorf("counts of %+v", o)
		}
	}
	moved := map[string]int{}
	for _, o := range r.Operations {
		judge(o)
		found = append(found, o.Name)
		if o.Moved != nil {
			moved[o.Name] = *o.Moved
		}
	}
	if want := []string{timing.Load, timing.AssignAll, timing.AssignStill, timing.AssignStep,
		timing.Rescore2, timing.RescoreAll, timing.Norms, timing.Vector, timing.Predict,
		timing.Scores}; !slices.Equal(found, want) {
		t.Errorf("operations %q, want %q", found, want)
	}
	if len(moved) != 3 || moved[timing.AssignAll] != n || moved[timing.AssignStill] != 0 ||
		moved[timing.AssignStep] <= 0 || moved[timing.AssignStep] >= n {
		t.Errorf("moved %v of %d", moved, n)
	}
	judge(r.Run.Whole)
	judge(r.Run.Step)
	for _, o := range r.Run.Phases {
		judge(o)
	}
	if r.Run.Steps != steps || r.Run.Stop != "max-steps" || len(r.Run.Phases) != 5 ||
		!(0 < r.Run.EstimatedError && r.Run.EstimatedError < 1) {
		t.Errorf("run %+v", r.Run)
	}
}

func TestBench(t *testing.T) {
	stdout, stderr := succeed(t, append(small, "--json")...)
	r := decode[bench.Report](t, stdout)
	judgeBench(t, r, "cpu", 300, 6, 3, 4) // with a bias
	if r.Data.Source != "synthetic" || r.BandwidthName != "read bandwidth" {
		t.Errorf("found %+v", r)
	}
	for _, want := range []string{"device cpu", "warming", "2 2 4 steps"} {
		if !facts.Told(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	stdout, _ = succeed(t, "bench", "--data", digits, "--learner", "uma", "--normalize", "l2",
		"--steps", "5", "--repeat", "2", "--json", "--quiet")
	r = decode[bench.Report](t, stdout)
	judgeBench(t, r, "cpu", 1797, 64, 10, 5)
	if r.Data.Source != digits {
		t.Errorf("source %q", r.Data.Source)
	}
}

func TestBenchTable(t *testing.T) {
	stdout, stderr := succeed(t, append(small, "--quiet")...)
	for _, want := range []string{"device ", "data ", "read bandwidth ", "rescore 2 classes ", "step ",
		"in it: choose ", "run of 4 steps "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	stdout, _ = succeed(t, "bench", "--synthetic", "300,5,3", "--steps", "4", "--repeat", "2",
		"--quiet")
	if !strings.Contains(stdout, "in it: evaluate ") {
		t.Errorf("logistic regression has no evaluations:\n%s", stdout)
	}
}

// traceEvent is what a trace has of each event.
type traceEvent struct {
	Name, Ph string
	Ts, Dur  float64
	Pid, Tid int
}

func TestBenchProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	succeed(t, append(small, "--profile", path)...)
	var events []traceEvent
	if err := json.Unmarshal(read(t, path), &events); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range events {
		count[e.Name]++
		if e.Pid != 1 || e.Tid < 1 || e.Ts < 0 || e.Dur < 0 || e.Ph != "X" && e.Ph != "M" {
			t.Errorf("event %+v", e)
		}
	}
	// Of the last run alone; its last assignment of weights is followed by no step, and each of the
	// four averages is scored and assigned as well.
	if count["step"] != 4 || count["assign"] != 5+4 || count["choose"] != 4 || count["norms"] != 4 ||
		count["update vectors"] < 4 || count["rescore"] != 4+4 || count["thread_name"] != 1 {
		t.Errorf("events %v", count)
	}
}

func TestBenchErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitUsage, `"all"`, []string{"all"}},
		{app.ExitUsage, "--data --synthetic exclude", []string{"--data", digits, "--synthetic", "9,2,2"}},
		{app.ExitUsage, `"9,2" N,D,Q`, []string{"--synthetic", "9,2"}},
		{app.ExitUsage, `"0" examples 1`, []string{"--synthetic", "0,2,2"}},
		{app.ExitUsage, `"x" features`, []string{"--synthetic", "9,x,2"}},
		{app.ExitUsage, `"1" classes 2`, []string{"--synthetic", "9,2,1"}},
		{app.ExitUsage, "--steps 0 1", []string{"--steps", "0"}},
		{app.ExitUsage, "--repeat -1 1", []string{"--repeat", "-1"}},
		{app.ExitUsage, "--normalize", []string{"--normalize", "nothing"}},
		{app.ExitUsage, "--max-alloc", []string{"--max-alloc", "much"}},
		{app.ExitUsage, "--format", []string{"--format", "xls"}},
		{app.ExitNoDevice, `"no-such-device"`, []string{"--device", "no-such-device"}},
		{app.ExitFailure, "no-such-folder", []string{"--profile",
			filepath.Join(dir, "no-such-folder", "t.json")}},
		{app.ExitFailure, "no-such-file", []string{"--data", filepath.Join(dir, "no-such-file")}},
		{app.ExitMemory, "memory", []string{"--synthetic", "4611686018427387904,9,2"}},
	} {
		fail(t, c.code, c.fragment, append([]string{"bench"}, c.args...)...)
	}
	// The data are never overwritten.
	data := filepath.Join(dir, "d.csv")
	if err := os.WriteFile(data, []byte("1,0\n2,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	fail(t, app.ExitUsage, "--profile --data", "bench", "--data", data, "--profile", data)
	// One class: no noise to inject.
	fail(t, app.ExitFailure, "one class", "bench", "--data", write(t, dir, "one.csv", "1,0\n2,0\n"))
	// Nothing to learn: no step to measure.
	fail(t, app.ExitFailure, "no step", "bench", "--data", write(t, dir, "zero.csv", "0,a\n0,b\n"),
		"--normalize", "none")
}

func TestBenchInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	for _, word := range []string{"", "device:", "warming up", "run 1 of 2",
		"measuring each operation"} {
		code, stdout, stderr := interrupt(t, word, append(small, "--profile", path)...)
		if code != app.ExitInterrupted || stdout != "" || !facts.Told(stderr, "uma-gpu interrupted") {
			t.Errorf("interrupted at %q: exit code %d, stdout %q\n%s", word, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an interrupted measurement left a profile")
	}
}
