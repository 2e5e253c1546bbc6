package host

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
)

// KernelMap makes of prepared examples the ones that a linear learner sees: their kernel
// principal components, prepared once more (Section 3.6 of the paper).
type KernelMap struct {
	Basis       *kernelpca.Basis
	Preparation *dataset.Preparation // of the components
}

// FitKernelMap fits a map to prepared examples x, and returns it with what it makes of
// them. Errors: those of kernelpca.Fit, Engine.Project, dataset.Fit and Apply.
func FitKernelMap(e engine.Engine, x dataset.Examples, o kernelpca.Options, steps dataset.Steps) (*KernelMap, dataset.Examples, error) {
	k := &KernelMap{}
	var err error
	if k.Basis, err = kernelpca.Fit(e, x, o); err != nil {
		return nil, dataset.Examples{}, err
	}
	z, err := k.components(e, x)
	if err != nil {
		return nil, dataset.Examples{}, err
	}
	if k.Preparation, err = dataset.Fit(steps, z); err != nil {
		return nil, dataset.Examples{}, err
	}
	z, err = k.Preparation.Apply(z)
	return k, z, err
}

// Apply returns what a learner sees of prepared examples x, dense, x.N × Width.
func (k *KernelMap) Apply(e engine.Engine, x dataset.Examples) (dataset.Examples, error) {
	z, err := k.components(e, x)
	if err != nil {
		return z, err
	}
	return k.Preparation.Apply(z)
}

func (k *KernelMap) components(e engine.Engine, x dataset.Examples) (dataset.Examples, error) {
	z := dataset.Examples{N: x.N, D: k.Basis.Axes.Q}
	z.X = make([]float32, z.N*z.D)
	return z, k.Basis.Project(e, z.X, x)
}

// blockValues is how many components are held at a time when many examples are
// predicted.
const blockValues = 1 << 25

// Predict is the function Predict for weights of mapped examples. It maps a block of
// examples at a time, so that their components need not all find room.
func (k *KernelMap) Predict(e engine.Engine, w engine.Weights, x dataset.Examples) ([]int32, error) {
	classes := make([]int32, 0, x.N)
	size := max(1, blockValues/w.D)
	for from := 0; from < x.N; from += size {
		z, err := k.Apply(e, x.Part(from, min(from+size, x.N)))
		if err != nil {
			return nil, err
		}
		block, err := Predict(e, w, z)
		if err != nil {
			return nil, err
		}
		classes = append(classes, block...)
	}
	return classes, nil
}
