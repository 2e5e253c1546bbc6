package file

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// csvReader holds what the rows of one CSV file share.
type csvReader struct {
	*builder
	record
	columns columns
	header  bool
	first   int // line of the first record
	second  int // line of the other row of a header of two, 0 if it has one

	short, shortAt int // records of fewer fields, and the first
}

// enterCSV reads records, one example each.
func enterCSV(b *builder) error {
	s, o := b.src, b.o
	layout, err := o.layout()
	if err != nil {
		return err
	}
	if err := checkUTF16(s); err != nil {
		return err
	}
	if layout.lenient = o.lenient() || o.Encoding != nil; layout.lenient &&
		s.latin() {
		b.note("%s: the text is no UTF-8 and is read as Windows-1252", s.path)
	}
	r := &csvReader{builder: b, record: record{src: s, layout: layout}}
	if err := r.next(); err == io.EOF {
		return emptyFault(s, "")
	} else if err != nil {
		return err
	}
	if r.bad != nil {
		return r.bad // without its first record the shape of the table is not known
	}
	if err := r.resolve(); err != nil {
		return err
	}
	b.about = r.about
	if err := r.rows(); err != nil {
		return err
	}
	if o.parts.goesOn() && r.comments > 0 { // about is asked behind the last part
		b.note("%s", r.commentsNote())
	}
	if r.header && b.seen == 0 && o.parts == nil {
		return emptyFault(s, fmt.Sprintf(" after the header in line %d", r.first))
	}
	return nil
}

// rows enters all records from the current one on, the first aside if it is the header.
func (r *csvReader) rows() error {
	var err error
	if r.header {
		err = r.next()
	}
	for ; err == nil; err = r.next() {
		if r.line == r.second {
			continue
		}
		fault := r.bad
		if fault == nil {
			fault = r.row()
		}
		if err := r.decide(fault, r.line); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return r.fatal(err)
	}
	return nil
}

// about tells d what is known of the columns, and of lines that are no examples.
func (r *csvReader) about(d *dataset.Dataset) {
	r.columns.about(d)
	if r.comments > 0 {
		d.Notes = append(d.Notes, r.commentsNote())
		r.comments = 0
	}
	path := r.record.src.path
	if r.titles > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %d lines above the table are left out; it begins "+
			"in line %d", path, r.titles, r.first))
	}
	if r.second > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: lines %d and %d are taken as one header", path,
			r.first, r.second))
	}
	if r.short > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d examples have fewer fields than %d, the "+
			"first in line %d; the last ones count as missing", path, r.short, len(r.columns.role),
			r.shortAt))
	}
}

func (r *csvReader) commentsNote() string {
	return fmt.Sprintf("%s: %d lines that begin with # are taken as comments, the first is line %d",
		r.record.src.path, r.comments, r.comment)
}

// row enters the current record.
func (r *csvReader) row() error {
	if r.Encoder != nil {
		return r.mixedRow()
	}
	if len(r.ends) == 0 && !r.record.layout.comma && r.plainRow() {
		return nil
	}
	r.split()
	r.x, r.subnormals = r.x[:r.rowFrom], r.flushed
	role := r.columns.role
	if len(r.ends) != len(role) {
		return r.widthFault()
	}
	for j := range role {
		if role[j] != feature {
			if fault := r.setOther(role[j], r.field(j)); fault != "" {
				return r.fault(j, fault)
			}
			continue
		}
		text, fault := r.pointed(r.field(j))
		if fault != "" {
			return r.fault(j, fault)
		}
		text = decimal.Trim(text)
		v, ok := encode.ParseCell(text)
		if !ok {
			return r.fault(j, decimal.Fault(text))
		}
		r.x = append(r.x, decimal.Flush(v, &r.subnormals))
	}
	return nil
}

// mixedRow is row for a table that holds more than numbers.
func (r *csvReader) mixedRow() error {
	r.split()
	role := r.columns.role
	if r.record.layout.lenient && len(r.ends) != len(role) {
		if len(r.ends) < len(role) {
			if r.short++; r.short == 1 {
				r.shortAt = r.line
			}
		}
		r.fit(len(role))
	}
	if len(r.ends) != len(role) {
		return r.widthFault()
	}
	r.Encoder.Begin(r.line)
	k := 0
	for j := range role {
		fault := ""
		if role[j] == feature {
			field := r.field(j)
			if r.Encoder.IsNumber(k) {
				field, fault = r.pointed(field)
			}
			if fault == "" {
				fault = r.Encoder.Set(k, field, &r.subnormals)
			}
			k++
		} else {
			fault = r.setOther(role[j], r.field(j))
		}
		if fault != "" {
			return r.fault(j, fault)
		}
	}
	return nil
}

// pointed returns a number with a point for its decimal comma, and what is wrong with it.
func (r *record) pointed(field []byte) ([]byte, string) {
	if !r.layout.comma || len(bytes.Trim(field, "0123456789+-eE,. \t")) > 0 {
		return field, ""
	}
	if bytes.IndexByte(field, '.') >= 0 {
		return field, fmt.Sprintf("found %s, a number with a point, wanted decimal commas alone "+
			"("+option.Named("decimal", "comma")+")", quote.Text(string(decimal.Trim(field))))
	}
	at := bytes.IndexByte(field, ',')
	if at < 0 || at != bytes.LastIndexByte(field, ',') {
		return field, ""
	}
	field = bytes.Clone(field)
	field[at] = '.'
	return field, ""
}

// widthFault is the error of a record that has not as many fields as the first.
func (r *csvReader) widthFault() error {
	return r.record.src.errorAt(r.line, r.column(len(r.columns.role)),
		"found %d fields, wanted %d as in line %d%s",
		len(r.ends), len(r.columns.role), r.first, r.rowNamesHint())
}

// rowNamesHint tells what R's write.table does to every record but the header.
func (r *csvReader) rowNamesHint() string {
	if r.header && r.number() == 1 && len(r.ends) == len(r.columns.role)+1 {
		return " (row names of R without a place in the header? write with row.names=FALSE, or " +
			"col.names=NA)"
	}
	return ""
}

// plainRow is row for a record without quotes, spaces and mistakes; false means "not so".
func (r *csvReader) plainRow() bool {
	role, line, delim := r.columns.role, r.text, r.delim
	r.x = slices.Grow(r.x, r.columns.features)
	x := r.x[len(r.x) : len(r.x)+r.columns.features]
	i, k := 0, 0
	for j := 0; ; j++ {
		if j == len(role) {
			return false
		}
		if role[j] == feature {
			var v float32
			if i+1 < len(line) && line[i+1] == delim && line[i]-'0' <= 9 {
				v = float32(line[i] - '0')
				i++
			} else {
				var ok bool
				if v, i, ok = decimal.Scan(line, i); !ok || (i < len(line) && line[i] != delim) {
					return false
				}
			}
			if v < decimal.MinNormal && v > -decimal.MinNormal {
				v = decimal.Flush(v, &r.subnormals)
			}
			x[k] = v
			k++
		} else {
			text, _, _ := bytes.Cut(line[i:], []byte{delim})
			if r.setOther(role[j], text) != "" {
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
	r.x = r.x[:len(r.x)+k]
	return true
}

// fault returns an error about field j of the current record.
func (r *csvReader) fault(j int, what string) error {
	hint := ""
	if r.header && j == 0 && r.columns.names[0] == "" && r.columns.role[j] == feature {
		hint = "; if these are row names, leave the column out (" + option.Named("ignore-columns",
			"1") + ")"
	} else if r.line == r.first && r.o.Header != "no" && r.columns.role[j] == feature {
		hint = "; if this line is a header, ask for one"
	}
	line, column := r.place(j)
	if r.o.Encode != nil && r.columns.role[j] == feature {
		if text := decimal.Trim(r.field(j)); encode.IsMissing(text) {
			return r.record.src.errorAt(line, column, "%s: %s%s; %w", r.columns.describe(j), what, hint,
				features.ErrMissing)
		} else if hint == "" && !decimal.IsNonFinite(string(text)) && !beyondRange(text) {
			hint = fmt.Sprintf("; if the column is a category, say so (%s)",
				option.Named("categories", r.columns.option(j)))
		}
	}
	return r.record.src.errorAt(line, column, "%s: %s%s", r.columns.describe(j), what, hint)
}

// resolve decides whether the first record is a header and what the columns are for.
func (r *csvReader) resolve() error {
	r.split()
	r.first, r.usual = r.line, len(r.ends)
	width := len(r.ends)
	if width > r.record.src.limits.columns {
		return r.record.src.errorAt(r.line, 0, "found %d columns, wanted at most %d", width,
			r.record.src.limits.columns)
	}
	names := r.fields()
	r.o = r.o.forTable(names)
	switch r.o.Header {
	case "yes":
		r.header = true
	case "no":
	case "auto", "":
		r.header = r.looksLikeHeader(names)
	default:
		return fmt.Errorf("dataset: unknown header choice %s, wanted auto, yes or no",
			quote.Text(r.o.Header))
	}
	if first := r.o.parts.names(); slices.Equal(first, names) {
		r.header = true
	} else if !r.header {
		names = first // of a part without a header
	}
	if r.header && r.record.layout.lenient {
		names, r.second = r.joinHeader(names)
		if next := r.ahead(sniffed); next.next() == nil && next.bad == nil {
			// R's write.table has row names without a place in the header.
			if next.split(); len(next.ends) == width+1 && len(decimal.Trim(next.field(width))) > 0 {
				names, width = append([]string{""}, names...), width+1
			}
		}
	}
	_, twice := firstTwice(r.o.FeatureNames)
	if r.header && !twice && (r.record.layout.lenient || r.o.FeatureNames != nil) {
		names = r.distinct(names)
	}
	fault := r.builder.resolve(&r.columns, names, width, "line", r.kinds)
	if fault != "" {
		return r.record.src.errorAt(r.line, 0, "%s", fault)
	}
	if r.Encoder == nil {
		r.x = []float32{}
	}
	return nil
}

// fields returns the trimmed texts of the current record.
func (r *record) fields() []string {
	texts := make([]string, len(r.ends))
	for j := range texts {
		texts[j] = string(decimal.Trim(r.field(j)))
	}
	return texts
}

// place returns the line and column, from 1, where field j begins, or where its end is missing.
func (r *record) place(j int) (line, column int) {
	if r.delim == ' ' && (r.places == nil || r.places[len(r.places)-1].line == r.line) {
		return r.line, r.rawColumn(j)
	}
	if r.places != nil {
		p := r.places[min(j, len(r.places)-1)]
		return p.line, p.column
	}
	if j == 0 {
		return r.line, 1
	}
	if j >= len(r.ends) {
		return r.line, len(r.text) + 1
	}
	return r.line, int(r.ends[j-1]) + 2
}

// column is the column of place.
func (r *record) column(j int) int {
	_, column := r.place(j)
	return column
}
