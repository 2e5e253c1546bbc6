package file

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// enterSciPy enters the rows of a CSR matrix of scipy.sparse.save_npz, columns in any order.
func (z *npz) enterSciPy(c *collector) error {
	s := z.src
	if err := z.checkFormat(); err != nil {
		return err
	}
	shape, err := z.integers("shape", 2, 2)
	if err != nil {
		return err
	}
	n, d := shape[0], shape[1]
	if err := c.checkShape(int(n), int(d), true); err != nil {
		return err
	}
	if d < int64(c.o.Features) {
		c.note("%s: found %d features of %d; the others are zero", s.path, d, c.o.Features)
	}
	starts, err := z.integers("indptr", int(n)+1, int(n)+1)
	if err != nil {
		return err
	}
	columns, err := z.stream("indices", starts[n])
	if err != nil {
		return err
	}
	defer columns.Close()
	if !columns.IsInteger() {
		return s.errorf("array \"indices\" has elements of type %s, wanted integers", columns.numberType)
	}
	values, err := z.stream("data", starts[n])
	if err != nil {
		return err
	}
	defer values.Close()
	decode := values.decoder()
	if decode == nil {
		return s.errorf("array \"data\" has elements of type %s, wanted float32, float64 or integers",
			values.numberType)
	}
	if starts[0] != 0 {
		return s.errorf("array \"indptr\" begins with %d, wanted 0", starts[0])
	}
	c.pile.width = max(int(d), c.o.Features)
	var row []entry
	var value [1]float32
	for i := range int(n) {
		count := starts[i+1] - starts[i]
		if count < 0 || starts[i+1] > starts[n] {
			return c.faults.fatal(s.errorf("array \"indptr\" goes from %d to %d at example %d, wanted "+
				"numbers that do not decrease and at most %d", starts[i], starts[i+1], i+1, starts[n]))
		}
		row = row[:0]
		sorted := true
		for range count {
			rawColumn, err := columns.next()
			if err != nil {
				return c.faults.fatal(err)
			}
			rawValue, err := values.next()
			if err != nil {
				return c.faults.fatal(err)
			}
			j, _ := columns.Integer(rawColumn)
			sorted = sorted && (len(row) == 0 || j > row[len(row)-1].column)
			decode(value[:], rawValue)
			row = append(row, entry{j, value[0]})
		}
		if !sorted {
			slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		}
		if fault := c.pile.sparseRow(row, d); fault != "" {
			err = c.reject(s.errorf("example %d, %s", i+1, fault), i+1)
		} else {
			err = c.accept(i + 1)
		}
		if err != nil {
			return err
		}
	}
	for _, array := range []*elements{columns, values} {
		if err := array.end(); err != nil {
			return c.faults.fatal(err)
		}
	}
	return nil
}

// entry is a value of a sparse row with its column from 0.
type entry struct {
	column int64
	value  float32
}

// sparseRow enters one example of d columns; it returns what is wrong with it.
func (p *pile) sparseRow(row []entry, d int64) string {
	last := int64(-1)
	for _, e := range row {
		v := e.value
		switch {
		case e.column < 0 || e.column >= d:
			return fmt.Sprintf("column %d (counted from 0): wanted columns from 0 to %d", e.column, d-1)
		case e.column == last:
			return fmt.Sprintf("column %d: found it twice in the example, wanted each column once (in "+
				"SciPy: sum_duplicates)", e.column+1)
		case !decimal.Finite(v):
			return fmt.Sprintf("column %d: %s", e.column+1, decimal.FaultOf(v))
		}
		last = e.column
		if v = decimal.Flush(v, &p.subnormals); math.Float32bits(v) != 0 {
			p.columns, p.values = append(p.columns, int32(e.column)), append(p.values, v)
		}
	}
	return ""
}

// checkFormat refuses what is not CSR.
func (z *npz) checkFormat() error {
	if z.files["format"] == nil {
		return nil // written before SciPy 0.19, when there was but one
	}
	h, r, err := z.open("format")
	if err != nil {
		return err
	}
	defer r.Close()
	if (h.Kind != 'S' && h.Kind != 'U') || h.Size > 64 || len(h.shape) > 1 {
		return z.src.errorf("array \"format\" has elements of type %s, wanted the text csr", h.numberType)
	}
	raw := make([]byte, h.Size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return r.cutFault(err, "")
	}
	if err := r.end(); err != nil {
		return err
	}
	if text, _ := h.appendLabel(nil, raw); string(text) != "csr" {
		return z.src.errorf("found a sparse matrix of the form %s, wanted csr; convert it with .tocsr()",
			quote.Text(string(text)))
	}
	return nil
}

// integers reads an array of least to most integers.
func (z *npz) integers(name string, least, most int) ([]int64, error) {
	h, r, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !h.IsInteger() || len(h.shape) != 1 || h.shape[0] < least || h.shape[0] > most {
		return nil, z.src.errorf("array %s has %s elements of shape %v, wanted %d integers",
			quote.Text(name), h.numberType, h.shape, least)
	}
	// Grown as it is read: the header may promise more than there is.
	var list []int64
	raw := make([]byte, h.Size)
	for range h.shape[0] {
		if _, err := io.ReadFull(r, raw); err != nil {
			return nil, r.cutFault(err, fmt.Sprintf(" after %d of %d elements", len(list), h.shape[0]))
		}
		v, ok := h.Integer(raw)
		if !ok {
			return nil, z.src.errorf("array %s holds a number beyond 64 bits", quote.Text(name))
		}
		list = append(list, v)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return list, nil
}

// cutFault words an error of reading elements; where says how many there were.
func (m *member) cutFault(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return m.src.errorf("array %s is cut short%s", quote.Text(m.name), where)
	}
	return err
}

// elements gives the elements of an array one by one.
type elements struct {
	npyHeader
	*member
	raw []byte
}

// stream opens an array of n elements.
func (z *npz) stream(name string, n int64) (*elements, error) {
	h, r, err := z.open(name)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 1 || int64(h.shape[0]) != n || h.Size == 0 || h.Size > 16 {
		r.Close()
		return nil, z.src.errorf("array %s has elements of type %s and the shape %v, wanted as many "+
			"numbers as \"indptr\" ends with, %d", quote.Text(name), h.numberType, h.shape, n)
	}
	return &elements{h, r, make([]byte, h.Size)}, nil
}

// next returns the bytes of the next element, valid until the one after.
func (e *elements) next() ([]byte, error) {
	if _, err := io.ReadFull(e.member, e.raw); err != nil {
		return nil, e.cutFault(err, "")
	}
	return e.raw, nil
}
