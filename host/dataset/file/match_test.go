package file

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Matching by name gives the same data from dense and sparse examples, in any
// order and among others, and copies nothing where the order agrees.
func TestMatchFeatures(t *testing.T) {
	const text = "a,b,c,d,label\n1,0,3,4,x\n0,0,0,0,y\n-0,5,0,6,y\n"
	for _, storage := range []string{"dense", "sparse"} {
		read := func() *dataset.Dataset {
			d, err := readText("f", text, Options{Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		for _, want := range [][]string{{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"b", "d", "a", "c"},
			{"d", "b"}, {"c"}} {
			columns := read()
			var expect [][]float32
			for i := range columns.N {
				var row []float32
				for _, name := range want {
					row = append(row, columns.DenseRow(make([]float32, 4), i)[slices.Index(columns.Features,
						name)])
				}
				expect = append(expect, row)
			}
			fromText, err := readText("f", text, Options{Storage: storage, FeatureNames: want})
			if err != nil {
				t.Fatal(err)
			}
			later := read()
			if err := later.MatchFeatures(want); err != nil {
				t.Fatal(err)
			}
			for what, d := range map[string]*dataset.Dataset{"text": fromText, "later": later} {
				if err := d.CheckAll(t.Context()); err != nil || d.Sparse() != (storage == "sparse") ||
					!slices.Equal(d.Features, want) || d.Hash() != fromText.SHA256 {
					t.Fatalf("%s, %s, %q: features %q, %v", storage, what, want, d.Features, err)
				}
				for i := range d.N {
					sameBits(t, fmt.Sprintf("%s, %s, %q", storage, what, want), d.DenseRow(make([]float32, d.D),
						i), expect[i])
				}
				if notes := strings.Join(d.Notes, " "); (len(want) < 4) !=
					strings.Contains(notes, "ignored are columns that the model does not know") {
					t.Errorf("%s, %q: notes %q", what, want, notes)
				}
			}
		}
		d := read()
		before, hash := d.Examples, d.SHA256
		if err := d.MatchFeatures([]string{"a", "b", "c", "d"}); err != nil || d.SHA256 != hash ||
			d.Notes != nil || unsafe.SliceData(d.X) != unsafe.SliceData(before.X) ||
			unsafe.SliceData(d.Values) != unsafe.SliceData(before.Values) {
			t.Errorf("%s: features that agree were copied, or %v", storage, err)
		}
		prepared := read()
		if err := features.Prepare(prepared, dataset.Steps{L2: true}); err != nil {
			t.Fatal(err)
		}
		if err := prepared.MatchFeatures([]string{"d", "c", "b", "a"}); !facts.Told(err,
			`"a" "b" "c" "d"`) {
			t.Errorf("prepared: %v", err)
		}
	}
}

func TestMatchFeaturesBad(t *testing.T) {
	for _, c := range []struct{ what, have, want, fault string }{
		{"missing", "a b", "a c d", `"a" "b" "c" "d" 2 3`},
		{"twice in the data", "a a b", "a b", `"a"`},
		{"twice wanted", "a b", "b b", `"b"`},
		{"twice and equal", "a a b", "a a b", ""},
		{"twice and not wanted", "a a b c", "c b", ""},
		{"no names, another number", "", "a b c", "2 features 3"},
	} {
		have, want := strings.Fields(c.have), strings.Fields(c.want)
		d := &dataset.Dataset{Examples: examples(max(len(have), 2),
			make([]float32, max(len(have), 2))...)}
		if c.have != "" {
			d.Features = have
		}
		err := d.MatchFeatures(want)
		if c.fault == "" && err != nil || c.fault != "" && !facts.Told(err, c.fault) {
			t.Errorf("%s: %v, wanted %q", c.what, err, c.fault)
		}
	}
	if _, err := readText("f", "1,2,a\n3,4,b\n", Options{Features: 3,
		FeatureNames: []string{"a", "b"}}); !facts.Told(err, "3 features 2") {
		t.Errorf("two numbers of features: %v", err)
	}
}
