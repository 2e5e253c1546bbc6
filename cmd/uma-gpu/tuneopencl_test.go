//go:build cgo && !noopencl

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/internal/tuned"
)

func TestTuneOnOpenCL(t *testing.T) {
	for _, i := range openCL(t) {
		path := filepath.Join(t.TempDir(), "cache", "t.json")
		t.Setenv(tuned.PathVariable, path)
		// Sparse examples have one parameter, and so take little time.
		args := []string{"tune", "--device", i.ID(), "--data", digits, "--storage", "sparse",
			"--normalize", "l2", "--repeat", "1"}
		stdout, _ := succeed(t, append(args, "--dry-run", "--json")...)
		r := decode[tuneReport](t, stdout)
		if r.TuneReport.Device.ID != i.ID() || len(r.Candidates) == 0 || r.Shape != "sparse, d>=64, q<=16, small" ||
			r.Table != "" || r.Data.Examples != 1797 {
			t.Errorf("found %+v", r)
		}
		if found, err := tuned.Read(path); err != nil || found != nil {
			t.Errorf("a dry run stored %v, %v", found, err)
		}
		stdout, stderr := succeed(t, args...)
		for _, want := range []string{"group ", "ms a step", "Stored for sparse, d>=64, q<=16, small in " + path} {
			if !strings.Contains(stdout, want) {
				t.Errorf("stdout lacks %q:\n%s\n%s", want, stdout, stderr)
			}
		}
		if found, err := tuned.Read(path); err != nil || len(found) != 1 || found[0].Device != i.Name ||
			found[0].Driver != i.Driver {
			t.Errorf("stored %+v, %v", found, err)
		}
		code, stdout, stderr := interrupt(t, "shape:", "tune", "--device", i.ID(), "--examples", "300", "--features", "4")
		if code != app.ExitInterrupted || stdout != "" || !strings.Contains(stderr, "nothing was written") {
			t.Errorf("interrupted: exit code %d, stdout %s, stderr %s", code, stdout, stderr)
		}
	}
}

// A stored tuning is used, if it is for this device, driver, kernels and shape, and the
// weights are the same with and without it.
func TestStoredTuningIsUsed(t *testing.T) {
	for _, i := range openCL(t) {
		dir := t.TempDir()
		path := filepath.Join(dir, "t.json")
		t.Setenv(tuned.PathVariable, path)
		key, err := tuned.NewKey(i, "dense, d>=64, q<=16, small")
		if err != nil {
			t.Fatal(err)
		}
		entry := tuned.Entry{Key: key, Date: time.Unix(1e9, 0).UTC(),
			Tuning: gpu.Tuning{ScoreRows: 4, ScoreGroup: 16, ScoreWidth: 8, SumRows: 16, Group: 4}}
		n := 0
		train := func(want string, more ...string) (model, stderr string) {
			t.Helper()
			n++
			model = filepath.Join(dir, string(rune('a'+n))+".npz")
			_, stderr = succeed(t,
				append([]string{"train", "--data", digits, "--model", model, "--max-steps", "5", "--device", i.ID()}, more...)...)
			if !strings.Contains(stderr, ", tuning: "+want+"\n") {
				t.Errorf("stderr lacks %q:\n%s", want, stderr)
			}
			return model, stderr
		}
		plain, _ := train("default")
		for _, change := range []func(*tuned.Key){
			func(k *tuned.Key) { k.Kernels = "those of yesterday" }, func(k *tuned.Key) { k.Driver = "that of yesterday" },
			func(k *tuned.Key) { k.Device = "another" }, func(k *tuned.Key) { k.Shape = "another" },
		} {
			other := entry
			change(&other.Key)
			if err := tuned.Store(path, other); err != nil {
				t.Fatal(err)
			}
			train("default")
			if _, err := tuned.Forget(path); err != nil {
				t.Fatal(err)
			}
		}
		if err := tuned.Store(path, entry); err != nil {
			t.Fatal(err)
		}
		used, _ := train("tuned 2001-09-09")
		train("default", "--no-tuning")
		if !bytes.Equal(member(t, plain, "W.npy"), member(t, used, "W.npy")) {
			t.Error("the weights differ")
		}
		stdout, _ := succeed(t, "bench", "--data", digits, "--steps", "2", "--repeat", "1", "--json", "--quiet",
			"--device", i.ID())
		if r := decode[benchReport](t, stdout); r.Tuning != "tuned 2001-09-09" {
			t.Errorf("bench says %q", r.Tuning)
		}
		stdout, _ = succeed(t, "devices", "--json")
		l := decode[deviceListing](t, stdout)
		for _, d := range l.Devices {
			if d.ID == i.ID() && d.Tunings != 1 {
				t.Errorf("devices counts %d tunings", d.Tunings)
			}
		}
		write(t, dir, "t.json", "{torn")
		_, stderr := train("default")
		if strings.Count(stderr, "warning: stored tunings are not used: ") != 1 {
			t.Errorf("stderr %s", stderr)
		}
		_, stderr = train("default", "--no-tuning")
		if strings.Contains(stderr, "warning") {
			t.Errorf("stderr %s", stderr)
		}
	}
}
