// Package labels reads tables about the labels of examples: annotations, votes of labelling
// functions, true classes and probabilities.
package labels

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// source is a file that is being read, unpacked if it was compressed by gzip.
type source struct {
	path, what string // what names the content in errors, such as "the annotations"
	file       *os.File
	task       *progress.Task // counts the bytes of the file
	text       *bufio.Reader
}

// open opens a file for reading, which reports progress through ctx.
func open(ctx context.Context, path, what string) (*source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read %s: %w", path, what, osfile.Cause(err))
	}
	work := progress.Work{Name: "reading " + path, Unit: progress.Bytes}
	if about, err := f.Stat(); err == nil && about.Mode().IsRegular() {
		work.Total = about.Size()
	}
	s := &source{path: path, what: what, file: f}
	_, s.task = progress.Begin(ctx, work)
	s.text = bufio.NewReaderSize(s, 1<<18)
	if magic, _ := s.text.Peek(2); bytes.Equal(magic, []byte("\x1f\x8b")) {
		unpacked, err := gzip.NewReader(s.text)
		if err != nil {
			s.close()
			return nil, fmt.Errorf("%s: cannot unpack the gzip data: %w", path, err)
		}
		s.text = bufio.NewReader(unpacked)
	}
	return s, nil
}

// Read reads the bytes of the file as they are.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.task.Add(int64(n))
	return n, err
}

func (s *source) close() {
	s.file.Close() // only read
	s.task.End()
}

// isArray reports whether the file is a .npy.
func (s *source) isArray() bool {
	magic, _ := s.text.Peek(len(npyfile.Magic))
	return string(magic) == npyfile.Magic
}

// end returns an error unless the file ends here. Check sums of packed files are compared there.
func (s *source) end() error {
	switch more, err := s.text.Peek(1); {
	case len(more) > 0:
		return fmt.Errorf("%s: found more bytes behind %s that the header promises, wanted the end of "+
			"the file", s.path, s.what)
	case err != io.EOF:
		return fmt.Errorf("%s: cannot read %s: %w; fetch the file again", s.path, s.what,
			osfile.Cause(err))
	}
	return nil
}

// table is a CSV that is being read: a header and rows of equally many fields.
type table struct {
	*source
	header  []string
	records *osfile.Records
	csv     *csv.Reader
	line    int  // of the last row
	plain   bool // the header is a row
}

// table returns the CSV in s. columns is the header that it should have.
func (s *source) table(columns string) (*table, error) {
	records := &osfile.Records{R: s.text}
	t := &table{source: s, records: records, csv: csv.NewReader(records)}
	first, _ := s.text.Peek(s.text.Size())
	first, _, _ = bytes.Cut(first, []byte("\n"))
	if bytes.Contains(first, []byte(";")) && !bytes.Contains(first, []byte(",")) {
		t.csv.Comma = ';' // of spreadsheets where a comma is the decimal point
	}
	t.csv.FieldsPerRecord = -1 // counted here, for a better message
	header, err := t.next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s:1: found no text, wanted a table with the header %s", s.path, columns)
	}
	t.header, t.csv.ReuseRecord = header, true
	return t, err
}

// next returns the next row, or io.EOF.
func (t *table) next() ([]string, error) {
	t.records.Next()
	row, err := t.csv.Read()
	var broken *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, err
	case errors.As(err, &broken):
		return nil, fmt.Errorf("%s:%d: found broken CSV in column %d: %w", t.path, broken.Line,
			broken.Column, broken.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: cannot read %s: %w", t.path, t.what, osfile.Cause(err))
	}
	t.line, _ = t.csv.FieldPos(0)
	return row, nil
}

// at returns an error with the path and the line of the last row before it.
func (t *table) at(err error) error { return fmt.Errorf("%s:%d: %w", t.path, t.line, err) }

// each calls use with each row, which it may not keep.
func (t *table) each(use func(row []string) error) error {
	if t.plain {
		if err := use(t.header); err != nil {
			return t.at(err)
		}
	}
	for {
		row, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(row) != len(t.header) {
			return t.at(fmt.Errorf("found %d fields, wanted %d as the header has", len(row),
				len(t.header)))
		}
		if err := use(row); err != nil {
			return t.at(err)
		}
	}
}

// word returns the field of a header as it is compared: without white space, in lower case.
func word(field string) string { return strings.ToLower(trim(field)) }

func trim(field string) string { return strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")) }

// whole returns an integer as pandas writes it in a column with missing ones, 3.0, without the .0.
func whole(text string) string {
	if number, ok := strings.CutSuffix(text, ".0"); ok {
		if _, err := strconv.ParseInt(number, 10, 64); err == nil {
			return number
		}
	}
	return text
}

// names are texts by the index in which they were first seen.
type names struct {
	list   []string
	index  map[string]int32
	fixed  bool // another name is an error
	growth memory.Growth
}

// newNames returns the given names, or none yet if they are nil.
func newNames(list []string) *names {
	n := &names{list: slices.Clone(list), index: map[string]int32{}, fixed: list != nil}
	for k, name := range list {
		n.index[name] = int32(k)
	}
	return n
}

// find returns the index of a name, or of the same without the white space around it.
func (n *names) find(name string) (int32, error) {
	if k, ok := n.index[name]; ok {
		return k, nil
	}
	name = strings.TrimSpace(name)
	k, ok := n.index[name]
	if !ok && n.fixed {
		k, ok = n.index[whole(name)]
	}
	switch {
	case ok:
		return k, nil
	case n.fixed || name == "":
		return 0, fmt.Errorf("found class %.40q, wanted a class of the data: %s", name,
			quote.List(n.list))
	}
	k, name = int32(len(n.list)), strings.Clone(name) // of a line that goes
	n.index[name], n.list = k, append(n.list, name)
	n.growth.Bytes += len(name) + 128 // with what the lists take of it
	return k, n.growth.Check(1<<22, "a list of more than %d names", len(n.list))
}

// sorted returns the names in the order that sort gives them, and the place of each there.
func (n *names) sorted(sort func([]string)) (list []string, place []int32) {
	list, place = slices.Clone(n.list), make([]int32, len(n.list))
	sort(list)
	for to, name := range list {
		place[n.index[name]] = int32(to)
	}
	return list, place
}

// sortClasses sorts the names of classes that no data fixed, and returns the place of each.
func (n *names) sortClasses() (list []string, place []int32) {
	if n.fixed {
		return n.sorted(func([]string) {})
	}
	return n.sorted(dataset.SortClasses)
}
