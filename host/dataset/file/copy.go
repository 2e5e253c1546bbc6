package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// ErrNoTable marks files that are no table of text, or cannot be read again: CopyTable copies none.
var ErrNoTable = errors.New("found no table of text in a regular file")

// Copy says what of a table goes into a copy of it.
type Copy struct {
	Path    string  // of the table
	Options Options // read the table
	// WithoutIgnored leaves out the columns that Options.Ignore names.
	WithoutIgnored bool
	Y              []int32 // the label of each example, -1 to leave it out; nil: all, as they are
	Skipped        bool    // rows that were passed over are copied, too
}

// CopyTable copies the table of d to a file, packed if path ends in .gz or .zst: whole or not at
// all. Rows and columns keep their order, and all bytes stay but those of other labels and of rows
// left out: the encoding and its mark, separators, quotes, line ends, titles, comments and blank
// lines. A copy without some columns, or whose name (.csv, .tsv) asks for another separator than
// the table has, keeps the text of the cells; it is UTF-8 without titles, comments and blank lines.
func CopyTable(ctx context.Context, path string, d *dataset.Dataset, c Copy, o WriteOptions) error {
	t := &copying{Copy: c, d: d}
	if err := t.check(); err != nil {
		return err
	}
	f, err := formatNamed("csv", true)
	if err != nil {
		return err
	}
	f.write = func(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
		t.w = w
		return t.file(c.Path)
	}
	return o.put(ctx, path, f, d)
}

// ReadRows returns the texts of the cells of some examples of d, and what their columns are called.
// c says which table was read.
func ReadRows(ctx context.Context, d *dataset.Dataset, c Copy, examples []int) (columns []string,
	cells map[int][]string, err error) {
	t := &copying{Copy: c, d: d, w: &lineWriter{ctx: ctx, path: c.Path, w: io.Discard},
		cells: map[int][]string{}}
	if err := t.check(); err != nil {
		return nil, nil, err
	}
	for _, i := range examples {
		t.cells[i] = []string{}
	}
	err = t.file(c.Path)
	for _, row := range t.cells {
		for len(t.names) < len(row) { // names of rows have none
			t.names = append([]string{""}, t.names...)
		}
	}
	return t.names, t.cells, err
}

// FindColumn returns which of the columns of a table a name or a position from 1 means.
func FindColumn(columns []string, text string) (int, error) {
	at, _ := findName(columns, text)
	if at < 0 {
		at = columnPosition(text, len(columns))
	}
	if at < 0 {
		return at, fmt.Errorf("found the columns %s, wanted %s to show",
			quote.List(columns), quote.Text(text))
	}
	return at, nil
}

// check refuses what is no table of text in a file.
func (c *copying) check() error {
	name, _ := SplitSheet(c.Path)
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || c.d.Format != "csv" && c.d.Format != "xlsx" ||
		(c.d.LabelColumn > 0) != (c.d.Y != nil) {
		return fmt.Errorf("%s: %w", c.d.Path, ErrNoTable)
	}
	return nil
}

// copying is a call of CopyTable or ReadRows.
type copying struct {
	Copy
	rec     record
	d       *dataset.Dataset
	w       *lineWriter
	delim   byte             // of the copy
	same    bool             // all bytes stay but those of other labels
	without []bool           // columns
	rows    int              // examples so far
	cells   map[int][]string // to read; nil to copy
	names   []string         // of the columns
	sheet   *sheet           // to copy in place of its text
	left    []int            // lines left out
}

// file copies the table.
func (c *copying) file(path string) error {
	l, err := c.Options.layout()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s, done, err := openSource(c.w.ctx, path, nil)
	if err != nil {
		return err
	}
	defer done()
	if s.lines(); l.lenient {
		s.latin()
	}
	s.keeps = true
	c.rec = record{src: s, layout: l}
	if FormatOfName(c.w.path) == "xlsx" {
		c.sheet = s.sheet
	}
	if err = c.copy(); !errors.Is(err, io.EOF) {
		return s.finished(err)
	}
	if err = nil; c.rows != c.d.N {
		err = fmt.Errorf("%s: found %d rows, wanted %d as before; did the file change?", c.d.Path, c.rows,
			c.d.N)
	} else if c.sheet != nil {
		err = c.sheet.write(c.w.w, c.left)
	} else if c.same {
		err = c.keep(s.kept)
		if z, encodes := c.w.w.(io.Closer); encodes && err == nil {
			err = z.Close()
		}
	}
	return s.finished(err)
}

func (c *copying) copy() error {
	at := c.d.LabelColumn - 1
	header := c.d.Label != "" || c.d.Features != nil
	for first := true; ; first = false {
		if err := c.rec.next(); err != nil {
			return err
		}
		if c.rec.bad == nil {
			c.rec.split()
		}
		if first {
			if err := c.begin(header); err != nil {
				return err
			}
		}
		var err error
		switch {
		case first && header:
			err = c.write(-1, "")
		case slices.Contains(c.d.SkippedAt, c.rec.line):
			if c.Skipped && (c.same || c.rec.bad == nil) {
				err = c.write(-1, "")
			} else {
				err = c.leave()
			}
		case c.rec.bad != nil:
			return c.rec.bad
		case c.rows == c.d.N || at >= len(c.rec.ends):
			return c.rec.src.errorAt(c.rec.line, 0, "found a row that was not there before; did "+
				"the file change?")
		default:
			err = c.example(at)
			c.rows++
		}
		if err != nil {
			return err
		}
	}
}

// begin finds out what stays of the table; the first record is the current one.
func (c *copying) begin(header bool) error {
	c.delim = c.rec.delim
	c.names = c.rec.fields()
	for j := 0; j < len(c.names) && !header; j++ {
		c.names[j] = fmt.Sprintf("column %d", j+1)
	}
	if name := extension(c.w.path); name != extension(c.Path) {
		switch {
		case name == ".tsv":
			c.delim = '\t'
		case name == ".csv" && (c.delim == '\t' || c.delim == ' '):
			c.delim = ','
		}
	}
	c.without = make([]bool, len(c.rec.ends))
	if !c.WithoutIgnored || len(c.Options.Ignore) == 0 {
		if c.same = c.delim == c.rec.delim; c.same {
			return c.rec.src.encode(c.w)
		}
		return nil
	}
	table := columns{role: make([]role, len(c.rec.ends))}
	if header {
		table.names = c.names
	}
	for _, text := range c.Options.Ignore {
		j, fault := table.find(strings.TrimSpace(text), "a column to leave out")
		if fault != "" {
			return c.rec.src.errorAt(c.rec.line, 0, "%s", fault)
		}
		c.without[j] = true
	}
	return nil
}

// example writes the current record, with its label in field at.
func (c *copying) example(at int) error {
	if _, wanted := c.cells[c.rows]; wanted {
		for j := range c.rec.ends {
			c.cells[c.rows] = append(c.cells[c.rows], string(c.rec.field(j)))
		}
	}
	switch i := c.rows; {
	case c.Y == nil || c.d.Y != nil && c.Y[i] == c.d.Y[i]:
		return c.write(-1, "")
	case c.Y[i] < 0:
		return c.leave()
	case c.d.Y == nil:
		return c.write(-1, "")
	default:
		return c.write(at, c.d.Classes[c.Y[i]])
	}
}

// leave leaves the record out.
func (c *copying) leave() error {
	c.left = append(c.left, c.rec.line)
	if !c.same {
		return nil
	}
	return c.keep(c.rec.src.kept[:c.rec.begin])
}

// keep writes bytes of the table.
func (c *copying) keep(raw []byte) error {
	if c.sheet != nil {
		raw = nil
	}
	c.w.line = append(c.w.line[:0], raw...)
	c.rec.src.kept = c.rec.src.kept[:0]
	return c.w.flush()
}

// write writes the record with another text in field at; -1 for none.
func (c *copying) write(at int, text string) error {
	if c.sheet != nil && at >= 0 {
		if err := c.sheet.set(at+1, c.rec.line, text); err != nil {
			return err
		}
		at = -1
	}
	if c.same {
		raw := c.rec.src.kept
		if at < 0 {
			return c.keep(raw)
		}
		from, to := rawField(raw[c.rec.begin:], c.delim, at)
		from, to = from+c.rec.begin, to+c.rec.begin
		cell := c.cell(nil, text, from < to && raw[from] == '"')
		return c.keep(slices.Concat(raw[:from], cell, raw[to:]))
	}
	begun := false
	for j := range c.rec.ends {
		if j < len(c.without) && c.without[j] {
			continue
		}
		if begun {
			c.w.line = append(c.w.line, c.delim)
		}
		begun = true
		field := string(c.rec.field(j))
		if j == at {
			field = text
		}
		c.w.line = c.cell(c.w.line, field, j < len(c.rec.places) && c.rec.places[j].quoted)
	}
	return c.w.end()
}

// cell appends the text of a cell, in quotes if it had some or needs them.
func (c *copying) cell(line []byte, text string, quoted bool) []byte {
	return appendCell(line, text, quoted || text == "" && c.delim == ' ' ||
		strings.ContainsAny(text, "\"\n\r"+string(c.delim)))
}

// rawField returns where field j of a record begins and ends, with its quotes.
func rawField(raw []byte, delim byte, j int) (from, to int) {
	if delim == ' ' {
		for from, to = range blankFields(raw) {
			if j == 0 {
				break
			}
			j--
		}
		return from, to
	}
	raw = bytes.TrimRight(raw, "\r\n")
	for ; ; j-- {
		if to = from; to < len(raw) && raw[to] == '"' {
			for to++; to < len(raw) && (raw[to] != '"' || to+1 < len(raw) && raw[to+1] == '"'); to++ {
				if raw[to] == '"' {
					to++ // of two
				}
			}
		}
		if end := bytes.IndexByte(raw[to:], delim); end >= 0 {
			to += end
		} else {
			to = len(raw)
		}
		if j == 0 {
			return from, to
		}
		from = to + 1
	}
}
