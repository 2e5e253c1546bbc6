package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
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
// all. All cells but other labels keep their text, rows and columns their order. Comments, blank
// lines and titles are left out. The copy is UTF-8 and keeps the separator, unless its name (.csv,
// .tsv) asks for another.
func CopyTable(ctx context.Context, path string, d *dataset.Dataset, c Copy, o WriteOptions) error {
	info, err := os.Stat(c.Path)
	if err != nil || !info.Mode().IsRegular() || d.Format != "csv" ||
		(d.LabelColumn > 0) != (d.Y != nil) {
		return fmt.Errorf("%s: %w", d.Path, ErrNoTable)
	}
	f, err := formatNamed("csv", true)
	if err != nil {
		return err
	}
	f.write = func(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
		t := &copying{Copy: c, d: d, w: w}
		if err := t.file(c.Path); err != nil {
			return err
		}
		if t.rows != d.N {
			return fmt.Errorf("%s: found %d rows, wanted %d as before; did the file change?", d.Path,
				t.rows, d.N)
		}
		return nil
	}
	return o.put(ctx, path, f, d)
}

// copying is a call of CopyTable.
type copying struct {
	Copy
	rec     record
	d       *dataset.Dataset
	w       *lineWriter
	without []bool // columns
	rows    int    // examples so far
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
	if l.lenient {
		s.latin()
	}
	c.rec = record{src: s, layout: l}
	if err = c.copy(); errors.Is(err, io.EOF) {
		err = nil
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
			if err := c.leaveOut(header); err != nil {
				return err
			}
		}
		var err error
		switch {
		case first && header:
			err = c.write(-1, "")
		case slices.Contains(c.d.SkippedAt, c.rec.line):
			if c.rec.bad == nil && c.Skipped {
				err = c.write(-1, "")
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

// leaveOut finds the columns that the copy does without; the first record is the current one.
func (c *copying) leaveOut(header bool) error {
	c.without = []bool{}
	if !c.WithoutIgnored {
		return nil
	}
	table := columns{role: make([]role, len(c.rec.ends))}
	if header {
		table.names = c.rec.fields()
	}
	c.without = make([]bool, len(c.rec.ends))
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
	switch i := c.rows; {
	case c.Y == nil || c.d.Y != nil && c.Y[i] == c.d.Y[i]:
		return c.write(-1, "")
	case c.Y[i] < 0:
		return nil
	case c.d.Y == nil:
		return c.write(-1, "")
	default:
		return c.write(at, c.d.Classes[c.Y[i]])
	}
}

// write writes the record with another text in field at; -1 for none.
func (c *copying) write(at int, text string) error {
	delim := c.rec.delim
	switch own := delim == '\t' || delim == ' '; {
	case extension(c.w.path) == ".tsv":
		delim = '\t'
	case extension(c.w.path) == ".csv" && own:
		delim = ','
	}
	begun := false
	for j := range c.rec.ends {
		if j < len(c.without) && c.without[j] {
			continue
		}
		if begun {
			c.w.line = append(c.w.line, delim)
		}
		begun = true
		field := string(c.rec.field(j))
		if j == at {
			field = text
		}
		c.w.line = appendCell(c.w.line, field, j < len(c.rec.places) && c.rec.places[j].quoted ||
			field == "" && delim == ' ' || strings.ContainsAny(field, "\"\n\r"+string(delim)))
	}
	return c.w.end()
}
