package exchange

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// npz is an archive of arrays as numpy.savez makes it: float64 matrices and vectors, int64 and
// texts.
func npz(t testing.TB, arrays map[string]any) *bytes.Reader {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for name, value := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		switch v := value.(type) {
		case [][]float64:
			b = npyfile.Header("<f8", len(v), len(v[0]))
			b, err = binary.Append(b, binary.LittleEndian, slices.Concat(v...))
		case []float64:
			b, err = binary.Append(npyfile.Header("<f8", len(v)), binary.LittleEndian, v)
		case []int64:
			b, err = binary.Append(npyfile.Header("<i8", len(v)), binary.LittleEndian, v)
		case []bool:
			b, err = binary.Append(npyfile.Header("|b1", len(v)), binary.LittleEndian, v)
		case []string:
			b = npyfile.Header("<U9", len(v))
			for _, s := range v {
				runes := make([]int32, 9)
				for i, r := range []rune(s) {
					runes[i] = r
				}
				if b, err = binary.Append(b, binary.LittleEndian, runes); err != nil {
					t.Fatal(err)
				}
			}
		case []byte:
			b = v
		}
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(file.Bytes())
}

func TestReadCoefficients(t *testing.T) {
	file := npz(t, map[string]any{"coef_": [][]float64{{1, 0}, {0, 1}, {-1, -1}},
		"intercept_": []float64{0, 0.25, -0.1},
		"classes_":   []string{"é", "b", "a"}, "feature_names_in_": []string{"u", "v w"}})
	m, err := ReadCoefficients(file, file.Size(), 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.W, []float32{1, 0, 0, 0, 1, 0.25, -1, -1, -0.1}) ||
		!slices.Equal(m.Meta.Classes, []string{"é", "b", "a"}) ||
		!slices.Equal(m.Meta.Features.Names, []string{"u", "v w"}) || m.Meta.Learner != Imported {
		t.Errorf("found %+v", m)
	}
	e, ctx := simd.New(), context.Background()
	x := dataset.Examples{N: 3, D: 2, X: []float32{2, 1, -1, 0.5, -3, -3}}
	if got := m.Names(must(m.Predict(ctx, e, x))); !slices.Equal(got, []string{"é", "b", "a"}) {
		t.Errorf("predicted %q", got)
	}
	p := must(m.Probabilities(ctx, e, x))
	want := math.Exp(2) / (math.Exp(2) + math.Exp(1.25) + math.Exp(-3.1))
	if math.Abs(float64(p[0])-want) > 1e-6 {
		t.Errorf("found the probability %v, want %v as scikit-learn has it", p[0], want)
	}
	// What was imported is a model like any other.
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Load(path); err != nil {
		t.Error(err)
	}
}

// TestReadTwoClasses: a single row belongs to the second class, which a score above 0 predicts.
func TestReadTwoClasses(t *testing.T) {
	for _, classes := range []any{[]int64{-1, 7}, []bool{false, true}, []float64{0, 1.5}} {
		file := npz(t, map[string]any{"coef_": [][]float64{{2, -1}}, "intercept_": []float64{-1},
			"classes_": classes})
		m, err := ReadCoefficients(file, file.Size(), 1, "test")
		if err != nil {
			t.Fatal(err)
		}
		x := dataset.Examples{N: 3, D: 2, X: []float32{2, 1, 1, 1, 0, 0}}
		found := must(m.Predict(context.Background(), simd.New(), x))
		if !slices.Equal(found, []int32{1, 0, 0}) { // scores of 2, 0 and -1
			t.Errorf("%v: found %d", classes, found)
		}
		p := must(m.Probabilities(context.Background(), simd.New(), x))
		if want := 1 / (1 + math.Exp(-2)); math.Abs(float64(p[1])-want) > 1e-6 {
			t.Errorf("found the probability %v, want %v", p[1], want)
		}
		t.Log(m.Meta.Classes)
	}
}

func TestReadCoefficientsFaults(t *testing.T) {
	good := func() map[string]any {
		return map[string]any{"coef_": [][]float64{{1, 0}, {0, 1}}, "intercept_": []float64{0, 1},
			"classes_": []int64{0, 1}}
	}
	for want, change := range map[string]func(a map[string]any){
		"coef_":    func(a map[string]any) { delete(a, "coef_") },
		"classes_": func(a map[string]any) { delete(a, "classes_") },
		"3 classes": func(a map[string]any) {
			a["classes_"] = []int64{0, 1, 2}
		},
		"intercept_ 3 numbers 2": func(a map[string]any) { a["intercept_"] = []float64{1, 2, 3} },
		"coef_ shape 2": func(a map[string]any) {
			a["coef_"] = []float64{1, 2}
		},
		"coef_ NaN row 1 column 0": func(a map[string]any) {
			a["coef_"] = [][]float64{{1, 2}, {math.NaN(), 3}}
		},
		"intercept_ +Inf row 0": func(a map[string]any) { a["intercept_"] = []float64{1e39, 0} },
		`"n_iter_"`:             func(a map[string]any) { a["n_iter_"] = []int64{3} },
		"U9":                    func(a map[string]any) { a["coef_"] = []string{"a"} },
		"control": func(a map[string]any) {
			a["classes_"] = []string{"a\nb", "c"}
		},
		"coef_ 128 bytes": func(a map[string]any) { // the header claims more than there is
			a["coef_"] = npyfile.Header("<f8", 1<<20, 1<<20)
		},
		"Fortran": func(a map[string]any) {
			h := npyfile.Header("<f8", 2, 2)
			a["coef_"] = append([]byte(strings.Replace(string(h), "False", "True ", 1)), make([]byte, 32)...)
		},
		"1 bytes": func(a map[string]any) {
			a["coef_"] = append(npyfile.Header("<f8", 2, 2), make([]byte, 33)...)
		},
	} {
		a := good()
		change(a)
		file := npz(t, a)
		if _, err := ReadCoefficients(file, file.Size(), 0, "test"); !facts.Told(err, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// FuzzReadCoefficients: whatever the bytes are, there is an error or a model that can be saved.
func FuzzReadCoefficients(f *testing.F) {
	file := npz(f, map[string]any{"coef_": [][]float64{{1, 0}, {0, 1}}, "intercept_": []float64{0, 1},
		"classes_": []string{"a", "b"}})
	seed := make([]byte, file.Size())
	if _, err := file.ReadAt(seed, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadCoefficients(bytes.NewReader(b), int64(len(b)), 0, "test")
		if err == nil && (len(m.W) != m.Q*m.D || !utf8.ValidString(strings.Join(m.Meta.Classes, ""))) {
			t.Errorf("found %+v", m)
		}
	})
}
