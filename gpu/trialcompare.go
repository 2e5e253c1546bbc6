//go:build cgo && !noopencl

package gpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// difference says where results differ from the right ones.
type difference struct{ text string }

func (d *difference) Error() string { return d.text }

// check makes the steps of a kind, and those behind them, and compares everything with
// the reference, which has made them.
func (t *trial) check(s *series, kind int, reference *trial) error {
	_, err := t.replay(s, s.from(kind), len(s.steps), func(k int, a engine.Assignment) error {
		if want := s.steps[k].counts; !reflect.DeepEqual(a, want) {
			return &difference{fmt.Sprintf("assign differs from the default's in step %d", k)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.compare(s, reference)
}

// compare compares what two trials have now, bit by bit.
func (t *trial) compare(s *series, reference *trial) error {
	n, q, d := t.r.n, t.r.q, t.r.d
	for _, question := range []struct {
		op    string
		parts int
		width int
		ask   func(r labelled, part int) (any, error)
	}{
		{"score", (n + 4095) / 4096, 4, func(r labelled, part int) (any, error) {
			from, to := 4096*part, min(4096*(part+1), n)
			v := make([]float32, (to-from)*q)
			return v, r.Scores(v, from, to)
		}},
		{"predict", 1, 4, func(r labelled, _ int) (any, error) { v := make([]int32, n); return v, r.Predict(v) }},
		{"places", len(t.r.tiles), 4, func(r labelled, part int) (any, error) {
			v := make([]int32, r.tiles[part].rows)
			return v, r.tiles[part].place.read(v, 0)
		}},
		{"class sums", q, 8, func(r labelled, part int) (any, error) { v := make([]int64, q*d); return v, r.ClassSums(v, part) }},
		{"norms", 1, 4, func(r labelled, _ int) (any, error) { v := make([]float32, q*q); return v, r.Norms(v, s.inverse) }},
		{"update vectors", 1, 4, func(r labelled, _ int) (any, error) {
			v := make([]float32, 2*d)
			return v, r.UpdateVectors(v, []engine.Pair{{P: 0, Q: 1}, {P: 1, Q: 0}}, s.inverse)
		}},
	} {
		at := 0
		for part := range question.parts {
			var found [2][]byte
			for k, x := range []*trial{t, reference} {
				v, err := question.ask(x.r, part)
				if err != nil {
					return err
				}
				if found[k], err = binary.Append(nil, binary.LittleEndian, v); err != nil {
					return err
				}
			}
			got, want := found[0], found[1]
			if bytes.Equal(got, want) {
				at += len(got) / question.width
				continue
			}
			for k := 0; k < len(got); k += question.width {
				if a, b := got[k:k+question.width], want[k:k+question.width]; !bytes.Equal(a, b) {
					return &difference{fmt.Sprintf("%s differs from the default's at index %d: bytes %x, want %x",
						question.op, at+k/question.width, a, b)}
				}
			}
		}
	}
	return nil
}
