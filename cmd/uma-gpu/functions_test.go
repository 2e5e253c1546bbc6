package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// Votes of functions that look at the words of reviews; every third review has none.
func TestEstimateByFunctions(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	text.WriteString("fine,dull,long,again\n")
	for i := range 300 {
		line := [...]string{"good,,,", ",bad,bad,bad", "-1,abstain,,"}[i%3]
		if i%6 == 1 {
			line = ",,bad,bad"
		}
		if i%30 == 0 {
			line = "good,bad,,"
		}
		fmt.Fprintln(&text, line)
	}
	votes := write(t, dir, "votes.csv", text.String())
	r, stderr := estimated(t, "--functions", votes, "--out", path("C.csv"), "--write-labels",
		path("found.csv"), "--write-probabilities", path("p.npy"))
	if !strings.Contains(stderr, "4 functions on 300 examples") {
		t.Errorf("stderr %s", stderr)
	}
	if len(r.Functions) != 4 || r.Voted != 200 || r.Functions[1].Name != "dull" ||
		r.Functions[0].Copies != 1 || r.Functions[3].Copies != 1 || r.Functions[2].Copies != 0 {
		t.Errorf("%+v", r)
	}
	if f := r.Functions[3]; len(f.Confusion) != 3 || f.Coverage != 1./3 || f.Conflict != 0 ||
		!(f.Right > 0.9) {
		t.Errorf("%+v", f)
	}
	lines := strings.Fields(string(read(t, path("found.csv"))))
	if len(lines) != 201 || !strings.HasPrefix(lines[2], "2,bad,") ||
		!strings.HasPrefix(lines[3], "4,good,") {
		t.Errorf("labels: %q", lines[:4])
	}
	probabilities := read(t, path("p.npy"))
	if size := len(npyfile.Header("<f4", 300, 2)) + 4*600; len(probabilities) != size {
		t.Errorf("%d bytes of probabilities, wanted %d", len(probabilities), size)
	}
	ones := probabilities[len(probabilities)-8:] // of the last row, on which nobody votes
	if string(ones) != "\x00\x00\x80\x3f\x00\x00\x80\x3f" {
		t.Errorf("the last row is % x, wanted ones", ones)
	}
	if out, _ := succeed(t, "confusion", "estimate", "--functions", votes); !strings.Contains(out,
		"nearly the votes of 1 more") {
		t.Errorf("printed %s", out)
	}
	// Nothing is written of a table that is cut short.
	cut := write(t, dir, "cut.json", `{"0": {"weak_labels": [0, 1]}, "1": {"weak`)
	fail(t, 1, "cut.json:1 JSON", "confusion", "estimate", "--functions", cut, "--write-probabilities",
		path("none.npy"))
	if matches, _ := filepath.Glob(path("none*")); matches != nil {
		t.Errorf("wrote %v", matches)
	}
	fail(t, app.ExitUsage, "--write-probabilities --functions", "confusion", "estimate",
		"--annotators", votes, "--write-probabilities", path("none.npy"))
}
