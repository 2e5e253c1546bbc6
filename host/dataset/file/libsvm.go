package file

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// libsvmReader takes lines apart; the builder collects what they hold.
type libsvmReader struct {
	c    *collector
	base int // what the indices count from
	most int // largest column, counted from 1, that is allowed
}

// enterLIBSVM reads lines "label index:value … # comment", indices increasing from 1 or 0.
func enterLIBSVM(c *collector) error {
	s, o := c.src, c.o
	if err := cmp.Or(c.begin(), refuseSparse(c)); err != nil {
		return err
	}
	s.lines()
	if c.labels != nil {
		c.labels.merges = true // as labels are numbers there
	}
	r := &libsvmReader{c: c, base: 1, most: s.limits.columns}
	if o.ZeroBased {
		r.base = 0
	}
	if o.Features > 0 {
		r.most = min(r.most, o.Features)
	}
	for {
		line, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		entered, fault := r.line(line)
		if !entered {
			continue
		}
		if err := c.decide(fault, s.line); err != nil {
			return err
		}
	}
	p := &c.pile
	if o.Features > 0 {
		if p.width == 0 {
			c.remarks.note("found no index:value; all %d features are zero", o.Features)
		} else if p.width < o.Features {
			c.remarks.note("the highest feature index is %d of %d; the other features are zero",
				p.width-1+r.base, o.Features-1+r.base)
		}
		p.width, p.widest = o.Features, 0
	}
	if p.width == 0 && c.n > 0 {
		return fmt.Errorf("%s: found no index:value in %d examples, wanted at least one "+
			"feature", s.path, c.n)
	}
	return nil
}

// line enters one line, unless it is blank.
func (r *libsvmReader) line(line []byte) (entered bool, err error) {
	if comment := bytes.IndexByte(line, '#'); comment >= 0 {
		line = line[:comment]
	}
	start := skipSpace(line, 0)
	if start == len(line) {
		return false, nil
	}
	return true, r.row(line, start)
}

// row enters one line, whose first field begins at i, comment cut off.
func (r *libsvmReader) row(line []byte, i int) error {
	i, err := r.label(line, i)
	if err != nil {
		return err
	}
	p := &r.c.pile
	columns, values, last := p.columns, p.values, -1
	for {
		i = skipSpace(line, i)
		if i == len(line) {
			break
		}
		start, index := i, 0
		for i < len(line) && line[i]-'0' <= 9 && index <= math.MaxInt32 {
			index = index*10 + int(line[i]-'0')
			i++
		}
		j := index - r.base
		if i == start || i == len(line) || line[i] != ':' || j <= last || j >= r.most {
			p.columns, p.values = columns, values
			return r.indexFault(line, start, last)
		}
		i++
		number, end, ok := decimal.Scan(line, i)
		if !ok || (end < len(line) && !isSpace(line[end])) {
			text := cutField(line[i:])
			if number, ok = decimal.Parse(text); !ok {
				p.columns, p.values = columns, values
				return r.c.src.errorfAt(i, "feature %d: %s", index, numberFault(text))
			}
			end = i + len(text)
		}
		i, last = end, j
		v := float32(number)
		if v < decimal.MinNormal && v > -decimal.MinNormal {
			v = decimal.Flush(v, &p.subnormals)
		}
		if math.Float32bits(v) != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	p.columns, p.values = columns, values
	if last >= p.width {
		p.width, p.widest = last+1, r.c.src.line
	}
	return nil
}

// label takes the label at i, if any, and returns where features begin.
func (r *libsvmReader) label(line []byte, i int) (int, error) {
	field := cutField(line[i:])
	colon := bytes.IndexByte(field, ':')
	end := i + len(field)
	switch {
	case colon >= 0 && r.c.inline():
		return 0, r.c.src.errorfAt(i, "found %s where the label belongs, wanted label index:value …",
			quote.Text(string(field)))
	case colon >= 0:
		end = i
	case bytes.IndexByte(field, ',') >= 0:
		return 0, r.c.src.errorfAt(i, "found the label %s, wanted a single one; several labels per "+
			"example are not supported (a CSV file? then ask for that format)", quote.Text(string(field)))
	case r.c.inline():
		if err := r.c.labels.set(field); err != nil {
			return 0, r.c.src.errorfAt(i, "%w", err)
		}
	}
	return r.query(line, end), nil
}

// query passes over qid:N of ranking data.
func (r *libsvmReader) query(line []byte, i int) int {
	i = skipSpace(line, i)
	if !bytes.HasPrefix(line[i:], []byte("qid:")) {
		return i
	}
	if len(r.c.remarks.notes) == 0 {
		r.c.remarks.note("query numbers (qid:N) are ignored, in line %d and later ones", r.c.src.line)
	}
	field := cutField(line[i:])
	return i + len(field)
}

// indexFault words what is wrong with the index:value at start, behind column last.
func (r *libsvmReader) indexFault(line []byte, start, last int) error {
	field := cutField(line[start:])
	text, _, found := bytes.Cut(field, []byte(":"))
	number, err := strconv.ParseUint(string(text), 10, 31)
	index := int(number)
	column := index - r.base
	switch {
	case !found || err != nil || index > r.c.src.limits.columns-1+r.base:
		return r.c.src.errorfAt(start, "found %s, wanted index:value with a whole index from %d to %d",
			quote.Text(string(field)), r.base, r.c.src.limits.columns-1+r.base)
	case column < 0:
		return r.c.src.errorfAt(start,
			"found feature index 0, wanted indices from 1; if the file counts from 0, say so")
	case column == last:
		return r.c.src.errorfAt(start, "found feature index %d twice, wanted increasing indices", index)
	case column < last:
		return r.c.src.errorfAt(start, "found feature index %d after %d, wanted increasing indices",
			index, last+r.base)
	}
	return r.c.src.errorfAt(start, "found feature index %d, wanted at most %d, the width of the model",
		index, r.most-1+r.base)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// skipSpace returns the place of the first byte from i on that is no blank.
func skipSpace(text []byte, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// cutField returns the text up to the next blank.
func cutField(text []byte) []byte {
	i := 0
	for i < len(text) && !isSpace(text[i]) {
		i++
	}
	return text[:i]
}
