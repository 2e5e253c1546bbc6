package dataset

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Narrow are the small integers, pixels or counts, that dense examples were prepared
// from, and how: an engine may keep them instead, in a quarter or half of the memory,
// and prepare a value whenever it reads it (clause 2). The value of example i in
// column j is, bit for bit,
//
//	fma(float32(code) + Least, Map[j], Map[D+j]) · Unit[i]
//
// with code Codes8[i*D+j] or Codes16[i*D+j], whichever is not nil.
type Narrow struct {
	Codes8  []uint8  // N·D, row-major
	Codes16 []uint16 // the same, of more than 256 values
	Least   float32  // an integer, what a code of 0 stands for
	Map     []float32
	Unit    []float32 // N
}

// Width returns how many bytes a code has.
func (w *Narrow) Width() int {
	if w.Codes8 != nil {
		return 1
	}
	return 2
}

func (w *Narrow) check(n, d int) error {
	if codes := len(w.Codes8) + len(w.Codes16); codes != n*d || w.Codes8 != nil && w.Codes16 != nil ||
		len(w.Map) != 2*d || len(w.Unit) != n {
		return fmt.Errorf("dataset: dense examples of shape %d×%d come with %d codes, "+
			"maps of %d numbers and %d lengths, wanted %d, %d and %d",
			n, d, codes, len(w.Map), len(w.Unit), n*d, 2*d, n)
	}
	return nil
}

// integers is the largest absolute value of a Narrow: float32 holds the integers up to
// it, and the sum of a code and Least, without rounding.
const integers = 1 << 22

// newNarrow returns what p makes of e, but for codes and lengths, which narrow enters;
// nil unless all values of e are integers of a small range, none of them -0, which a
// code cannot be. Where ranks share e, each looks at its own examples alone, and memory
// for them is that of share.
func (p *Preparation) newNarrow(e Examples, share *Share) (*Narrow, error) {
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
				if !(v >= -integers && v <= integers) || float32(int32(v)) != v || math.Float32bits(v) == 1<<31 {
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
	w := &Narrow{Least: low, Map: make([]float32, 2*width)}
	var err error
	switch {
	case high-low <= math.MaxUint8:
		w.Codes8, err = roomFor[uint8](share, e.N, width)
	case high-low <= math.MaxUint16:
		w.Codes16, err = roomFor[uint16](share, e.N, width)
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
	return w, err
}

// roomFor returns n·width elements, of which this rank's rows have memory if ranks share them.
func roomFor[T element](s *Share, n, width int) ([]T, error) {
	if s == nil {
		return make([]T, n*width), nil
	}
	return span[T](s, n, width)
}

// enter enters example i of d columns: its raw values, and what they were scaled by. A
// bias is a column of 1.
func (w *Narrow) enter(i, d int, raw []float32, unit float32) {
	w.Unit[i] = unit
	if w.Codes8 != nil {
		enterCodes(w.Codes8[i*d:(i+1)*d], raw, w.Least)
	} else {
		enterCodes(w.Codes16[i*d:(i+1)*d], raw, w.Least)
	}
}

func enterCodes[T uint8 | uint16](codes []T, raw []float32, least float32) {
	for j, v := range raw {
		codes[j] = T(int32(v - least))
	}
	for j := len(raw); j < len(codes); j++ {
		codes[j] = T(int32(1 - least))
	}
}
