package enginetest

import (
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// narrowed returns examples near x that were prepared from integers of some bytes each
// (clause 2), in both forms.
func narrowed(x dataset.Examples, bytes int, rng *rand.Rand) dataset.Stored {
	n := &store.Codes{Least: float32(-rng.IntN(300)), Map: make([]float32, 2*x.D),
		Unit: make([]float32, x.N)}
	codes := 256
	if bytes == 1 {
		n.Bytes = make([]uint8, len(x.X))
	} else {
		n.Halves = make([]uint16, len(x.X))
		codes = 1 << 16
	}
	most := float32(0x1p-20)
	for _, v := range x.X {
		most = max(most, v, -v)
	}
	for j := range x.D { // about from -most to most
		n.Map[j] = 2 * most / float32(codes) * float32(1+rng.Float64())
		n.Map[x.D+j] = -most - n.Least*n.Map[j]
	}
	z := dataset.Examples{N: x.N, D: x.D, X: make([]float32, len(x.X))}
	for i := range x.N {
		n.Unit[i] = float32(0.5 + rng.Float64())
		for j, v := range x.Row(i) {
			at := i*x.D + j
			code := max(0, min(codes-1, int(math.Round(float64((v+most)/n.Map[j])))))
			if bytes == 1 {
				n.Bytes[at] = uint8(code)
			} else {
				n.Halves[at] = uint16(code)
			}
			z.X[at] = softFMA(float32(code)+n.Least, n.Map[j], n.Map[x.D+j]) * n.Unit[i]
		}
	}
	return dataset.Stored{Examples: z, At: &store.Store{Codes: n}}
}
