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

// Kernel describes a kernel PCA: the numbers are in Model.Projection.
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

// describe returns what meta.json says of k, and its numbers, which it shares.
func describe(k *pca.Map) (Kernel, *engine.Projection) {
	b := k.Basis
	return Kernel{Function: b.Function, Landmarks: b.Landmarks.N, Components: b.Axes.Q,
		Explained: b.Explained, Preparation: *k.Preparation}, &b.Projection
}

// newMap is the opposite of describe. Of the basis it has what projects, and Explained.
func newMap(k *Kernel, p *engine.Projection) *pca.Map {
	return &pca.Map{Basis: &pca.Basis{Projection: *p, Explained: k.Explained},
		Preparation: &k.Preparation}
}

// The members that hold a projection: dense landmarks, or sparse ones.
const (
	landmarksName = "landmarks.npy"
	startsName    = "landmark_starts.npy"
	columnsName   = "landmark_columns.npy"
	valuesName    = "landmark_values.npy"
	axesName      = "axes.npy"
	offsetName    = "offset.npy"
)

// checkProjection compares p with what k and the preparation before it, of width columns, say.
func checkProjection(p *engine.Projection, k *Kernel, width int) error {
	if err := p.Landmarks.Check(); err != nil {
		return err
	}
	if p.Landmarks.N != k.Landmarks || p.Landmarks.D != width {
		return fmt.Errorf("found landmarks of shape %d×%d, wanted %d×%d", p.Landmarks.N, p.Landmarks.D,
			k.Landmarks, width)
	}
	if p.Axes.Q != k.Components || p.Axes.D != k.Landmarks || len(p.Offset) != k.Components ||
		!isProduct(len(p.Axes.W), k.Components, k.Landmarks) {
		return fmt.Errorf("found %d numbers of axes and %d offsets, wanted %d×%d (components × "+
			"landmarks) and %d", len(p.Axes.W), len(p.Offset), k.Components, k.Landmarks, k.Components)
	}
	for _, part := range []struct {
		name    string
		numbers []float32
	}{{landmarksName, p.Landmarks.X}, {valuesName, p.Landmarks.Values}, {axesName, p.Axes.W},
		{offsetName, p.Offset}} {
		if err := checkNumbers(part.name, part.numbers); err != nil {
			return err
		}
	}
	return nil
}

func projectionMembers(p *engine.Projection) []member {
	x, m, d := p.Landmarks, p.Landmarks.N, len(p.Offset)
	landmarks := []member{array(landmarksName, m, x.D, x.X)}
	if x.Sparse() {
		landmarks = []member{
			array(startsName, 1, m+1, x.Starts),
			array(columnsName, 1, len(x.Columns), x.Columns),
			array(valuesName, 1, len(x.Values), x.Values),
		}
	}
	return append(landmarks, array(axesName, d, m, p.Axes.W), array(offsetName, 1, d, p.Offset))
}

// readProjection reads the members of a projection that k describes, whose landmarks have width
// columns.
func readProjection(a *contents, k *Kernel, width int) *engine.Projection {
	p := &engine.Projection{Function: k.Function}
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
	p.Axes.Q, p.Axes.D, p.Axes.W = numbers[float32](a, axesName)
	_, _, p.Offset = numbers[float32](a, offsetName)
	return p
}

var errNoProjection = errors.New("found kernel PCA without the numbers of its projection, or " +
	"these without it")
