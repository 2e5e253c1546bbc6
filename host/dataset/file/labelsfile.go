package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// newExternal starts a list of labels, called name in messages.
func newExternal(name string, o Options) (*external, *faults, error) {
	l, err := newLabels(o.Classes, o.LabelRules)
	if err != nil {
		return nil, nil, err
	}
	o.Encode = nil // a label that is missing shifts no others
	f := newFaults(o)
	return &external{name: name, labels: l, bad: make(map[int]error),
		sets: make(map[int][]int32)}, &f, nil
}

// add takes the label of the next example; wrap makes an error of a fault.
func (e *external) add(f *faults, text []byte, fault string, wrap func(string) error) error {
	if fault == "" {
		fault = e.labels.set(text)
	}
	if fault == "" {
		if e.labels.several != nil {
			e.sets[len(e.codes)] = e.labels.several
		}
		e.codes = append(e.codes, e.labels.pending)
		if err := e.labels.checkGrowth(); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		return nil
	}
	err := wrap(fault)
	if f.skip {
		e.bad[len(e.codes)] = err
	}
	e.codes = append(e.codes, -1)
	return f.reject(err, 0)
}

// readLabels reads a file of one label per example, by the rules of Options.Labels.
func readLabels(ctx context.Context, path string, o Options) (*external, error) {
	s, done, err := openSource(ctx, path, o.Stdin)
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := readLabelSource(s, o)
	return e, s.finished(err)
}

func readLabelSource(s *source, o Options) (*external, error) {
	header := readNPYHeader
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
func readLabelArray(s *source, r io.Reader, name string, h npyHeader, o Options,
) (*external, error) {
	e, f, err := newExternal(name, o)
	if err != nil {
		return nil, err
	}
	width, column := 1, 0
	if len(h.shape) == 2 {
		width = h.shape[1]
		column = columnPosition(strings.TrimSpace(o.LabelColumn), width)
		if width == 1 {
			column = 0
		}
	}
	switch {
	case !h.isLabel():
		return nil, fmt.Errorf("%s: found elements of type %s, wanted labels: integers or texts", name,
			h.numberType)
	case len(h.shape) < 1 || len(h.shape) > 2:
		return nil, fmt.Errorf("%s: found an array of %d dimensions, wanted one label per example", name,
			len(h.shape))
	case width > 1 && h.fortran:
		return nil, fmt.Errorf("%s: found several columns of labels in Fortran order, wanted C order",
			name)
	case column < 0:
		return nil, fmt.Errorf("%s: found %d columns of labels and the label column %s, wanted its "+
			"position, first or last", name, width, quote.Text(o.LabelColumn))
	case h.Size == 0 || width == 0:
		return nil, fmt.Errorf("%s: found empty labels, wanted class names", name)
	case h.shape[0] > s.limits.rows:
		return nil, fmt.Errorf("%s: found %d labels, wanted at most %d", name, h.shape[0], s.limits.rows)
	}
	if width > 1<<20/h.Size {
		return nil, fmt.Errorf("%s: found %d columns of labels, wanted fewer", name, width)
	}
	row, text := make([]byte, width*h.Size), []byte(nil)
	for i := range h.shape[0] {
		if _, err := io.ReadFull(r, row); err != nil {
			if err == io.EOF || (err == io.ErrUnexpectedEOF && s.packed == "") {
				err = fmt.Errorf("%s: found only %d labels, wanted %d as the header says; the file is cut "+
					"short, fetch it again", name, i, h.shape[0])
			}
			return nil, err
		}
		var fault string
		text, fault = h.appendLabel(text[:0], row[column*h.Size:(column+1)*h.Size])
		if fault == noNumber && o.Unlabelled {
			text, fault = nil, ""
		}
		err := e.add(f, text, fault, func(fault string) error {
			return fmt.Errorf("%s: label %d: %s", name, i+1, fault)
		})
		if err != nil {
			return nil, err
		}
	}
	err = atEnd(r, func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// readLabelText reads labels from lines, or from one column of a CSV.
func readLabelText(s *source, o Options) (*external, error) {
	e, f, err := newExternal(s.path, o)
	if err != nil {
		return nil, err
	}
	none := fmt.Errorf("%s: found no label, wanted one per example", s.path)
	r := columnReader{rec: record{src: s}}
	switch err = r.start(strings.TrimSpace(o.LabelColumn), "the label column"); {
	case err == io.EOF:
		return nil, none
	case err != nil:
		return nil, err
	}
	// A word over whole numbers is taken for a header; were it a label, one would be missing.
	var held func() error
	for err == nil {
		first := r.rec.line == r.line
		fault, text := r.fault(), []byte(nil)
		line, column := 0, 0
		if fault == nil {
			text = decimal.Trim(r.rec.field(r.at))
			line, column = r.rec.place(r.at)
		}
		add := func() error {
			if fault != nil {
				return e.add(f, nil, "bad", func(string) error { return fault })
			}
			return e.add(f, text, "", func(fault string) error {
				return s.errorAt(line, column, "%s: %s", r.columns.describe(r.at), fault)
			})
		}
		isWord := fault == nil && !decimal.IsInteger(string(text))
		if isWord && first {
			text, held = bytes.Clone(text), add
		} else {
			if held != nil && isWord {
				if err := held(); err != nil {
					return nil, err
				}
			}
			if fault == nil {
				held = nil
			}
			if err := add(); err != nil {
				return nil, err
			}
		}
		err = r.rec.next()
	}
	switch {
	case err != io.EOF:
		return nil, err
	case held != nil:
		if err := held(); err != nil {
			return nil, err
		}
	case len(e.codes) == 0:
		return nil, none
	}
	return e, nil
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

// fault splits the current record and returns what is wrong with it.
func (r *columnReader) fault() error {
	if r.rec.bad != nil {
		return r.rec.bad
	}
	width := len(r.columns.role)
	if r.rec.fit(width); len(r.rec.ends) != width {
		return r.rec.src.errorAt(r.rec.line, r.rec.column(width),
			"found %d fields, wanted %d as in line %d", len(r.rec.ends), width, r.line)
	}
	return nil
}
