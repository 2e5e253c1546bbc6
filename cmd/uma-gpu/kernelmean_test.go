package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainKernelMean: the mean classifier with a kernel function, of which every example is a landmark.
func TestTrainKernelMean(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--data", data, "--model", model, "--learner", "kernelmean"}
	succeed(t, append(train, "--kernel", "rbf", "--gamma", "search", "--balanced")...)
	stdout, _ := succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[evalReport](t, stdout).ErrorRate; rate > 0.03 {
		t.Errorf("error rate %v", rate)
	}
	stdout, _ = succeed(t, append(train, "--kernel", "rbf", "--dry-run")...)
	if !strings.Contains(stdout, "2 means of 300 atoms") {
		t.Errorf("dry run: %s", stdout)
	}
	succeed(t, train...)
	if _, said := succeed(t, append(train, "--kernel", "rbf", "--gamma", "mean", "--atoms", "50")...); !strings.Contains(
		said, "means are ") || !strings.Contains(said, "means of 2 classes by ") {
		t.Errorf("said %s", said)
	}
	succeed(t, "train", "--data", data, "--model", model, "--kernel", "rbf", "--gamma", "mean", "--components", "20")
	stdout, _ = succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[evalReport](t, stdout).ErrorRate; rate > 0.05 {
		t.Errorf("softmax, gamma of the means: error rate %v", rate)
	}
	fail(t, exitFailure, "found a number of components, wanted none",
		append(train, "--kernel", "rbf", "--components", "5")...)
	fail(t, exitUsage, `atoms are "none"`, append(train, "--atoms", "none")...)
}
