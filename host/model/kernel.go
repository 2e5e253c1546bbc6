package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
)

// Kernel describes a kernel PCA: the numbers are in Projection.
type Kernel struct {
	Function kernel.Function `json:"function"`
	// Landmarks is m, Components D.
	Landmarks  int `json:"landmarks"`
	Components int `json:"components"`
	// Explained is the share of the variance in feature space that the components have.
	Explained float64 `json:"explained"`
	// Preparation is what is applied to the D components.
	Preparation dataset.Preparation `json:"preparation"`
	// Examples is, of components that are means of classes, how many examples each is the mean of;
	// none of others.
	Examples []int64 `json:"examples,omitempty"`
}

func (k *Kernel) check() error {
	if err := k.Function.Check(); err != nil {
		return err
	}
	if k.Landmarks < 1 || k.Components < 1 {
		return fmt.Errorf("found %d landmarks and %d components, wanted at least 1 of each", k.Landmarks,
			k.Components)
	}
	if n := len(k.Examples); n != 0 && n != k.Components || n != 0 && slices.Min(k.Examples) < 0 {
		return fmt.Errorf("examples: found %d, wanted one for each of %d means, or none", k.Examples,
			k.Components)
	}
	if !finite(k.Explained) {
		return fmt.Errorf("explained: found %v, wanted a share of variance", k.Explained)
	}
	if err := checkPreparation(&k.Preparation, k.Components, "the components"); err != nil {
		return fmt.Errorf("preparation: %w", err)
	}
	return nil
}

// Projection is the numbers of a kernel PCA: component t of a prepared example x is
// Σ_l κ(x, landmark_l)·Axes[t*m+l] + Offset[t].
type Projection struct {
	Landmarks dataset.Examples // m × the columns that the preparation gives
	Axes      []float32        // D×m, row-major
	Offset    []float32        // D
}

// describe returns what a file keeps of k. It shares k's numbers.
func describe(k *pca.Map) (Kernel, *Projection) {
	b := k.Basis
	return Kernel{
			Function: b.Function, Landmarks: b.Landmarks.N, Components: b.Axes.Q,
			Explained: b.Explained, Preparation: *k.Preparation,
		},
		&Projection{Landmarks: b.Landmarks, Axes: b.Axes.W, Offset: b.Offset}
}

// newMap is the opposite of describe. Of the basis it has what projects, and Explained.
func newMap(k *Kernel, p *Projection) *pca.Map {
	b := &pca.Basis{Explained: k.Explained}
	b.Projection = engine.Projection{
		Function: k.Function, Landmarks: p.Landmarks,
		Axes: engine.Weights{Q: k.Components, D: k.Landmarks, W: p.Axes}, Offset: p.Offset,
	}
	return &pca.Map{Basis: b, Preparation: &k.Preparation}
}

// The members that hold a Projection: dense landmarks, or sparse ones.
const (
	landmarksName = "landmarks.npy"
	startsName    = "landmark_starts.npy"
	columnsName   = "landmark_columns.npy"
	valuesName    = "landmark_values.npy"
	axesName      = "axes.npy"
	offsetName    = "offset.npy"
)

// check compares p with what k and the preparation before it, of width columns, say.
func (p *Projection) check(k *Kernel, width int) error {
	if err := p.Landmarks.Check(); err != nil {
		return err
	}
	if p.Landmarks.N != k.Landmarks || p.Landmarks.D != width {
		return fmt.Errorf("found landmarks of shape %d×%d, wanted %d×%d", p.Landmarks.N, p.Landmarks.D,
			k.Landmarks, width)
	}
	if !isProduct(len(p.Axes), k.Components, k.Landmarks) || len(p.Offset) != k.Components {
		return fmt.Errorf("found %d numbers of axes and %d offsets, wanted %d×%d (components × "+
			"landmarks) and %d", len(p.Axes), len(p.Offset), k.Components, k.Landmarks, k.Components)
	}
	for _, part := range []struct {
		name    string
		numbers []float32
	}{{landmarksName, p.Landmarks.X}, {valuesName, p.Landmarks.Values}, {axesName, p.Axes},
		{offsetName, p.Offset}} {
		if err := checkNumbers(part.name, part.numbers); err != nil {
			return err
		}
	}
	return nil
}

func (p *Projection) members() []member {
	x, m, d := p.Landmarks, p.Landmarks.N, len(p.Offset)
	landmarks := []member{array(landmarksName, m, x.D, x.X)}
	if x.Sparse() {
		landmarks = []member{
			array(startsName, 1, m+1, x.Starts),
			array(columnsName, 1, len(x.Columns), x.Columns),
			array(valuesName, 1, len(x.Values), x.Values),
		}
	}
	return append(landmarks, array(axesName, d, m, p.Axes), array(offsetName, 1, d,
		p.Offset))
}

// readProjection reads the members of a projection whose landmarks have width columns.
func readProjection(a *contents, width int) *Projection {
	p := &Projection{}
	x := &p.Landmarks
	if a.has(landmarksName) {
		x.N, x.D, x.X = numbers[float32](a, landmarksName)
	} else {
		var n int
		_, n, x.Starts = numbers[int64](a, startsName)
		_, _, x.Columns = numbers[int32](a, columnsName)
		_, _, x.Values = numbers[float32](a, valuesName)
		x.N, x.D = n-1, width
	}
	_, _, p.Axes = numbers[float32](a, axesName)
	_, _, p.Offset = numbers[float32](a, offsetName)
	return p
}

var errNoProjection = errors.New("found kernel PCA without the numbers of its projection, or " +
	"these without it")
