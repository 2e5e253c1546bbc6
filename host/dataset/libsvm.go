package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// libsvmReader collects examples as they stand in the file: only the values
// written, with their columns. They are spread out when all are known, since a
// single line may claim two thousand million columns.
type libsvmReader struct {
	src *source
	o   Options

	labels     *labels
	columns    blocks[int32] // from 0
	values     blocks[float32]
	stored     blocks[int32] // values of each example
	width      int           // largest index, or Options.Features
	widest     int           // line of the largest index
	subnormals int
}

// readLIBSVM reads lines "label index:value index:value … # comment". Indices
// are counted from 1 and increase within a line; what is not written is zero.
// The number of features is the largest index.
func readLIBSVM(s *source, o Options) (*Dataset, error) {
	l, err := newLabels(o.Classes)
	if err != nil {
		return nil, err
	}
	r := &libsvmReader{src: s, o: o, labels: l, width: o.Features}
	for {
		line, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if comment := bytes.IndexByte(line, '#'); comment >= 0 {
			line = line[:comment]
		}
		if line = trimSpace(line); len(line) == 0 {
			continue
		}
		if err := r.row(line); err != nil {
			return nil, err
		}
	}
	n := r.stored.len()
	if n == 0 {
		return nil, emptyFault(s, "")
	}
	if r.width == 0 {
		return nil, fmt.Errorf("%s: found no index:value in %d examples, wanted at least one feature", s.path, n)
	}
	d := &Dataset{Subnormals: r.subnormals}
	if d.Examples, err = r.dense(); err != nil {
		return nil, err
	}
	if !o.NoLabels {
		d.Classes, d.Y = r.labels.finish()
	}
	return d, nil
}

// row takes one line, comment and outer spaces cut off, as an example.
func (r *libsvmReader) row(line []byte) error {
	field, rest := cutField(line)
	if colon := bytes.IndexByte(field, ':'); r.o.NoLabels && colon >= 0 {
		rest = line
	} else if colon >= 0 {
		return r.src.errorf("found %s where the label belongs, wanted label index:value …", quote(string(field)))
	} else if bytes.IndexByte(field, ',') >= 0 {
		return r.src.errorf("found the label %s, wanted a single one; several labels per example are not supported (a CSV file? then ask for that format)",
			quote(string(field)))
	} else if !r.o.NoLabels {
		if fault := r.labels.add(field); fault != "" {
			return r.src.errorf("%s", fault)
		}
	}
	stored, last := 0, 0
	for len(rest) > 0 {
		field, rest = cutField(rest)
		index, number, ok := cutIndex(field)
		if !ok {
			return r.src.errorf("found %s, wanted index:value with a whole index from 1 to %d", quote(string(field)), math.MaxInt32)
		}
		if index <= last {
			return r.indexFault(index, last)
		}
		if index > r.width {
			if r.o.Features > 0 {
				return r.src.errorf("found feature index %d, wanted at most %d, the width of the model", index, r.o.Features)
			}
			r.width, r.widest = index, r.src.line
		}
		v, ok := parseNumber(number)
		if !ok {
			return r.src.errorf("feature %d: %s", index, numberFault(number))
		}
		r.columns.push(int32(index - 1))
		r.values.push(flush(v, &r.subnormals))
		last = index
		stored++
	}
	r.stored.push(int32(stored))
	return nil
}

// indexFault words an index that does not increase.
func (r *libsvmReader) indexFault(index, last int) error {
	switch {
	case index == 0:
		return r.src.errorf("found feature index 0, wanted indices from 1; the file perhaps counts from 0: add 1 to every index")
	case index == last:
		return r.src.errorf("found feature index %d twice, wanted increasing indices", index)
	}
	return r.src.errorf("found feature index %d after %d, wanted increasing indices", index, last)
}

// dense spreads the examples out, unless that takes memory out of all
// proportion to the file.
func (r *libsvmReader) dense() (Examples, error) {
	n, d := r.stored.len(), r.width
	limit := r.src.limits.dense
	if r.src.text <= math.MaxInt64/r.src.limits.perByte {
		limit = max(limit, r.src.limits.perByte*r.src.text)
	}
	if float64(n)*float64(d)*4 > float64(limit) || d > math.MaxInt/4/n {
		where := ""
		if r.widest > 0 {
			where = fmt.Sprintf(" (is the index in line %d right?)", r.widest)
		}
		return Examples{}, fmt.Errorf("%s: dense storage of %d examples × %d features%s would need %.0f bytes for a file of %d bytes of text, wanted at most %d",
			r.src.path, n, d, where, float64(n)*float64(d)*4, r.src.text, limit)
	}
	x := make([]float32, n*d)
	// Both lists were pushed together, so their blocks have the same lengths.
	columns, values := r.columns.all(), r.values.all()
	block, at, row := 0, 0, 0
	for _, counts := range r.stored.all() {
		for _, count := range counts {
			for ; count > 0; count-- {
				if at == len(columns[block]) {
					block, at = block+1, 0
				}
				x[row+int(columns[block][at])] = values[block][at]
				at++
			}
			row += d
		}
	}
	r.columns, r.values = blocks[int32]{}, blocks[float32]{}
	return Examples{N: n, D: d, X: x}, nil
}

// cutField returns the text up to the next space or tab and what follows the
// spaces after it.
func cutField(text []byte) (field, rest []byte) {
	i := 0
	for i < len(text) && text[i] != ' ' && text[i] != '\t' {
		i++
	}
	field = text[:i]
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return field, text[i:]
}

// cutIndex takes index:value apart; false if there is no index in 0..MaxInt32.
func cutIndex(field []byte) (index int, number []byte, ok bool) {
	i := 0
	for i < len(field) && field[i]-'0' <= 9 && index <= math.MaxInt32 {
		index = index*10 + int(field[i]-'0')
		i++
	}
	if i == 0 || i == len(field) || field[i] != ':' || index > math.MaxInt32 {
		return 0, nil, false
	}
	return index, field[i+1:], true
}
