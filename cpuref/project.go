package cpuref

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// projectTile is how many examples go through all landmarks together: it bounds the kernel
// values in memory, and makes a sparse landmark dense once for all of them.
const projectTile = 64

// Project: clause 13.
func (cpu) Project(dst []float32, stored dataset.Stored, p engine.Projection) error {
	x := stored.Examples
	m, buffer := p.Landmarks, make([]float32, x.D)
	yy := make([]float32, m.N)
	for l := range yy {
		y := m.DenseRow(buffer, l)
		yy[l] = numerics.Dot(y, y)
	}
	parallel.Ranges((x.N+projectTile-1)/projectTile, 1, func(from, to int) {
		t := projector{x: x, p: p, yy: yy, landmark: make([]float32, x.D), row: make([]float32, x.D)}
		if p.Axes.Q > 0 {
			t.values = make([]float32, projectTile*m.N)
		}
		for tile := from; tile < to; tile++ {
			first := tile * projectTile
			last := min(first+projectTile, x.N)
			t.project(dst[first*p.Width():last*p.Width()], first, last)
		}
	})
	return nil
}

// projector is what one goroutine of Project works with.
type projector struct {
	x             dataset.Examples
	p             engine.Projection
	yy            []float32 // ⟨y,y⟩ of each landmark
	landmark, row []float32 // one of each in dense form
	values        []float32 // kernel values of a tile, row-major; nil without axes
}

// project writes the numbers of examples first..last-1 to dst.
func (t *projector) project(dst []float32, first, last int) {
	m, axes := t.p.Landmarks.N, t.p.Axes
	values := t.values
	if axes.Q == 0 {
		values = dst
	}
	var xx [projectTile]float32
	for i := first; i < last; i++ {
		row := t.x.DenseRow(t.row, i)
		xx[i-first] = numerics.Dot(row, row)
	}
	for l := range m {
		y := t.p.Landmarks.DenseRow(t.landmark, l)
		for i := first; i < last; i++ {
			values[(i-first)*m+l] = t.p.Function.Value(dot(t.x, i, y), xx[i-first], t.yy[l])
		}
	}
	for i := range last - first {
		for k := range axes.Q {
			v := numerics.Dot(values[i*m:(i+1)*m], axes.Row(k))
			if t.p.Offset != nil {
				v += t.p.Offset[k]
			}
			dst[i*axes.Q+k] = v
		}
	}
}
