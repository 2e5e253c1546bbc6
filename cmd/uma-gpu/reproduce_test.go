package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/bench/papers"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// TestReproduce writes the rows of a table to a file.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "reuters21578"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train", "test"} {
		succeed(t, "synth", "--examples", "260", "--features", "20", "--classes", "9", "--quiet",
			"--out", filepath.Join(dir, "reuters21578", "reuters9."+name+".svm.gz"))
	}
	out := filepath.Join(dir, "rows.jsonl")
	printed, said := succeed(t, "reproduce", "table1", "--data-dir", dir, "--sets", "reuters", "--runs", "2",
		"--out", out)
	if printed != "" {
		t.Errorf("printed %q, wanted all in the file", printed)
	}
	if !strings.Contains(said, "run 2 of 2") {
		t.Errorf("said %q, wanted what goes on", said)
	}
	rows := map[string]papers.Row{}
	for line := range strings.Lines(string(read(t, out))) {
		var r papers.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows[r.Learner] = r
	}
	if r := rows["uma"]; len(rows) != 7 || r.Experiment != "table1" || r.Data != "reuters" || len(r.Runs) != 2 ||
		*r.Paper != 0.21 || r.Note == "" || r.Mean > 0.5 {
		t.Errorf("found the rows %+v, wanted seven columns, two runs, and the paper's value", rows)
	}
}

func TestReproduceRefuses(t *testing.T) {
	fail(t, app.ExitUsage, "a command is missing", "reproduce")
	fail(t, app.ExitUsage, `unknown command "fig9"`, "reproduce", "fig9")
	fail(t, app.ExitUsage, "--runs is 1, wanted at least 2", "reproduce", "fig1a", "--runs", "1")
	fail(t, app.ExitUsage, "--data-dir is missing", "reproduce", "table1")
	fail(t, app.ExitUsage, `--sets has "mnist", wanted digits, letter or reuters`, "reproduce", "table1", "--data-dir", "d",
		"--sets", "digits,mnist")
	fail(t, app.ExitFailure, "no such data file", "reproduce", "table1", "--data-dir", t.TempDir(), "--runs", "2")
}
