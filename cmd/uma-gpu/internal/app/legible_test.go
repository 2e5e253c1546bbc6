package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

func TestLegible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, Büro 日本 ‖z‖ → �\n\ttab": "plain, Büro 日本 ‖z‖ → �\n\ttab",
		"\x1b[31mred\x07\r\x7f":         `\x1b[31mred\a\r\x7f`,
		"a\x00b\xff\xfec":               `a\x00b\xff\xfec`,
		"\u202eright\u200b":             `\u202eright\u200b`,
	} {
		if got := app.Legible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Names in a file and of a file reach a terminal as text alone.
func TestNamesDoNothingToTerminals(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d\x1b]0;x\x07.csv",
		"a\x1b[2J,b,label\n"+strings.Repeat("1,2,x\n3,5,y\n",
			20))
	m := filepath.Join(dir, "m\x1b[31m.npz")
	for _, args := range [][]string{
		{"train", "--data", data, "--model", m, "--max-steps", "3"}, {"inspect", "--model", m}, {"info",
			"--data", data},
		{"eval", "--model", m, "--data", data}, {"predict", "--model", m, "--data", data},
		{"train", "--data", data, "--model", m, "--ignore-columns", "label"}, {"eval", "--model", m + "x",
			"--data", data},
		{"issues", "--data", data, "--out", filepath.Join(dir, "\x9bi.csv")},
		{"report", "--model", m, "--data", data}, {"convert", "--data", data, "--out", filepath.Join(dir,
			"c\x08.svm")},
	} {
		_, stdout, stderr := clitest.Run(args...)
		if text := stdout + stderr; !utf8.ValidString(text) || strings.ContainsAny(text,
			"\x1b\x07\r\x08\u009b") {
			t.Errorf("%q printed %q", args, text)
		}
	}
}

// TestDefaultsAreShort: what commands print without options fits in twelve lines of a terminal.
func TestDefaultsAreShort(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.npz")
	for _, args := range [][]string{
		{"train", "--data", clitest.Digits, "--model", m}, {"eval", "--data", clitest.Digits, "--model",
			m},
		{"cv", "--data", clitest.Digits},
	} {
		stdout, stderr := clitest.Succeed(t, args...)
		if lines := strings.Count(stdout+stderr, "\n"); lines > 12 {
			t.Errorf("%s prints %d lines, wanted at most 12:\n%s%s", args[0], lines, stderr, stdout)
		}
	}
}
