package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// sample returns a valid model of 3 classes and 5 columns with every field set.
func sample() *Model {
	estimate := 0.125
	m := &Model{Q: 3, D: 5, Confusion: []float64{0.75, 0, 0.25, 0.25, 1, 0, 0, 0, 0.75}, Meta: Meta{
		FormatVersion: FormatVersion,
		Provenance: Provenance{
			ToolVersion:     "v0.1.0",
			ContractVersion: 1,
			Learner:         "uma",
			Parameters: json.RawMessage(
				`{"select":"error","alpha":0.1,"big":9007199254740993}`),
			Seed:       math.MaxUint64,
			Weights:    "best",
			MaxSteps:   40,
			Steps:      7,
			Stop:       "converged",
			From:       strings.Repeat("a1", 32),
			DataSHA256: strings.Repeat("0f", 32),
			Device:     engine.Device{Kind: "opencl", Name: "n", Platform: "p", Driver: "d"},
		},
		Classes:  []string{"a", "<=50K & \"more\"", "é\u2028"},
		Features: Features{Count: 4, Names: []string{"u", "v", "w", "x"}},
		Preparation: dataset.Preparation{
			Steps: dataset.Steps{Standardize: true, Bias: true}, D: 4,
			A: []float32{0.1, 1e-45, 1.1754944e-38, math.MaxFloat32},
			B: []float32{float32(math.Copysign(0, -1)), 1. / 3, -16777216, 0},
		},
		Condition: 1.5, EstimatedError: &estimate, Temperature: 0.1,
	}}
	for i := range 15 {
		m.W = append(m.W, float32(i-7)/8)
	}
	m.W[3] = float32(math.Copysign(0, -1))
	m.W[4] = math.SmallestNonzeroFloat32
	m.W[5] = math.MaxFloat32
	return m
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(b []byte) (*Model, error) { return readModel(bytes.NewReader(b), int64(len(b)), false) }

func TestRoundTrip(t *testing.T) {
	bare := sample()
	bare.Meta.Features.Names, bare.Meta.EstimatedError, bare.Meta.DataSHA256 = nil, nil, ""
	bare.Meta.Temperature = 0
	bare.Meta.Parameters, bare.Meta.Preparation = json.RawMessage("{}"),
		dataset.Preparation{D: 4, Steps: dataset.Steps{Bias: true}}
	wide := &Model{Q: 2, D: 10001, W: make([]float32, 20002), Confusion: []float64{1, 0, 0, 1},
		Meta: bare.Meta}
	wide.Meta.Classes = []string{"0", "1"}
	wide.Meta.Features.Count, wide.Meta.Preparation = 10001, dataset.Preparation{D: 10001}
	for i := range wide.W {
		wide.W[i] = float32(i) / 3
	}
	for _, want := range []*Model{sample(), bare, wide} {
		b := encode(t, want)
		got, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read back\n%+v, want\n%+v", got, want)
		}
		for i, v := range want.W { // DeepEqual does not tell -0 from 0
			if math.Float32bits(got.W[i]) != math.Float32bits(v) {
				t.Errorf("weight %d: %v, want %v", i, got.W[i], v)
			}
		}
		if !bytes.Equal(encode(t, got), b) {
			t.Error("a model that was read is written with other bytes")
		}
	}
}

// The bytes of the format are part of what is promised: another hash is another
// format, for whatever reason (an edit here, a new Go release).
func TestSameModelSameBytes(t *testing.T) {
	first, second := encode(t, sample()), encode(t, sample())
	if !bytes.Equal(first, second) {
		t.Error("two writes of one model differ")
	}
	const want = "51cc2af68ce55800448df840136aa2b382c6941956f8ff160dd1209cc01a8a4c"
	sum := sha256.Sum256(first)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("hash of the sample model %s, want %s", got, want)
	}
	other := sample()
	other.Meta.FormatVersion = 99 // not the caller's to choose
	if !bytes.Equal(first, encode(t, other)) || other.Meta.FormatVersion != 99 {
		t.Error("Write heeds or changes Meta.FormatVersion")
	}
}

// TestState keeps a training's state, and a model that never had a confusion matrix.
func TestState(t *testing.T) {
	m := sample()
	m.State = &State{Steps: 7, Last: []float32{14: 2.5}, Learner: []byte("any bytes\x00\xff")}
	m.Confusion, m.Meta.Condition = nil, 0
	for _, change := range []func(){
		func() {},
		func() { m.State.Sum = []float64{3: 0.1, 14: 7} },
		func() { m.State.Counts = []int64{8: math.MaxInt64} },
		func() { m.State.Learner = []byte{} },
	} {
		change()
		got, err := decode(encode(t, m))
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v: %+v, want %+v", err, got.State, m.State)
		}
	}
}

// numpy.npz was made by numpy; see testdata/make_numpy_npz.py.
func TestLoadFileMadeByNumpy(t *testing.T) {
	got, err := Load(filepath.Join("testdata", "numpy.npz"))
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{-0.875, -0.75, -0.625, -0.5, -0.375, -0.25, -0.125, 0, 0.125, 0.25, 0.375, 0.5,
		0.625, 0.75, 0.875}
	if got.Q != 3 || got.D != 5 || !reflect.DeepEqual(got.W, want) ||
		!reflect.DeepEqual(got.Confusion, sample().Confusion) {
		t.Errorf("%d×%d W %v, confusion %v", got.Q, got.D, got.W, got.Confusion)
	}
	meta := got.Meta
	if !reflect.DeepEqual(meta.Classes, []string{"a", "<=50K", "é"}) || meta.Seed != math.MaxUint64 ||
		*meta.EstimatedError != 0.125 {
		t.Errorf("meta %+v", meta)
	}
	// Written again, the arrays are what numpy made of them, header included.
	file, err := os.ReadFile(filepath.Join("testdata", "numpy.npz"))
	if err != nil {
		t.Fatal(err)
	}
	members, err := got.members()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members[:2] {
		var b bytes.Buffer
		if err := m.write(&b); err != nil || !bytes.Contains(file, b.Bytes()) ||
			uint64(b.Len()) != m.size {
			t.Errorf("%s (%v): not the bytes that numpy writes: %q", m.name, err, b.Bytes())
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		change func(m *Model)
		want   string
	}{
		{"one class", func(m *Model) { m.Q = 1 }, "1 classes 2"},
		{"no column", func(m *Model) { m.D, m.W = 0, nil }, "0 columns"},
		{"negative", func(m *Model) { m.Q, m.D = -3, -5 }, "-3 classes"},
		{"short W", func(m *Model) { m.W = m.W[:14] }, "W 14 3×5"},
		{"overflow", func(m *Model) { m.D, m.W = math.MaxInt/3*2+3, m.W[:3] }, "W 3"},
		{"long confusion", func(m *Model) { m.Confusion = append(m.Confusion, 0) },
			"confusion 10 3×3"},
		{"NaN in W", func(m *Model) { m.W[7] = float32(nan) }, `W NaN "<=50K & \"more\"" 2`},
		{"Inf in W", func(m *Model) { m.W[14] = float32(-inf) }, "-Inf weight"},
		{"NaN in confusion", func(m *Model) { m.Confusion[5] = nan },
			"confusion NaN 1 2"},
		{"classes", func(m *Model) { m.Meta.Classes = []string{"a", "b"} },
			"classes 2 3"},
		{"no classes", func(m *Model) { m.Meta.Classes = nil }, "classes 0 2"},
		{"no probability", func(m *Model) { m.Confusion[0] = 7 }, "confusion 7 0 probability"},
		{"twice", func(m *Model) { m.Meta.Classes[2] = "a" }, `classes "a" twice 0 2`},
		{"not UTF-8", func(m *Model) { m.Meta.Classes[2] = "\xe9" }, `classes "\xe9" UTF-8`},
		{"device not UTF-8", func(m *Model) { m.Meta.Device.Driver = "\xff" }, "UTF-8"},
		{"feature not UTF-8", func(m *Model) { m.Meta.Features.Names[0] = "\xff" }, "UTF-8"},
		{"no features", func(m *Model) { m.Meta.Features.Count = 0 }, "features 0"},
		{"feature names", func(m *Model) { m.Meta.Features.Count = 5 },
			"features 4 5"},
		{"temperature", func(m *Model) { m.Meta.Temperature = -1 },
			"temperature -1 float32"},
		{"temperature NaN", func(m *Model) { m.Meta.Temperature = float32(nan) },
			"temperature NaN"},
		{"subnormal temperature", func(m *Model) { m.Meta.Temperature = 1e-40 },
			"temperature 1e-40"},
		{"infinite temperature", func(m *Model) { m.Meta.Temperature = float32(inf) },
			"temperature +Inf"},
		{"state: steps", func(m *Model) { m.State.Steps = 8 }, "state 8 7"},
		{"state: last", func(m *Model) { m.State.Last = m.State.Last[1:] },
			"last.npy 14 3×5"},
		{"state: sum", func(m *Model) { m.State.Sum = m.State.Sum[1:] },
			"sum.npy 14 3×5"},
		{"state: counts", func(m *Model) { m.State.Counts = m.State.Counts[1:] },
			"counts.npy 8 3×3"},
		{"state: NaN", func(m *Model) { m.State.Last[2] = float32(nan) },
			"last.npy NaN 2"},
		{"state: infinite sum", func(m *Model) { m.State.Sum[2] = inf },
			"sum.npy +Inf 2"},
		{"state: negative count", func(m *Model) { m.State.Counts[4] = -1 },
			"counts.npy -1 4"},
		{"infinite condition", func(m *Model) { m.Meta.Condition = inf }, "json +Inf"},
		{"parameters", func(m *Model) { m.Meta.Parameters = json.RawMessage(`{"alpha":NaN}`) }, "json"},
		{"width", func(m *Model) { m.Meta.Preparation.Steps.Bias = false },
			"preparation 4 5"},
		{"features", func(m *Model) { m.Meta.Preparation.D = 5 },
			"preparation 5 4"},
		{"factors", func(m *Model) { m.Meta.Preparation.A = make([]float32, 3) },
			"preparation 3 4 4"},
		{"factors and offsets", func(m *Model) {
			m.Meta.Preparation.A,
				m.Meta.Preparation.B = make([]float32, 3), make([]float32, 3)
		}, "preparation 3 3"},
		{"needless factors", func(m *Model) { m.Meta.Preparation.Steps.Standardize = false },
			"preparation 4"},
		{"no factors", func(m *Model) { m.Meta.Preparation.A, m.Meta.Preparation.B = nil, nil },
			"preparation 0"},
		{"NaN factor", func(m *Model) { m.Meta.Preparation.B[1] = float32(nan) },
			"preparation v·1e-45 NaN 1"},
		{"two column maps", func(m *Model) { m.Meta.Preparation.Steps.MaxAbs = true },
			"standardize maxabs"},
	} {
		m := sample()
		m.State = &State{Steps: 7, Last: make([]float32, 15), Sum: make([]float64, 15),
			Counts: make([]int64, 9)}
		c.change(m)
		var b bytes.Buffer
		err := m.Write(&b)
		if !facts.Told(err, c.want) || b.Len() != 0 {
			t.Errorf("%s: error %v after %d bytes, want %q after none", c.name, err, b.Len(), c.want)
		}
	}
}

func TestTooLargeForZip(t *testing.T) {
	if err := checkSize([]member{{size: maxFile - 1}, {size: 1}}); err != nil {
		t.Error(err)
	}
	if err := checkSize([]member{{size: maxFile}, {size: 1}}); !facts.Told(err, "fewer features") {
		t.Errorf("error %v, want one that says to use fewer features", err)
	}
}
