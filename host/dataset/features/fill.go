package features

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Fill enters the features that e makes of t in d, with their names. storage is "dense", "sparse",
// or "auto" (same as ""): sparse for texts, or if fewer than one value in eight is other than +0.
// The notes are Encode's.
func Fill(ctx context.Context, d *dataset.Dataset, t *dataset.Table, e *dataset.Encoding,
	storage string) (notes []string, err error) {
	x := dataset.Examples{N: t.N, D: e.Width(), Starts: make([]int64, 1, t.N+1)}
	if x.D == 0 {
		return nil, fmt.Errorf("%s: no column becomes a feature", d.Path)
	}
	row := 0 // the most values of one, but for texts
	for k := range e.Columns {
		if kind := e.Columns[k].Kind; kind == dataset.KindNumber || kind == dataset.KindCategory {
			row += 1 + len(e.Columns[k].Knots)
		}
	}
	x.Columns, x.Values = make([]int32, 0, t.N*row), make([]float32, 0, t.N*row)
	if notes, err = Encode(ctx, t, e, func(columns []int32, values []float32) error {
		x.Columns, x.Values = append(x.Columns, columns...), append(x.Values, values...)
		x.Starts = append(x.Starts, int64(len(x.Values)))
		return nil
	}); err != nil {
		return notes, err
	}
	if storage == "dense" || storage != "sparse" && !e.HasText() && !SparseIsBetter(len(x.Values), x.N,
		x.D) {
		what := fmt.Sprintf("dense storage of %d examples × %d features", x.N, x.D)
		if err := memory.Check(memory.Product(x.N, x.D, 4), what); err != nil {
			return notes, err
		}
		x = x.Dense()
	}
	d.Examples, d.Encoding, d.Features = x, e, e.FeatureNames()
	return notes, nil
}

// SparseIsBetter is the rule of storage "auto".
func SparseIsBetter(stored, n, d int) bool { return 8*float64(stored) < float64(n)*float64(d) }
