package export_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// trainedDigits trains on some clitest.Digits in dir, where test.csv has others, and returns dir.
func trainedDigits(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", "300,150", "--out",
		at("train.csv"), "--out",
		at("test.csv"))
	clitest.Succeed(t, "train", "--data", at("train.csv"), "--model", at("m.npz"))
	return dir
}

// TestExport: a model is written as ONNX, under a name that says so.
func TestExport(t *testing.T) {
	dir := trainedDigits(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	clitest.Succeed(t, "export", "--model", at("m.npz"), "--out", at("m.onnx"))
	if !bytes.Contains(clitest.Read(t, at("m.onnx")), []byte("probabilities")) {
		t.Error("found no output of probabilities")
	}
	clitest.Fail(t, app.ExitUsage, "onnx", "export", "--model", at("m.npz"), "--out", at("m.txt"))
}

// python returns a Python that has NumPy.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Fatal("found no Python with NumPy, wanted one: make test installs python3-numpy on Debian and " +
		"Ubuntu")
	return ""
}

// TestExportNumPy: the lines of Python in docs/export.md predict what uma-gpu predict does.
func TestExportNumPy(t *testing.T) {
	block := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(clitest.Read(t,
		"../../../../docs/export.md"))
	if block == nil || bytes.Count(block[1], []byte("\n")) > 10 {
		t.Fatalf("docs/export.md has no lines of Python, or more than ten")
	}
	dir := trainedDigits(t)
	want, _ := clitest.Succeed(t, "predict", "--model", filepath.Join(dir, "m.npz"), "--data",
		filepath.Join(dir, "test.csv"))
	c := exec.Command(python(t), "-c", string(block[1]))
	c.Dir = dir
	found, err := c.CombinedOutput()
	if err != nil || string(found) != want || strings.Count(want, "\n") != 150 {
		t.Errorf("found %.300q, %v; want %.300q", found, err, want)
	}
}
