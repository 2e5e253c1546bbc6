package confusion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// checkParsed is what holds for any file: an error that begins with the path and
// no matrix, or a checked matrix that survives being written and read.
func checkParsed(t *testing.T, data []byte, o ReadOptions) {
	m, err := parse("F", data, o)
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
	back, err := parse("F", text, ReadOptions{Classes: o.Classes})
	if err != nil || !slices.Equal(back.P, m.P) {
		t.Fatalf("%v became %v (error %v)", m, back, err)
	}
	if c := conditionOf(m); !(c >= 1) {
		t.Fatalf("condition %v of %v", c, m)
	}
}

func FuzzReadText(f *testing.F) {
	for _, s := range []string{
		"", "noisy\\true,a,b\na,.75,.5\nb,.25,.5\n", "true\\noisy,b,a\na,.25,.75\nb,.5,.5\n",
		"noisy\\true,\"a\",b\r\nb,1,0\r\na,0,1", "noisy\\true,a,c\n", "noisy\\true\na\n",
		"1,0\n0,1\n", "1;0\n0;1", "0.5\t1e-1\n.5\t9e-1\n", "\ufeff1 0\n\n0 1\n", "nan,1\n0,0\n",
		"0x1p-1 1\n",
		"\x1f\x8b\x08", "PK\x03\x04", "\"",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, trueRows bool) {
		checkParsed(t, data, ReadOptions{Classes: []string{"a", "b"}, Axes: axesFor(trueRows)})
	})
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
