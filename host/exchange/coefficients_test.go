package exchange

import (
	"context"
	"fmt"
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
)

func TestReadCoefficients(t *testing.T) {
	m, err := ReadCoefficients(strings.NewReader(`{"coef_": [[1, 0], [0, 1], [-1, -1]],
		"intercept_": [0, 0.25, -0.1], "classes_": ["é", "b", "a"],
		"feature_names_in_": ["u", "v w"]}`), 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.W, []float32{1, 0, 0, 0, 1, 0.25, -1, -1, -0.1}) ||
		!slices.Equal(m.Meta.Classes, []string{"é", "b", "a"}) ||
		!slices.Equal(m.Meta.Features.Names, []string{"u", "v w"}) || m.Meta.Learner != "imported" {
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

// A single row belongs to the second class, which a score above 0 predicts.
func TestReadTwoClasses(t *testing.T) {
	for classes, want := range map[string][]string{`[-1, 7]`: {"-1", "7"},
		`[false, true]`: {"False", "True"}, `[1.0, 1.5]`: {"1", "1.5"}} {
		m, err := ReadCoefficients(strings.NewReader(fmt.Sprintf(
			`{"coef_": [[2, -1]], "intercept_": -1, "classes_": %s}`, classes)), 1, "test")
		if err != nil {
			t.Fatal(err)
		}
		x := dataset.Examples{N: 3, D: 2, X: []float32{2, 1, 1, 1, 0, 0}}
		found := must(m.Predict(context.Background(), simd.New(), x))
		if !slices.Equal(found, []int32{1, 0, 0}) || !slices.Equal(m.Meta.Classes, want) {
			t.Errorf("%v: found %d", m.Meta.Classes, found) // scores of 2, 0 and -1
		}
		p := must(m.Probabilities(context.Background(), simd.New(), x))
		if want := 1 / (1 + math.Exp(-2)); math.Abs(float64(p[1])-want) > 1e-6 {
			t.Errorf("found the probability %v, want %v", p[1], want)
		}
	}
}

var faultyCoefficients = map[string]string{
	"PK\x03\x04":                                                         "JSON coef_",
	`{"classes_": [0, 1]}`:                                               "coef_ 0 rows 2 classes_",
	`{"coef_": [[1]]}`:                                                   "0 classes_",
	`{"coef_": [[]], "classes_": [1,2]}`:                                 "coef_",
	`{"coef_": [[1], [2]], "classes_": [0, 1, 2]}`:                       "2 rows 3",
	`{"coef_": [1, 2], "classes_": [0, 1]}`:                              "coef_",
	`{"coef_": [[1], [2, 3]], "classes_": [0, 1]}`:                       "2 numbers row 1 1",
	`{"coef_": [[1], [2]], "classes_": [0, 1], "intercept_": [1, 2, 3]}`: "intercept_ 3 numbers 2",
	`{"coef_": [[1], [2]], "classes_": [0, 1], "intercept_": [1e39, 0]}`: "1e+39 row 0 column 1",
	`{"coef_": [[1], [NaN]], "classes_": [0, 1]}`:                        "JSON",
	`{"coef_": [[1], [2]], "classes_": [0, 1], "n_iter_": [3]}`:          `"n_iter_"`,
	`{"coef_": [[1], [2]], "classes_": ["a\nb", "c"]}`:                   "control",
	`{"coef_": [[1], [2]], "classes_": [null, "c"]}`:                     `classes_ "<nil>"`,
}

func TestReadCoefficientsFaults(t *testing.T) {
	for text, want := range faultyCoefficients {
		if _, err := ReadCoefficients(strings.NewReader(text), 0, "test"); !facts.Told(err, want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzReadCoefficients: whatever the bytes are, there is an error or a model.
func FuzzReadCoefficients(f *testing.F) {
	f.Add(`{"coef_": [[1, 0], [0, 1]], "intercept_": [0, 1], "classes_": ["a", "b"]}`)
	for text := range faultyCoefficients {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadCoefficients(strings.NewReader(text), 0, "test")
		if err == nil && (len(m.W) != m.Q*m.D || !utf8.ValidString(strings.Join(m.Meta.Classes, ""))) {
			t.Errorf("found %+v", m)
		}
	})
}
