package confusion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// parseMatrix is Read for the bytes of a file.
func parseMatrix(path string, data []byte, o ReadOptions) (*Matrix, error) {
	t, err := Parse(path, data, o)
	if err != nil {
		return nil, err
	}
	m, err := t.Matrix()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// checkParsed is what holds for any file: an error that begins with the path and
// no matrix, or a checked matrix that survives being written and read.
func checkParsed(t *testing.T, data []byte, o ReadOptions) {
	m, err := parseMatrix("F", data, o)
	if err != nil {
		if m != nil || !strings.HasPrefix(err.Error(), "F:") {
			t.Fatalf("matrix %v with error %q, wanted none and a message that begins with the path", m, err)
		}
		return
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	text, err := m.csv()
	if err != nil {
		t.Fatal(err)
	}
	back, err := parseMatrix("F", text, ReadOptions{Classes: o.Classes})
	if err != nil || !slices.Equal(back.P, m.P) {
		t.Fatalf("%v became %v (error %v)", m, back, err)
	}
	if c := conditionOf(m); !(c >= 1) {
		t.Fatalf("condition %v of %v", c, m)
	}
}

func FuzzReadNPY(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.npy"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds in testdata (error %v)", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[len(npyfile.Magic):])
	}
	f.Add(npyFile("{}", nil)[len(npyfile.Magic):])
	f.Add(npyFile(npyDict("<f8", "True", "(99999999999, 99999999999)"), nil)[len(npyfile.Magic):])
	f.Fuzz(func(t *testing.T, data []byte) {
		checkParsed(t, append([]byte(npyfile.Magic), data...), ReadOptions{Classes: abc})
	})
}
