package exchange

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/model"
)

// document is what docs/export.md says of JSON.
type document struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	Classes  []string `json:"classes"`
	Features struct {
		Count int      `json:"count"`
		Names []string `json:"names"`
	} `json:"features"`
	Preparation preparationDocument `json:"preparation"`
	Kernel      *struct {
		Function struct {
			Kind         string
			Gamma, Coef0 float64
			Degree       int
		} `json:"function"`
		Cosine      bool                `json:"cosine"`
		Landmarks   []json.RawMessage   `json:"landmarks"`
		Axes        [][]float64         `json:"axes"`
		Offsets     []float64           `json:"offsets"`
		Preparation preparationDocument `json:"preparation"`
	} `json:"kernel"`
	Weights     [][]float64      `json:"weights"`
	Temperature float64          `json:"temperature"`
	Provenance  model.Provenance `json:"provenance"`
}

type preparationDocument struct {
	Steps   string    `json:"steps"`
	Factors []float64 `json:"factors"`
	Offsets []float64 `json:"offsets"`
}

func (p preparationDocument) apply(row []float64) []float64 {
	x := slices.Clone(row)
	for j := range p.Factors {
		x[j] = x[j]*p.Factors[j] + p.Offsets[j]
	}
	if strings.Contains(p.Steps, "bias") {
		x = append(x, 1)
	}
	if strings.Contains(p.Steps, "l2") {
		x = unitLength(x)
	}
	return x
}

func unitLength(x []float64) []float64 {
	length := math.Sqrt(dot(x, x))
	if length == 0 {
		return x
	}
	scaled := slices.Clone(x)
	for j := range scaled {
		scaled[j] /= length
	}
	return scaled
}

func dot(x, y []float64) (sum float64) {
	for j := range x {
		sum += x[j] * y[j]
	}
	return sum
}

// predict computes the scores of one raw example by docs/export.md.
func (d document) predict(t *testing.T, row []float64) []float64 {
	x := d.Preparation.apply(row)
	if k := d.Kernel; k != nil {
		if k.Cosine {
			x = unitLength(x)
		}
		values := make([]float64, len(k.Landmarks))
		for l, text := range k.Landmarks {
			var landmark []float64
			if text[0] == '[' {
				landmark = mustParse[[]float64](t, text)
			} else {
				stored := mustParse[struct {
					Columns []int
					Values  []float64
				}](t, text)
				landmark = make([]float64, len(x))
				for i, j := range stored.Columns {
					landmark[j] = stored.Values[i]
				}
			}
			values[l] = dot(x, landmark)
			switch f := k.Function; f.Kind {
			case "poly":
				values[l] = math.Pow(f.Gamma*values[l]+f.Coef0, float64(f.Degree))
			case "rbf":
				values[l] = math.Exp(-f.Gamma * (dot(x, x) + dot(landmark, landmark) - 2*values[l]))
			}
		}
		x = nil
		for c, axis := range k.Axes {
			x = append(x, dot(axis, values)+k.Offsets[c])
		}
		x = k.Preparation.apply(x)
	}
	var scores []float64
	for _, w := range d.Weights {
		scores = append(scores, dot(w, x))
	}
	return scores
}

func mustParse[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJSON(t *testing.T) {
	for name, r := range trials() {
		var file bytes.Buffer
		if err := writeJSON(&file, r.m); err != nil {
			t.Fatal(err)
		}
		d := mustParse[document](t, file.Bytes())
		if d.Format != "uma-gpu model" || d.Version != 1 || !slices.Equal(d.Features.Names,
			r.m.Meta.Features.Names) ||
			d.Provenance.Learner != r.m.Meta.Learner || float32(d.Temperature) != r.m.Meta.Temperature {
			t.Errorf("%s: found %+v", name, d)
		}
		for i, v := range slices.Concat(d.Weights...) {
			if float32(v) != r.m.W[i] {
				t.Fatalf("%s: weight %d is %v, want %v", name, i, v, r.m.W[i])
			}
		}
		want, _ := r.answers(t)
		for i := range r.data.N {
			var row []float64
			for _, v := range r.data.DenseRow(make([]float32, r.data.D), i) {
				row = append(row, float64(v))
			}
			scores := d.predict(t, row)
			best := slices.Index(scores, slices.Max(scores))
			if d.Classes[best] != want[i] {
				t.Errorf("%s: example %d became %s, want %s", name, i, d.Classes[best], want[i])
			}
		}
	}
}

// TestJSONIsReadable: rows stand on lines, and numbers are as short as float32 allows.
func TestJSONIsReadable(t *testing.T) {
	m := *trials()["linear, none"].m
	m.W = []float32{0.1, -2, 1e-10, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0.33333334}
	var file bytes.Buffer
	if err := writeJSON(&file, &m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"{\n  \"format\": \"uma-gpu model\",\n  \"version\": 1,\n  \"classes\": " +
			"[\"<é>\",\"cat\",\"dog\"],\n",
		"\n  \"preparation\": {\n    \"steps\": \"none\"\n  },\n",
		"\n  \"weights\": [\n    [0.1,-2,1e-10,4,5],\n    [6,7,8,9,10],\n    " +
			"[11,12,13,14,0.33333334]\n  ],\n",
	} {
		if !strings.Contains(file.String(), want) {
			t.Errorf("found no %q in\n%s", want, file.String())
		}
	}
}
