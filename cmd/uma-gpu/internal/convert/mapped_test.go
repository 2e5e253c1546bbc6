package convert_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A run from a binary file, raw or prepared, writes the model that the original
// gives, on every device that is here.
func TestTrainFromBinary(t *testing.T) {
	dir := t.TempDir()
	devices := []string{"cpu"}
	if code, _, _ := clitest.Run("train", "--data", clitest.Digits, "--device", "opencl",
		"--max-steps", "1", "--model", filepath.Join(dir, "opencl.npz")); code == app.ExitOK {
		devices = append(devices, "opencl")
	} else {
		t.Log("no OpenCL device: on the processor alone")
	}
	data, c := clitest.Noisy(t, dir, clitest.Digits)
	file := func(name string, more ...string) string {
		path := filepath.Join(dir, name)
		clitest.Succeed(t, append([]string{"convert", "--data", data, "--out", path}, more...)...)
		return path
	}
	for what, s := range map[string]struct{ storage, steps string }{
		"dense": {"dense", "auto"}, "sparse": {"sparse", "auto"}, "none": {"dense", "none"},
		"sparse, none": {"sparse", "none"}, "maxabs": {"dense", "maxabs,bias"},
	} {
		raw := file("raw.npz", "--storage", s.storage)
		prepared := file("prepared.npz", "--storage", s.storage, "--normalize", s.steps)
		for _, device := range devices {
			var want []byte
			for _, from := range []string{data, raw, prepared} {
				args := []string{"train", "--data", from, "--storage", s.storage, "--confusion", c,
					"--max-steps", "30",
					"--device", device, "--quiet", "--model", filepath.Join(dir, "m.npz")}
				if from != prepared {
					args = append(args, "--normalize", s.steps)
				}
				clitest.Succeed(t, args...)
				got := clitest.Read(t, filepath.Join(dir, "m.npz"))
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s, %s: the model from %s is another than that from the original", what, device,
						from)
				}
			}
		}
		if err := os.Remove(raw); err != nil {
			t.Error(err)
		}
		if err := os.Remove(prepared); err != nil {
			t.Error(err)
		}
	}
}

// What a model trained from prepared examples does with raw ones, and the other
// way round.
func TestPreparedData(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	_, stderr := clitest.Succeed(t, "convert", "--data", clitest.Digits, "--out", path("p.npz"),
		"--normalize",
		"auto")
	if !facts.Told(stderr, "1797 examples × 64 features 10 "+path(
		"p.npz")+" 465.7 KiB standardize,bias,l2") {
		t.Errorf("stderr %s", stderr)
	}
	_, stderr = clitest.Succeed(t, "train", "--data", path("p.npz"), "--normalize",
		"l2,bias,standardize",
		"--model", path("m.npz"), "--max-steps", "20")
	if !facts.Told(stderr, "p.npz 1797 examples × 64 features 10 standardize,bias,l2") {
		t.Errorf("stderr %s", stderr)
	}
	if m := clitest.Load(t, path("m.npz")); m.D != 65 || m.Meta.Features.Count != 64 ||
		m.Meta.Preparation.D != 64 {
		t.Errorf("model of %d columns, %+v", m.D, m.Meta.Features)
	}
	predictions := func(data string, more ...string) string {
		stdout, _ := clitest.Succeed(t, append([]string{"predict", "--quiet", "--model", path("m.npz"),
			"--data",
			data}, more...)...)
		return stdout
	}
	want := predictions(clitest.Digits)
	for _, more := range [][]string{{}, {"--no-labels"}} {
		if predictions(path("p.npz"), more...) != want {
			t.Errorf("%s: other predictions than from the original", more)
		}
	}
	a, _ := clitest.Succeed(t, "eval", "--quiet", "--model", path("m.npz"), "--data", clitest.Digits)
	if b, _ := clitest.Succeed(t, "eval", "--quiet", "--model", path("m.npz"), "--data",
		path("p.npz")); a != b {
		t.Errorf("eval of prepared data\n%s\nof the original\n%s", b, a)
	}
	stdout, _ := clitest.Succeed(t, "info", "--data", path("p.npz"), "--json")
	i, original := clitest.Decode[dataset.Info](t, stdout), dataset.Info{}
	stdout, _ = clitest.Succeed(t, "info", "--data", clitest.Digits, "--json")
	if original = clitest.Decode[dataset.Info](t, stdout); i.Prepared != dataset.DefaultSteps ||
		i.Format != "npz" ||
		i.Features != 65 || i.SHA256 != original.SHA256 {
		t.Errorf("found %+v", i)
	}
	stdout, _ = clitest.Succeed(t, "info", "--data", path("p.npz"))
	if !strings.Contains(stdout, "prepared by        standardize,bias,l2\n") ||
		!strings.Contains(stdout, original.SHA256+", of the data before\n") {
		t.Errorf("stdout %s", stdout)
	}

	clitest.Succeed(t, "convert", "--data", clitest.Digits, "--out", path("l2.npz"), "--normalize",
		"l2")
	clitest.Succeed(t, "convert", "--data", path("p.npz"), "--out", path("copy.npz"))
	if !bytes.Equal(clitest.Read(t, path("p.npz")), clitest.Read(t, path("copy.npz"))) {
		t.Error("the copy has other bytes")
	}
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitFailure, "standardize,bias,l2 none", []string{"train", "--normalize", "none", "--model",
			path("n.npz")}},
		{app.ExitFailure, "standardize,bias,l2 l2", []string{"convert", "--normalize", "l2", "--out",
			path("n.npz")}},
		{app.ExitFailure, "n.csv standardize,bias,l2", []string{"convert", "--out", path("n.csv")}},
		{app.ExitFailure, "split original", []string{"split", "--fractions", "0.5,0.5", "--out",
			path("n.npz"), "--out", path("o.npz")}},
		{app.ExitFailure, "corrupt original", []string{"confusion", "inject", "--symmetric", "0.1",
			"--out", path("n.npz")}},
	} {
		clitest.Fail(t, c.code, c.fragment, append(c.args, "--data", path("p.npz"))...)
	}
	clitest.Fail(t, app.ExitFailure, "l2 standardize,bias,l2", "predict", "--model", path("m.npz"),
		"--data",
		path("l2.npz"))
	clitest.Fail(t, app.ExitUsage, "--normalize", "convert", "--data", clitest.Digits, "--normalize",
		"l2", "--out",
		path("n.csv"))
	clitest.Fail(t, app.ExitUsage, `--normalize "l3"`, "convert", "--data", clitest.Digits,
		"--normalize", "l3",
		"--out", path("n.npz"))
	clitest.Fail(t, app.ExitUsage, "--out --data", "convert", "--data", path("p.npz"), "--out",
		path("p.npz"))
	if after := clitest.Names(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("found %q, want %q", after, before)
	}
}
