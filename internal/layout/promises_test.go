package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPromisesAreTested: each promise of docs/promises.md, and each fault in the table of
// docs/testing.md, names tests, and all of them are there.
func TestPromisesAreTested(t *testing.T) {
	root := filepath.Join("..", "..")
	var tests bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		python, _ := filepath.Match("test_*.py", filepath.Base(path))
		if err != nil || !strings.HasSuffix(path, "_test.go") && !python {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`((?:Test|Fuzz|test_)[A-Za-z0-9_]+)`")
	for page, least := range map[string]int{"promises.md": 20, "testing.md": 20} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		rows, inTable := 0, false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			inTable = strings.HasSuffix(line, "| test |") || inTable && strings.HasPrefix(line, "|")
			if !inTable || strings.HasSuffix(line, "| test |") || strings.HasPrefix(line, "|-") {
				continue
			}
			rows++
			found := name.FindAllStringSubmatch(line, -1)
			if found == nil {
				t.Errorf("no test in %s", line)
			}
			for _, f := range found {
				if !bytes.Contains(tests.Bytes(), []byte("\nfunc "+f[1]+"(")) &&
					!bytes.Contains(tests.Bytes(), []byte("\ndef "+f[1]+"(")) {
					t.Errorf("%s: there is no %s, of %s", page, f[1], line)
				}
			}
		}
		if rows < least {
			t.Errorf("%s: found %d rows with tests, want at least %d", page, rows, least)
		}
	}
}
