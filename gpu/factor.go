//go:build linux && cgo && !noopencl

package gpu

import (
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// panelColumns is the number of rows of the second factor side by side in a panel of
// kernels/project.cl, COLUMNS there.
const panelColumns = 64

// factor is the second factor of a product: landmarks or axes. It is cut in pieces, each some
// panels by some columns; all are on the device if there is room, else one at a time.
type factor struct {
	rows, columns int
	row           func(buffer []float32, i int) []float32

	panels  int // of all rows
	pieces  []piece
	shared  *buffer[float32] // for one piece after the other; nil if each has its own
	present int              // which piece is in shared, or -1
}

// piece is panels panel..panel+panels-1 of columns from..to-1.
type piece struct {
	panel, panels, from, to int
	own                     *buffer[float32]
}

func (p piece) values() int { return p.panels * panelColumns * (p.to - p.from) }

// newFactor cuts a factor so that what is on the device takes at most budget bytes, and brings
// all of it there if it can.
func newFactor(o *buffers, what string, rows, columns int, budget, maxAlloc int64,
	row func([]float32, int) []float32) *factor {
	f := &factor{rows: rows, columns: columns, row: row, panels: (rows +
		panelColumns - 1) / panelColumns, present: -1}
	limit := min(maxAlloc, budget)
	width := columns
	if limit < 4*panelColumns*int64(columns) {
		width = min(columns, numerics.Chunk)
		n, err := fit(what, panelColumns*width, 4, limit)
		if o.note(err); err != nil {
			return f
		}
		width *= n
	}
	per := max(1, min(f.panels, int(limit/(4*panelColumns*int64(width)))))
	total := int64(0)
	for panel := 0; panel < f.panels; panel += per {
		for from := 0; from < columns; from += width {
			p := piece{panel: panel, panels: min(per, f.panels-panel), from: from, to: min(from+width,
				columns)}
			f.pieces = append(f.pieces, p)
			total += max(4*int64(p.values()), leastBuffer)
		}
	}
	if total > budget {
		f.shared = alloc[float32](o, what, f.pieces[0].values())
		return f
	}
	for k := range f.pieces {
		p := &f.pieces[k]
		p.own = upload(o, what, f.pack(*p))
	}
	return f
}

// each calls f with each piece where a kernel can read it, panel by panel and then by
// columns. ending is what becomes of a total after the last columns.
func (f *factor) each(ending int, launch func(b *buffer[float32], p piece,
	ending int) error) error {
	for k, p := range f.pieces {
		b := p.own
		if b == nil {
			b = f.shared
			if f.present != k {
				f.present = -1
				if err := b.write(0, f.pack(p)); err != nil {
					return err
				}
				f.present = k
			}
		}
		then := ending
		if p.to < f.columns {
			then = endNothing
		}
		if err := launch(b, p, then); err != nil {
			return err
		}
	}
	return nil
}

// pack returns a piece in the lay-out of kernels/project.cl.
func (f *factor) pack(p piece) []float32 {
	packed := make([]float32, p.values())
	width := p.to - p.from
	parallel.Ranges(p.panels, 1, func(from, to int) {
		buffer := make([]float32, f.columns)
		for panel := from; panel < to; panel++ {
			at := packed[panel*panelColumns*width:]
			first := (p.panel + panel) * panelColumns
			for c := range min(panelColumns, f.rows-first) {
				for j, v := range f.row(buffer, first+c)[p.from:p.to] {
					at[j*panelColumns+c] = v
				}
			}
		}
	})
	return packed
}
