package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// TestONNX executes what is written for each kind of model.
func TestONNX(t *testing.T) {
	for name, r := range trials() {
		var written, again bytes.Buffer
		if err := errors.Join(WriteONNX(&written, r.m), WriteONNX(&again, r.m)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(written.Bytes(), again.Bytes()) {
			t.Errorf("%s: the same model gives other bytes", name)
		}
		var x []float32
		for i := range r.data.N {
			x = append(x, r.data.DenseRow(make([]float32, r.data.D), i)...)
		}
		outputs := execute(t, written.Bytes(), r.data.N, x)
		labels, numbers := r.answers(t)
		what := "probabilities"
		if r.m.Meta.Temperature == 0 {
			what = "scores"
		}
		found := outputs["label"].texts
		for _, v := range outputs["label"].numbers {
			found = append(found, fmt.Sprint(v))
		}
		asNumbers := outputs["label"].texts == nil
		if !slices.Equal(found, labels) || len(outputs) != 2 || (name == "linear, numbers") != asNumbers {
			t.Errorf("%s: found the labels %v, want %v", name, found, labels)
		}
		most := 0.0
		for i, v := range outputs[what].numbers {
			most = max(most, math.Abs(v-float64(numbers[i]))/max(1, math.Abs(float64(numbers[i]))))
		}
		if len(outputs[what].numbers) != len(numbers) || !(most < 1e-4) {
			t.Errorf("%s: found %d %s that differ by %g", name, len(outputs[what].numbers), what, most)
		}
	}
}

// TestONNXOfTable: a graph of a table takes its columns, with holes and levels never seen, and
// knots of its numbers.
func TestONNXOfTable(t *testing.T) {
	for n, knots := range map[int]int{90: 0, features.KnotExamples: 3} {
		testONNXOfTable(t, n, knots, nil)
	}
	for _, mode := range []string{trees.Boost, trees.Forest} {
		p := trees.Defaults()
		p.Mode, p.Rounds, p.Leaves, p.Least = mode, 5, 6, 1
		testONNXOfTable(t, 120, 0, p)
	}
}

func testONNXOfTable(t *testing.T, n, knots int, learner learners.Params) {
	path := filepath.Join(t.TempDir(), "d.csv")
	text := "size,kind,weight,class\n"
	for i := range n {
		size, kind := fmt.Sprint(i%7), []string{"red", "green", ""}[i%3]
		if i%11 == 0 {
			size = ""
		}
		text += fmt.Sprintf("%s,%s,%d,%c\n", size, kind, 1_700_000_000_000+i%5*3-6, 'a'+i%3)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	d := must(file.Read(t.Context(), path, file.Options{Table: file.Table{
		Encode: &features.EncodeOptions{Missing: dataset.MissingIndicator, Knots: knots}}}))
	if len(d.Encoding.Columns[2].Knots) != knots {
		t.Fatalf("%d examples: found the knots %v, wanted %d", n, d.Encoding.Columns[2].Knots, knots)
	}
	trained, err := host.Train(t.Context(), d, nil, host.Options{Engine: simd.New(),
		Learner: learner})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteONNX(&b, trained.Model); err != nil || !Columns(trained.Model) {
		t.Fatal(err)
	}
	columns := map[string]array{"size": {kind: typeFloat}, "kind": {kind: typeString},
		"weight": {kind: typeDouble}}
	for line := range strings.Lines(text[strings.Index(text, "\n")+1:]) {
		for k, cell := range strings.Split(strings.TrimSpace(line), ",")[:3] {
			name := []string{"size", "kind", "weight"}[k]
			a := columns[name]
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				v = math.NaN()
			}
			if a.shape = []int{n, 1}; a.kind == typeString {
				a.texts = append(a.texts, cell)
			} else {
				a.numbers = append(a.numbers, v)
			}
			columns[name] = a
		}
	}
	found := executeColumns(t, b.Bytes(), columns)["probabilities"].numbers
	_, want := trial{trained.Model, d}.answers(t)
	for i, v := range found {
		if len(found) != len(want) || math.Abs(v-float64(want[i])) > 1e-5 {
			t.Fatalf("%d examples: found %v, want %v", n, found, want)
		}
	}
}

// TestONNXMetadata: names and provenance are there, for people and for programs that read by
// names.
func TestONNXMetadata(t *testing.T) {
	m := trials()["rbf"].m
	var written bytes.Buffer
	if err := WriteONNX(&written, m); err != nil {
		t.Fatal(err)
	}
	whole := parse(t, written.Bytes())
	if whole.text(2) != "uma-gpu" || whole.text(3) != "test" || whole.number(1) != 7 {
		t.Errorf("found producer %q %q, IR version %d", whole.text(2), whole.text(3), whole.number(1))
	}
	found := map[string]string{}
	for _, b := range whole[14] {
		p := parse(t, b.([]byte))
		found[p.text(1)] = p.text(2)
	}
	var features []string
	var from model.Provenance
	err := errors.Join(json.Unmarshal([]byte(found["features"]), &features),
		json.Unmarshal([]byte(found["provenance"]), &from))
	if err != nil || !slices.Equal(features, m.Meta.Features.Names) ||
		from.DataSHA256 != m.Meta.DataSHA256 || from.Learner != "softmax" || from.Seed != m.Meta.Seed {
		t.Errorf("found %q, %v", found, err)
	}
}

// TestONNXTooLarge: what protobuf cannot hold is refused before memory is taken for it.
func TestONNXTooLarge(t *testing.T) {
	m := *trials()["rbf, sparse"].m
	p := *m.Projection
	p.Landmarks = dataset.Examples{N: 1 << 16, D: 1 << 16}
	m.Projection = &p
	if err := WriteONNX(io.Discard, &m); !facts.Told(err, "2 GiB") {
		t.Errorf("got %v", err)
	}
}

// TestDiskFull: the error of the writer is returned.
func TestDiskFull(t *testing.T) {
	full := errors.New("full")
	if err := WriteONNX(failing{full}, trials()["linear"].m); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
