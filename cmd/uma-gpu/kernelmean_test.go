package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestTrainKernelMean: the mean classifier with a kernel function; every example is a
// landmark.
func TestTrainKernelMean(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--data", data, "--model", model, "--learner", "kernelmean"}
	succeed(t, append(train, "--kernel", "rbf", "--gamma", "search", "--balanced")...)
	stdout, _ := succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[eval.Report](t, stdout).ErrorRate; rate > 0.03 {
		t.Errorf("error rate %v", rate)
	}
	stdout, _ = succeed(t, append(train, "--kernel", "rbf", "--dry-run")...)
	if !strings.Contains(stdout, "2 means of 300 atoms") {
		t.Errorf("dry run: %s", stdout)
	}
	succeed(t, train...)
	if _, said := succeed(t, append(train, "--kernel", "rbf", "--gamma", "mean", "--atoms",
		"50")...); !facts.Told(said, "means are") || !facts.Told(said, "means 2 classes") {
		t.Errorf("said %s", said)
	}
	succeed(t, "train", "--data", data, "--model", model, "--kernel", "rbf", "--gamma", "mean",
		"--components", "20")
	stdout, _ = succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[eval.Report](t, stdout).ErrorRate; rate > 0.05 {
		t.Errorf("softmax, gamma of the means: error rate %v", rate)
	}
	fail(t, app.ExitFailure, "components none", append(train, "--kernel", "rbf", "--components",
		"5")...)
	fail(t, app.ExitUsage, `--atoms "none"`, append(train, "--atoms", "none")...)
}

// TestMeanIsBalanced: by default the largest class has no head start.
func TestMeanIsBalanced(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 120 { // two classes beside each other, one of them five times as large
		class, at := "large", float64(i%10)/10
		if i%6 == 0 {
			class, at = "small", at+1
		}
		fmt.Fprintf(&text, "%g,%d,%s\n", at, i%3, class)
	}
	data := write(t, dir, "d.csv", text.String())
	errs := map[string]float64{}
	for _, flag := range []string{"", "--balanced", "--balanced=false"} {
		model := filepath.Join(dir, "m.npz")
		args := []string{"train", "--data", data, "--model", model, "--learner", "kernelmean", "--kernel",
			"rbf", "--gamma", "1"}
		if flag != "" {
			args = append(args, flag)
		}
		succeed(t, args...)
		stdout, _ := succeed(t, "eval", "--model", model, "--data", data, "--json")
		errs[flag] = decode[eval.Report](t, stdout).ErrorRate
	}
	if errs[""] != errs["--balanced"] || errs[""] >= errs["--balanced=false"] {
		t.Errorf("error rates %v", errs)
	}
}
