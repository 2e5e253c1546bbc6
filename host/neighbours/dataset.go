package neighbours

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// OfDataset returns the neighbours of each of some examples of a data set among these, at most k:
// of sparse ones by the angle between them, else by the distance with all features in one unit. d
// is raw or prepared, and only read. Errors come from Of and the preparation.
func OfDataset(ctx context.Context, e *engine.Engine, d *dataset.Dataset, some []int, k int,
) (*Graph, error) {
	part := *d
	part.Examples = d.Pick(some)
	part.Home, part.SHA256 = nil, ""
	metric := Euclidean
	if part.Sparse() {
		metric = Cosine
	} else if part.Prepared == nil {
		err := features.Prepare(&part, dataset.Steps{Standardize: true}, dataset.InPlace)
		if err != nil {
			return nil, err
		}
	}
	return Of(ctx, e, part.Examples, min(k, part.N-1), metric)
}
