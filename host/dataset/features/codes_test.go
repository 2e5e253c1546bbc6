package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// TestNarrow prepares integers of several ranges by all steps and compares what the
// narrow form gives with the prepared values, bit for bit.
func TestNarrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	minusZero := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		what      string
		low, high int
		last      float32 // value put in the last place
		width     int     // wanted, 0 for none
	}{
		{"pixels", 0, 255, 255, 1},
		{"signed bytes", -128, 127, -128, 1},
		{"far from zero", 1e6, 1e6 + 200, 1e6, 1},
		{"counts", 0, 60000, 65535, 2},
		{"signed halves", -32768, 32767, 32767, 2},
		{"too far apart", 0, 60000, 65536, 0},
		{"a fraction", 0, 255, 0.5, 0},
		{"minus zero", 0, 255, minusZero, 0},
		{"too large", 0, 10, 1 << 23, 0},
	} {
		for _, steps := range []string{"none", "standardize,bias,l2", "maxabs", "bias", "l2",
			"maxabs,l2"} {
			const n, d = 203, 7
			e := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
			for k := range e.X {
				e.X[k] = float32(c.low + rng.IntN(c.high-c.low+1))
			}
			e.X[len(e.X)-1], e.X[0] = c.last, float32(c.low)
			t.Run(fmt.Sprintf("%s, %s", c.what, steps), func(t *testing.T) {
				s, err := dataset.ParseSteps(steps)
				if err != nil {
					t.Fatal(err)
				}
				p, err := Fit(s, e)
				if err != nil {
					t.Fatal(err)
				}
				x, err := ApplyTo(p, e, dataset.WithCodes)
				if err != nil {
					t.Fatal(err)
				}
				width, codes := c.width, x.At.Narrow()
				if s.Bias && c.low > 1<<8 {
					width = 0 // 1 is as far from the others as they are from 0
				}
				if (codes != nil) != (width != 0) || codes != nil && codes.Width() != width {
					t.Fatalf("narrow: %v, wanted %d bytes", codes != nil, width)
				}
				if codes == nil {
					return
				}
				if err := x.Check(); err != nil {
					t.Fatal(err)
				}
				w := codes
				for i := range x.N {
					for j, want := range x.Row(i) {
						at := i*x.D + j
						var code float32
						if w.Bytes != nil {
							code = float32(w.Bytes[at])
						} else {
							code = float32(w.Halves[at])
						}
						got := numerics.FMA(code+w.Least, w.Map[j], w.Map[x.D+j]) * w.Unit[i]
						if math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("example %d, column %d: %v, wanted %v", i, j, got, want)
						}
					}
				}
			})
		}
	}
}
