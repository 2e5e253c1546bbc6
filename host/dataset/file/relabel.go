package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// ErrNoTable marks a file that is no single table of text, which Relabel cannot copy.
var ErrNoTable = errors.New("found no single table of text")

// Relabel copies the table of d, which was read by o, to w with other labels: label returns that of
// an example, and false if the table's stays. All other cells keep their text, rows and columns
// their order. Comments, blank lines, titles and quotes without need are left out. The copy is
// UTF-8.
func Relabel(ctx context.Context, w io.Writer, d *dataset.Dataset, o Options,
	label func(i int) (name string, other bool)) error {
	l, err := o.layout()
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	if d.Format != "csv" || d.LabelColumn == 0 || d.Path == "-" {
		return fmt.Errorf("%s: %w", d.Path, ErrNoTable)
	}
	s, done, err := openSource(ctx, d.Path, nil)
	if err != nil {
		return err
	}
	defer done()
	if l.lenient = o.lenient(); l.lenient {
		s.latin()
	}
	c := &relabelling{record: record{src: s, layout: l}, w: bufio.NewWriter(w), d: d, label: label}
	if err = c.copy(); errors.Is(err, io.EOF) {
		err = nil
	}
	if err = s.finished(err); err == nil && c.rows != d.N {
		err = fmt.Errorf("%s: found %d rows, wanted %d as before; did the file change?", d.Path, c.rows,
			d.N)
	}
	return errors.Join(err, c.w.Flush())
}

// relabelling is a call of Relabel.
type relabelling struct {
	record
	w     *bufio.Writer
	d     *dataset.Dataset
	label func(i int) (string, bool)
	rows  int // examples so far
}

func (c *relabelling) copy() error {
	at := c.d.LabelColumn - 1
	header, second := c.d.Label != "" || c.d.Features != nil, 0
	for {
		if err := c.next(); err != nil {
			return err
		}
		if c.bad == nil {
			c.split()
		}
		switch {
		case header:
			if header = false; c.layout.lenient {
				_, second = c.joinHeader(c.fields())
			}
			c.write(-1, "")
		case c.line == second:
			c.write(-1, "")
		case slices.Contains(c.d.SkippedAt, c.line):
			if c.bad == nil {
				c.write(-1, "")
			}
		case c.bad != nil:
			return c.bad
		case c.rows == c.d.N || at >= len(c.ends):
			return c.src.errorAt(c.line, 0, "found a row that was not there before; did the file change?")
		default:
			name, other := c.label(c.rows)
			if c.rows++; !other {
				c.write(-1, "")
				continue
			}
			c.write(at, name)
		}
	}
}

// write writes the record with another text in field at; -1 for none.
func (c *relabelling) write(at int, text string) {
	var line []byte
	for j := range c.ends {
		if j > 0 {
			line = append(line, c.delim)
		}
		field := string(c.field(j))
		if j == at {
			field = text
		}
		line = appendCell(line, field, c.delim)
	}
	c.w.Write(append(line, '\n'))
}

// appendCell appends a cell, in quotes if it needs them.
func appendCell(line []byte, text string, delim byte) []byte {
	plain := true
	for k := range len(text) {
		if b := text[k]; b == '"' || b == delim || b == '\n' || b == '\r' {
			plain = false
		}
	}
	if plain {
		return append(line, text...)
	}
	line = append(line, '"')
	for k := range len(text) {
		if text[k] == '"' {
			line = append(line, '"')
		}
		line = append(line, text[k])
	}
	return append(line, '"')
}
