package file

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// cutExamples returns examples from..to-1 of d, with its classes.
func cutExamples(d *dataset.Dataset, from, to int) *dataset.Dataset {
	part := *d
	part.Examples, part.Y = d.Part(from, to), d.Y[from:to]
	part.SHA256 = ""
	return &part
}

// TestReadAll: parts in any format, cut anywhere, are what one file of all examples is.
func TestReadAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	write := func(name string, d *dataset.Dataset) string {
		path := filepath.Join(dir, name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := randomDataset(rng, 300, 7, []string{"a", "b", "c"})
	whole.Features, whole.Label = []string{"f", "g", "h", "i", "j", "k", "l"}, "class"
	for i := range whole.Y { // a class that the first part has not
		if i < 100 && whole.Y[i] == 0 {
			whole.Y[i] = 1
		}
	}
	for _, format := range []string{"csv", "csv.gz", "svm", "npz"} {
		for _, cuts := range [][]int{{0, 100, 300}, {0, 1, 2, 150, 299, 300}, {0, 300}} {
			for _, storage := range []string{"auto", "dense", "sparse"} {
				o := Options{Storage: storage}
				want, err := Read(t.Context(), write("whole."+format, whole), o)
				if err != nil {
					t.Fatal(err)
				}
				var paths []string
				for k, from := range cuts[:len(cuts)-1] {
					paths = append(paths, write(fmt.Sprintf("%d.%s", k, format), cutExamples(whole, from,
						cuts[k+1])))
				}
				got, err := ReadAll(t.Context(), "all", paths, o)
				if err != nil {
					t.Fatalf("%s, %v: %v", format, cuts, err)
				}
				if !equalExamples(got.Examples, want.Examples) || !reflect.DeepEqual(got.Y, want.Y) ||
					!reflect.DeepEqual(got.Classes, want.Classes) || !reflect.DeepEqual(got.Features,
					want.Features) ||
					got.Label != want.Label || got.SHA256 != want.SHA256 || !reflect.DeepEqual(got.Prepared,
					want.Prepared) {
					t.Errorf("%s in %s, %v: other data than those of one file", format, storage, cuts)
				}
				got.Close()
				want.Close()
			}
		}
	}
}

// writeParts writes texts as files, and returns their paths.
func writeParts(t *testing.T, end string, texts ...string) (paths []string) {
	dir := t.TempDir()
	for k, text := range texts {
		path := filepath.Join(dir, fmt.Sprint(k)+end)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestReadAllTables: words, missing values and texts of parts are encoded as those of one table;
// ids and comments stay.
func TestReadAllTables(t *testing.T) {
	const head = "id,color,size,text,class\n"
	a, b := "1,red,2,one two,x\n2,blue,,two,y\n", "# so\n3,green,5,three,x\n4,red,7,one,x\n"
	c := "5,red,1,two two,z\n6,,2,,y\n"
	texts := features.TextOptions{Columns: []string{"text"}}
	o := Options{Table: Table{IDColumn: "id", Encode: &features.EncodeOptions{Missing: "indicator",
		Text: texts}}}
	want, err := ReadFrom(t.Context(), strings.NewReader(head+a+b+c), "whole.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	for name, texts := range map[string][]string{
		"headers":       {head + a, head + b, head + c},
		"one header":    {head + a, b, c},
		"an empty part": {head + a, head, head + b, head + c},
	} {
		got, err := ReadAll(t.Context(), "all", writeParts(t, ".csv", texts...), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !equalExamples(got.Examples, want.Examples) || !reflect.DeepEqual(got.Encoding,
			want.Encoding) || !reflect.DeepEqual(got.IDs, want.IDs) || got.SHA256 != want.SHA256 ||
			!reflect.DeepEqual(got.Missing, want.Missing) || !strings.Contains(strings.Join(got.Notes, "\n"),
			".csv: 1 lines that begin with # are taken as comments") {
			t.Errorf("%s: other data than those of one file: %v, %v", name, got.Notes, got.Missing)
		}
	}
	// Parts of other formats, and of each its own.
	bare := "" // without the index
	for line := range strings.Lines(people) {
		bare += line[strings.Index(line, ",")+1:]
	}
	twice := bare + bare[strings.Index(bare, "\n")+1:]
	if want, err = readText("f.csv", twice, mixed("mean")); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{".csv": bare, ".parquet": mixedParquet(t)}
	for first, a := range kinds {
		for second, b := range kinds {
			paths := append(writeParts(t, first, a), writeParts(t, second, b)...)
			got, err := ReadAll(t.Context(), "all", paths, mixed("mean"))
			if err != nil || got.SHA256 != want.SHA256 || !reflect.DeepEqual(got.Encoding, want.Encoding) {
				t.Errorf("%s behind %s: %v, or other data than those of one table", second, first, err)
			}
		}
	}
}

// TestReadAllLabels: one file of labels for all parts, and labels beside the examples of each.
func TestReadAllLabels(t *testing.T) {
	labels := writeParts(t, ".txt", "x\ny\nx\nz\n")[0]
	paths := writeParts(t, ".svm", "1:1\n2:2\n", "1:3\n3:4\n")
	d, err := ReadAll(t.Context(), "all", paths, Options{Labels: labels, Storage: "dense"})
	if err != nil || fmt.Sprint(d.X, d.Y, d.Classes) != "[1 0 0 0 2 0 3 0 0 0 0 4] [0 1 0 2] [x y z]" {
		t.Errorf("found %+v, %v", d, err)
	}
	few := writeParts(t, ".txt", "x\ny\nx\n")[0]
	if _, err := ReadAll(t.Context(), "all", paths, Options{Labels: few}); !facts.Told(err,
		"3 labels") {
		t.Errorf("too few labels: %v", err)
	}
}

// TestReadAllBad: parts that do not fit are refused, with their names.
func TestReadAllBad(t *testing.T) {
	encode := Options{Table: Table{Encode: &features.EncodeOptions{Missing: "mean"}}}
	for name, c := range map[string]struct {
		o     Options
		texts []string
		want  string
	}{
		"width": {Options{}, []string{"1,2,a\n3,4,b\n", "1,2,3,a\n"}, "1.csv:1 4 columns 3"},
		"names": {Options{}, []string{"a,b,c\n1,2,x\n3,4,y\n", "a,z,c\n1,2,x\n"},
			`1.csv:1 column 2 z "b"`},
		"header":    {Options{}, []string{"1,2,x\n3,4,y\n", "a,b,c\n1,2,x\n"}, "1.csv:1 true"},
		"value":     {Options{}, []string{"1,2,x\n3,4,y\n", "1,2,x\n3,?,y\n"}, "1.csv:2:3"},
		"words":     {encode, []string{"1,2,x\n3,4,y\n", "red,2,x\nblue,2,x\n"}, "1.csv:1:1 column 1"},
		"not there": {Options{}, []string{"1,2,x\n3,4,y\n", ""}, "1.csv example"},
	} {
		_, err := ReadAll(t.Context(), "all", writeParts(t, ".csv", c.texts...), c.o)
		if !facts.Told(err, c.want) {
			t.Errorf("%s: found %v, want %s", name, err, c.want)
		}
	}
	if _, err := ReadAll(t.Context(), "p*", nil, Options{}); err == nil {
		t.Error("no parts at all are no error")
	}
	d, err := ReadAll(t.Context(), "all", writeParts(t, ".csv", "1,2,x\n3,4,y\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := writeParts(t, ".csv", "1,2,x\n3,4,y\n")[0]
	binary := filepath.Join(t.TempDir(), "d.npz")
	words := "red,2,x\nblue,3,y\n"
	kinds := [][]string{{golden("arrays.npz"), table},
		append(writeParts(t, ".svm", "x 1:1 9:2\ny 2:1\n"), writeParts(t, ".csv", words)...),
		append(writeParts(t, ".csv", words), writeParts(t, ".svm", "x 1:1 9:2\ny 2:1\n")...)}
	for _, paths := range kinds {
		if _, err := ReadAll(t.Context(), "all", paths, encode); !facts.Told(err, "convert one format") {
			t.Errorf("%s behind %s: %v", paths[1], paths[0], err)
		}
	}
	if err := features.Prepare(d, dataset.Steps{Bias: true}); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), binary, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = ReadAll(t.Context(), "all", []string{binary, binary}, Options{})
	if !facts.Told(err, "description raw join") {
		t.Errorf("prepared parts: %v", err)
	}
}
