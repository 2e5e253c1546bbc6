package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A run from a binary file, raw or prepared, writes the model that the original
// gives, on every device that is here.
func TestTrainFromBinary(t *testing.T) {
	dir := t.TempDir()
	devices := []string{"cpu"}
	if code, _, _ := command("train", "--data", digits, "--device", "opencl",
		"--dry-run"); code == app.ExitOK {
		devices = append(devices, "opencl")
	} else {
		t.Log("no OpenCL device: on the processor alone")
	}
	data, c := noisy(t, dir, digits)
	file := func(name string, more ...string) string {
		path := filepath.Join(dir, name)
		succeed(t, append([]string{"convert", "--data", data, "--out", path}, more...)...)
		return path
	}
	for what, s := range map[string]struct{ storage, steps string }{
		"dense": {"dense", "auto"}, "sparse": {"sparse", "auto"}, "none": {"dense", "none"},
		"sparse, none": {"sparse", "none"}, "maxabs": {"dense", "maxabs,bias"},
	} {
		raw := file("raw.umab", "--storage", s.storage)
		prepared := file("prepared.umab", "--storage", s.storage, "--normalize", s.steps)
		for _, device := range devices {
			var want []byte
			for _, from := range []string{data, raw, prepared} {
				args := []string{"train", "--data", from, "--storage", s.storage, "--confusion", c,
					"--max-steps", "30",
					"--device", device, "--quiet", "--model", filepath.Join(dir, "m.npz")}
				if from != prepared {
					args = append(args, "--normalize", s.steps)
				}
				succeed(t, args...)
				got := read(t, filepath.Join(dir, "m.npz"))
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
	_, stderr := succeed(t, "convert", "--data", digits, "--out", path("p.umab"), "--normalize",
		"auto")
	if !facts.Told(stderr, "1797 examples × 64 features 10 "+path(
		"p.umab")+" 472 KiB standardize,bias,l2") {
		t.Errorf("stderr %s", stderr)
	}
	_, stderr = succeed(t, "train", "--data", path("p.umab"), "--normalize", "l2,bias,standardize",
		"--model", path("m.npz"), "--max-steps", "20")
	if !facts.Told(stderr, "p.umab 1797 examples × 64 features 10 standardize,bias,l2") {
		t.Errorf("stderr %s", stderr)
	}
	if m := load(t, path("m.npz")); m.D != 65 || m.Meta.Features.Count != 64 ||
		m.Meta.Preparation.D != 64 {
		t.Errorf("model of %d columns, %+v", m.D, m.Meta.Features)
	}
	predictions := func(data string, more ...string) string {
		stdout, _ := succeed(t, append([]string{"predict", "--quiet", "--model", path("m.npz"), "--data",
			data}, more...)...)
		return stdout
	}
	want := predictions(digits)
	for _, more := range [][]string{{}, {"--no-labels"}, {"--storage", "sparse"}} {
		if predictions(path("p.umab"), more...) != want {
			t.Errorf("%s: other predictions than from the original", more)
		}
	}
	a, _ := succeed(t, "eval", "--quiet", "--model", path("m.npz"), "--data", digits)
	if b, _ := succeed(t, "eval", "--quiet", "--model", path("m.npz"), "--data",
		path("p.umab")); a != b {
		t.Errorf("eval of prepared data\n%s\nof the original\n%s", b, a)
	}
	stdout, _ := succeed(t, "info", "--data", path("p.umab"), "--json")
	i, original := decode[dataset.Info](t, stdout), dataset.Info{}
	stdout, _ = succeed(t, "info", "--data", digits, "--json")
	if original = decode[dataset.Info](t, stdout); i.Prepared != dataset.DefaultSteps ||
		i.Format != "binary" ||
		i.Features != 65 || i.SHA256 != original.SHA256 {
		t.Errorf("found %+v", i)
	}
	stdout, _ = succeed(t, "info", "--data", path("p.umab"))
	if !strings.Contains(stdout, "prepared by        standardize,bias,l2\n") ||
		!strings.Contains(stdout, original.SHA256+", of the data before\n") {
		t.Errorf("stdout %s", stdout)
	}

	succeed(t, "convert", "--data", digits, "--out", path("l2.umab"), "--normalize", "l2")
	succeed(t, "convert", "--data", path("p.umab"), "--out", path("copy.umab"))
	if !bytes.Equal(read(t, path("p.umab")), read(t, path("copy.umab"))) {
		t.Error("the copy has other bytes")
	}
	before := names(t, dir)
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitFailure, "standardize,bias,l2 none", []string{"train", "--normalize", "none", "--model", path("n.npz")}},
		{app.ExitFailure, "standardize,bias,l2 l2", []string{"convert", "--normalize", "l2", "--out",
			path("n.umab")}},
		{app.ExitFailure, "n.csv standardize,bias,l2", []string{"convert", "--out", path("n.csv")}},
		{app.ExitFailure, "split original", []string{"split", "--fractions", "0.5,0.5", "--out",
			path("n.umab"), "--out", path("o.umab")}},
		{app.ExitFailure, "corrupt original", []string{"confusion", "inject", "--symmetric", "0.1",
			"--out", path("n.umab")}},
	} {
		fail(t, c.code, c.fragment, append(c.args, "--data", path("p.umab"))...)
	}
	fail(t, app.ExitFailure, "l2 standardize,bias,l2", "predict", "--model", path("m.npz"), "--data",
		path("l2.umab"))
	fail(t, app.ExitUsage, "--normalize", "convert", "--data", digits, "--normalize", "l2", "--out",
		path("n.csv"))
	fail(t, app.ExitUsage, `--normalize "l3"`, "convert", "--data", digits, "--normalize", "l3",
		"--out", path("n.umab"))
	fail(t, app.ExitUsage, "--out --data", "convert", "--data", path("p.umab"), "--out",
		path("p.umab"))
	if after := names(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("found %q, want %q", after, before)
	}
}

// Every command finds damage anywhere in a file, by its checksums; one that is told to trust them
// finds it by the content's hash if it reads all of the file anyway.
func TestDamagedBinary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d.umab")
	succeed(t, "convert", "--data", digits, "--out", path)
	raw := read(t, path)
	const damaged = "d.umab damaged 4 8 65536 bytes byte 196608 checksum"
	raw[len(raw)/2] ^= 1
	write(t, dir, "d.umab", string(raw))
	for _, args := range [][]string{
		{"info"}, {"info", "--no-labels"},
		{"convert", "--out", filepath.Join(dir, "e.umab")},
		{"split", "--counts", "5", "--out", filepath.Join(dir, "e.csv")},
		{"confusion", "inject", "--symmetric", "0.1", "--out", filepath.Join(dir, "e.csv")},
	} {
		args = append(args, "--data", path)
		fail(t, app.ExitFailure, "d.umab damaged", append(args, "--trust-data")...)
		fail(t, app.ExitFailure, damaged, args...)
	}
	succeed(t, "train", "--data", digits, "--model", filepath.Join(dir, "m.npz"), "--max-steps", "3")
	before := names(t, dir)
	for _, args := range [][]string{
		{"train", "--model", filepath.Join(dir, "n.npz")},
		{"eval", "--model", filepath.Join(dir, "m.npz")},
		{"predict", "--model", filepath.Join(dir, "m.npz"), "--out", filepath.Join(dir, "p.txt")},
		{"kpca", "fit", "--kernel", "rbf", "--components", "3", "--basis", filepath.Join(dir, "B.npz")},
		{"issues", "--out", filepath.Join(dir, "i.csv")},
	} {
		fail(t, app.ExitFailure, damaged, append(args, "--data", path)...)
	}
	if after := names(t, dir); !slices.Equal(after, before) {
		t.Errorf("found %q, want %q", after, before)
	}
	succeed(t, "train", "--model", filepath.Join(dir, "n.npz"), "--data", path, "--trust-data",
		"--max-steps", "3")
	write(t, dir, "d.umab", string(raw[:len(raw)-1]))
	fail(t, app.ExitFailure, "d.umab 36 bytes", "train", "--data", path, "--model",
		filepath.Join(dir, "m.npz"))
}

// Binary files go through the commands that make copies, and keep the content.
func TestBinaryCopies(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	hash := func(name string, more ...string) string {
		stdout, _ := succeed(t, append([]string{"info", "--json", "--data", name}, more...)...)
		return decode[dataset.Info](t, stdout).SHA256
	}
	want := hash(letter, "--label-column", "first")
	succeed(t, "convert", "--data", letter, "--label-column", "first", "--out", path("a.umab"))
	succeed(t, "convert", "--data", path("a.umab"), "--out", path("b.csv"))
	succeed(t, "convert", "--data", path("a.umab"), "--out", path("c.umab.gz"))
	if hash(path("a.umab")) != want || hash(path("b.csv"), "--label-column", "first") != want ||
		hash(path("c.umab.gz")) != want {
		t.Error("a copy has another content")
	}
	if a, b := hash(path("a.umab"), "--no-labels"),
		hash(path("b.csv"), "--no-labels", "--ignore-columns", "first"); a != b {
		t.Errorf("without labels: hash %s, want %s", a, b)
	}
	for _, from := range []string{"a.umab", "b.csv"} {
		more := []string{}
		if from == "b.csv" {
			more = []string{"--label-column", "first"}
		}
		succeed(t, append([]string{"confusion", "inject", "--data", path(from), "--pairwise", "0.3",
			"--seed", "5",
			"--out", path(from + ".umab")}, more...)...)
		succeed(t, append([]string{"split", "--data", path(from), "--fractions", "0.2,0.8",
			"--out", path(from + ".1.umab"), "--out", path(from + ".2.umab")}, more...)...)
	}
	for _, part := range []string{".umab", ".1.umab", ".2.umab"} {
		if !bytes.Equal(read(t, path("a.umab"+part)), read(t, path("b.csv"+part))) {
			t.Errorf("%s: the files differ", part)
		}
	}
}
