package tuned

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/gpu"
)

func entry(k int) Entry {
	return Entry{
		Key:    Key{"platform", "device <1>", "driver", "hash", fmt.Sprint("shape ", k)},
		Tuning: gpu.Tuning{ScoreRows: 4, SumRows: 32}, Ratio: 0.9, Date: time.Unix(1e9, 0).UTC(),
	}
}

func store(t *testing.T, path string, e Entry) {
	t.Helper()
	if err := Store(path, e); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "t.json")
	if found, err := Read(path); err != nil || found != nil {
		t.Fatalf("no table: %v, %v", found, err)
	}
	store(t, path, entry(1))
	store(t, path, entry(2))
	again := entry(1)
	again.Tuning.ScoreRows = 16
	store(t, path, again)
	found, err := Read(path)
	if err != nil || len(found) != 2 {
		t.Fatalf("found %v, %v", found, err)
	}
	if found[0] != entry(2) || found[1] != again {
		t.Errorf("found %+v, want %+v and %+v", found, entry(2), again)
	}
	if n, err := Forget(path); n != 2 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if n, err := Forget(path); n != 0 || err != nil {
		t.Errorf("forgot %d of nothing, %v", n, err)
	}
}

// A new driver, or new kernels, make the older tunings of the device void; those of
// other devices stay.
func TestVoidEntriesGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	other := entry(9)
	other.Device = "other device"
	for _, e := range []Entry{entry(1), entry(2), other} {
		store(t, path, e)
	}
	e := entry(3)
	e.Driver = "newer driver"
	store(t, path, e)
	found, err := Read(path)
	if err != nil || len(found) != 2 || found[0] != other || found[1] != e {
		t.Fatalf("found %+v, %v", found, err)
	}
	e.Kernels = "newer kernels"
	store(t, path, e)
	if found, err = Read(path); err != nil || len(found) != 2 || found[1] != e {
		t.Fatalf("found %+v, %v", found, err)
	}
}

// What is no table is refused, and neither overwritten nor removed.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "is no table of tunings"},
		{"{", "is no table of tunings"},
		{"[1,2]", "is no table of tunings"},
		{`{"format":"other"}`, `its format is "other"`},
		{`{"format":"` + format + `","tunings":[{"tuning":{"score_rows":3}}]}`, "score_rows is 3, wanted a power of two"},
		{`{"format":"` + format + `","tunings":[{"tuning":{"group":-8}}]}`, "group is -8, wanted"},
		{`{"format":"` + format + `","tunings":[{"tuning":{"group":1e99}}]}`, "is no table of tunings"},
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, readErr := Read(path)
		_, forgetErr := Forget(path)
		for _, err := range []error{readErr, Store(path, entry(1)), forgetErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: error %v, want %s", c.text, err, c.want)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != c.text {
			t.Errorf("%q became %q, %v", c.text, text, err)
		}
	}
	if err := Store(t.TempDir(), entry(1)); err == nil {
		t.Error("a folder was taken for a table")
	}
	bad := entry(1)
	bad.Tuning.SumRows = 3
	if err := Store(filepath.Join(t.TempDir(), "t.json"), bad); err == nil {
		t.Error("a tuning that no kernel takes was stored")
	}
}

// Many store at once: at every moment the table is whole, and the last of them wins.
func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	const writers = 16
	var all sync.WaitGroup
	for k := range writers {
		all.Go(func() {
			if err := Store(path, entry(k)); err != nil {
				t.Error(err)
			}
			if _, err := Read(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, err := Read(path)
	if err != nil || len(found) == 0 {
		t.Errorf("%d of %d entries are there, %v", len(found), writers, err)
	}
	for _, e := range found {
		if e.Tuning != entry(0).Tuning || e.Device != entry(0).Device {
			t.Errorf("found %+v, which nobody stored", e)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// What another program has beside the table, the lock of an older version say, holds nobody
// up and is left alone.
func TestOtherFilesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path+".lock", []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	store(t, path, entry(1))
	if text, err := os.ReadFile(path + ".lock"); err != nil || string(text) != "other" {
		t.Errorf("found %q, %v", text, err)
	}
}

func TestShape(t *testing.T) {
	for _, c := range []struct {
		sparse             bool
		d, classes, stored int
		want               string
	}{
		{false, 785, 10, 60000 * 785, "dense, d>=512, q<=16, large"},
		{false, 1023, 16, 1 << 23, "dense, d>=512, q<=16, small"},
		{false, 1024, 17, 1<<23 + 1, "dense, d>=1024, q>16, large"},
		{true, 1, 2, 5, "sparse, d>=1, q<=4, small"},
	} {
		if got := Shape(c.sparse, c.d, c.classes, c.stored); got != c.want {
			t.Errorf("found %s, want %s", got, c.want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Setenv(PathVariable, "somewhere")
	if path, err := Path(); path != "somewhere" || err != nil {
		t.Errorf("found %q, %v", path, err)
	}
	t.Setenv(PathVariable, "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if path, err := Path(); err == nil && !strings.HasSuffix(path, filepath.Join("uma-gpu", "tuning.json")) {
		t.Errorf("found %q", path)
	}
}
