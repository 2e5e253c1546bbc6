package file

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// cells collects the features of a table of more than numbers, in typed columns.
type cells struct {
	columns []cellColumn      // in the order of the file
	recipe  *dataset.Encoding // nil if it is to be learned
	missing string            // as Encoding.Missing
	lenient bool              // words among numbers are missing values
	strict  bool              // a level that recipe does not know is a fault
	// surveyed says that all cells have told the formats of their columns; unsure, that others may
	// tell another one.
	surveyed, unsure bool

	places string          // what messages count: "line" or "example"
	place  int             // of the current row
	begun  int             // rows
	spans  []features.Span // of the columns; nil if nothing is to be found out
	done   bool            // numbers are behind their origins, and the spans have their values
	tiny   int             // numbers that became +0
	n      int             // rows that were kept
	bytes  int             // that the rows take
	rows   memory.Growth
	growth memory.Growth   // of the levels
	room   *osfile.Scratch // of the columns; nil if they are in memory
}

// cellColumn is a column and its value in the current row.
type cellColumn struct {
	dataset.TableColumn
	at      int // its place in the recipe
	numbers pieces[float32]
	codes   pieces[int32]
	text    pieces[uint8]
	ends    pieces[int64]

	number float64
	code   int32
	words  []byte

	levels  map[string]int32 // the code of each
	odd     int              // words among numbers
	oddText string
	oddAt   int    // where the first is
	loose   string // a number with marks between, and what it is read as
	looseAs float64
	truth   string // a word for 1 or 0
	beyond  bool   // a number is neither
}

// newCells starts a collection of these columns, by the recipe if there is one: it knows columns by
// name, or in their order.
func newCells(places string, columns []dataset.TableColumn, o Options, byName bool,
) (*cells, string) {
	s := &cells{places: places, recipe: o.Encoding, strict: o.Unseen == unseenError}
	if s.recipe == nil {
		s.missing = o.Encode.Missing
		if s.lenient = o.lenient(); s.lenient {
			s.missing = dataset.MissingIndicator
		}
	} else {
		s.missing = s.recipe.Missing
		s.lenient = !s.strict && s.missing == dataset.MissingIndicator
		if !byName && len(columns) != len(s.recipe.Columns) {
			return nil, fmt.Sprintf("found %d columns, wanted the %d of the model", len(columns),
				len(s.recipe.Columns))
		}
	}
	for k, column := range columns {
		c := cellColumn{TableColumn: column, at: k, levels: map[string]int32{}}
		if s.recipe != nil {
			if byName {
				c.at = slices.IndexFunc(s.recipe.Columns,
					func(known dataset.Column) bool { return known.Name == column.Name })
			}
			known := &s.recipe.Columns[c.at]
			c.Kind, c.Levels = known.Kind, slices.Clone(known.Levels)
			c.Origin, c.Dates, c.Commas = known.Origin, known.Dates, known.Commas
			if said := o.commas([]bool{known.Commas}, 1); c.Kind == dataset.KindNumber {
				c.Commas = said != nil && said[0]
			}
			for code, level := range c.Levels {
				c.levels[level] = int32(code)
			}
		}
		s.columns = append(s.columns, c)
	}
	return s, ""
}

// begin begins the row at a place.
func (s *cells) begin(place int) {
	s.place = place
	s.begun++
}

// rest returns a hash of what the numbers of the row lose as float32.
func (s *cells) rest() (rest uint64) {
	for k := range s.columns {
		c := &s.columns[k]
		if v := c.number - c.Origin; c.Kind == dataset.KindNumber && !s.done {
			rest = restOf(rest, k, v, float32(v))
		}
	}
	return rest
}

// keep ends a row whose cells are all set; an error says that memory would not hold many more
// levels.
func (s *cells) keep() (err error) {
	for k := range s.columns {
		c := &s.columns[k]
		switch c.Kind {
		case dataset.KindNumber:
			v := c.number
			if s.spans != nil && !s.done {
				s.spans[k].Add(v)
			}
			if !s.done {
				v -= c.Origin
			}
			err = c.numbers.add(s.room, decimal.Flush(float32(v), &s.tiny))
			s.bytes += 4
		case dataset.KindCategory:
			err = c.codes.add(s.room, c.code)
			s.bytes += 4
		case dataset.KindText:
			if err = c.text.add(s.room, c.words...); err == nil {
				err = c.ends.add(s.room, int64(c.text.n))
			}
			s.bytes += 8 + len(c.words)
		}
		if err != nil {
			return err
		}
	}
	s.n++
	if s.rows.Bytes = s.bytes; s.room == nil {
		if err := s.rows.Check(1<<24, "the cells of more than %d examples", s.n); err != nil {
			return err
		}
	}
	return s.growth.Check(1<<22, "a list of more than %d levels", s.growth.Bytes/128)
}

// table returns the columns of all rows, or of the recipe if there is one: what it sets aside may
// lack.
func (s *cells) table() (*dataset.Table, error) {
	width := len(s.columns)
	if s.recipe != nil {
		width = len(s.recipe.Columns)
	}
	t := &dataset.Table{N: s.n, Columns: make([]dataset.TableColumn, width)}
	for k := range s.columns {
		c := &s.columns[k]
		var errs [4]error
		c.Numbers, errs[0] = c.numbers.joined(s.room)
		c.Codes, errs[1] = c.codes.joined(s.room)
		c.Texts.Bytes, errs[2] = c.text.joined(s.room)
		c.Texts.Ends, errs[3] = c.ends.joined(s.room)
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		t.Columns[c.at] = c.TableColumn
	}
	return t, nil
}

// surprised reports whether a column of numbers holds many words, where its beginning had few, or
// numbers that may tell another decimal mark.
func (s *cells) surprised() bool {
	return s.recipe == nil && (s.unsure && !s.surveyed || slices.ContainsFunc(s.columns,
		func(c cellColumn) bool { return c.odd > fewExamples && 20*c.odd > s.begun }))
}

// set enters a text in column k of the row; it returns what is wrong with it.
func (s *cells) set(k int, text []byte) string {
	c := &s.columns[k]
	switch c.Kind {
	case dataset.KindText:
		if !utf8.Valid(text) {
			return "found a text that is not UTF-8; convert the data file to UTF-8 (iconv -t UTF-8)"
		}
		c.words = append(c.words[:0], text...)
		return ""
	case dataset.KindAside:
		return ""
	}
	if text = decimal.Trim(text); text == nil {
		text = []byte{} // which is there, and empty
	}
	switch {
	case features.IsMissing(text):
		return s.setMissing(k, text)
	case c.Kind == dataset.KindCategory:
		return s.setLevel(c, text)
	}
	v, ok := decimal.Parse(text)
	if !ok {
		if v, ok = features.ParseTruth(text); ok {
			c.truth = string(text)
		}
	} else if v != 0 && v != 1 {
		c.beyond = true
	}
	if c.Dates {
		v, ok = features.ParseDate(text)
	} else if !ok || c.Commas && bytes.ContainsAny(text, ",.") {
		if v, ok = decimal.Loose(text, c.Commas); ok && c.loose == "" {
			c.loose, c.looseAs = string(text), v
		}
		s.unsure = s.unsure || bytes.ContainsAny(text, ",.")
	} else if c.loose == "" && losesDigits(text, v) {
		c.loose, c.looseAs = string(text), v
	}
	if !ok && s.lenient && !decimal.BeyondRange(text) {
		if c.odd++; c.odd == 1 {
			c.oddText, c.oddAt = string(text), s.place
		}
		return s.setMissing(k, text)
	}
	if !ok {
		return numberFault(text)
	}
	return s.setNumber(k, v)
}

// setNumber enters a number in column k of the row, NaN if it is missing.
func (s *cells) setNumber(k int, v float64) string {
	c := &s.columns[k]
	switch {
	case v != v:
		return s.setMissing(k, nil)
	case c.Kind == dataset.KindNumber && !decimal.Finite(float32(v-c.Origin)):
		return valueFault(v)
	}
	c.number = v
	return ""
}

// setMissing enters a missing value, written as text; nil for a null.
func (s *cells) setMissing(k int, text []byte) string {
	c := &s.columns[k]
	c.number, c.code, c.words = math.NaN(), -1, c.words[:0]
	switch {
	case c.Kind == dataset.KindText || c.Kind == dataset.KindAside ||
		s.missing != "" && s.missing != dataset.MissingError:
		return ""
	case text == nil:
		return nullFault
	case c.Kind == dataset.KindNumber:
		return numberFault(text)
	}
	return fmt.Sprintf("found %s, a missing value, wanted a level of a category",
		quote.Text(string(text)))
}

// setLevel enters a level of a category.
func (s *cells) setLevel(c *cellColumn, text []byte) string {
	code, known := c.levels[string(text)]
	if !known {
		level := string(text)
		switch {
		case s.recipe != nil && s.strict:
			return fmt.Sprintf("found %s, which is none of the %d levels of the training data, %s; take "+
				"such levels for none of them (%s), or train on data that have them", quote.Text(level),
				len(c.Levels), quote.List(c.Levels), quote.Option("unseen", "zero"))
		case !utf8.Valid(text):
			return "found " + quote.Text(level) +
				", which is not UTF-8; convert the data file to UTF-8 (iconv -t UTF-8)"
		}
		code = int32(len(c.Levels))
		c.Levels, c.levels[level] = append(c.Levels, level), code
		s.growth.Bytes += len(level) + 128 // with what the lists take of it
	}
	c.code = code
	return ""
}

// about enters notes on the columns in d, each after the path.
func (s *cells) about(d *dataset.Dataset, path string) {
	for k := range s.columns {
		c := &s.columns[k]
		if c.loose != "" {
			d.Notes = append(d.Notes, path+": "+looseNote(c.String(), c.loose, c.looseAs))
		}
		if c.truth != "" && c.beyond {
			d.Warnings = append(d.Warnings, path+": "+features.TruthNote(c.String(), c.truth))
		}
		if c.odd > 0 {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s holds values that are no numbers (%d), "+
				"such as %s in %s %d, which count as missing; if it is a category, say so (%s)", path, c,
				c.odd, quote.Text(c.oddText), s.places, c.oddAt, quote.Option("categories", c.Option())))
		}
	}
}

// pieces is a list that grows without being copied.
type pieces[T osfile.Element] struct {
	full [][]T
	last []T
	n    int
}

// add appends values.
func (p *pieces[T]) add(room *osfile.Scratch, values ...T) (err error) {
	const most = 1 << 16 // elements of a piece
	for p.n += len(values); len(values) > 0; {
		if len(p.last) == most {
			p.full, p.last = append(p.full, p.last), nil
		}
		if p.last == nil && room != nil {
			if p.last, err = osfile.MakeScratch[T](room, most); err != nil {
				return err
			}
			p.last = p.last[:0]
		}
		k := min(len(values), most-len(p.last))
		p.last, values = append(p.last, values[:k]...), values[k:]
	}
	return nil
}

// joined returns the whole list and forgets the pieces.
func (p *pieces[T]) joined(room *osfile.Scratch) ([]T, error) {
	if len(p.full) == 0 {
		return p.last, nil
	}
	list, err := osfile.MakeScratch[T](room, p.n)
	if err != nil {
		return nil, err
	}
	list = list[:0]
	for k, piece := range append(p.full, p.last) {
		list = append(list, piece...)
		if k < len(p.full) {
			p.full[k] = nil
		}
	}
	p.last = nil
	return list, nil
}

// losesDigits reports whether a whole number is more than its value v: it begins with 0, as names
// of places and articles do, or float64 rounds it.
func losesDigits(text []byte, v float64) bool {
	const exact = 15 // digits that float64 holds
	switch {
	case len(text) <= exact && !(len(text) > 1 && text[0] == '0'), !decimal.IsInteger(string(text)):
		return false
	case text[0] == '0':
		return true
	}
	return strings.TrimPrefix(string(text), "+") != strconv.FormatFloat(v, 'f', 0, 64)
}

// rounds reports whether float64 rounds a whole number of this size.
func rounds(size uint64) bool { return bits.Len64(size)-bits.TrailingZeros64(size) > 53 }

// sizeOf returns the absolute value of the integer v. If signed, v holds the bits of an int64.
func sizeOf(v uint64, signed bool) uint64 {
	if signed && int64(v) < 0 {
		return -v
	}
	return v
}

// looseNote says how a text of a column is read.
func looseNote(column, text string, v float64) string {
	digits := -1
	if v == math.Trunc(v) {
		digits = 0
	}
	return fmt.Sprintf("%s has numbers such as %s, which is read as %s", column, quote.Text(text),
		strconv.FormatFloat(v, 'f', digits, 64))
}

// parseCell is decimal.Parse for a field of a table, which also has words for 1 and 0.
func parseCell(text []byte) (float64, bool) {
	if v, ok := decimal.Parse(text); ok {
		return v, true
	}
	return features.ParseTruth(text)
}
