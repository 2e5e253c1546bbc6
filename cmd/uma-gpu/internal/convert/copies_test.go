package convert_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
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

// sameButKind says whether two lines differ at most in the label.
func sameButKind(a, b string) bool {
	hide := strings.NewReplacer(",big,", ",,", ",small,", ",,")
	return hide.Replace(a) == hide.Replace(b)
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

// Cleaned tables lack rows, or have other labels; all else is as it was.
func TestIssuesKeepTheTable(t *testing.T) {
	dir := t.TempDir()
	data, want := customersIn(t, dir)
	out := filepath.Join(dir, "clean.csv")
	for _, by := range []string{"filter", "relabel"} {
		_, stderr := clitest.Succeed(t, "issues", "--data", data, "--label", "kind", "--id", "id",
			"--learner",
			"softmax", "--max-steps", "5", "--folds", "2", "--write-clean", out, "--clean-by", by)
		if strings.Contains(stderr, "features that columns become") {
			t.Errorf("%s", stderr)
		}
		left := want
		for _, line := range linesOf(t, out) {
			same := func(old string) bool {
				return strings.TrimSuffix(old, "\n") == strings.TrimSuffix(line, "\n") || by == "relabel" &&
					sameButKind(strings.TrimSuffix(old, "\n"), strings.TrimSuffix(line, "\n"))
			}
			at := slices.IndexFunc(left, same)
			if at < 0 || by == "relabel" && at > 0 {
				t.Fatalf("%s: found %q out of order", by, line)
			}
			left = left[at+1:]
		}
		if by == "relabel" && len(left) > 0 {
			t.Errorf("%d rows are missing", len(left))
		}
	}
}
