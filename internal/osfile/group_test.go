package osfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Nothing is there before Commit, all of it after, and nothing of it after Discard.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "old")
	for _, commits := range []bool{false, true} {
		var g Group
		for path, s := range map[string]string{a: "new a", b: "new b"} {
			if err := g.Write(path, text(s)); err != nil {
				t.Fatal(err)
			}
		}
		wantText(t, a, "old")
		if _, err := os.Stat(b); err == nil {
			t.Error("b is there before Commit")
		}
		if commits {
			if err := g.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		g.Discard()
	}
	wantText(t, a, "new a")
	wantText(t, b, "new b")
	wantFiles(t, dir, "a", "b")
}

// A file that cannot be written leaves the others as they were.
func TestGroupFails(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "old")
	var g Group
	if err := g.Write(a, text("new")); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("fault")
	if err := g.Write(filepath.Join(dir, "b"), func(io.Writer) error { return fault }); !errors.Is(err,
		fault) {
		t.Errorf("error %v, wanted %v", err, fault)
	}
	g.Discard()
	wantText(t, a, "old")
	wantFiles(t, dir, "a")
}
