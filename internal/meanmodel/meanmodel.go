// Package meanmodel compresses models with a kernel map.
package meanmodel

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

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
