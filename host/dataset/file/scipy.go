package file

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// enterSciPy enters the rows of a CSR matrix of scipy.sparse.save_npz, columns in any order.
func (z *npz) enterSciPy(c *collector) error {
	s := z.src
	if z.files["format"] != nil { // else it was written before SciPy 0.19, when there was but one
		form, err := z.text("format")
		if err != nil {
			return err
		}
		if form != "csr" {
			return s.errorf("found a sparse matrix of the form %s, wanted csr; convert it with .tocsr()",
				quote.Text(form))
		}
	}
	shape, err := z.integers("shape", 2, 2)
	if err != nil {
		return err
	}
	n, d := shape[0], shape[1]
	if err := cmp.Or(c.checkShape(int(n), int(d), true), refuseSparse(c)); err != nil {
		return err
	}
	if d < int64(c.o.Features) {
		c.remarks.note("found %d features of %d; the others are zero", d, c.o.Features)
	}
	starts, err := z.integers("indptr", int(n)+1, int(n)+1)
	if err != nil {
		return err
	}
	if starts[0] != 0 {
		return s.errorf("array \"indptr\" begins with %d, wanted 0", starts[0])
	}
	columnType, columns, err := z.list("indices", starts[n])
	if err != nil {
		return err
	}
	defer columns.Close()
	valueType, values, err := z.list("data", starts[n])
	if err != nil {
		return err
	}
	defer values.Close()
	decode := npyfile.Decoder(valueType)
	switch {
	case !columnType.IsInteger():
		return s.errorf("array \"indices\" has elements of type %s, wanted integers", columnType)
	case decode == nil:
		return s.errorf("array \"data\" has elements of type %s, wanted float32, float64 or integers",
			valueType)
	}
	c.pile.width = max(int(d), c.o.Features)
	rawColumn, rawValue := make([]byte, columnType.Size), make([]byte, valueType.Size)
	var row []entry
	var value [1]float64
	for i := range int(n) {
		if starts[i+1] < starts[i] || starts[i+1] > starts[n] {
			return s.errorf("array \"indptr\" goes from %d to %d at example %d, wanted "+
				"numbers that do not decrease and at most %d", starts[i], starts[i+1], i+1, starts[n])
		}
		if err := checkStored(starts[i+1]-starts[i], d); err != nil {
			return s.errorf("example %d: %w", i+1, err)
		}
		row = row[:0]
		for range starts[i+1] - starts[i] {
			if err := columns.element(rawColumn); err != nil {
				return err
			}
			if err := values.element(rawValue); err != nil {
				return err
			}
			j, _ := columnType.Integer(rawColumn)
			decode(value[:], rawValue)
			row = append(row, entry{j, value[0]})
		}
		byColumn := func(a, b entry) int { return cmp.Compare(a.column, b.column) }
		if !slices.IsSortedFunc(row, byColumn) {
			slices.SortStableFunc(row, byColumn)
		}
		var fault error
		if text := c.pile.sparseRow(row, d); text != "" {
			fault = s.errorf("example %d, %s", i+1, text)
		}
		if err := c.decide(fault, i+1); err != nil {
			return err
		}
	}
	for _, array := range []*member{columns, values} {
		if err := array.end(); err != nil {
			return err
		}
	}
	return nil
}

// checkStored refuses an example of n stored values that d columns or memory do not hold.
func checkStored(n, d int64) error {
	if n > d {
		return fmt.Errorf("found %d values in %d columns, wanted each column once (in SciPy: "+
			"sum_duplicates)", n, d)
	}
	return memory.Check(memory.Product(int(n), 64), fmt.Sprintf("a row of %d values", n))
}

// entry is a value of a sparse row with its column from 0.
type entry struct {
	column int64
	value  float64
}

// sparseRow enters one example of d columns; it returns what is wrong with it.
func (p *pile) sparseRow(row []entry, d int64) string {
	last := int64(-1)
	for _, e := range row {
		v := float32(e.value)
		switch {
		case e.column < 0 || e.column >= d:
			return fmt.Sprintf("column %d (counted from 0): wanted columns from 0 to %d", e.column, d-1)
		case e.column == last:
			return fmt.Sprintf("column %d: found it twice in the example, wanted each column once (in "+
				"SciPy: sum_duplicates)", e.column+1)
		case !decimal.Finite(v):
			return fmt.Sprintf("column %d: %s", e.column+1, valueFault(e.value))
		}
		last = e.column
		if v = decimal.Flush(v, &p.subnormals); math.Float32bits(v) != 0 {
			p.columns, p.values = append(p.columns, int32(e.column)), append(p.values, v)
		}
	}
	return ""
}

// text reads an array of one text.
func (z *npz) text(name string) (string, error) {
	h, r, err := z.open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if (h.Type.Kind != 'S' && h.Type.Kind != 'U') || h.Type.Size > 64 || len(h.Shape) > 1 {
		return "", z.src.errorf("array %s has elements of type %s, wanted a short text",
			quote.Text(name), h.Type)
	}
	raw := make([]byte, h.Type.Size)
	if err := r.element(raw); err != nil {
		return "", err
	}
	text, _ := appendLabel(h.Type, nil, raw)
	return string(text), r.end()
}

// integers reads an array of least to most integers.
func (z *npz) integers(name string, least, most int) ([]int64, error) {
	h, r, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !h.Type.IsInteger() || len(h.Shape) != 1 || h.Shape[0] < least || h.Shape[0] > most {
		return nil, z.src.errorf("array %s has %s elements of shape %v, wanted %d integers",
			quote.Text(name), h.Type, h.Shape, least)
	}
	var list []int64 // grown as it is read: the header may promise more than there is
	var growth memory.Growth
	raw := make([]byte, h.Type.Size)
	for range h.Shape[0] {
		if err := r.element(raw); err != nil {
			return nil, err
		}
		v, ok := h.Type.Integer(raw)
		if !ok {
			return nil, z.src.errorf("array %s holds a number beyond 64 bits", quote.Text(name))
		}
		list = append(list, v)
		growth.Bytes += 8
		if err := growth.Check(1<<22, "a list of more than %d integers", len(list)); err != nil {
			return nil, r.errorf("%w", err)
		}
	}
	return list, r.end()
}

// list opens an array of n numbers.
func (z *npz) list(name string, n int64) (npyfile.Type, *member, error) {
	h, r, err := z.open(name)
	if err != nil {
		return h.Type, nil, err
	}
	if len(h.Shape) != 1 || int64(h.Shape[0]) != n || h.Type.Size == 0 || h.Type.Size > 16 {
		r.Close()
		return h.Type, nil, z.src.errorf("array %s has elements of type %s and the shape %v, "+
			"wanted %d numbers, which \"indptr\" ends with", quote.Text(name), h.Type, h.Shape, n)
	}
	return h.Type, r, nil
}

// element reads the bytes of the next element.
func (m *member) element(raw []byte) error {
	_, err := io.ReadFull(m, raw)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return m.src.errorf("array %s is cut short", quote.Text(m.name))
	}
	return err
}
