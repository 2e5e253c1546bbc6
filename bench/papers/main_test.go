package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// succeed runs the command and returns what it prints and says.
func succeed(t *testing.T, args ...string) (printed, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := start(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// fail checks the exit code of a command that must fail, and part of its message.
func fail(t *testing.T, want int, said string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := start(t.Context(), args, &stdout, &stderr); code != want ||
		!facts.Told(stderr.String(), said) {
		t.Errorf("%q: exit code %d and %q, want %d and %q", args, code, stderr.String(), want, said)
	}
}

func read(t *testing.T, path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// writeClouds writes examples of nine classes, a cloud around a corner each, as a packed SVM file.
func writeClouds(t *testing.T, path string, n int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var text bytes.Buffer
	packed := gzip.NewWriter(&text)
	for i := range n {
		fmt.Fprintf(packed, "%d", i%9)
		for j := range 20 {
			v := random.NormFloat64() / 4
			if j == i%9 {
				v++
			}
			fmt.Fprintf(packed, " %d:%g", j+1, v)
		}
		fmt.Fprintln(packed)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCommand writes the rows of a table to a file.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "reuters21578"), 0o777); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{"train", "test"} {
		writeClouds(t, filepath.Join(dir, "reuters21578", "reuters9."+name+".svm.gz"), 260, uint64(k))
	}
	out := filepath.Join(dir, "rows.jsonl")
	printed, said := succeed(t, "table1", "--data-dir", dir, "--sets", "reuters", "--runs", "2",
		"--out", out)
	if printed != "" {
		t.Errorf("printed %q, wanted all in the file", printed)
	}
	if !facts.Told(said, "run 2 2") {
		t.Errorf("said %q, wanted what goes on", said)
	}
	rows := map[string]Row{}
	for line := range strings.Lines(string(read(t, out))) {
		var r Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows[r.Learner] = r
	}
	if r := rows["uma"]; len(rows) != 7 || r.Experiment != "table1" || r.Data != "reuters" ||
		len(r.Runs) != 2 || *r.Paper != 0.21 || r.Note == "" || r.Mean > 0.5 {
		t.Errorf("found the rows %+v, wanted seven columns, two runs, and the paper's value", rows)
	}
}

func TestCommandRefuses(t *testing.T) {
	fail(t, 2, "experiment missing")
	fail(t, 2, `"fig9"`, "fig9")
	fail(t, 2, "-runs 1 2", "fig1a", "--runs", "1")
	fail(t, 2, "-data-dir missing", "table1")
	fail(t, 2, `-sets "mnist"`, "table1", "--data-dir", "d", "--sets", "digits,mnist")
	fail(t, 1, "data file", "table1", "--data-dir", t.TempDir(), "--runs", "2")
	fail(t, 1, "unknown", "fig1a", "--device", "none")
}
