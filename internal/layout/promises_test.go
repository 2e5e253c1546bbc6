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

// TestPromisesAreTested: each row of docs/promises.md names tests, and all of them are there.
func TestPromisesAreTested(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests bytes.Buffer
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name, rows := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`"), 0
	for _, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasSuffix(line, "| test |") {
			continue
		}
		rows++
		found := name.FindAllStringSubmatch(line, -1)
		if found == nil {
			t.Errorf("no test in %s", line)
		}
		for _, f := range found {
			if !bytes.Contains(tests.Bytes(), []byte("\nfunc "+f[1]+"(")) {
				t.Errorf("there is no %s, of %s", f[1], line)
			}
		}
	}
	if rows < 20 {
		t.Errorf("found %d promises", rows)
	}
}
