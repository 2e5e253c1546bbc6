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
			return f.fatal(fmt.Errorf("%s: %w", e.name, err))
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
			return nil, f.fatal(err)
		}
		var fault string
		text, fault = h.appendLabel(text[:0], row[column*h.Size:(column+1)*h.Size])
		if fault == noNumber && o.lacksLabels() {
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
		return nil, f.fatal(err)
	}
	return e, f.end()
}

// labelText reads labels from lines, or from one column of a CSV.
type labelText struct {
	record
	*external
	faults  *faults
	columns columns
	column  int // of the label
}

func readLabelText(s *source, o Options) (*external, error) {
	e, f, err := newExternal(s.path, o)
	if err != nil {
		return nil, err
	}
	r := &labelText{record: record{src: s}, external: e, faults: f}
	if err := r.read(o); err != nil {
		return nil, err
	}
	if len(e.codes) == 0 {
		return nil, fmt.Errorf("%s: found no label, wanted one per example", s.path)
	}
	return e, f.end()
}

func (r *labelText) read(o Options) error {
	err := r.next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = r.record.bad
	}
	if err != nil {
		return err
	}
	r.split()
	first := r.fields()
	header, err := r.choose(first, o)
	if err != nil {
		return err
	}
	line := r.line
	if header {
		err = r.next()
	}
	// A word over whole numbers is taken for a header; were it a label, one would be missing.
	var held func() error
	for ; err == nil; err = r.next() {
		fault := r.record.bad
		if fault == nil {
			r.split()
		}
		if fault == nil && len(r.ends) != len(first) {
			fault = r.src.errorAt(r.line, r.record.column(len(first)),
				"found %d fields, wanted %d as in line %d", len(r.ends), len(first), line)
		}
		if fault != nil {
			if err := r.add(r.faults, nil, "bad", func(string) error { return fault }); err != nil {
				return err
			}
			continue
		}
		text := decimal.Trim(r.field(r.column))
		at, column := r.place(r.column)
		add := func() error {
			return r.add(r.faults, text, "", func(fault string) error {
				return r.src.errorAt(at, column, "%s: %s", r.columns.describe(r.column), fault)
			})
		}
		if r.line == line && !decimal.IsInteger(string(text)) {
			text = bytes.Clone(text)
			held = add
			continue
		}
		if held != nil && !decimal.IsInteger(string(text)) {
			if err := held(); err != nil {
				return err
			}
		}
		held = nil
		if err := add(); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return r.faults.fatal(err)
	}
	if held != nil {
		return held()
	}
	return nil
}

// choose finds the label's column, and whether the first record is surely a header.
func (r *labelText) choose(first []string, o Options) (header bool, err error) {
	column := strings.TrimSpace(o.LabelColumn)
	named, _ := findName(first, column)
	header = named >= 0 && !decimal.IsInteger(column) && column != "first" && column != "last"
	r.columns = columns{role: make([]role, len(first))}
	if header {
		r.columns.names = first
	}
	switch {
	case len(first) == 1 && (column == "" || column == "last" || column == "first"):
		return header, nil
	case column == "":
		return header, r.src.errorAt(r.line, 0,
			"found %d columns (%s), wanted to know which holds the label; name the label "+
				"column", len(first), quote.List(first))
	}
	var fault string
	if r.column, fault = r.columns.find(column, "the label column"); fault != "" {
		return header, r.src.errorAt(r.line, 0, "%s", fault)
	}
	return header, nil
}
