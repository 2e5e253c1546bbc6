package model

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// kernelSample is the sample model with kernel PCA of 3 landmarks and 4 components.
func kernelSample(sparse bool) *Model {
	m := sample()
	m.Meta.Kernel = &Kernel{
		Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.3}, Landmarks: 3, Components: 4,
		Explained:   0.75,
		Preparation: dataset.Preparation{Steps: dataset.Steps{Bias: true, L2: true}, D: 4},
	}
	m.Projection = &engine.Projection{Function: m.Meta.Kernel.Function,
		Landmarks: dataset.Examples{N: 3, D: 5}, Axes: engine.NewWeights(4, 3),
		Offset: []float32{1, -2, 3, 0.5}}
	for k := range m.Projection.Axes.W {
		m.Projection.Axes.W[k] = float32(k) - 5.5
	}
	x := &m.Projection.Landmarks
	if sparse {
		x.Starts, x.Columns, x.Values = []int64{0, 1, 1, 3}, []int32{4, 0, 2}, []float32{1, 2, -3}
	} else {
		for k := range 15 {
			x.X = append(x.X, float32(k*k))
		}
	}
	return m
}

func TestKernelRoundTrip(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		want := kernelSample(sparse)
		got, err := decode(encode(t, want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("sparse %v: %+v, %v, wanted %+v", sparse, got, err, want)
		}
		b := &Basis{FormatVersion: BasisVersion, ToolVersion: "v", Features: want.Meta.Features,
			Preparation: want.Meta.Preparation,
			Kernel:      *want.Meta.Kernel, Eigenvalues: []float64{3, 2, 1, 0.5}, Map: want.Map()}
		var file bytes.Buffer
		if err := b.Write(&file); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadBasis(file.Bytes()); err != nil || !reflect.DeepEqual(back, b) {
			t.Errorf("basis, sparse %v: %+v, %v, wanted %+v", sparse, back, err, b)
		}
		if _, err := decode(file.Bytes()); !facts.Told(err, "meta.json member") {
			t.Errorf("a basis read as a model: %v", err)
		}
	}
}

func TestKernelRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		change func(*Model)
		want   string
	}{
		{"no projection", func(m *Model) { m.Projection = nil }, "without numbers"},
		{"no kernel", func(m *Model) { m.Meta.Kernel = nil }, "without numbers"},
		{"gamma", func(m *Model) { m.Meta.Kernel.Function.Gamma = 0 },
			"kernel gamma 0"},
		{"kind", func(m *Model) { m.Meta.Kernel.Function.Kind = "sigmoid" }, `"sigmoid"`},
		{"axes", func(m *Model) { m.Projection.Axes.W = m.Projection.Axes.W[1:] }, "11 numbers"},
		{"offset", func(m *Model) { m.Projection.Offset[1] = nan }, "offset.npy NaN 1"},
		{"landmarks", func(m *Model) {
			m.Projection.Landmarks.D, m.Projection.Landmarks.X = 4,
				make([]float32, 12)
		}, "shape 3×4 3×5"},
		{"landmark values", func(m *Model) { m.Projection.Landmarks.X[3] = nan },
			"landmarks.npy NaN"},
		{"components", func(m *Model) { m.Meta.Kernel.Components = 0 }, "3 landmarks 0 components"},
		{"preparation", func(m *Model) { m.Meta.Kernel.Preparation.D = 3 },
			"3 features 4"},
		{"width", func(m *Model) { m.Meta.Kernel.Preparation.Steps.Bias = false },
			"4 columns 5"},
	} {
		m := kernelSample(false)
		c.change(m)
		var b bytes.Buffer
		if err := m.Write(&b); !facts.Told(err, c.want) || b.Len() > 0 {
			t.Errorf("%s: wrote %d bytes, %v; want …%s…", c.name, b.Len(), err, c.want)
		}
	}
}

func TestKernelReadRefuses(t *testing.T) {
	members, err := kernelSample(true).members()
	if err != nil {
		t.Fatal(err)
	}
	for k, m := range members {
		without := append(append([]member(nil), members[:k]...), members[k+1:]...)
		if _, err := decode(archive(t, without...)); err == nil || !strings.Contains(err.Error(),
			m.name) {
			t.Errorf("without %s: %v", m.name, err)
		}
	}
	if _, err := decode(archive(t, append(members, part("more.npy", "x"))...)); !facts.Told(err,
		`"more.npy"`) {
		t.Errorf("one member more: %v", err)
	}
	plain, err := sample().members()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(archive(t, append(plain, members[2])...)); !facts.Told(err, "member W.npy") {
		t.Errorf("a plain model with an array of a projection: %v", err)
	}
}

// FuzzKernelMembers: any contents of the members of a projection, past the check sums.
func FuzzKernelMembers(f *testing.F) {
	for _, sparse := range []bool{false, true} {
		members, err := kernelSample(sparse).members()
		if err != nil {
			f.Fatal(err)
		}
		for at := range members {
			var b bytes.Buffer
			if err := members[at].write(&b); err != nil {
				f.Fatal(err)
			}
			f.Add(sparse, uint8(at), b.String())
		}
	}
	f.Fuzz(func(t *testing.T, sparse bool, at uint8, text string) {
		members, err := kernelSample(sparse).members()
		if err != nil {
			t.Fatal(err)
		}
		k := int(at) % len(members)
		members[k] = part(members[k].name, text)
		readAgain(t, archive(t, members...))
	})
}

// A map that a model is given is the one that it gives back.
func TestMap(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		m := kernelSample(sparse)
		k := m.Map()
		if k.Basis.Width() != 4 || k.Preparation.Width() != m.D {
			t.Errorf("sparse %v: a map of %d components and %d columns, wanted 4 and %d",
				sparse, k.Basis.Width(), k.Preparation.Width(), m.D)
		}
		other := sample()
		if other.Map() != nil {
			t.Error("a model without kernel PCA has a map")
		}
		other.SetMap(k)
		if !reflect.DeepEqual(other, m) {
			t.Errorf("sparse %v: %+v, wanted %+v", sparse, other, m)
		}
	}
}
