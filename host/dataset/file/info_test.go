package file

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func TestDescribe(t *testing.T) {
	d := &dataset.Dataset{
		Examples: examples(4, 1, 0, 5, 0, -2, 0, 5, 3,
			1, 0, 5, negativeZero, // example 0 with another label
			0, 0, 5, 0,
			-2, 0, 5, 3, // example 1 with the same label
			1, 0, 5, 0), // example 0 with the same label
		Y: []int32{0, 1, 1, 0, 1, 0}, Classes: []string{"a", "b", "never"},
		Found: dataset.Found{Subnormals: 2, SkippedAt: []int{7},
			Notes: []string{"a note"}, SHA256: "12", Path: "p.csv"},
	}
	want := dataset.Info{
		Path: "p.csv", SHA256: "12", Examples: 6, Features: 4,
		Classes: []dataset.ClassCount{{Class: "a", Examples: 3}, {Class: "b", Examples: 3},
			{Class: "never"}},
		Storage: "dense", Bytes: 96, ValueInfo: dataset.ValueInfo{NonZero: 13, Density: 13. / 24,
			Min: -2, Max: 5, MeanAbs: (7 + 30 + 6) / 24., Subnormals: 2, ConstantFeatures: 2,
			EmptyFeatures: 1, Duplicates: 3, Conflicting: 1},
		SkippedAt: []int{7}, Notes: []string{"a note"},
	}
	if got := dataset.Describe(d); !reflect.DeepEqual(got, want) {
		t.Errorf("dense: found\n%+v, want\n%+v", got, want)
	}
	// -0 is stored, and so is a +0 that some reader may have kept.
	s := *d
	s.Examples = d.Compressed()
	s.Columns, s.Values = append(s.Columns, 3), append(s.Values, 0)
	s.Starts[6]++
	want.Storage, want.Bytes = "sparse", 4*(15+15)+8*7
	if got := dataset.Describe(&s); !reflect.DeepEqual(got, want) {
		t.Errorf("sparse: found\n%+v, want\n%+v", got, want)
	}
}

func TestDescribeExtremes(t *testing.T) {
	for name, c := range map[string]struct {
		e    dataset.Examples
		want dataset.Info
	}{
		"one example": {examples(2, 3, -4),
			dataset.Info{Examples: 1, Features: 2, Storage: "dense", Bytes: 8,
				ValueInfo: dataset.ValueInfo{NonZero: 2, Density: 1, Min: -4, Max: 3, MeanAbs: 3.5,
					ConstantFeatures: 2}}},
		"all zero": {examples(1, 0, negativeZero), dataset.Info{Examples: 2, Features: 1,
			Storage: "dense", Bytes: 8, ValueInfo: dataset.ValueInfo{Empty: 2, ConstantFeatures: 1,
				EmptyFeatures: 1, Duplicates: 1}}},
		"all zero, sparse": {examples(1, 0, 0).Compressed(),
			dataset.Info{Examples: 2, Features: 1, Storage: "sparse", Bytes: 24,
				ValueInfo: dataset.ValueInfo{Empty: 2, ConstantFeatures: 1, EmptyFeatures: 1,
					Duplicates: 1}}},
		"above zero": {examples(1, 2, 7),
			dataset.Info{Examples: 2, Features: 1, Storage: "dense", Bytes: 8,
				ValueInfo: dataset.ValueInfo{NonZero: 2, Density: 1, Min: 2, Max: 7, MeanAbs: 4.5}}},
	} {
		if got := dataset.Describe(&dataset.Dataset{Examples: c.e}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: found\n%+v, want\n%+v", name, got, c.want)
		}
	}
}

func TestFormatNames(t *testing.T) {
	for name, want := range map[string]string{"a.csv": "csv", "dir.svm/a.TSV.gz": "csv",
		"a.svm.zst": "libsvm",
		"a.gz":      "", "a": "", "dir.csv/a": "", "a.json": "", "a.npy.gz": "npy", "a.NPZ": "npz"} {
		if got := FormatOfName(name); got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
	for _, name := range Formats(true) {
		if _, err := formatNamed(name, true); err != nil {
			t.Error(err)
		}
	}
}

// A data set knows what it was read as, also where no name says it.
func TestDatasetFormat(t *testing.T) {
	file := func(name string) string {
		raw, err := os.ReadFile(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"1,a\n2,b\n", Options{}, "csv"},
		{"a 1:1\nb 1:2\n", Options{Format: "auto"}, "libsvm"},
		{"1 1:1\n2 1:2\n", Options{Format: "libsvm", NoLabels: true}, "libsvm"},
		{file("f4.npy"), Options{NoLabels: true}, "npy"},
		{file("arrays.npz"), Options{}, "npz"},
		{file("i1-idx2"), Options{NoLabels: true}, "idx"},
		{string(parquetBytes(t, 3)), Options{}, "parquet"},
	} {
		d, err := ReadFrom(t.Context(), strings.NewReader(c.text), "standard input", c.o)
		if err != nil {
			t.Fatal(err)
		}
		if d.Format != c.want || dataset.Describe(d).Format != c.want {
			t.Errorf("%.20q was read as %q, wanted %q", c.text, d.Format, c.want)
		}
		parts, err := dataset.SplitCounts(d, []int{1}, 1)
		if err != nil || parts[0].Format != c.want {
			t.Errorf("a part of it has the format %q (%v)", parts[0].Format, err)
		}
	}
}
