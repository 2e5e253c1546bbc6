package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// csvReader holds what the rows of one CSV file share.
type csvReader struct {
	c       *collector
	rec     record // the current record
	columns columns
	header  bool
	head    []byte // the text of the header
	first   int    // line of the first record

	loose map[int]string // notes on columns of numbers that lose digits
	truth map[int]string // a word for 1 or 0 in columns of numbers
}

// enterCSV reads records, one example each.
func enterCSV(c *collector) error {
	s, o := c.src, c.o
	if err := c.begin(); err != nil {
		return err
	}
	layout, err := o.layout()
	if err != nil {
		return err
	}
	if err := checkText(s); err != nil {
		return err
	}
	s.lines()
	if layout.lenient && s.latin() {
		c.remarks.note("the text is no UTF-8 and is read as Windows-1252")
	}
	r := &csvReader{c: c, rec: record{src: s, layout: layout}, loose: map[int]string{},
		truth: map[int]string{}}
	if err := r.rec.next(); err == io.EOF {
		return emptyFault(s, "")
	} else if err != nil {
		return err
	}
	if r.rec.bad != nil {
		return r.rec.bad // without its first record the shape of the table is not known
	}
	if err := r.resolve(); err != nil {
		return err
	}
	c.describe = r.about
	if err := r.rows(); err != nil {
		return err
	}
	if r.header && c.seen == 0 {
		return emptyFault(s, fmt.Sprintf(" after the header in line %d", r.first))
	}
	return nil
}

// rows enters all records from the current one on, the first aside if it is the header.
func (r *csvReader) rows() error {
	var err error
	if r.header {
		err = r.rec.next()
	}
	for ; err == nil; err = r.rec.next() {
		fault := r.rec.bad
		if fault == nil && isHeader(r, &r.rec) {
			fault = r.rec.src.errorAt(r.rec.line, 0, "%w", errHeaderAgain)
		}
		if fault == nil {
			fault = r.row()
		}
		if err := r.c.decide(fault, r.rec.line); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// errHeaderAgain says that a row is none.
var errHeaderAgain = errors.New("the header is there again, as where files were joined, and is " +
	"left out")

// isHeader reports whether a record is the header of r.
func isHeader(r *csvReader, rec *record) bool { return r.header && bytes.Equal(rec.text, r.head) }

// about enters the columns in d, and notes on lines that are no examples.
func (r *csvReader) about(d *dataset.Dataset) {
	r.columns.about(d)
	path := r.rec.src.path
	for _, j := range slices.Sorted(maps.Keys(r.loose)) {
		d.Notes = append(d.Notes, path+": "+r.loose[j])
	}
	k := 0
	for j, role := range r.columns.role {
		if role != feature {
			continue
		}
		if r.truth[j] != "" && beyondTruths(d, k, originOf(r.c, k)) {
			d.Warnings = append(d.Warnings, path+": "+features.TruthNote(r.columns.describe(j), r.truth[j]))
		}
		k++
	}
	if r.rec.comments > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: lines that begin with # (%d) are taken as "+
			"comments, the first is line %d", path, r.rec.comments, r.rec.comment))
	}
	if r.rec.titles > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: lines above the table (%d) are left out; it begins "+
			"in line %d", path, r.rec.titles, r.first))
	}
}

// beyondTruths reports whether column k of d, behind an origin, has a number other than 0 and 1.
func beyondTruths(d *dataset.Dataset, k int, origin float64) bool {
	for i := range d.N {
		columns, values := d.Entries(i)
		for at, v := range values {
			own := columns == nil && at == k || columns != nil && int(columns[at]) == k
			if v := float64(v) + origin; own && v != 0 && v != 1 {
				return true
			}
		}
	}
	return false
}

// row enters the current record.
func (r *csvReader) row() error {
	cells, n := r.c.cells, &r.c.numbers
	if cells == nil && len(r.rec.ends) == 0 && n.commas == nil && r.plainRow() {
		return r.round()
	}
	role := r.columns.role
	r.rec.fit(len(role))
	if len(r.rec.ends) != len(role) {
		return r.widthFault()
	}
	k := 0
	if n.row = n.row[:0]; cells != nil {
		cells.begin(r.rec.line)
	}
	for j := range role {
		fault := ""
		switch {
		case role[j] != feature:
			if err := r.c.setOther(role[j], r.rec.field(j)); err != nil {
				return r.fault(j, err)
			}
			continue
		case cells != nil:
			fault = cells.set(k, r.rec.field(j))
			k++
		default:
			var v float64
			text := decimal.Trim(r.rec.field(j))
			v, fault = r.number(text, n.commas != nil && n.commas[len(n.row)])
			if fault == "" && losesDigits(text, v) && r.loose[j] == "" {
				r.loose[j] = looseNote(r.columns.describe(j), string(text), v)
			}
			if fault == "" && v == v && len(text) > 0 && text[0] >= 'A' { // a word, but not a gap
				r.truth[j] = string(text)
			}
			n.row = append(n.row, v)
		}
		if fault != "" {
			return r.fault(j, errors.New(fault))
		}
	}
	if cells != nil {
		return nil
	}
	return r.round()
}

// number returns the number that a cell is, with a decimal comma or not, or what is wrong with it.
func (r *csvReader) number(text []byte, commas bool) (v float64, fault string) {
	v, ok := parseCell(text)
	if commas && bytes.ContainsAny(text, ",.") {
		v, ok = decimal.Loose(text, true)
	}
	switch {
	case ok:
		return v, ""
	case r.c.numbers.fills && features.IsMissing(text):
		return math.NaN(), ""
	}
	return 0, numberFault(text)
}

// round enters the row of numbers.
func (r *csvReader) round() error {
	return enterNumbers(r.c, func(k int, v float64) error {
		return r.fault(r.columns.of(k), errors.New(valueFault(v)))
	})
}

// widthFault is the error of a record of another width than the first.
func (r *csvReader) widthFault() error {
	return r.rec.src.errorAt(r.rec.line, r.rec.column(len(r.columns.role)),
		"found %d fields, wanted %d as in line %d%s",
		len(r.rec.ends), len(r.columns.role), r.first, r.rowNamesHint())
}

// rowNamesHint explains what R's write.table does to every record but the header.
func (r *csvReader) rowNamesHint() string {
	if r.header && r.c.number() == 1 && len(r.rec.ends) == len(r.columns.role)+1 {
		return " (row names of R without a place in the header? write with row.names=FALSE, or " +
			"col.names=NA)"
	}
	return ""
}

// plainRow is row for a record without quotes, spaces and mistakes; false means "not so".
func (r *csvReader) plainRow() bool {
	role, line, delim := r.columns.role, r.rec.text, r.rec.delim
	row := slices.Grow(r.c.numbers.row[:0], r.columns.features)[:r.columns.features]
	i, k := 0, 0
	for j := 0; ; j++ {
		if j == len(role) {
			return false
		}
		if role[j] == feature {
			var v float64
			if i+1 < len(line) && line[i+1] == delim && line[i]-'0' <= 9 {
				v = float64(line[i] - '0')
				i++
			} else {
				at, ok := i, false
				if v, i, ok = decimal.Scan(line, at); !ok || (i < len(line) && line[i] != delim) {
					text, _, _ := bytes.Cut(line[at:], []byte{delim})
					if v, ok = decimal.Parse(text); !ok || decimal.IsInteger(string(text)) {
						return false
					}
					i = at + len(text)
				}
				if at+1 < i && line[at] == '0' && line[at+1] != '.' {
					return false
				}
			}
			row[k] = v
			k++
		} else {
			text, _, _ := bytes.Cut(line[i:], []byte{delim})
			if r.c.setOther(role[j], text) != nil {
				return false
			}
			i += len(text)
		}
		if i == len(line) {
			if j+1 < len(role) {
				return false
			}
			break
		}
		i++
	}
	r.c.numbers.row = row[:k]
	return true
}

// fault returns an error about field j of the current record.
func (r *csvReader) fault(j int, what error) error {
	hint := ""
	if r.header && j == 0 && r.columns.names[0] == "" && r.columns.role[j] == feature {
		hint = "; if these are row names, leave the column out (" + quote.Option("ignore-columns",
			"1") + ")"
	} else if r.rec.line == r.first && r.c.o.Header != "no" && r.columns.role[j] == feature {
		hint = "; if this line is a header, ask for one"
	}
	line, column := r.rec.place(j)
	if r.c.o.Encode != nil && r.columns.role[j] == feature {
		if text := decimal.Trim(r.rec.field(j)); features.IsMissing(text) {
			return r.rec.src.errorAt(line, column, "%s: %w%s; %w", r.columns.describe(j), what, hint,
				features.ErrMissing)
		} else if hint == "" && !decimal.IsNonFinite(string(text)) && !decimal.BeyondRange(text) {
			hint = fmt.Sprintf("; if the column is a category, say so (%s)",
				quote.Option("categories", r.columns.option(j)))
		}
	}
	return r.rec.src.errorAt(line, column, "%s: %w%s", r.columns.describe(j), what, hint)
}

// resolve decides whether the first record is a header and what the columns are for.
func (r *csvReader) resolve() error {
	r.rec.split()
	r.first, r.rec.usual = r.rec.line, len(r.rec.ends)
	width := len(r.rec.ends)
	if width > r.rec.src.limits.columns {
		return r.rec.src.errorAt(r.rec.line, 0, "found %d columns, wanted at most %d", width,
			r.rec.src.limits.columns)
	}
	names := r.rec.fields()
	r.c.o = r.c.o.forTable(names)
	switch r.c.o.Header {
	case "yes":
		r.header = true
	case "no":
	case "auto", "":
		r.header = r.looksLikeHeader(names)
	default:
		return fmt.Errorf("dataset: unknown header choice %s, wanted auto, yes or no",
			quote.Text(r.c.o.Header))
	}
	if r.head = bytes.Clone(r.rec.text); !r.header {
		names = nil
	}
	if r.header && r.rec.layout.lenient {
		if r.rec.rowNames(width) {
			names, width = append([]string{""}, names...), width+1
		}
	}
	_, twice := lists.Repeated(r.c.o.FeatureNames)
	if r.header && !twice && (r.rec.layout.lenient || r.c.o.FeatureNames != nil) {
		names = r.distinct(names)
	}
	fault := r.c.resolve(&r.columns, names, width, "line", r.kinds)
	if fault != "" {
		return r.rec.src.errorAt(r.rec.line, 0, "%s", fault)
	}
	return nil
}
