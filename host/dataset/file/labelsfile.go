package file

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// readLabels reads a file of one label per example, by the rules of Options.Labels.
func readLabels(ctx context.Context, path string, o Options) (*labelList, error) {
	s, done, err := openSource(ctx, path, o.Stdin)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := readLabelSource(s, o)
	return l, s.finished(err)
}

func readLabelSource(s *source, o Options) (*labelList, error) {
	header := npyfile.ReadHeader
	switch head := s.peek(16); {
	case isNPY(head):
	case isIDX(head):
		header = readIDXHeader
	default:
		return readLabelText(s, o)
	}
	h, err := header(s)
	if err != nil {
		return nil, s.placed(err)
	}
	return readLabelArray(s, s, s.path, h, o)
}

// readLabelArray reads labels from an array of elements, or of rows; name is for messages.
func readLabelArray(s *source, r io.Reader, name string, h npyfile.Array, o Options,
) (*labelList, error) {
	width, column := 1, 0
	if len(h.Shape) == 2 {
		width = h.Shape[1]
		column = columnPosition(strings.TrimSpace(o.LabelColumn), width)
		if width == 1 {
			column = 0
		}
	}
	switch {
	case !isLabel(h.Type):
		return nil, fmt.Errorf("%s: found elements of type %s, wanted labels: integers or texts", name,
			h.Type)
	case len(h.Shape) < 1 || len(h.Shape) > 2:
		return nil, fmt.Errorf("%s: found an array of %d dimensions, wanted one label per example", name,
			len(h.Shape))
	case width > 1 && h.Fortran:
		return nil, fmt.Errorf("%s: found several columns of labels in Fortran order, wanted C order",
			name)
	case column < 0:
		return nil, fmt.Errorf("%s: found %d columns of labels and the label column %s, wanted its "+
			"position, first or last", name, width, quote.Text(o.LabelColumn))
	case h.Type.Size == 0 || width == 0:
		return nil, fmt.Errorf("%s: found empty labels, wanted class names", name)
	case h.Shape[0] > s.limits.rows:
		return nil, fmt.Errorf("%s: found %d labels, wanted at most %d", name, h.Shape[0], s.limits.rows)
	case width > 1<<20/h.Type.Size:
		return nil, fmt.Errorf("%s: found %d columns of labels, wanted fewer", name, width)
	}
	l := &labelList{name: name}
	row, text := make([]byte, width*h.Type.Size), []byte(nil)
	for i := range h.Shape[0] {
		if _, err := io.ReadFull(r, row); err != nil {
			if err == io.EOF || (err == io.ErrUnexpectedEOF && s.packed == "") {
				err = fmt.Errorf("%s: found only %d labels, wanted %d as the header says; the file is cut "+
					"short, fetch it again", name, i, h.Shape[0])
			}
			return nil, err
		}
		var fault error
		text, fault = appendLabel(h.Type, text[:0], row[column*h.Type.Size:(column+1)*h.Type.Size])
		if err := l.add(text, fault); err != nil {
			return nil, err
		}
	}
	return l, atEnd(r, func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	})
}

// readLabelText reads labels from lines, or from one column of a CSV. A word over whole numbers is
// taken for a header; were it a label, one would be missing.
func readLabelText(s *source, o Options) (*labelList, error) {
	s.lines()
	l := &labelList{name: s.path}
	r := columnReader{rec: record{src: s}}
	err := r.start(strings.TrimSpace(o.LabelColumn), "the label column")
	for ; err == nil; err = r.rec.next() {
		text, fault := r.text()
		if err := l.add(text, fault); err != nil {
			return nil, err
		}
		l.lines = append(l.lines, r.rec.line)
	}
	if err != io.EOF {
		return nil, err
	}
	words := func(from, to int) (n int) {
		for _, code := range l.codes[from:to] {
			if code >= 0 && !decimal.IsInteger(l.names[code]) {
				n++
			}
		}
		return n
	}
	if n := len(l.codes); !r.header && n > 1 && words(0, 1) == 1 && words(1, n) == 0 {
		l.codes, l.lines = l.codes[1:], l.lines[1:]
		faults := map[int]error{}
		for k, fault := range l.faults {
			faults[k-1] = fault
		}
		l.faults = faults
	}
	if len(l.codes) == 0 {
		return nil, fmt.Errorf("%s: found no label, wanted one per example", s.path)
	}
	l.column = r.columns.describe(r.at)
	return l, nil
}

// columnReader reads one column of a CSV.
type columnReader struct {
	rec     record
	columns columns
	at      int // the column
	line    int // of the first record
	header  bool
}

// start moves to the first record that is no header for sure, because column is a name in it. what
// describes the column in errors.
func (r *columnReader) start(column, what string) error {
	err := r.rec.next()
	if err == nil {
		err = r.rec.bad
	}
	if err != nil {
		return err
	}
	r.rec.split()
	fields := r.rec.fields()
	named, _ := findName(fields, column)
	positional := column == "first" || column == "last" || decimal.IsInteger(column)
	r.line, r.rec.usual, r.header = r.rec.line, len(fields), named >= 0 && !positional
	r.columns = columns{role: make([]role, len(fields))}
	fault := ""
	switch {
	case r.header:
		r.columns.names = fields
		r.at, fault = r.columns.find(column, what)
	case positional:
		r.at, fault = r.columns.find(column, what)
	case column != "":
		fault = fmt.Sprintf("found the columns %s, wanted one named %s as %s, or its position",
			quote.List(fields), quote.Text(column), what)
	case len(fields) > 1:
		fault = fmt.Sprintf("found %d columns (%s), wanted to know which is %s; name it", len(fields),
			quote.List(fields), what)
	}
	if fault != "" {
		return r.rec.src.errorAt(r.line, 0, "%s", fault)
	}
	if r.header {
		return r.rec.next()
	}
	return nil
}

// text returns the text of the column in the current record, valid until the next one.
func (r *columnReader) text() ([]byte, error) {
	if err := r.rec.whole(len(r.columns.role), r.line); err != nil {
		return nil, err
	}
	return r.rec.field(r.at), nil
}
