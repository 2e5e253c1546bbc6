package file

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/store"
)

// TestLetGo: pages that are given back have their values again, and memory that lies in no file
// keeps them.
func TestLetGo(t *testing.T) {
	raw := randomDataset(rand.New(rand.NewPCG(61, 62)), 4096, 100, []string{"a", "b"})
	path := filepath.Join(t.TempDir(), "d.umab")
	if err := Write(t.Context(), path, raw, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := Read(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, all := fileOf(d).raw, store.Bytes(d.X)
	want := slices.Clone(all)
	own := slices.Clone(all)
	store.LetGo(own, true)
	if !slices.Equal(own, want) {
		t.Fatal("memory of the program has lost its values")
	}
	for _, part := range [][2]int{{0, 0}, {0, 1}, {4095, 4097}, {5000, 50000}, {1, len(all)}, {0,
		len(all)}} {
		store.LetGo(all[part[0]:part[1]], false)
		if !slices.Equal(all, want) {
			t.Fatalf("bytes %d..%d: other values than before", part[0], part[1]-1)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if !store.CanReserve || file == nil {
		return
	}
	room, err := store.Reserve(len(file), 0, len(file))
	if err != nil {
		t.Fatal(err)
	}
	defer store.GiveBack([][]byte{room})
	t.Logf("where the file was is other memory now: %v", store.Address(room) == store.Address(file))
	room = room[:copy(room, want)]
	store.LetGo(room, true)
	if !slices.Equal(room, want) {
		t.Fatal("memory that lies where the file was has lost its values")
	}
	store.Remember(room, "room of ranks", true)
	store.LetGo(room, false)
	if !slices.Equal(room, want) {
		t.Fatal("memory that ranks share has lost its values")
	}
	for _, part := range [][2]int{{5, 70000}, {70000, 90001}, {123457, len(room)}} {
		store.LetGo(room[part[0]:part[1]], true)
		if !slices.Equal(room[:part[0]], want[:part[0]]) || !slices.Equal(room[part[1]:],
			want[part[1]:]) {
			t.Fatalf("bytes %d..%d: values beside the lost ones are lost", part[0], part[1]-1)
		}
		copy(room, want)
	}
}
