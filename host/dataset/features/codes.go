package features

import (
	"math"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// integers is the largest absolute value of a code: float32 holds the integers up to
// it, and the sum of a code and Least, without rounding.
const integers = 1 << 22

// newCodes returns the codes that p makes of e, but for codes and lengths, which rows enters;
// nil unless all values of e are integers of a small range, none of them -0, which a
// code cannot be. Where ranks share e, each looks at its own examples alone, and memory
// for them is that of share.
func newCodes(p *dataset.Preparation, e dataset.Stored, share *store.Ranks) (*store.Codes, error) {
	first, last := e.Own()
	if first*e.D == last*e.D {
		return nil, nil
	}
	parts := parallel.Workers(last-first, 64)
	least, most := make([]float32, parts), make([]float32, parts)
	var other atomic.Bool
	parallel.Cut(last-first, parts, func(part, from, to int) {
		low, high := float32(integers), float32(-integers)
		for i := first + from; i < first+to && !other.Load(); i++ {
			for _, v := range e.Row(i) {
				low, high = min(low, v), max(high, v)
				if !(v >= -integers && v <= integers) || float32(int32(v)) != v ||
					math.Float32bits(v) == 1<<31 {
					other.Store(true)
					return
				}
			}
		}
		least[part], most[part] = low, high
	})
	if other.Load() {
		return nil, nil
	}
	low, high := least[0], most[0]
	for k := range least {
		low, high = min(low, least[k]), max(high, most[k])
	}
	if p.Steps.Bias {
		low, high = min(low, 1), max(high, 1)
	}
	width := p.Width()
	w := &store.Codes{Least: low, Map: make([]float32, 2*width)}
	var err error
	switch {
	case high-low <= math.MaxUint8:
		w.Bytes, err = roomFor[uint8](share, e.N, width)
	case high-low <= math.MaxUint16:
		w.Halves, err = roomFor[uint16](share, e.N, width)
	default:
		return nil, nil
	}
	if err == nil {
		w.Unit, err = roomFor[float32](share, e.N, 1)
	}
	for j := range width {
		w.Map[j] = 1 // and offset 0: the same bits as no map, but for -0
	}
	copy(w.Map, p.A)
	copy(w.Map[width:], p.B)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// withCodes returns at with the codes that p makes of e, if there are any.
func withCodes(p *dataset.Preparation, e dataset.Stored, at *store.Store) (*store.Store, error) {
	codes, err := newCodes(p, e, at.Shared())
	if codes == nil || err != nil {
		return at, err
	}
	return &store.Store{Codes: codes, Ranks: at.Shared()}, nil
}

// roomFor returns n·width elements, of which this rank's rows have memory if ranks share them.
func roomFor[T store.Element](s *store.Ranks, n, width int) ([]T, error) {
	if s == nil {
		return make([]T, n*width), nil
	}
	return store.Span[T](s, n, width)
}
