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
	r := record{src: s}
	table, at, err := labelColumn(&r, strings.TrimSpace(o.LabelColumn))
	first := r.line
	if err == nil && table.names != nil {
		err = r.next()
	}
	for ; err == nil; err = r.next() {
		text, fault := []byte(nil), r.whole(len(table.role), first)
		if fault == nil {
			text = r.field(at)
		}
		if err := l.add(text, fault); err != nil {
			return nil, err
		}
		l.lines = append(l.lines, r.line)
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
	if n := len(l.codes); table.names == nil && n > 1 && words(0, 1) == 1 && words(1, n) == 0 {
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
	l.column = table.describe(at)
	return l, nil
}

// labelColumn moves to the first record and returns the column of labels, and what the columns are
// called if the record is a header for sure, because column is a name in it.
func labelColumn(r *record, column string) (table columns, at int, err error) {
	if err = r.next(); err == nil {
		err = r.bad
	}
	if err != nil {
		return table, 0, err
	}
	r.split()
	fields := r.fields()
	named, _ := findName(fields, column)
	positional := column == "first" || column == "last" || decimal.IsInteger(column)
	r.usual, table.role = len(fields), make([]role, len(fields))
	if named >= 0 && !positional {
		table.names = fields
	}
	fault := ""
	switch {
	case table.names != nil || positional:
		at, fault = table.find(column, "the label column")
	case column != "":
		fault = fmt.Sprintf("found the columns %s, wanted one named %s as the label column, or its "+
			"position", quote.List(fields), quote.Text(column))
	case len(fields) > 1:
		fault = fmt.Sprintf("found %d columns (%s), wanted to know which is the label column; name it",
			len(fields), quote.List(fields))
	}
	if fault != "" {
		err = r.src.errorAt(r.line, 0, "%s", fault)
	}
	return table, at, err
}
