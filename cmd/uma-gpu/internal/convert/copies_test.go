package convert_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// customersIn writes a table as people have them: ids, dates, words, missing numbers, notes with
// commas, numbers with needless zeros. The label is the fifth column of six.
func customersIn(t *testing.T, dir string) (path string, lines []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("id,since,size,colour,kind,note\n")
	for i := range 60 {
		size := ""
		if i%9 > 0 {
			size = fmt.Sprintf("%d%.2f0", 1+i%2*4, 3+rng.NormFloat64())
		}
		fmt.Fprintf(&text, "C-%04d,2024-%02d-%02d,%s,%s,%s,\"called, %d times\"\n", 7*i, 1+i%12, 1+i%28,
			size, []string{"red", "green", "blue"}[rng.IntN(3)], []string{"big", "small"}[i%2], i)
	}
	path = clitest.Write(t, dir, "customers.csv", text.String())
	return path, strings.SplitAfter(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// linesOf returns the lines of a file with their ends; the last one as if it had none.
func linesOf(t *testing.T, path string) []string {
	t.Helper()
	return strings.SplitAfter(strings.TrimSuffix(string(clitest.Read(t, path)), "\n"), "\n")
}

// A copy of a table in a table is the same, cell by cell, but for columns that are left out.
func TestConvertKeepsTheCells(t *testing.T) {
	dir := t.TempDir()
	data, want := customersIn(t, dir)
	for name, change := range map[string]func(string) string{
		"same.csv": func(line string) string { return line },
		"tabs.tsv": func(line string) string {
			if line, note, found := strings.Cut(line, `"`); found {
				return strings.ReplaceAll(line, ",", "\t") + `"` + note
			}
			return strings.ReplaceAll(line, ",", "\t")
		},
	} {
		out := filepath.Join(dir, name)
		clitest.Succeed(t, "convert", "--data", data, "--label", "kind", "--out", out)
		for k, line := range linesOf(t, out) {
			if line != change(want[k]) {
				t.Fatalf("%s: found %q, want %q", name, line, change(want[k]))
			}
		}
	}
	out := filepath.Join(dir, "less.csv")
	clitest.Succeed(t, "convert", "--data", data, "--label", "kind", "--ignore-columns", "note,2",
		"--out",
		out)
	if head := linesOf(t, out)[0]; head != "id,size,colour,kind\n" {
		t.Errorf("found %q", head)
	}
}
