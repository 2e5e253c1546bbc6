package info_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// A label of 10 kB does not fill the screen.
func TestLongLabels(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 60 {
		class := []string{strings.Repeat("l", 10000), strings.Repeat("long ", 2000) + "b", "c"}[i%3]
		if i%11 == 0 {
			class = "c"
		}
		fmt.Fprintf(&text, "%d,%d,%s\n", i%3-1, i%3*(i%5), class)
	}
	data, m := clitest.Write(t, dir, "long.csv", text.String()), filepath.Join(dir, "m.npz")
	c := filepath.Join(dir, "C.csv")
	for _, args := range [][]string{
		{"confusion", "inject", "--data", data, "--pairwise", "0.3", "--out", filepath.Join(dir,
			"noisy.csv"), "--write-confusion", c},
		{"info", "--data", data}, {"train", "--data", data, "--model", m, "--confusion", c, "--hold-out",
			"0.3"},
		{"eval", "--model", m, "--data", data, "--confusion", c}, {"issues", "--data", data}, {"inspect",
			"--model", m},
		{"cv", "--data", data, "--folds", "3"}, {"report", "--data", data, "--model", m},
		{"confusion", "check", "--data", data, "--confusion", c},
	} {
		stdout, stderr := clitest.Succeed(t, args...)
		for line := range strings.Lines(stdout + stderr) {
			if len(line) > 600 {
				t.Errorf("%s: a line of %d bytes: %.100q", args[0], len(line), line)
			}
		}
	}
}
