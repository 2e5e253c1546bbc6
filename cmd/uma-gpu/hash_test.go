package main

import (
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// TestHash asks for the hash of copies in several formats; info has the same.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "d.csv", "x,kind\n1,a\n2,b\n")
	info, _ := succeed(t, "info", "--data", data, "--json")
	want := decode[dataset.Info](t, info).SHA256 + "\n"
	for _, name := range []string{"d.csv", "d.svm", "d.umab"} {
		path := filepath.Join(dir, name)
		if path != data {
			succeed(t, "convert", "--data", data, "--out", path)
		}
		if got, _ := succeed(t, "hash", "--data", path, "--quiet"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	fail(t, app.ExitFailure, "none.csv: no such data file", "hash", "--data",
		filepath.Join(dir, "none.csv"))
}
