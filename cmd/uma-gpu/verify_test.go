package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/verify"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
)

// A model is verified on every device, by the data of its training and by others, and trained
// again to its bytes.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	m, right := filepath.Join(dir, "m.npz"), filepath.Join(dir, "right.csv")
	succeed(t, "split", "--data", digits, "--counts", "400", "--out", right)
	few, c := noisy(t, dir, right, "--label-column", "last")
	devices := openCLToo(t)
	for _, more := range [][]string{
		{"--learner", "uma", "--max-steps", "40"},
		{"--learner", "softmax", "--max-steps", "10", "--inverse", "tikhonov:0.1", "--normalize",
			"standardize,bias"},
		{"--learner", "softmax", "--max-steps", "5", "--kernel", "rbf", "--gamma", "search",
			"--components", "30", "--seed", "3"},
		{"--learner", "kernelmean", "--kernel", "rbf", "--gamma", "0.05", "--temperature-folds", "2"},
		{"--learner", "pa1", "--epochs", "2", "--weights", "best"},
	} {
		succeed(t, append([]string{"train", "--data", few, "--confusion", c, "--model", m}, more...)...)
		for _, device := range devices {
			stdout, _ := succeed(t, "verify", "--model", m, "--data", few, "--retrain", "--device", device)
			verdict := "verified: " + m + ": it is whole, and " + device
			if !strings.HasPrefix(stdout, verdict) || !strings.Contains(stdout,
				"; its data give the same file again\n") ||
				!strings.Contains(stdout, " 400 examples: the same bits on "+device) ||
				!strings.Contains(stdout, "\ntrained again  on cpu, to the same bytes\n") {
				t.Errorf("%q on %s: printed\n%s", more, device, stdout)
			}
		}
		stdout, _ := succeed(t, "verify", "--model", m, "--data", right, "--json")
		if v := decode[verify.Verification](t, stdout); v.TrainingData || v.Retrained ||
			v.Examples != 400 || len(v.SHA256) != 64 {
			t.Errorf("%q: found %+v", more, v)
		}
		fail(t, app.ExitFailure, "trained data", "verify", "--model", m, "--data", right, "--retrain")
	}
}

// A model that does not come of its data, or whose file is damaged, is not verified, and why is
// said.
func TestVerifyRefuses(t *testing.T) {
	dir := t.TempDir()
	m, other, cut := filepath.Join(dir, "m.npz"), filepath.Join(dir, "other.npz"), filepath.Join(dir,
		"cut.npz")
	train := []string{"train", "--data", digits, "--learner", "uma", "--max-steps", "5", "--model"}
	verify := []string{"verify", "--data", digits, "--retrain", "--model"}
	succeed(t, with(train, m)...)

	changed := load(t, m)
	changed.W[7]++
	if err := changed.Save(other); err != nil {
		t.Fatal(err)
	}
	fail(t, app.ExitFailure, `"0" column 7`, with(verify, other)...)
	changed = load(t, m)
	changed.Meta.Steps++
	if err := changed.Save(other); err != nil {
		t.Fatal(err)
	}
	fail(t, app.ExitFailure, "same weights differs", with(verify, other)...)
	changed.Meta.ContractVersion = contract.Version + 1
	if err := changed.Save(other); err != nil {
		t.Fatal(err)
	}
	fail(t, app.ExitFailure, "trained version", with(verify, other)...)
	succeed(t, append(with(train, other), "--from", m)...)
	fail(t, app.ExitFailure, "trained weights another model", with(verify, other)...)

	text := read(t, m)
	if err := os.WriteFile(cut, text[:len(text)-100], 0o666); err != nil {
		t.Fatal(err)
	}
	fail(t, app.ExitFailure, cut, with(verify, cut)...)
	fail(t, app.ExitUsage, "--retrain reads twice", "verify", "--data", "-", "--retrain", "--model", m)
}
