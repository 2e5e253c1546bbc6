package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/compress"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestCompressModel: models of kernel components and of kernel means by fewer landmarks classify
// as before.
func TestCompressModel(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	model, small := filepath.Join(dir, "m.npz"), filepath.Join(dir, "small.npz")
	for _, how := range [][]string{
		{"--learner", "kernelmean", "--gamma", "search"}, {"--learner", "softmax", "--components", "40",
			"--gamma", "1"},
	} {
		succeed(t, append([]string{"train", "--data", data, "--model", model, "--kernel", "rbf"},
			how...)...)
		for _, atoms := range []string{"all", "80"} {
			stdout, _ := succeed(t, "compress", "--model", model, "--atoms", atoms, "--out", small, "--data",
				test, "--json")
			r := decode[compress.Report](t, stdout)
			if r.Examples != 300 || r.Changed > 6 || r.Numbers[1] != 2 ||
				(r.Error == nil) != (atoms == "all") || r.Rounding[0] <= 0 || r.Rounding[0] > 1 {
				t.Errorf("%v, %s atoms: %+v", how, atoms, r)
			}
			stdout, _ = succeed(t, "eval", "--model", small, "--data", test, "--json")
			if rate := decode[eval.Report](t, stdout).ErrorRate; rate > 0.05 {
				t.Errorf("%v, %s atoms: error rate %v", how, atoms, rate)
			}
		}
	}
	text, said := succeed(t, "compress", "--model", model, "--atoms", "30", "--out", small)
	if !strings.Contains(text, "30 of 300") || !strings.Contains(text, "in feature space") ||
		!facts.Told(said, "calibrate fits another") {
		t.Errorf("printed %s, said %s", text, said)
	}
	fail(t, app.ExitFailure, "1 30", "compress", "--model", small, "--atoms", "31", "--out",
		model)
	fail(t, app.ExitUsage, `--atoms "few"`, "compress", "--model", model, "--atoms", "few", "--out",
		small)
	succeed(t, "train", "--data", data, "--model", model)
	fail(t, app.ExitFailure, "linear features", "compress", "--model", model, "--atoms", "all",
		"--out", small)
}
