package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// TestONNX executes what is written for each kind of model.
func TestONNX(t *testing.T) {
	for name, r := range trials() {
		var file, again bytes.Buffer
		if err := errors.Join(writeONNX(&file, r.m), writeONNX(&again, r.m)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(file.Bytes(), again.Bytes()) {
			t.Errorf("%s: the same model gives other bytes", name)
		}
		var x []float32
		for i := range r.data.N {
			x = append(x, r.data.DenseRow(make([]float32, r.data.D), i)...)
		}
		outputs := execute(t, file.Bytes(), r.data.N, x)
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

// TestONNXMetadata: names and provenance are there, for people and for programs that read by
// names.
func TestONNXMetadata(t *testing.T) {
	m := trials()["rbf"].m
	var file bytes.Buffer
	if err := writeONNX(&file, m); err != nil {
		t.Fatal(err)
	}
	whole := parse(t, file.Bytes())
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
	if err := writeONNX(io.Discard, &m); !errors.Is(err, ErrForm) {
		t.Errorf("got %v", err)
	}
}

// TestDiskFull: no form swallows the error of its writer.
func TestDiskFull(t *testing.T) {
	full := errors.New("full")
	for name, form := range Writers {
		if err := form(failing{full}, trials()["linear"].m); !errors.Is(err, full) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
