package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// The faster of two drivers is chosen and named, by times that the user's cache keeps.
func TestPays(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	var said strings.Builder
	n, w := Notes{W: &said}, work(dataset.Examples{N: 1 << 10}, 64)
	if pays(n, cpuref.Driver{}, simd.NewDriver(), w) {
		t.Error("the loops that define the results pay beside the fast ones")
	}
	if !pays(n, simd.NewDriver(), cpuref.Driver{}, w) {
		t.Error("the fast driver does not pay")
	}
	if got := said.String(); !strings.Contains(got, "predicted for 50 evaluations") {
		t.Errorf("notes: got %q, want the prediction", got)
	}
	path := filepath.Join(cache, "uma-gpu", "times.json")
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "Evaluation") != 2 {
		t.Fatalf("cache: got %s, %v, want the times of two drivers", text, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if !pays(n, simd.NewDriver(), cpuref.Driver{}, w) {
		t.Error("a damaged cache decides")
	}
}
