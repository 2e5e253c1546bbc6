package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// --inverse changes what UMA learns, is kept in the model, and makes a matrix of use that has
// no inverse.
func TestTrainInverse(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := smallNoisy(t, dir)
	m := filepath.Join(dir, "m.npz")
	train := func(more ...string) []string {
		return append([]string{"train", "--data", noisy, "--learner", "uma", "--max-steps", "20",
			"--device", "cpu", "--model", m}, more...)
	}
	succeed(t, train("--confusion", matrix)...)
	exact := read(t, m)
	succeed(t, train("--confusion", matrix, "--inverse", "tikhonov")...)
	kept, err := model.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	if string(read(t, m)) == string(exact) || kept.Meta.Inverse != "tikhonov:0.03" {
		t.Errorf("the same model, or inverse %q", kept.Meta.Inverse)
	}
	var flat strings.Builder
	for range 10 {
		flat.WriteString("0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1\n")
	}
	singular := write(t, dir, "flat.csv", flat.String())
	fail(t, app.ExitFailure, "inverse=pinv", train("--confusion", singular)...)
	succeed(t, train("--confusion", singular, "--inverse", "pinv")...)
	fail(t, app.ExitUsage, `--inverse "best"`, train("--confusion", matrix, "--inverse", "best")...)
	fail(t, app.ExitUsage, "--inverse --confusion", train("--inverse", "pinv")...)
}
