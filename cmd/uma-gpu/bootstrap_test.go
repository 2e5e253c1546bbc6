package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestBootstrap learns from 150 labels more than the rough model knows, keeps each stage in a
// file, and uses files that are there.
func TestBootstrap(t *testing.T) {
	dir := t.TempDir()
	few, many, test := filepath.Join(dir, "few.csv"), filepath.Join(dir, "many.csv"),
		filepath.Join(dir, "test.csv")
	succeed(t, "split", "--data", digits, "--counts", "150,1150,497", "--out", few, "--out", many,
		"--out", test)
	bare := filepath.Join(dir, "bare.csv")
	var text strings.Builder
	for line := range strings.Lines(string(read(t, many))) {
		text.WriteString(line[:strings.LastIndexByte(line, ',')] + "\n")
	}
	write(t, dir, "bare.csv", text.String())
	stages, m := filepath.Join(dir, "stages"), filepath.Join(dir, "m.npz")
	args := []string{"bootstrap", "--labelled", few, "--unlabelled", bare, "--model", m, "--dir",
		stages, "--device", "cpu", "--l2", "0.001", "--use-clean"}
	_, stderr := succeed(t, append(args, "--rounds-of-labels", "2")...)
	if !facts.Told(stderr, "1300 examples") {
		t.Errorf("stderr\n%s", stderr)
	}
	for _, name := range []string{
		"rough.npz", "confusion.csv", "labels.csv", "model-2.npz", "confusion-2.csv", "labels-2.csv",
	} {
		if _, err := os.Stat(filepath.Join(stages, name)); err != nil {
			t.Error(err)
		}
	}
	wrong := func(model string) float64 {
		text, _ := succeed(t, "eval", "--model", model, "--data", test)
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "error rate"); ok {
				v, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		t.Fatalf("no error rate in\n%s", text)
		return 0
	}
	rough, learned := wrong(filepath.Join(stages, "rough.npz")), wrong(m)
	t.Logf("test error %.3f of the rough model, %.3f of the one that is learned", rough, learned)
	// The rough model is of the same learner, so that there is little to gain.
	if learned > rough+0.02 {
		t.Errorf("test error %.3f of the rough model, %.3f of the one that is learned", rough, learned)
	}

	// A stage that was replaced is used: with all labels alike there is nothing to learn.
	lines := strings.Count(string(read(t, filepath.Join(stages, "labels.csv"))), "\n")
	write(t, stages, "labels.csv", strings.Repeat("0\n", lines))
	_, stderr = succeed(t, args...)
	if !facts.Told(stderr, "labels.csv used") || wrong(m) < learned {
		t.Errorf("test error %.3f after labels were replaced, stderr\n%s", wrong(m), stderr)
	}
	write(t, stages, "labels.csv", "0\n0\n")
	fail(t, app.ExitFailure, "2 labels 1150 examples", args...)
	fail(t, app.ExitUsage, "--dir missing", args[:7:7]...)
}
