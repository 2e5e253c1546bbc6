package confusion

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

func TestWriteText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.csv")
	m := &Matrix{Classes: []string{"a", `b,"c"`, " d"}, P: []float64{.1, 0, 1, .2, 1, 0, .7, 0, 0}}
	if err := osfile.Write(path, m.Write); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "noisy\\true,a,\"b,\"\"c\"\"\",\" d\"\na,0.1,0,1\n\"b,\"\"c\"\"\",0.2,1,0\n\" " +
		"d\",0.7,0,0\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWriteReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	dir := t.TempDir()
	for _, q := range []int{2, 3, 10, 41} {
		path := filepath.Join(dir, "c.csv") // the same again and again: it is replaced
		m := randomMatrix(t, rng, q, rng.Float64())
		m.Classes[0], m.Classes[1] = `noisy\true`, "né \"quoted\",\nline"
		if err := osfile.Write(path, m.Write); err != nil {
			t.Fatal(err)
		}
		back, err := readMatrix(path, ReadOptions{Classes: m.Classes})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.P, m.P) {
			t.Errorf("Q %d: the entries changed", q)
		}
		// In another class order the same probabilities stand elsewhere.
		order := rng.Perm(q)
		classes := make([]string, q)
		for i, c := range order {
			classes[i] = m.Classes[c]
		}
		back, err = readMatrix(path, ReadOptions{Classes: classes})
		if err != nil {
			t.Fatal(err)
		}
		for i := range q {
			for j := range q {
				if back.P[i*q+j] != m.P[order[i]*q+order[j]] {
					t.Fatalf("Q %d: wrong entry at %d, %d after rearranging", q, i, j)
				}
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v (error %v), wanted c.csv alone", entries, err)
	}
}

// Standard errors are kept, whatever the order of the classes; other tables of the file are not.
func TestWriteReadsErrorsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.csv")
	m := &Matrix{Classes: []string{"a", cornerErrors, "c"}, P: []float64{0.8, 0.1, 0, 0.2, 0.7, 0.1, 0,
		0.2, 0.9}, Error: []float64{0.1, 0.05, 0.01, 0.11, 0.06, 0.02, 1. / 3, 0.07, 0.03}}
	if err := osfile.Write(path, m.Write); err != nil {
		t.Fatal(err)
	}
	back, err := readMatrix(path, ReadOptions{Classes: []string{"c", "a", cornerErrors}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for j := range 3 {
			if at := (i+1)%3*3 + (j+1)%3; back.P[at] != m.P[i*3+j] || back.Error[at] != m.Error[i*3+j] {
				t.Errorf("%d, %d: found %v ± %v, wanted %v ± %v", i, j, back.P[at], back.Error[at], m.P[i*3+j],
					m.Error[i*3+j])
			}
		}
	}
	table, err := ReadTable(path, ReadOptions{})
	if err != nil || table.Counts || len(table.V) != 9 {
		t.Errorf("as a table: %+v, %v", table, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := text[:len(text)-60]
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = readMatrix(path, ReadOptions{Classes: m.Classes}); err == nil {
		t.Errorf("half a table of standard errors is read: %s", cut)
	}
	m.Error[4] = 1.5
	wantError(t, m.Write(io.Discard), `P(noisy = "standard error" = "standard error" 1.5 0 1`)
}

func TestWriteErrors(t *testing.T) {
	bad := &Matrix{Classes: []string{"a", "b"}, P: []float64{1, 1, 1, 0}}
	var file strings.Builder
	wantError(t, bad.Write(&file), `"a" 2 1 within 1e-06`)
	m, err := Symmetric([]string{"a", "b\r\nc"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, m.Write(&file), `"b\r\nc" CSV`)
	if file.Len() > 0 {
		t.Errorf("found %q, wanted nothing", file.String())
	}
}
