package svm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/learners"
)

// judged is what there is to save of a problem before its planes.
type judged struct {
	Gap         float64
	Done, Stuck bool
	Planes      int32 // but for the first, which is empty
}

// Save implements learners.Learner: of each problem how far it is, and each plane with α and the
// products; and the SHA-256 of that.
func (l *cutting) Save() (saved []byte, err error) {
	add := func(v any) {
		if err == nil {
			saved, err = binary.Append(saved, binary.LittleEndian, v)
		}
	}
	for _, o := range l.problems {
		add(judged{o.gap, o.done, o.stuck, int32(len(o.planes) - 1)})
		add(o.alpha)
		for j, p := range o.planes[1:] {
			add(int32(len(p.examples)))
			add(p.examples)
			add(p.rivals)
			add(o.gram[j+1])
		}
	}
	return learners.Seal(saved), err
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *cutting) Restore(saved []byte) error {
	damaged := errors.New("svm: found a damaged state of a run")
	rest, whole := learners.Unseal(saved)
	if !whole {
		return damaged
	}
	read := func(place any) error {
		size, err := binary.Decode(rest, binary.LittleEndian, place)
		rest = rest[size:]
		return err
	}
	for _, o := range l.problems {
		if err := o.restore(read); err != nil {
			return fmt.Errorf("%w: %w", damaged, err)
		}
		o.sum()
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", damaged, len(rest))
	}
	l.begun = len(l.problems[0].planes) > 1
	return nil
}

// restore reads what Save wrote of a problem that has not begun.
func (s *oneSlack) restore(read func(any) error) error {
	var j judged
	if err := read(&j); err != nil {
		return err
	}
	if !(j.Gap >= 0 && j.Gap <= 1) || j.Planes < 0 {
		return errors.New("found numbers that are none")
	}
	if err := memory.Check(memory.Product(int(j.Planes), 8), planesMemory); err != nil {
		return err
	}
	s.gap, s.done, s.stuck = j.Gap, j.Done, j.Stuck
	alpha := make([]float64, 1+j.Planes)
	if err := read(alpha); err != nil {
		return err
	}
	for _, a := range alpha {
		if !(a >= 0 && a <= 2) { // 1 but for rounding
			return errors.New("found a dual variable that is out of its bounds")
		}
	}
	for range j.Planes {
		p, err := s.readPlane(read)
		if err != nil {
			return err
		}
		row := make([]float64, len(s.planes)+1)
		if err := read(row); err != nil {
			return err
		}
		if !finite(row) {
			return errors.New("found numbers that are none")
		}
		s.keep(p, row)
	}
	copy(s.alpha, alpha)
	return nil
}

func (s *oneSlack) readPlane(read func(any) error) (p plane, err error) {
	var size int32
	if err := read(&size); err != nil {
		return p, err
	}
	if size < 0 || int(size) > s.x.N {
		return p, errors.New("found a plane of more examples than there are")
	}
	p.examples = make([]int32, size)
	if err := read(p.examples); err != nil {
		return p, err
	}
	if s.class < 0 {
		p.rivals = make([]int32, size)
		if err := read(p.rivals); err != nil {
			return p, err
		}
	}
	for k, i := range p.examples {
		if i < 0 || int(i) >= s.x.N || k > 0 && i <= p.examples[k-1] ||
			p.rivals != nil && (p.rivals[k] < 0 || int(p.rivals[k]) >= s.rows || p.rivals[k] == s.y[i]) {
			return p, errors.New("found a plane that is none")
		}
		p.offset += s.costs[s.y[i]]
	}
	return p, nil
}
