package file

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// little leaves no memory until the end of the test.
func little(t *testing.T) {
	before := debug.SetMemoryLimit(1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

// TestKeepSpills: examples for which there is no memory are kept in a file that has no name, with
// the same bits.
func TestKeepSpills(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(5, 6)), 3000, 7, []string{"a", "b"})
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var some []int
	for i := 1; i < d.N; i += 3 {
		some = append(some, i)
	}
	want := d.Pick(some)
	little(t)
	kept, release, err := d.Stored().Keep(some)
	if err != nil {
		t.Fatal(err)
	}
	if !equalExamples(kept.Examples, want) {
		t.Error("kept other examples")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("found %v in the folder", left)
	}
	if dataset.Guard(func() error { panic(addressError(store.Address(store.Bytes(kept.X)))) }) == nil {
		t.Error("a disk that fails would not be told of")
	}
	release()
	if _, release, err = d.Stored().Keep([]int{2, 1}); !errors.Is(err, memory.ErrBudget) {
		t.Errorf("out of order: %v", err)
	}
	release()
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	_, release, err = d.Stored().Keep(some)
	release()
	if !errors.Is(err, memory.ErrBudget) || !errors.Is(err, os.ErrNotExist) ||
		!facts.Told(err, "TMPDIR") {
		t.Errorf("no folder: %v", err)
	}
	t.Setenv("TMPDIR", dir)
	_, err = store.RoomOf[uint8](store.Mappings("d"), math.MaxInt>>20) // more than a disk has
	left, _ := os.ReadDir(dir)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) || len(left) > 0 {
		t.Errorf("full disk: %v, left %v", err, left)
	}
}

// TestKeep: what is kept is what Pick picks, with room for a column, few or many, of memory or a
// file.
func TestKeep(t *testing.T) {
	some := randomDataset(rand.New(rand.NewPCG(7, 6)), 20_000, 40, []string{"a", "b"})
	for what, e := range map[string]dataset.Examples{"memory": some.Examples, "a file": stored(t, some,
		Options{}).Examples} {
		for _, step := range []int{1, 2, 1000} {
			var which []int
			for i := step / 2; i < e.N; i += step {
				which = append(which, i)
			}
			kept, release, err := e.Stored().Keep(which)
			if err != nil || !equalExamples(kept.Examples, some.Pick(which)) {
				t.Fatalf("%s, one of %d: kept other examples, or %v", what, step, err)
			}
			if room := cap(kept.X) - len(kept.X); store.CanReserve && step < 1000 && room < kept.N {
				t.Errorf("%s, one of %d: room for %d values behind %d examples, wanted one each", what, step,
					room, kept.N)
			}
			release()
		}
		if !equalExamples(e, some.Examples) {
			t.Errorf("%s: other examples than before", what)
		}
	}
}

// addressError is what a fault at an address panics with.
type addressError uintptr

func (a addressError) Error() string { return "fault" }
func (a addressError) Addr() uintptr { return uintptr(a) }
func (a addressError) RuntimeError() {}

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
