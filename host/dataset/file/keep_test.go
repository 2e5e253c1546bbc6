package file

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// little leaves no memory until the end of the test.
func little(t *testing.T) {
	before := debug.SetMemoryLimit(1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

// TestRoomToPrepare: a raw file is refused before it is read where its copy does not fit, with
// what to do; not if nobody wants a copy, and not if it is prepared.
func TestRoomToPrepare(t *testing.T) {
	raw := randomDataset(rand.New(rand.NewPCG(7, 8)), 900, 40, []string{"a", "b"})
	raw.SHA256 = raw.Hash()
	path := filepath.Join(t.TempDir(), "r.umab")
	if err := Write(t.Context(), path, raw, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, text[8192:8193], []byte{text[8192] + 1}, 1),
		0o600); err != nil {
		t.Fatal(err)
	}
	little(t)
	const advice = "data="
	for steps, want := range map[string]string{"auto": "normalize=standardize,bias,l2 option",
		"l2": "normalize=l2 option", "": "damaged", "none": "damaged"} {
		_, err := Read(t.Context(), path, Options{Placement: Placement{Prepare: steps}})
		if !facts.Told(err, want) || strings.Contains(err.Error(), advice) != (want != "damaged") {
			t.Errorf("%q: %v", steps, err)
		}
	}
	d, err := Read(t.Context(), path, Options{Placement: Placement{Trust: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := features.Prepare(d, dataset.Steps{L2: true}); !errors.Is(err, memory.ErrBudget) ||
		!strings.Contains(err.Error(), advice) {
		t.Errorf("prepared: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
