package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns that no line reaches, a tab being one.
const columns = 120

// longer are folders with lines still to be broken, without those below them. A folder of this list
// that has none has to leave it.
var longer = []string{"cmd/uma-gpu", "learners/uma"}

// TestLines finds lines that no window shows side by side with another file.
func TestLines(t *testing.T) {
	judged, long := 0, map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "build") {
			return filepath.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".cl", ".c", ".sh"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			return nil
		}
		judged++
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(file))
		for k, line := range strings.Split(string(text), "\n") {
			width := utf8.RuneCountInString(line)
			if width < columns || isRow(line) {
				continue
			}
			if long[folder] = true; !slices.Contains(longer, folder) {
				t.Errorf("%s:%d: %d columns, wanted less than %d: break the line", filepath.ToSlash(file), k+1, width, columns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if judged < 100 {
		t.Errorf("only %d files were judged", judged)
	}
	for _, folder := range longer {
		if !long[folder] {
			t.Errorf("%s has no long line any more: take it off the list", folder)
		}
	}
}

// isRow reports whether a line is a row of a table: breaking it would hide the columns.
func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "{") && strings.HasSuffix(line, "},")
}
