package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/errors.txt anew")

// The whole texts of errors of usage and of some others, pinned on purpose and nowhere else: each
// names the place, what was found, what is wanted and what to do. Other tests assert facts alone.
func TestErrorTexts(t *testing.T) {
	path, err := filepath.Abs("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, path)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.csv":    "1,2,a\n3,4,b\n5,7,c\n",
		"junk.csv":    "1,2,a\n3,4x,b\n",
		"ragged.csv":  "1,2,a\n3,b\n",
		"comma.csv":   "x;y;c\n1,5;2;a\n",
		"one.csv":     "1,2,a\n3,4,a\n",
		"zero.svm":    "a 1:1\nb 0:1\n",
		"turned.csv":  "1,0,0\n0.5,0.5,0\n0,0,1\n",
		"alike.csv":   "1,0,0\n0,0.5,0.5\n0,0.5,0.5\n",
		"damaged.npz": strings.Repeat("x", 100),
	} {
		write(t, ".", name, text)
	}
	var got bytes.Buffer
	commands := 0
	for line := range strings.Lines(string(want)) {
		if words, ok := strings.CutPrefix(line, "$ uma-gpu "); ok {
			code, _, stderr := command(strings.Fields(words)...)
			_, message, _ := strings.Cut("\n"+stderr, "\numa-gpu: ")
			fmt.Fprintf(&got, "%suma-gpu: %sexit code %d\n\n", line, message, code)
			commands++
		}
	}
	if left := names(t, "."); commands < 50 || len(left) != 9 {
		t.Fatalf("found %d commands in %s, wanted at least 50, and %d files", commands, path, len(left))
	}
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(want) {
		t.Errorf("found\n%swanted\n%srun go test ./cmd/uma-gpu -run ErrorTexts -update, and look at "+
			"what changes", got.String(), want)
	}
}
