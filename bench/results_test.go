package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	a := result{key: key{"iris", "none", 1, "uma {}", false}, shape: shape{105, 45, 4, 3, "l2"},
		Error: 0.5, Seconds: 2}
	b := a
	b.key.Blind, b.Failed = true, "for a reason"
	for _, v := range []result{a, b} { // each by another run
		r, err := openResults[key, result](path)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.add(v); err != nil {
			t.Fatal(err)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The end of the last line is lost; what comes next begins a line.
	write(t, path, text[:len(text)-5])
	r, err := openResults[key, result](path)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.found) != 1 || r.found[a.key] != a {
		t.Errorf("a file that was cut short has %+v", r.found)
	}
	if err := r.add(b); err != nil {
		t.Fatal(err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
		t.Errorf("found %q, %v; want %q", again, err, text)
	}
	write(t, path, append(text, "nonsense\n"...))
	_, err = openResults[key, result](path)
	if !facts.Told(err, "results.jsonl:3 result") {
		t.Errorf("a damaged file: error %v", err)
	}
	if _, err := openResults[key, result](filepath.Join(path, "below")); err == nil {
		t.Error("a path below a file is no error")
	}
	none, err := openResults[key, result]("")
	if err != nil || none.add(a) != nil || none.found[a.key] != a || none.close() != nil {
		t.Errorf("without a file: %+v, %v", none, err)
	}
}
