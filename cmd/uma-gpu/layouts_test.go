package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Tables that no pandas wrote go through the commands.
func TestLayouts(t *testing.T) {
	dir := t.TempDir()
	var blanks, commas strings.Builder
	blanks.WriteString("# measured by hand\nlong   wide  kind\n")
	commas.WriteString("long;wide;kind\n")
	for i := range 40 {
		kind := []string{"oak", "ash"}[i%2]
		fmt.Fprintf(&blanks, "  %.2f\t %.2f %s\n", 1-2*float64(i%2), float64(i%7)/8, kind)
		line := fmt.Sprintf("%.2f;%.2f;%s\n", 1-2*float64(i%2), float64(i%7)/8, kind)
		commas.WriteString(strings.ReplaceAll(line, ".", ","))
	}
	m := filepath.Join(dir, "m.npz")
	a, b := write(t, dir, "blanks.txt", blanks.String()), write(t, dir, "commas.csv", commas.String())
	_, stderr := succeed(t, "train", "--data", a, "--model", m)
	if !facts.Told(stderr, "1 lines # line 1") {
		t.Error(stderr)
	}
	want, _ := succeed(t, "predict", "--model", m, "--data", a)
	if got, _ := succeed(t, "predict", "--model", m, "--data", b, "--decimal", ","); got != want {
		t.Error("decimal commas predict otherwise")
	}
	fail(t, app.ExitFailure, "decimal --decimal comma", "train", "--data", b, "--model", m,
		"--missing", "error")
	if _, stderr := succeed(t, "train", "--data", b, "--model", m); !facts.Told(stderr, `"1,00" 1`) {
		t.Errorf("decimal commas: %s", stderr)
	}
	fail(t, app.ExitUsage, `--separator "::"`, "info", "--data", a, "--separator", "::")
	fail(t, app.ExitUsage, "--separator decimal", "info", "--data", a, "--separator", "comma",
		"--decimal", "comma")
	fail(t, app.ExitUsage, `--decimal "dot"`, "info", "--data", a, "--decimal", "dot")
}

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
	data, m := write(t, dir, "long.csv", text.String()), filepath.Join(dir, "m.npz")
	c := filepath.Join(dir, "C.csv")
	for _, args := range [][]string{
		{"confusion", "inject", "--data", data, "--pairwise", "0.3", "--out", filepath.Join(dir,
			"noisy.csv"), "--write-confusion", c},
		{"info", "--data", data}, {"train", "--data", data, "--model", m, "--confusion", c, "--validate",
			"0.3"},
		{"eval", "--model", m, "--data", data, "--confusion", c}, {"issues", "--data", data}, {"inspect",
			"--model", m},
		{"cv", "--data", data, "--folds", "3"}, {"report", "--data", data, "--model", m},
		{"confusion", "check", "--data", data, "--confusion", c},
	} {
		stdout, stderr := succeed(t, args...)
		for line := range strings.Lines(stdout + stderr) {
			if len(line) > 600 {
				t.Errorf("%s: a line of %d bytes: %.100q", args[0], len(line), line)
			}
		}
	}
}
