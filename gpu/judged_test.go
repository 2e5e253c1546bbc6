package gpu

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// judged is given by the commands that take minutes and judge nothing but what judgedFolders hold.
var judged = flag.String("judged", "", "write down that make `COMMAND` has passed")

// judgements is the file of what has passed: a line for each command, with the hash of what it has judged.
const judgements = "testdata/judged.txt"

// judgedFolders are the kernels and their host's code, and the suite that judges them.
var judgedFolders = []string{".", "../host/engine", "../host/numerics"}

// TestJudged asks that the commands whose work continuous integration leaves out have passed since what they judge
// was changed.
func TestJudged(t *testing.T) {
	now, err := hashOf(judgedFolders)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(judgements)
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]string{"mutants": "", "oclgrind": "", "small": ""}
	for line := range strings.Lines(string(text)) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, known := passed[name]; !known {
			t.Fatalf("%s: found %q, wanted a command and a hash", judgements, name)
		}
		passed[name] = hash
	}
	if *judged != "" {
		if _, known := passed[*judged]; !known {
			t.Fatalf("-judged is %q, wanted one of %q", *judged, slices.Sorted(maps.Keys(passed)))
		}
		passed[*judged] = now
		var b bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(passed)) {
			fmt.Fprintln(&b, name, passed[name])
		}
		if err := os.WriteFile(judgements, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if passed[name] != now {
			t.Errorf("%q have changed since make %s passed: run it, and commit gpu/%s", judgedFolders, name, judgements)
		}
	}
}

// hashOf returns the SHA-256 of all Go and OpenCL files of some folders, with their names, but for this one.
func hashOf(folders []string) (string, error) {
	h := sha256.New()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "judged_test.go" ||
				!slices.Contains([]string{".go", ".cl"}, filepath.Ext(path)) {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(h, "%s %d\n%s", filepath.ToSlash(path), len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
