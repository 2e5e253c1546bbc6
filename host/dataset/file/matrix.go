package file

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// checkShape checks a matrix of n examples and d features that a header promises; fewer says that
// features may lack.
func (b *builder) checkShape(n, d int, fewer bool) error {
	switch {
	case n < 0 || d < 0 || n > b.src.limits.rows || d > b.src.limits.columns:
		return b.src.errorf("found a matrix of %d×%d, wanted at most %d examples and %d features",
			n, d, b.src.limits.rows, b.src.limits.columns)
	case n == 0:
		return emptyFault(b.src, "")
	case d == 0:
		return b.src.errorf("found %d examples without any feature, wanted at least one", n)
	case b.o.Features > 0 && (d > b.o.Features || d < b.o.Features && !fewer):
		return b.src.errorf("found %d features, wanted %d, the width of the model", d, b.o.Features)
	}
	return b.checkWidth(max(d, b.o.Features))
}

// readRows enters n examples of d elements of type t from r, example by example.
func (b *builder) readRows(r io.Reader, t numberType, n, d int) error {
	if err := b.checkShape(n, d, false); err != nil {
		return err
	}
	if p, ok := b.placeOf(r, t, n, d); ok {
		if mapped, err := b.mapRows(p, n, d); mapped || err != nil {
			b.width = d
			return err
		}
	}
	b.width, b.x = d, []float32{}
	j, bad := 0, -1 // in the unfinished row: elements, and the first bad one
	return b.elements(r, t, n, d, func(part []float32) error {
		for len(part) > 0 {
			k := min(d-j, len(part))
			if at := b.flushRow(part[:k]); at >= 0 && bad < 0 {
				bad = j + at
			}
			b.x = append(b.x, part[:k]...)
			part = part[k:]
			if j += k; j < d {
				break
			}
			var err error
			if bad >= 0 {
				err = b.reject(b.cellFault(b.number()-1, bad, b.x[b.rowFrom+bad]), b.number())
			} else {
				err = b.accept(b.number())
			}
			if err != nil {
				return err
			}
			j, bad = 0, -1
		}
		return nil
	})
}

// certain reports whether r does have n·d elements of size bytes, as its header says.
func (b *builder) certain(r io.Reader, size int64, n, d int) bool {
	need := memory.Product(n, d, int(size))
	if m, inside := r.(*member); inside {
		return m.stored() && memory.Sum(m.head(), need) == int64(m.file.UncompressedSize64)
	}
	return r == io.Reader(b.src) && b.src.file != nil && need == b.src.size-b.src.passed()
}

// partLength is how many elements are read at a time.
const partLength = 1 << 14

// elements reads n·d elements as float32, partLength at a time, which take may change.
func (b *builder) elements(r io.Reader, t numberType, n, d int, take func([]float32) error) error {
	decode := t.decoder()
	raw, part := make([]byte, partLength*t.Size), make([]float32, partLength)
	for left, total := int64(n)*int64(d), int64(n)*int64(d); left > 0; {
		k := int(min(left, partLength))
		if _, err := io.ReadFull(r, raw[:k*t.Size]); err != nil {
			return b.fatal(b.cutFault(err, int((total-left)/int64(d)), n))
		}
		decode(part[:k], raw)
		left -= int64(k)
		if err := take(part[:k]); err != nil {
			return err
		}
	}
	if err := atEnd(r, b.src.errorf); err != nil {
		return b.fatal(err)
	}
	return nil
}

// cutFault words an error of reading an array when have of want rows came.
func (b *builder) cutFault(err error, have, want int) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && b.src.packed == "" {
		return b.src.errorf("found the data of only %d examples, wanted %d as the header says; "+
			"the file is cut short, fetch it again", have, want)
	}
	return err
}

// atEnd returns an error if r has more bytes, or its own: check sums are compared there.
func atEnd(r io.Reader, errorf func(string, ...any) error) error {
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return errorf("found more bytes behind the data that the header promises, wanted the end of " +
			"the file")
	case err != io.EOF:
		return err
	}
	return nil
}

// flushRow makes subnormal values +0 and returns the first place not finite, or -1.
func (b *builder) flushRow(row []float32) int {
	bad := -1
	for j, v := range row {
		switch bits := math.Float32bits(v); bits & 0x7f800000 {
		case 0x7f800000:
			if bad < 0 {
				bad = j
			}
		case 0:
			if bits<<1 != 0 && b.prepared == nil {
				row[j] = decimal.Flush(v, &b.subnormals)
			}
		}
	}
	return bad
}

// cellFault is the error of a value that is not finite, i and j from 0.
func (b *builder) cellFault(i, j int, v float32) error {
	return b.src.errorf("example %d, column %d: %s", i+1, j+1, decimal.FaultOf(v))
}

// readColumns is readRows of elements in Fortran's order, which must all be there first.
func (b *builder) readColumns(r io.Reader, t numberType, n, d int) error {
	if err := b.checkShape(n, d, false); err != nil {
		return err
	}
	var all [][]float32 // in parts, since a list that grows takes twice its memory
	err := b.elements(r, t, n, d, func(part []float32) error {
		all = append(all, slices.Clone(part))
		return nil
	})
	if err != nil {
		return err
	}
	return b.adopt(transposed(all, n, d), d, func(int) error { return nil }, b.cellFault)
}

// adopt enters the rows of x, which it takes; label and value word the errors of a row.
func (b *builder) adopt(x []float32, d int, label func(i int) error, value func(i, j int,
	v float32) error) error {
	b.width = d
	good := 0
	for i := range len(x) / d {
		row := x[i*d : (i+1)*d]
		err := label(i)
		if j := b.flushRow(row); j >= 0 && err == nil {
			err = value(b.number()-1, j, row[j])
		}
		if err != nil {
			if err := b.reject(err, b.number()); err != nil {
				return err
			}
			continue
		}
		ok, err := b.admit(b.number())
		if err != nil {
			return err
		}
		if ok {
			if good < i {
				copy(x[good*d:], row)
			}
			good++
		}
	}
	if good > 0 {
		s, stored := denseSegment(x[:good*d], d)
		b.segments, b.stored = append(b.segments, s), b.stored+stored
		return b.spill()
	}
	return nil
}

// transposed returns parts of d columns of n elements row by row, in tiles for the cache.
func transposed(parts [][]float32, n, d int) []float32 {
	x := make([]float32, n*d)
	const tile = 16
	for first := 0; first < n; first += tile {
		for j := range d {
			for i := first; i < min(first+tile, n); i++ {
				x[i*d+j] = parts[(j*n+i)/partLength][(j*n+i)%partLength]
			}
		}
	}
	return x
}

// exampleShape returns the first size and the product of the others. One size is of a column, if
// one feature is wanted.
func exampleShape(shape []int, wanted int) (n, d int, err error) {
	if len(shape) == 1 && wanted == 1 { // a column
		return shape[0], 1, nil
	}
	if len(shape) < 2 {
		return 0, 0, fmt.Errorf("found an array of %d dimensions, wanted a matrix of examples × "+
			"features (is it the file of the labels?)", len(shape))
	}
	d = 1
	for _, size := range shape[1:] {
		if size > 0 && d > math.MaxInt32/size {
			return 0, 0, fmt.Errorf("found an array of shape %v, wanted at most %d features", shape,
				math.MaxInt32)
		}
		d *= size
	}
	return shape[0], d, nil
}
