package train_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// --inverse changes what UMA learns, is kept in the model, and makes a matrix of use that has
// no inverse.
func TestTrainInverse(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := clitest.SmallNoisy(t, dir)
	m := filepath.Join(dir, "m.npz")
	train := func(more ...string) []string {
		return append([]string{"train", "--data", noisy, "--learner", "uma", "--max-steps", "20",
			"--device", "cpu", "--model", m}, more...)
	}
	clitest.Succeed(t, train("--confusion", matrix)...)
	exact := clitest.Read(t, m)
	clitest.Succeed(t, train("--confusion", matrix, "--inverse", "tikhonov")...)
	kept, err := model.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	if string(clitest.Read(t, m)) == string(exact) || kept.Meta.Inverse != "tikhonov:0.03" {
		t.Errorf("the same model, or inverse %q", kept.Meta.Inverse)
	}
	var flat strings.Builder
	for range 10 {
		flat.WriteString("0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1\n")
	}
	singular := clitest.Write(t, dir, "flat.csv", flat.String())
	clitest.Fail(t, app.ExitFailure, "inverse=pinv", train("--confusion", singular)...)
	clitest.Succeed(t, train("--confusion", singular, "--inverse", "pinv")...)
	clitest.Fail(t, app.ExitUsage, `--inverse "best"`, train("--confusion", matrix, "--inverse",
		"best")...)
	clitest.Fail(t, app.ExitUsage, "--inverse --confusion", train("--inverse", "pinv")...)
}
