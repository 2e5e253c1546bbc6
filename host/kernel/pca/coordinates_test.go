package pca

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// TestCoordinates: coordinates are a rotation of all principal components, so that distances are
// the same; every engine finds the same bits, from dense and from sparse examples.
func TestCoordinates(t *testing.T) {
	x := dataset.Examples{N: 400, D: 5, X: make([]float32, 400*5)}
	for i := range x.X { // of sizes so different that sums in another order have other bits
		x.X[i] = float32(math.Sin(float64(i*i))*math.Exp(float64(i/x.D%37)/4)) / 100
	}
	for _, o := range []Options{
		{Function: kernel.Function{Kind: kernel.RBF, Gamma: 20}, Landmarks: 300},
		{Function: kernel.Function{Kind: kernel.RBF, Gamma: 200}, Landmarks: 400, Seed: 2},
		{Function: kernel.Function{Kind: kernel.Poly, Gamma: 1, Coef0: 1, Degree: 2}, Landmarks: 50},
	} {
		coordinates := o
		coordinates.Coordinates = true
		m, z, err := FitMap(t.Context(), simd.New(), x, coordinates, dataset.Steps{})
		if err != nil {
			t.Fatal(err)
		}
		if o.Landmarks == x.N {
			o.Landmarks--
		}
		o.Components = o.MostComponents(x.N, x.D)
		b := m.Basis
		if needed, err := Bytes(x, coordinates); err != nil || b.Axes.Q+b.DroppedLandmarks !=
			coordinates.Landmarks || b.Axes.Q > coordinates.MostComponents(x.N, x.D) ||
			needed > 40<<10*int64(o.Landmarks) {
			t.Errorf("%+v: %d coordinates, %d bytes, %v", o, b.Axes.Q, needed, err)
		}
		for _, e := range []*engine.Engine{cpuref.New(), simd.New()} {
			for _, x := range []dataset.Examples{x, x.Compressed()} {
				again, y, err := FitMap(t.Context(), e, x, coordinates, dataset.Steps{})
				if err != nil {
					t.Fatal(err)
				}
				again.Basis.Landmarks, again.Basis.Rows = b.Landmarks, b.Rows
				if !reflect.DeepEqual(again.Basis, b) || !reflect.DeepEqual(y.X, z.X) {
					t.Errorf("%s, sparse %v: other bits", e.Device().ID, x.Sparse())
				}
			}
		}
		if !(b.Explained > 0.5 && b.Explained < 1+1e-4) {
			t.Errorf("%+v: %v of the squared lengths", o, b.Explained)
		}
		if coordinates.Landmarks != o.Landmarks {
			continue // the components are of other landmarks
		}
		components, c, err := FitMap(t.Context(), simd.New(), x, o, dataset.Steps{})
		if err != nil {
			t.Fatal(err)
		}
		if components.Basis.Axes.Q > b.Axes.Q {
			t.Errorf("%+v: %d coordinates, %d components", o, b.Axes.Q, components.Basis.Axes.Q)
		}
		distance := func(z dataset.Examples, i, j int) (sum float64) {
			for k, v := range z.Row(i) {
				d := float64(v) - float64(z.Row(j)[k])
				sum += d * d
			}
			return sum
		}
		largest, furthest := 0.0, 0.0
		for i := range x.N {
			for j := range i {
				d := distance(c, i, j)
				largest = max(largest, d)
				furthest = max(furthest, math.Abs(d-distance(z, i, j)))
			}
		}
		if furthest > 1e-3*largest {
			t.Errorf("%+v: squared distances of up to %v differ by %v", o, largest, furthest)
		}
	}
}

// TestCoordinatesErrors: coordinates are of landmarks alone, and their plan keeps the limit.
func TestCoordinatesErrors(t *testing.T) {
	x := dataset.Examples{N: 4, D: 1, X: []float32{1, 2, 3, 4}}
	for name, o := range map[string]Options{
		"components":   {Landmarks: 2, Components: 2},
		"no landmarks": {},
	} {
		o.Function, o.Coordinates = rbf, true
		if _, err := Fit(t.Context(), simd.New(), x, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v, want %v", name, err, ErrOptions)
		}
	}
}
