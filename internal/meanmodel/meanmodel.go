// Package meanmodel combines and compresses models with a kernel map, and returns their margins.
package meanmodel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/means"
	"github.com/uma-gpu/uma-gpu/internal/setting"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

// ErrCombine marks models that Combine cannot combine.
var ErrCombine = errors.New("the models cannot be combined")

// Combine returns the model of all examples, given models of learner kernelmean, with a kernel
// function, of parts of them (Lemma 22 of its paper; see means.Combine). If every example of a
// part is an atom of its model, it is the model of all to the bit, but for meta.json: the hash of
// the data, the estimated error and the temperature are left out. Models must agree in classes,
// features, preparation, kernel function, C, and in what their classes weigh; else the error is
// ErrCombine.
func Combine(models []*model.Model) (*model.Model, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("%w: found none, wanted one at least", ErrCombine)
	}
	first := models[0]
	var parts []engine.Projection
	var sizes [][]int64
	var learner *kernelmean.Params
	for i, m := range models {
		p, err := meanModel(m)
		if err == nil && i > 0 {
			err = agree(first, m, p.Balanced == learner.Balanced)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: model %d: %w", ErrCombine, i+1, err)
		}
		learner = p
		parts = append(parts, m.Map().Basis.Projection)
		sizes = append(sizes, m.Meta.Kernel.Examples)
	}
	inverse, err := inverseOf(first)
	if err != nil {
		return nil, err
	}
	whole, all, err := means.Combine(parts, sizes)
	if err != nil {
		return nil, err
	}
	m := *first
	kernel := *first.Meta.Kernel
	kernel.Landmarks, kernel.Examples = whole.Landmarks.N, all
	m.Meta.Kernel, m.W = &kernel, learner.Unmix(inverse, all).W
	m.Meta.DataSHA256, m.Meta.EstimatedError, m.Meta.Temperature, m.Meta.TemperatureFolds = "", nil, 0,
		0
	m.Projection = &model.Projection{Landmarks: whole.Landmarks, Axes: whole.Axes.W,
		Offset: make([]float32, m.Q)}
	return &m, nil
}

// meanModel returns the parameters of a model of kernel means.
func meanModel(m *model.Model) (*kernelmean.Params, error) {
	p, err := catalog.Parse(m.Meta.Learner, m.Meta.Parameters)
	if err != nil {
		return nil, err
	}
	mean, ok := p.(*kernelmean.Params)
	switch {
	case !ok || m.Projection == nil:
		return nil, fmt.Errorf("found one of learner %s, kernel map %v, wanted learner kernelmean and a "+
			"kernel map", m.Meta.Learner, m.Projection != nil)
	case m.Meta.Kernel.Examples == nil:
		return nil, errors.New("found one that does not say of how many examples its means are: it was " +
			"compressed, or is of an older version; train it again, and compress what was combined")
	case m.State != nil:
		return nil, fmt.Errorf("found a training that had not ended, wanted a model; end the "+
			"training (%s)", setting.Spell("resume", ""))
	}
	return mean, nil
}

// agree says in what the models of two parts differ.
func agree(a, b *model.Model, balanced bool) error {
	ka, kb := a.Meta.Kernel, b.Meta.Kernel
	for _, c := range []struct {
		what string
		same bool
	}{
		{"classes", slices.Equal(a.Meta.Classes, b.Meta.Classes)},
		{"features", reflect.DeepEqual(a.Meta.Features, b.Meta.Features)},
		{"a preparation (" + setting.Spell("normalize", "none") + " has none; or prepare the data " +
			"before they are split)", reflect.DeepEqual(a.Meta.Preparation, b.Meta.Preparation)},
		{"a kernel function (" + setting.Spell("gamma", "") + ")", ka.Function == kb.Function && ka.Cosine == kb.Cosine},
		{"a confusion matrix", slices.Equal(a.Confusion, b.Confusion) &&
			a.Meta.Inverse == b.Meta.Inverse},
		{"weights of classes (" + setting.Spell("balanced", "") + ")", balanced},
		{"a numerics contract", a.Meta.ContractVersion == b.Meta.ContractVersion},
	} {
		if !c.same {
			return fmt.Errorf("found %s other than the first model's, wanted the same", c.what)
		}
	}
	return nil
}

// inverseOf returns the C⁻¹ by which m was trained.
func inverseOf(m *model.Model) (*confusion.Inverse, error) {
	if m.Confusion == nil {
		return confusion.NoNoise(m.Q), nil
	}
	return (&confusion.Matrix{Classes: m.Meta.Classes, P: m.Confusion,
		Inversion: m.Meta.Inverse}).Invert()
}

// Compress returns m folded (see model.Fold) and, for atoms above 0, with that number of landmarks
// at most, chosen and weighed by means.Compress, and what that says of the error; nil for 0, which
// keeps all landmarks. m must come from a training that had ended. Errors: model.ErrFold, and
// those of means.Compress.
func Compress(ctx context.Context, e engine.Engine, m *model.Model, atoms int,
) (*model.Model, *means.Compressed, error) {
	folded, err := m.Fold()
	if err != nil || atoms == 0 {
		return folded, nil, err
	}
	c, err := means.Compress(ctx, e, folded.Map().Basis.Projection, atoms)
	if err != nil {
		return nil, nil, err
	}
	k := *folded.Meta.Kernel
	k.Landmarks = c.Landmarks.N
	folded.Meta.Kernel = &k
	folded.Projection = &model.Projection{Landmarks: c.Landmarks, Axes: c.Axes.W, Offset: c.Offset}
	if len(c.Offset) == 0 {
		folded.Projection.Offset = make([]float32, folded.Q)
	}
	return folded, c, nil
}
