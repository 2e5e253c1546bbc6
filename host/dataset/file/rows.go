package file

import (
	"context"
	"io"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Rows are the rows of a small table about examples: a CSV, packed or not, in any encoding, or an
// Excel sheet. Nothing is left out of it but blank lines. A row has at most 16 MiB.
type Rows struct {
	Path  string
	in    *input
	src   *source
	done  func()
	rec   record
	first int // line of the first row
	width int // fields of it, and of each other
	row   []string
}

// OpenRows opens a table, or an array of numbers. Errors begin with the path.
func OpenRows(ctx context.Context, path string) (*Rows, error) {
	in, err := openInput(ctx, path, nil)
	if err != nil {
		return nil, cancelled(ctx, path, err)
	}
	in.limits.line = 1 << 24
	s, done, err := in.open()
	if err != nil {
		in.close()
		return nil, cancelled(ctx, path, err)
	}
	return &Rows{Path: path, in: in, src: s, done: done, rec: record{src: s}}, nil
}

// Array returns the examples of a .npy, which the caller closes; nil of a table.
func (r *Rows) Array() (*dataset.Dataset, error) {
	if !isNPY(r.src.peek(16)) {
		return nil, nil
	}
	return readInput(r.in, Options{NoLabels: true, Storage: "dense", SkipBad: -1})
}

// Next returns the texts of the next row, valid until the next call, or io.EOF. Rows have as many
// fields as the first.
func (r *Rows) Next() ([]string, error) {
	if r.first == 0 {
		if err := checkText(r.src); err != nil {
			return nil, err
		}
		r.src.lines()
		r.src.latin()
	}
	err := r.rec.next()
	if err == io.EOF {
		if changed := r.in.unchanged(); changed != nil {
			return nil, changed
		}
		return nil, err
	}
	if err == nil && r.first == 0 && r.rec.bad == nil {
		r.rec.split()
		r.first, r.width, r.rec.usual = r.rec.line, len(r.rec.ends), 0 // no row is a comment
	}
	if err == nil {
		err = r.rec.whole(r.width, r.first)
	}
	if err != nil {
		return nil, cancelled(r.in.ctx, r.Path, err)
	}
	text, from := string(r.rec.text), int32(0)
	r.row = r.row[:0]
	for _, end := range r.rec.ends {
		r.row = append(r.row, text[from:end])
		from = end + 1
	}
	return r.row, nil
}

// Line returns the line of the row that Next returned last.
func (r *Rows) Line() int { return r.rec.line }

// Close closes the file.
func (r *Rows) Close() {
	r.done()
	r.in.close()
}
