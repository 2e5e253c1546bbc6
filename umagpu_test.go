package umagpu_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
)

// corners draws n points of the plane near the corners of a triangle, row-major, and the corner of
// each.
func corners(n int) (x []float64, corner []int32) {
	rng := rand.New(rand.NewPCG(1, 7))
	for i := range n {
		angle := 2 * math.Pi * float64(i%3) / 3
		x = append(x, math.Cos(angle)+0.2*rng.NormFloat64(), math.Sin(angle)+0.2*rng.NormFloat64())
		corner = append(corner, int32(i%3))
	}
	return x, corner
}

// mislabelled moves the labels of 40 % of the examples to the next class.
func mislabelled(right []int32) []int32 {
	rng := rand.New(rand.NewPCG(2, 2))
	noisy := slices.Clone(right)
	for i := range noisy {
		if rng.Float64() < 0.4 {
			noisy[i] = (noisy[i] + 1) % 3
		}
	}
	return noisy
}

// fortyPercent is the noise of mislabelled.
var fortyPercent = &umagpu.Confusion{P: [][]float64{{0.6, 0, 0.4}, {0.4, 0.6, 0}, {0, 0.4, 0.6}}}

// request is a training on corners.
func request(n int) (r *umagpu.TrainRequest, right []int32) {
	x, right := corners(n)
	return &umagpu.TrainRequest{
		Data: umagpu.Data{Matrix: &umagpu.Matrix{Rows: n, Columns: 2, Float64: x}},
		Labels: &umagpu.Labels{Classes: []string{" a", "", "1_0"},
			Codes: mislabelled(right)},
		Confusion: fortyPercent,
		Settings:  umagpu.Settings{Parameters: map[string]any{"l2": 0.001}},
	}, right
}

// A model learns through the noise; names of classes pass unchanged, and its bytes are a model.
func TestTrain(t *testing.T) {
	r, right := request(600)
	found, err := umagpu.Train(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	file, err := found.Model.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	m := new(umagpu.Model)
	if err := m.UnmarshalBinary(file); err != nil {
		t.Fatal(err)
	}
	if got := m.Classes(); !slices.Equal(got, r.Labels.Classes) {
		t.Errorf("classes: got %q, want %q", got, r.Labels.Classes)
	}
	judged, err := umagpu.Evaluate(t.Context(), &umagpu.EvaluateRequest{Model: m, Data: r.Data,
		Labels: &umagpu.Labels{Classes: r.Labels.Classes, Codes: right}})
	if err != nil {
		t.Fatal(err)
	}
	if judged.ErrorRate > 0.02 {
		t.Errorf("error rate: got %v, want at most 0.02", judged.ErrorRate)
	}
}

// The columns of a table are found by name, and a value may be missing in a prediction alone.
func TestTable(t *testing.T) {
	x, right := corners(300)
	var a, b []float64
	for pair := range slices.Chunk(x, 2) {
		a, b = append(a, pair[0]), append(b, pair[1])
	}
	colour := umagpu.NewCategory("colour", slices.Repeat([]string{"red", "green", "blue"}, 100))
	labels := &umagpu.Labels{Classes: []string{"x", "y", "z"}, Codes: right}
	table := func(columns ...umagpu.Column) umagpu.Data {
		return umagpu.Data{Table: &umagpu.Table{Columns: columns}}
	}
	found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Labels: labels,
		Data: table(umagpu.NewNumbers("a", a), umagpu.NewNumbers("b", b), colour)})
	if err != nil {
		t.Fatal(err)
	}
	b[5] = math.NaN()
	got, err := umagpu.Predict(t.Context(), &umagpu.PredictRequest{Model: found.Model,
		Data: table(colour, umagpu.NewNumbers("b", b), umagpu.NewNumbers("more", a),
			umagpu.NewNumbers("a", a))})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Codes, right) {
		t.Error("predictions of reordered columns differ from the classes")
	}
}

// Faults name the option in the terms of each interface.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*umagpu.TrainRequest)
		want   string // in Python
	}{
		"range":    {func(r *umagpu.TrainRequest) { r.MaxSteps = new(-1) }, "max_steps: got -1, want"},
		"labels":   {func(r *umagpu.TrainRequest) { r.Labels.Codes = r.Labels.Codes[:9] }, "labels: got 9"},
		"matrix":   {func(r *umagpu.TrainRequest) { r.Confusion.P = r.Confusion.P[:1] }, "confusion: got row"},
		"negative": {func(r *umagpu.TrainRequest) { r.Confusion.P[0][0] = -1 }, "confusion: row 0"},
		"weight": {func(r *umagpu.TrainRequest) {
			r.Labels.Weights = append(make([]float64, 29), -1)
		}, "weights: row 29: got weight -1, want"},
		"parameter": {func(r *umagpu.TrainRequest) { r.Parameters["l3"] = 1 }, `parameters: got "l3"`},
		"value":     {func(r *umagpu.TrainRequest) { r.Data.Matrix.Float64[7] = 1e39 }, "data: row 3: column 1"},
		"counts": {func(r *umagpu.TrainRequest) {
			r.Confusion.P = [][]float64{{60, 0, 40}, {40, 60, 0}, {0, 40, 60}}
		}, `say confusion_axes="true-rows"`},
	} {
		r, _ := request(30)
		r.Confusion = &umagpu.Confusion{P: [][]float64{{0.6, 0, 0.4}, {0.4, 0.6, 0}, {0, 0.4, 0.6}}}
		c.change(r)
		_, err := umagpu.Train(t.Context(), r)
		var f *umagpu.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: got %v, want a fault", name, err)
			continue
		}
		if got := f.Phrase(umagpu.SpellPython, 0); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", name, got, c.want)
		}
	}
}

// A matrix that its sums show to be turned is read so, with a warning.
func TestTurnedConfusion(t *testing.T) {
	r, _ := request(60)
	r.Confusion = &umagpu.Confusion{P: [][]float64{{0.9, 0.1, 0}, {0, 0.6, 0.4}, {0.3, 0, 0.7}}}
	r.TrustConfusion = true
	found, err := umagpu.Train(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Model.Host().Confusion[1]; got != 0 {
		t.Errorf("P(noisy 0 | true 1): got %v, want 0", got)
	}
	if !slices.ContainsFunc(found.Notes, func(n umagpu.Note) bool {
		return n.Warning && strings.Contains(n.Text, "--confusion-axes=true-rows")
	}) {
		t.Errorf("notes: got %v, want a warning of the axes", found.Notes)
	}
}
