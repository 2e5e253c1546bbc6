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

// The longest lines, in columns, a tab being one: of Go, and of kernels, C and shell scripts.
const (
	columnsOfGo = 100
	columns     = 119
)

// TestLines finds lines that no window shows side by side with another file.
func TestLines(t *testing.T) {
	judged := 0
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
		most, raw := columns, false
		if filepath.Ext(path) == ".go" && !strings.Contains(path, "internal/gen/") {
			most = columnsOfGo
		}
		for k, line := range strings.Split(string(text), "\n") {
			quoted := raw || strings.Contains(line, "`")
			raw = raw != (strings.Count(line, "`")%2 == 1)
			width := utf8.RuneCountInString(line)
			if width > most && !quoted && !isRow(line) {
				t.Errorf("%s:%d: line: got %d columns, want at most %d (break it)",
					filepath.ToSlash(file), k+1, width, most)
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
}

// isRow reports whether a line is a row of a table, whose columns would no longer line up, or text
// for a program.
func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "//go:") ||
		(strings.HasPrefix(line, "{") || strings.HasPrefix(line, `"`)) && strings.HasSuffix(line, "},")
}
