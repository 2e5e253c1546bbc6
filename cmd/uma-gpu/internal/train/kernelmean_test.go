package train_test

import (
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
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
	clitest.Succeed(t, append(train, "--kernel", "rbf", "--gamma", "search", "--balanced")...)
	stdout, _ := clitest.Succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := clitest.Decode[eval.Report](t, stdout).ErrorRate; rate > 0.03 {
		t.Errorf("error rate %v", rate)
	}
	clitest.Succeed(t, train...)
	if _, said := clitest.Succeed(t, append(train, "--kernel", "rbf", "--gamma", "mean", "--atoms",
		"50")...); !facts.Told(said, "means are") || !facts.Told(said, "means 2 classes") {
		t.Errorf("said %s", said)
	}
	clitest.Succeed(t, "train", "--data", data, "--model", model, "--kernel", "rbf", "--gamma", "mean",
		"--components", "20")
	stdout, _ = clitest.Succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := clitest.Decode[eval.Report](t, stdout).ErrorRate; rate > 0.05 {
		t.Errorf("softmax, gamma of the means: error rate %v", rate)
	}
	clitest.Fail(t, app.ExitFailure, "components none", append(train, "--kernel", "rbf",
		"--components",
		"5")...)
	clitest.Fail(t, app.ExitUsage, `--atoms "none"`, append(train, "--atoms", "none")...)
}
