//go:build mpi && cgo && !noopencl && linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
)

// TestRankComputesWrong: of three ranks one has a device from which wrong bits come from some
// moment on. It is named, with what is wrong and what to do, and there is no model.
func TestRankComputesWrong(t *testing.T) {
	dir := t.TempDir()
	data, model, one := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.npz"), filepath.Join(dir,
		"one.npz")
	log := filepath.Join(dir, "log")
	succeed(t, "synth", "--examples", "3000", "--features", "20", "--classes", "5", "--out", data)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	library, device, audited := faultyLibrary(t), openCL(t)[0].ID(), 0
	for _, learner := range [][]string{
		{"--learner", "uma", "--tol", "0", "--max-steps", "20"},
		{"--learner", "softmax", "--iterations", "20", "--l2", "0.0001"},
	} {
		train := append([]string{"train", "--data", data, "--model", model}, learner...)
		succeed(t, append(with(train, "--model", one), "--device", "cpu")...)
		run := func(fault string) (string, int) {
			t.Helper()
			right := append(slices.Clone(train), "--device", "cpu")
			wrong := slices.Concat([]string{"-n", "1", "env", gpu.LibraryVariable + "=" + library, "FAULT=" +
				fault, "FAULT_LOG=" + log, self}, train, []string{"--device", device, "--audit", "full"})
			out, err := mpirun(t, 1, slices.Concat(right, []string{":"}, wrong, []string{":", "-n", "1",
				self}, right)...).CombinedOutput()
			return string(out), exitOf(t, err)
		}
		os.Remove(log)
		if out, code := run(""); code != app.ExitOK {
			t.Fatalf("without a fault: exit code %d\n%s", code, out)
		} else if what := differ(t, one, model); what != "" {
			t.Fatalf("without a fault: another %s", what)
		}
		reads := bytes.Count(read(t, log), []byte("clEnqueueReadBuffer"))
		for _, share := range []int{50, 75, 97} { // the first reads belong to the self-test
			if err := os.Remove(model); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			fault := "read+:" + strconv.Itoa(reads*share/100) + ":" + strconv.Itoa(share)
			out, code := run(fault)
			named := strings.Contains(out, "rank 1: ") || strings.Contains(out, "rank 1 of 3 ends all: ")
			if code != app.ExitFailure || !named || !strings.Contains(out, "is at fault") {
				t.Errorf("%s, FAULT=%s: exit code %d, wanted %d and the device of rank 1 named:\n%s",
					learner[1], fault, code, app.ExitFailure, out)
			}
			if strings.Contains(out, "audit of ") && strings.Contains(out, "begin again with --device cpu") {
				audited++
			}
			if left := names(t, dir); slices.ContainsFunc(left, func(name string) bool {
				return strings.HasSuffix(name, ".npz") && name != "one.npz"
			}) {
				t.Errorf("%s, FAULT=%s: left %q", learner[1], fault, left)
			}
		}
	}
	if audited == 0 { // what is impossible the device's engine sees itself
		t.Error("no audit has found anything")
	}
}

// TestRanksResume: a checkpoint of three ranks goes on to the bytes of one process on other
// numbers of ranks, and on other devices.
func TestRanksResume(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d.csv")
	succeed(t, "synth", "--examples", "2500", "--features", "12", "--classes", "4", "--out", data)
	mapped := filepath.Join(dir, "d.npz")
	succeed(t, "convert", "--data", data, "--storage", "sparse", "--out", mapped)
	want, got, checkpoint := filepath.Join(dir, "want.npz"), filepath.Join(dir, "got.npz"),
		filepath.Join(dir, "c.npz")
	device := openCL(t)[0].ID()
	for _, begun := range [][]string{
		{"--data", data, "--learner", "uma", "--tol", "0", "--max-steps", "13"},
		{"--data", mapped, "--learner", "softmax", "--iterations", "13", "--l2", "0.001"},
		{"--data", data, "--learner", "uma", "--tol", "0", "--max-steps", "13", "--kernel", "rbf",
			"--landmarks", "40", "--gamma", "0.1"},
	} {
		args := append([]string{"train", "--device", "cpu", "--model", want}, begun...)
		succeed(t, args...)
		args = with(args, "--model", got)
		out, err := mpirun(t, 3, append(args, "--checkpoint", checkpoint, "--every",
			"5")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if steps := load(t, checkpoint).Meta.Steps; steps != 10 {
			t.Fatalf("%v: the checkpoint is of step %d, wanted 10", args, steps)
		}
		for _, c := range []struct {
			ranks  int
			device string
		}{{1, "cpu"}, {1, device}, {2, "cpu+cpu"}, {2, device}, {4, "cpu"}, {4, "cpu+" + device}} {
			if err := os.Remove(got); err != nil {
				t.Fatal(err)
			}
			out, err := mpirun(t, c.ranks, "train", "--data", begun[1], "--resume", checkpoint, "--model",
				got, "--device", c.device).CombinedOutput()
			if err != nil {
				t.Fatalf("%v, gone on on %d ranks of %s: %v\n%s", begun, c.ranks, c.device, err, out)
			}
			if what := differ(t, want, got); what != "" {
				t.Errorf("%v, gone on on %d ranks of %s: another %s", begun, c.ranks, c.device, what)
			}
		}
	}
}
