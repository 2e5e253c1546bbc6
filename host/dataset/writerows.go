package dataset

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// rowsOf is WriteOptions.Rows.
type rowsOf func(dst []float32, first int) error

// rowsBlock is how many values are asked for at once.
const rowsBlock = 1 << 20

// checkShape refuses to write made rows of d at path.
func (d *Dataset) checkShape(path string, f format) error {
	if d.X != nil || d.Sparse() || d.N < 1 || d.D < 1 || f.name != "binary" {
		return fmt.Errorf("%s: asked to write made rows of %d×%d examples with %d values in memory as "+
			"%s, wanted a "+
			"binary file (.umab) of dense examples that are made alone", path, d.N, d.D, d.Size(), f.name)
	}
	if memory.Product(d.N, d.D, 4) > math.MaxInt64/2 {
		return fmt.Errorf("%s: %d examples × %d columns are beyond the address space", path, d.N, d.D)
	}
	return d.checkAbout()
}

// eachBlock calls f with all rows that rows makes, some at a time, and the first of them.
func (d *Dataset) eachBlock(ctx context.Context, rows rowsOf, f func(first int,
	block []float32) error) error {
	most := max(1, rowsBlock/d.D)
	if err := memory.Check(memory.Product(min(most, d.N), d.D, 4), "some rows to write"); err != nil {
		return err
	}
	block := make([]float32, min(most, d.N)*d.D)
	for first := 0; first < d.N; first += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := block[:min(most, d.N-first)*d.D]
		if err := rows(some, first); err != nil {
			return err
		}
		if err := f(first, some); err != nil {
			return err
		}
	}
	return nil
}

// hashMade is hash of made rows. Each value must be finite.
func (d *Dataset) hashMade(ctx context.Context, rows rowsOf) (string, error) {
	sums, h := d.blockSums(), newHasher()
	raw := store.Bytes(sums)
	_, task := progress.Begin(ctx, hashing(d.N))
	defer task.End()
	err := d.eachBlock(ctx, rows, func(first int, some []float32) error {
		for i := first; len(some) > 0; i++ {
			row := some[:d.D]
			some = some[d.D:]
			if j := firstNotFinite(row); j >= 0 {
				return notFinite(i+1, j+1, row[j])
			}
			if i%store.MostRows == 0 {
				d.beginBlock(h, i, min(i+store.MostRows, d.N))
			}
			columns, values := h.storedOf(row)
			h.row(columns, values, d.D)
			if (i+1)%store.MostRows == 0 || i+1 == d.N {
				h.flush()
				at := i / store.MostRows * sha256.Size
				h.Sum(raw[at:at])
				task.Reach(int64(i))
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return d.hashOf(sums), nil
}

// Rows gives the examples that Apply would return, of dense ones, to WriteOptions.Rows: of Width()
// columns, and without a copy of all of them. Errors are as of Apply.
func (p *Preparation) Rows(e Examples) (func(dst []float32, first int) error, error) {
	if err := p.checkFor(e.Stored()); err != nil {
		return nil, err
	}
	if e.Sparse() {
		return nil, fmt.Errorf("normalization %s: found sparse examples, wanted dense ones to prepare "+
			"row by row", p.Steps)
	}
	return func(dst []float32, first int) error {
		n := len(dst) / p.Width()
		return p.rows(Examples{N: n, D: p.Width(), X: dst}, nil, e.X[first*e.D:(first+n)*e.D], first,
			false)
	}, nil
}

// rows makes out, dense, and enters codes unless they are nil, of the raw examples in raw, which
// lie one behind the other; first is the number of the first of them. If raw lies in a mapped
// file, or is lost, its pages are given back as they are read.
func (p *Preparation) rows(out Examples, codes *store.Codes, raw []float32, first int,
	lost bool) error {
	parts := parallel.Workers(out.N, 64)
	bad := make([]int, parts) // per part: index in X + 1 of its first value that is not finite
	parallel.Cut(out.N, parts, func(part, from, to int) {
		read := store.Once(raw, from*p.D, lost)
		scale := make([]float32, 8) // of the rows that are prepared together
		for i := from; i < to && bad[part] == 0; i += len(scale) {
			scale := scale[:min(len(scale), to-i)]
			src := func(k int) []float32 { return raw[(i+k)*p.D:][:p.D] }
			for k := range scale {
				p.mapColumns(out.Row(i+k), src(k))
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
			return p.unfinite(first+(at-1)/out.D, (at-1)%out.D, out.X[at-1])
		}
	}
	return nil
}
