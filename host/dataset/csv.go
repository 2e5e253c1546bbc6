package dataset

import (
	"fmt"
	"io"
	"strings"
)

// csvReader holds what the rows of one CSV file share.
type csvReader struct {
	record
	o      Options
	label  int // field of the label, -1 without labels
	header bool
	names  []string // all fields of the header; nil without one
	width  int      // fields of every record
	first  int      // line of the first record

	labels     *labels
	x          blocks[float32]
	n          int
	subnormals int
}

// readCSV reads comma-, tab- or semicolon-separated records (found out from the
// first line), one example each.
func readCSV(s *source, o Options) (*Dataset, error) {
	l, err := newLabels(o.Classes)
	if err != nil {
		return nil, err
	}
	r := &csvReader{record: record{src: s}, o: o, labels: l}
	if err := r.next(); err == io.EOF {
		return nil, emptyFault(s, "")
	} else if err != nil {
		return nil, err
	}
	if err := r.resolve(); err != nil {
		return nil, err
	}
	if !r.header {
		err = r.row()
	}
	for err == nil {
		if err = r.next(); err == nil {
			err = r.row()
		}
	}
	if err != io.EOF {
		return nil, err
	}
	if r.n == 0 {
		return nil, emptyFault(s, fmt.Sprintf(" after the header in line %d", r.first))
	}
	return r.dataset(), nil
}

// dataset puts together what the rows gave.
func (r *csvReader) dataset() *Dataset {
	d := &Dataset{Subnormals: r.subnormals}
	d.N, d.D = r.n, r.width
	if r.label >= 0 {
		d.D--
		d.LabelColumn = r.label + 1
		d.Classes, d.Y = r.labels.finish()
	}
	d.X = r.x.flatten()
	if r.header {
		d.Features = make([]string, 0, d.D)
		for j, name := range r.names {
			if j == r.label {
				d.Label = name
			} else {
				d.Features = append(d.Features, name)
			}
		}
	}
	return d
}

// row takes the current record as an example.
func (r *csvReader) row() error {
	if r.len() != r.width {
		return r.src.errorAt(r.line, "found %d fields, wanted %d as in line %d", r.len(), r.width, r.first)
	}
	for j := range r.ends {
		text := trimSpace(r.field(j))
		if j == r.label {
			if fault := r.labels.add(text); fault != "" {
				return r.fault(j, fault)
			}
			continue
		}
		v, ok := parseNumber(text)
		if !ok {
			return r.fault(j, numberFault(text))
		}
		r.x.push(flush(v, &r.subnormals))
	}
	r.n++
	return nil
}

// fault returns an error about field j of the current record.
func (r *csvReader) fault(j int, what string) error {
	column := fmt.Sprintf("column %d", j+1)
	if r.header {
		column += " (" + shorten(r.names[j]) + ")"
	}
	hint := ""
	if r.line == r.first && r.o.Header != "no" && j != r.label {
		hint = "; if this line is a header, ask for one"
	}
	return r.src.errorAt(r.line, "%s: %s%s", column, what, hint)
}

// resolve decides from the first record whether it is a header and which column
// is the label; the rules are those of Options.LabelColumn and Options.Header.
func (r *csvReader) resolve() error {
	r.first, r.width, r.label = r.line, r.len(), -1
	if r.o.NoLabels {
		if err := r.chooseHeader(false, -1, -1); err != nil {
			return err
		}
		return r.takeHeader()
	}
	column := strings.TrimSpace(r.o.LabelColumn)
	if column == "" {
		column = "last"
	}
	position, named, twice := columnPosition(column, r.width), -1, false
	if column != "first" && column != "last" {
		named, twice = r.find(column)
	}
	if err := r.chooseHeader(named >= 0 && !isInteger(column), position, named); err != nil {
		return err
	}
	r.label = position
	switch {
	case r.header && twice:
		return r.src.errorAt(r.line, "found several columns named %s, wanted one label column; rename one of them", quote(column))
	case r.header && named >= 0:
		r.label = named
	case position < 0:
		return r.noLabelFault(column)
	}
	return r.takeHeader()
}

// chooseHeader sets header. certain says that a word asked for as the label
// column stands in the record; position and named are the fields, or -1, that
// may be the label.
func (r *csvReader) chooseHeader(certain bool, position, named int) error {
	switch r.o.Header {
	case "yes":
		r.header = true
	case "no":
		r.header = false
	case "auto", "":
		r.header = certain || r.looksLikeHeader(position, named)
	default:
		return fmt.Errorf("dataset: unknown header choice %s, wanted auto, yes or no", quote(r.o.Header))
	}
	return nil
}

// takeHeader keeps the names of a header and checks the number of features.
func (r *csvReader) takeHeader() error {
	features := r.width
	if r.label >= 0 {
		features--
	}
	if features == 0 {
		return r.src.errorAt(r.line, "found no column but the label, wanted features as well; is the delimiter a comma, tab or semicolon?")
	}
	if r.o.Features > 0 && features != r.o.Features {
		return r.src.errorAt(r.line, "found %d feature columns, wanted %d, the width of the model", features, r.o.Features)
	}
	if r.header {
		r.names = make([]string, r.width)
		for j := range r.names {
			r.names[j] = string(trimSpace(r.field(j)))
		}
	}
	return nil
}

// find returns the first field of the current record that is column, -1 if none
// is, and whether several are.
func (r *csvReader) find(column string) (at int, twice bool) {
	at = -1
	for j := range r.ends {
		if string(trimSpace(r.field(j))) == column {
			if at >= 0 {
				return at, true
			}
			at = j
		}
	}
	return at, false
}

// looksLikeHeader is the rule of Options.Header for "auto".
func (r *csvReader) looksLikeHeader(position, named int) bool {
	names := false
	for j := range r.ends {
		text := trimSpace(r.field(j))
		if j == position || j == named || len(text) == 0 {
			continue
		}
		if _, ok := parseNumber(text); ok || isNonFinite(string(text)) {
			return false
		}
		names = true
	}
	return names
}

// noLabelFault words that no column answers to the one asked for.
func (r *csvReader) noLabelFault(column string) error {
	if isInteger(column) {
		return r.src.errorAt(r.line, "found %d columns, wanted the label in column %s", r.width, quote(column))
	}
	if !r.header {
		return r.src.errorAt(r.line, "found no header, wanted one with the label column %s; give the column's position, first or last", quote(column))
	}
	names := make([]string, r.width)
	for j := range names {
		names[j] = string(trimSpace(r.field(j)))
	}
	return r.src.errorAt(r.line, "found the columns %s, wanted the label column %s", quoteList(names), quote(column))
}

// columnPosition returns the field, counted from 0, that "first", "last" or a
// position counted from 1 means among width fields; -1 if it means none.
func columnPosition(column string, width int) int {
	switch column {
	case "first":
		return 0
	case "last":
		return width - 1
	}
	position := 0
	for _, c := range column {
		if c < '0' || c > '9' || position > width {
			return -1
		}
		position = position*10 + int(c-'0')
	}
	if position < 1 || position > width {
		return -1
	}
	return position - 1
}
