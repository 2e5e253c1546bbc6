// Package labelfile reads CSV tables about labels: records, names of classes, and keys of examples.
package labelfile

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
	"strings"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// counted is a file that reports how many bytes were read, until ctx is cancelled.
type counted struct {
	ctx  context.Context
	file *os.File
	task *progress.Task
}

func (c counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.file.Read(p)
	c.task.Add(int64(n))
	return n, err
}

// Open returns the text of a file, which may be compressed by gzip, and done to close it. what
// names the text in errors, such as "the annotations". Reading reports its progress through ctx,
// and ends with it.
func Open(ctx context.Context, path, what string) (text *bufio.Reader, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot read %s: %w", path, what, osfile.Cause(err))
	}
	work := progress.Work{Name: "reading " + path, Unit: progress.Bytes}
	if about, err := f.Stat(); err == nil && about.Mode().IsRegular() {
		work.Total = about.Size()
	}
	_, task := progress.Begin(ctx, work)
	done = func() {
		f.Close() // nothing to lose: it was only read
		task.End()
	}
	r := bufio.NewReaderSize(counted{ctx, f, task}, 1<<18)
	if magic, _ := r.Peek(2); !bytes.Equal(magic, []byte("\x1f\x8b")) {
		return r, done, nil
	}
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: cannot unpack the gzip data: %w", path, err)
	}
	return bufio.NewReader(unpacked), done, nil
}

// Each calls place with the header of a CSV table, the text of the file at path, and add with each
// other line, which has the same number of fields; neither may keep them. what names the table in
// errors, such as "the annotations", and columns the header that it should have. Errors begin with
// the path and, where a line is wrong, with its number.
func Each(path, what, columns string, text io.Reader, place func(header []string) error,
	add func(row []string, line int) error) error {
	r := csv.NewReader(osfile.Lines(text))
	r.FieldsPerRecord, r.ReuseRecord = -1, true // counted here, for a better message
	fields := -1
	for {
		row, line, err := Record(path, what, r)
		switch {
		case err == io.EOF && fields < 0:
			return fmt.Errorf("%s:1: found no text, wanted a table with the header %s", path, columns)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case fields < 0:
			fields = len(row)
			err = place(row)
		case len(row) != fields:
			err = fmt.Errorf("found %d fields, wanted %d as the header has", len(row), fields)
		default:
			err = add(row, line)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

// Record returns the next record of the table that what names, and its line. The error is io.EOF at
// the end; others begin with the path.
func Record(path, what string, r *csv.Reader) ([]string, int, error) {
	fields, err := r.Read()
	var broken *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, 0, err
	case errors.As(err, &broken):
		return nil, 0, fmt.Errorf("%s:%d: found broken CSV in column %d: %w", path, broken.Line,
			broken.Column, broken.Err)
	case err != nil:
		return nil, 0, fmt.Errorf("%s: cannot read %s: %w", path, what, osfile.Cause(err))
	}
	line, _ := r.FieldPos(0)
	return fields, line, nil
}

// Indices returns the index in classes of each name. The error, which continues "the header" or
// "the row", lists unknown names, or a repeated one.
func Indices(names, classes []string) ([]int, error) {
	index := make(map[string]int, len(classes))
	for i, c := range classes {
		index[c] = i
	}
	seen := make(map[string]bool, len(names))
	indices := make([]int, len(names))
	var extra []string
	for i, n := range names {
		c, ok := index[n]
		if !ok {
			extra = append(extra, n)
		} else if seen[n] {
			return nil, fmt.Errorf("lists class %.60q twice, wanted once", n)
		}
		seen[n] = true
		indices[i] = c
	}
	if extra == nil {
		return indices, nil
	}
	return nil, fmt.Errorf("has names that are no class of the data: %s; the data have %s: leave the "+
		"others out, or give data that have them", Quoted(extra), Quoted(classes))
}

// CheckClasses returns an error unless there are two or more distinct names.
func CheckClasses(classes []string) error {
	if len(classes) < 2 {
		return fmt.Errorf("confusion matrix of %d classes (%s), wanted 2 or more", len(classes),
			Quoted(classes))
	}
	seen := make(map[string]bool, len(classes))
	for _, c := range classes {
		if seen[c] {
			return fmt.Errorf("confusion matrix: class %.60q is listed twice, wanted distinct names", c)
		}
		seen[c] = true
	}
	return nil
}

// Axis reports whether a name says that an axis or a column has true classes, or noisy ones.
func Axis(name string) (isTrue, isNoisy bool) {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune(" _-.", r) })
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	isTrue = has("true", "truth", "actual", "clean", "right", "gold", "golden", "reference", "real",
		"correct")
	isNoisy = has("noisy", "noise", "given", "observed", "predicted", "pred", "prediction",
		"annotated", "annotation", "annotator", "worker", "wrong")
	return isTrue && !isNoisy, isNoisy && !isTrue
}

// Names are texts by the index in which they were first seen.
type Names struct {
	List  []string
	index map[string]int32
	known bool // List is complete: another name is an error
}

// NewNames returns the names of the data's classes, or no names yet if they are nil.
func NewNames(classes []string) *Names {
	n := &Names{List: slices.Clone(classes), index: map[string]int32{}, known: classes != nil}
	for k, name := range classes {
		n.index[name] = int32(k)
	}
	return n
}

// Index returns the index of a name without the white space around it.
func (n *Names) Index(name string) (int32, error) {
	name = strings.TrimSpace(name)
	k, ok := n.index[name]
	if !ok && n.known {
		k, ok = n.index[Whole(name)]
	}
	if !ok {
		if n.known || name == "" {
			return 0, fmt.Errorf("found class %.40q, wanted a class of the data: %s", name, Quoted(n.List))
		}
		k = int32(len(n.List))
		name = strings.Clone(name) // of a line that goes
		n.index[name], n.List = k, append(n.List, name)
	}
	return k, nil
}

// Arrange brings class indices of y into another order of the same names.
func Arrange(names, classes []string, y ...[]int32) error {
	to, err := Indices(names, classes)
	if err != nil {
		return err
	}
	for _, labels := range y {
		for i, k := range labels {
			labels[i] = int32(to[k])
		}
	}
	return nil
}

// CheckLabels returns an error that begins with what and names the first label out of 0..q-1.
func CheckLabels(what string, y []int32, q int) error {
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return fmt.Errorf("%s: example %d (counted from 0) has label %d, wanted 0 to %d", what, i, k,
				q-1)
		}
	}
	return nil
}

// Quoted returns names as a list for a message, the first ten of them.
func Quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 10
	var s []string
	for _, n := range names[:min(len(names), most)] {
		s = append(s, fmt.Sprintf("%.60q", n))
	}
	list := strings.Join(s, ", ")
	if len(names) > most {
		list += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return list
}
