package features

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Rows gives the examples that Apply would return, of dense ones, to WriteOptions.Rows: of Width()
// columns, and without a copy of all of them. Errors are as of Apply.
func Rows(p *dataset.Preparation, e dataset.Examples) (func(dst []float32, first int) error,
	error) {
	if err := checkFor(p, e.Stored()); err != nil {
		return nil, err
	}
	if e.Sparse() {
		return nil, fmt.Errorf("normalization %s: found sparse examples, wanted dense ones to prepare "+
			"row by row", p.Steps)
	}
	return func(dst []float32, first int) error {
		n := len(dst) / p.Width()
		return applyRows(p, dataset.Examples{N: n, D: p.Width(), X: dst}, nil,
			e.X[first*e.D:(first+n)*e.D], first, false)
	}, nil
}

// applyRows makes out, dense, and enters codes unless they are nil, of the raw examples in raw,
// which lie one behind the other; first is the number of the first of them. If raw lies in a mapped
// file, or is lost, its pages are given back as they are read.
func applyRows(p *dataset.Preparation, out dataset.Examples, codes *store.Codes, raw []float32,
	first int, lost bool) error {
	parts := parallel.Workers(out.N, 64)
	bad := make([]int, parts) // per part: index in X + 1 of its first value that is not finite
	parallel.Cut(out.N, parts, func(part, from, to int) {
		read := store.Once(raw, from*p.D, lost)
		scale := make([]float32, 8) // of the rows that are prepared together
		for i := from; i < to && bad[part] == 0; i += len(scale) {
			scale := scale[:min(len(scale), to-i)]
			src := func(k int) []float32 { return raw[(i+k)*p.D:][:p.D] }
			for k := range scale {
				mapColumns(p, out.Row(i+k), src(k))
				scale[k] = 1
			}
			some := out.X[i*out.D : (i+len(scale))*out.D]
			if p.Steps.L2 {
				units(some, out.D, scale)
			}
			if j := firstNotFinite(some); j >= 0 {
				bad[part] = i*out.D + j + 1
			}
			if codes != nil {
				for k, r := range scale {
					codes.Enter(first+i+k, out.D, src(k), r)
				}
			}
			read.UpTo((i + len(scale)) * p.D)
		}
	})
	store.LetGo(store.Bytes(raw), lost) // what is less than a piece
	for _, at := range bad {            // parts are in the order of the examples
		if at > 0 {
			return unfinite(p, first+(at-1)/out.D, (at-1)%out.D, out.X[at-1])
		}
	}
	return nil
}
