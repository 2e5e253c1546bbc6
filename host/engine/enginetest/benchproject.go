package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// BenchmarkProject measures projections of the sizes that kernel PCA has. GFLOP/s counts two
// operations for each term of a dot product, and nothing for kernel values: it compares with
// a matrix product of the same sizes, or with two of them one after the other.
func BenchmarkProject(b *testing.B, e engine.Engine) {
	for _, s := range []struct {
		f             kernel.Function
		n, d, m, axes int
	}{
		{linear, 16000, 17, 4000, 0},
		{linear, 16000, 64, 4000, 0},
		{linear, 16000, 784, 4000, 0},
		{linear, 8000, 4000, 1600, 0}, // the second product alone
		{gauss, 16000, 17, 4000, 1600},
		{gauss, 5620, 64, 3823, 640},
	} {
		b.Run(fmt.Sprintf("%s/n=%d/d=%d/m=%d/axes=%d", s.f.Kind, s.n, s.d, s.m, s.axes),
			func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				draw := func(n, d int) dataset.Examples {
					x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
					for k := range x.X {
						x.X[k] = rng.Float32() - 0.5
					}
					return x
				}
				x, axes := draw(s.n, s.d), draw(s.axes, s.m)
				p := engine.Projection{Function: s.f, Landmarks: draw(s.m, s.d)}
				if s.axes > 0 {
					p.Axes = engine.Weights{Q: s.axes, D: s.m, W: axes.X}
				}
				dst := make([]float32, s.n*p.Width())
				project := func() {
					if err := e.Project(dst, x, p); err != nil {
						b.Fatal(err)
					}
				}
				project() // some drivers compile when a kernel is first used
				for b.Loop() {
					project()
				}
				terms := float64(s.n) * float64(s.m) * float64(s.d+s.axes)
				b.ReportMetric(2*terms*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
	}
}
