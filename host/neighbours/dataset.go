package neighbours

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// OfDataset returns the neighbours of each of some examples of a data set among these, at most k:
// of sparse ones by the angle between them, else by the distance, with numbers of a table in one
// unit. d is raw or prepared, and only read. Errors come from Of and the preparation.
func OfDataset(ctx context.Context, e *engine.Engine, d *dataset.Dataset, some []int, k int,
) (*Graph, error) {
	x, metric, err := measured(d, some)
	if err != nil {
		return nil, err
	}
	return Of(ctx, e, x, min(k, x.N-1), metric)
}

// measured returns some examples as the distances between them are measured, and how.
func measured(d *dataset.Dataset, some []int) (x dataset.Examples, metric string, err error) {
	part := *d
	part.Examples = d.Pick(some)
	part.Home, part.SHA256 = nil, ""
	if metric = Euclidean; part.Sparse() {
		metric = Cosine
	}
	// of sparse examples only the numbers beside categories or texts, whose units would decide alone
	if part.Prepared == nil && (metric == Euclidean || !part.Encoding.Plain()) {
		err = features.Prepare(&part, dataset.Steps{Standardize: true}, dataset.InPlace)
	}
	return part.Examples, metric, err
}

// Among returns the neighbours of each of some examples of a data set among all others, at most k,
// measured as OfDataset does.
func Among(ctx context.Context, e *engine.Engine, d *dataset.Dataset, some []int, k int,
) (*Graph, error) {
	all, metric, err := measured(d, lists.UpTo[int](d.N))
	if err != nil {
		return nil, err
	}
	if k = min(k, all.N-1); k < 1 || k > Most {
		return nil, fmt.Errorf("%w: got %d neighbours among %d examples, want 1 to %d", ErrInput, k,
			all.N, Most)
	}
	s := newSearch(e, &all, metric)
	s.near = newGraph(len(some), k)
	picked := all.Pick(some)
	for column := 0; column < picked.N; column += tileColumns {
		landmarks := picked.Part(column, min(column+tileColumns, picked.N))
		for row := 0; row < all.N; row += tileRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			part := all.Part(row, min(row+tileRows, all.N))
			dots, err := s.products(part, landmarks)
			if err != nil {
				return nil, err
			}
			parallel.Ranges(landmarks.N, 16, func(from, to int) {
				for c := from; c < to; c++ {
					for i := range part.N {
						if row+i != some[column+c] {
							s.near.put(column+c, row+i, s.distance(row+i, some[column+c], dots[i*landmarks.N+c]))
						}
					}
				}
			})
		}
	}
	return s.near, nil
}
