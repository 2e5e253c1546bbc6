package umagpu_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// A table in memory becomes the same model as a file of the same cells.
func TestTableAndFile(t *testing.T) {
	const n = 60
	x, right := corners(n)
	number := func(scale, origin float64) func(i int) string {
		return func(i int) string { return fmt.Sprint(math.Floor(scale*x[2*i]) + origin) }
	}
	word := func(words ...string) func(i int) string {
		return func(i int) string { return words[i%len(words)] }
	}
	for name, columns := range map[string][]func(i int) string{
		"numbers": {number(1000, 0), number(10, 3)},
		"far":     {number(1000, 1700000000000), number(1000, 0)},
		"a gap":   {number(1000, 1e12), func(i int) string { return []string{"1", "", "2"}[i%3] }},
		"words":   {word("red", "green", " blue", "?"), number(1000, 0)},
		"truths":  {word("yes", "no", "yes"), word("a", "b")},
		"dates":   {func(i int) string { return fmt.Sprintf("2024-%02d-11", 1+i%12) }, word("a", "b")},
		"names":   {func(i int) string { return fmt.Sprint("person", i) }, number(10, 0)},
		"sentences": {func(i int) string { return fmt.Sprint("this is the sentence of ", i, " words") },
			number(10, 0)},
	} {
		text, table := &bytes.Buffer{}, &umagpu.Table{}
		for j, cell := range columns {
			fmt.Fprintf(text, "c%d,", j)
			var cells []string
			var numbers []float64
			for i := range n {
				cells = append(cells, strings.TrimSpace(cell(i))) // as a file's
				if v, err := strconv.ParseFloat(cell(i), 64); err == nil {
					numbers = append(numbers, v)
				} else if cell(i) == "" {
					numbers = append(numbers, math.NaN())
				}
			}
			if len(numbers) == n {
				table.Columns = append(table.Columns, umagpu.NewNumbers(fmt.Sprint("c", j), numbers))
			} else {
				table.Columns = append(table.Columns, umagpu.NewCategory(fmt.Sprint("c", j), cells, "?"))
			}
		}
		fmt.Fprintln(text, "label")
		classes := []string{"a", "b", "c"}
		for i := range n {
			for _, cell := range columns {
				fmt.Fprint(text, cell(i), ",")
			}
			fmt.Fprintln(text, classes[right[i]])
		}
		d, err := file.ReadFrom(t.Context(), text, "data", file.Options{Table: file.Table{
			Encode: &features.EncodeOptions{Missing: dataset.MissingAuto, Knots: features.UsualKnots}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		model := func(data umagpu.Data) []byte {
			found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Data: data,
				Labels: &umagpu.Labels{Classes: classes, Codes: right}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			raw, err := found.Model.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		of, in := model(umagpu.FromDataset(d)), model(umagpu.Data{Table: table, Name: "data"})
		if !bytes.Equal(of, in) {
			t.Errorf("%s: the model of the table is another than that of the file", name)
		}
	}
}

// The levels of a Category are those of its type: Namibia is no gap, and blanks tell levels apart.
func TestLevelsStay(t *testing.T) {
	_, right := corners(60)
	levels := []string{"NA", "b", " b"}
	land := umagpu.Column{Name: "land", Kind: umagpu.Category, Codes: right, Levels: levels}
	found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{
		Data:   umagpu.Data{Table: &umagpu.Table{Columns: []umagpu.Column{land}}},
		Labels: &umagpu.Labels{Classes: []string{"x", "y", "z"}, Codes: right}})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(slices.Values(found.Model.Host().Meta.Features.Encoding.Columns[0].Levels))
	if want := slices.Sorted(slices.Values(levels)); !slices.Equal(got, want) {
		t.Errorf("levels: got %q, want %q", got, want)
	}
}

// Numbers far from zero are told apart, however they come in, and a value that is missing only in
// the prediction is the mean.
func TestFarNumbers(t *testing.T) {
	const n = 60
	for name, c := range map[string]struct{ origin, unit float64 }{
		"float32":       {16777216, 1},
		"milliseconds":  {1.7e12, 1},
		"metres":        {4512345.678, 0.001},
		"accounts":      {1e15, 1},
		"below zero":    {-1e15, 1},
		"float32 alone": {1 << 30, 1 << 10},
	} {
		var values []float64
		var codes []int32
		for i := range n {
			values, codes = append(values, c.origin+float64(i%2)*c.unit), append(codes, int32(i%2))
		}
		for way, data := range map[string]umagpu.Data{
			"table": {Table: &umagpu.Table{Columns: []umagpu.Column{umagpu.NewNumbers("v", values)}}},
			"matrix": {Matrix: &umagpu.Matrix{Rows: n, Columns: 1, Float64: values,
				Names: []string{"v"}}},
			"no names": {Matrix: &umagpu.Matrix{Rows: n, Columns: 1, Float64: values}},
		} {
			found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Data: data,
				Labels: &umagpu.Labels{Classes: []string{"a", "b"}, Codes: codes}})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, way, err)
			}
			gap := slices.Clone(values)
			gap[7] = math.NaN()
			again := umagpu.Data{Matrix: &umagpu.Matrix{Rows: n, Columns: 1, Float64: gap}}
			if data.Table != nil {
				again = umagpu.Data{Table: &umagpu.Table{Columns: []umagpu.Column{
					umagpu.NewNumbers("v", gap)}}}
			}
			got, err := umagpu.Predict(t.Context(), &umagpu.PredictRequest{Model: found.Model, Data: again})
			if name == "float32 alone" && way == "no names" {
				continue // no mean is known
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", name, way, err)
			}
			got.Codes[7] = codes[7]
			said := fmt.Sprint(got.Notes)
			if !slices.Equal(got.Codes, codes) || !strings.Contains(said, "missing value") {
				t.Errorf("%s, %s: found %v, said %s", name, way, got.Codes, said)
			}
		}
	}
}

// A number that float32 does not hold is an error with its row and column, in every column.
func TestNumbersBeyondFloat32(t *testing.T) {
	labels, err := umagpu.NewLabels([]string{"a", "b", "a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float64{1e39, -1e39} {
		table := umagpu.Table{Columns: []umagpu.Column{umagpu.NewNumbers("x", []float64{1, 2, 3, 4}),
			umagpu.NewNumbers("y", []float64{1, 2, bad, 4})}}
		matrix := umagpu.Matrix{Rows: 4, Columns: 2, Names: []string{"x", "y"},
			Float64: []float64{1, 1, 2, 2, 3, bad, 4, 4}}
		for _, data := range []umagpu.Data{{Table: &table}, {Matrix: &matrix}} {
			_, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Data: data, Labels: labels})
			var f *umagpu.Fault
			if !errors.As(err, &f) || f.Row == nil || *f.Row != 2 || f.Where != `column "y"` ||
				f.Got != fmt.Sprint(bad) {
				t.Errorf("%v: %+v", bad, err)
			}
		}
	}
}
