package file

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestAside: examples that are kept in temporary files are those that memory would hold, of dense
// and of sparse files and of a table of more than numbers; a folder that is not there is an error.
func TestAside(t *testing.T) {
	defer func(before int) { asideBytes = before }(asideBytes)
	asideBytes = 1 << 12
	dir := t.TempDir()
	d := randomDataset(rand.New(rand.NewPCG(5, 6)), 6000, 200, []string{"a", "b"})
	people := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(people, []byte(peopleText(9000)), 0o600); err != nil {
		t.Fatal(err)
	}
	options := map[string]Options{people: peopleOptions()}
	for _, name := range []string{"d.csv", "d.svm"} {
		path := filepath.Join(dir, name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		options[path] = Options{}
	}
	for path, o := range options {
		for _, storage := range []string{"dense", "sparse"} {
			o.Storage, o.Aside = storage, false
			want, err := Read(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Aside = true
			got, err := Read(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Home == nil || got.ReadOnly || !equalExamples(got.Examples, want.Examples) ||
				got.SHA256 != want.SHA256 {
				t.Errorf("%s, %s: other examples, kept in %v", path, storage, got.Home)
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
			t.Setenv("TMPDIR", filepath.Join(dir, "none"))
			if _, err := Read(t.Context(), path, o); err == nil {
				t.Errorf("%s, %s: read without a folder", path, storage)
			}
			t.Setenv("TMPDIR", dir)
		}
	}
}
