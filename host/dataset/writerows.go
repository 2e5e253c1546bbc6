package dataset

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// rowsOf is WriteOptions.Rows.
type rowsOf func(dst []float32, first int) error

// rowsBlock is how many values are asked for at once.
const rowsBlock = 1 << 20

// checkShape refuses to write made rows of d at path.
func (d *Dataset) checkShape(path string, f format) error {
	if d.X != nil || d.Sparse() || d.N < 1 || d.D < 1 || f.name != "binary" {
		return fmt.Errorf("%s: asked to write made rows of %d×%d examples, of which %d values are there, as %s, wanted a "+
			"binary file (.umab) of dense examples that are made alone", path, d.N, d.D, d.Stored(), f.name)
	}
	if memory.Product(d.N, d.D, 4) > math.MaxInt64/2 {
		return fmt.Errorf("%s: %d examples × %d columns are beyond the address space", path, d.N, d.D)
	}
	return d.checkAbout()
}

// eachBlock calls f with all rows that rows makes, some at a time, and the first of them.
func (d *Dataset) eachBlock(ctx context.Context, rows rowsOf, f func(first int, block []float32) error) error {
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

// hashBlocks is hash of made rows, each value of which has to be finite.
func (d *Dataset) hashBlocks(ctx context.Context, rows rowsOf) (string, error) {
	h := d.hasher()
	_, task := progress.Begin(ctx, hashing(d.N))
	defer task.End()
	err := d.eachBlock(ctx, rows, func(first int, block []float32) error {
		for at := 0; at < len(block); at += d.D {
			row := block[at : at+d.D]
			if j := firstNotFinite(row); j >= 0 {
				return notFinite(first+at/d.D+1, j+1, row[j])
			}
			h.dense(row)
		}
		task.Reach(int64(first + len(block)/d.D))
		return nil
	})
	if err != nil {
		return "", err
	}
	return h.end(), nil
}

// Rows gives the examples that Apply would return, of dense ones, to WriteOptions.Rows: of Width() columns, and without
// a copy of all of them. The errors are those of Apply.
func (p *Preparation) Rows(e Examples) (func(dst []float32, first int) error, error) {
	if err := p.checkFor(e); err != nil {
		return nil, err
	}
	if e.Sparse() {
		return nil, fmt.Errorf("normalization %s: found sparse examples, wanted dense ones to prepare row by row", p.Steps)
	}
	return func(dst []float32, first int) error {
		return p.rows(Examples{N: len(dst) / p.Width(), D: p.Width(), X: dst}, e, first, func(int, float32) {})
	}, nil
}

// rows prepares as many dense examples of e, from first on, as out has, and calls with with each, counted as in e,
// and what has scaled it. They are those of this rank.
func (p *Preparation) rows(out, e Examples, first int, with func(i int, scale float32)) error {
	parts := parallel.Workers(out.N, 64)
	bad := make([]int, parts) // per part: index in X + 1 of its first value that is not finite
	parallel.Cut(out.N, parts, func(part, from, to int) {
		for i := from; i < to && bad[part] == 0; i++ {
			scale, j := p.row(out.Row(i), e.Row(first+i))
			if j >= 0 {
				bad[part] = i*out.D + j + 1
			}
			with(first+i, scale)
		}
	})
	for _, at := range bad { // parts are in the order of the examples
		if at > 0 {
			return p.unfinite(first+(at-1)/out.D, (at-1)%out.D, out.X[at-1])
		}
	}
	return nil
}
