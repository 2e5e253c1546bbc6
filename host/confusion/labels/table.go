// Package labels reads tables about the labels of examples: annotations, votes of labelling
// functions, true classes and probabilities.
package labels

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// table is a table that is being read: a header and rows of equally many fields.
type table struct {
	*file.Rows
	header []string
	plain  bool // the header is a row
}

// tableOf reads the header of a table. columns is the header that it should have.
func tableOf(rows *file.Rows, columns string) (*table, error) {
	header, err := rows.Next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s:1: found no text, wanted a table with the header %s", rows.Path,
			columns)
	}
	return &table{Rows: rows, header: slices.Clone(header)}, err
}

// at returns an error with the path and the line of the last row before it.
func (t *table) at(err error) error { return fmt.Errorf("%s:%d: %w", t.Path, t.Line(), err) }

// each calls use with each row, which it may not keep.
func (t *table) each(use func(row []string) error) error {
	if t.plain {
		if err := use(t.header); err != nil {
			return t.at(err)
		}
	}
	for {
		row, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := use(row); err != nil {
			return t.at(err)
		}
	}
}

// word returns the field of a header as it is compared: without white space, in lower case.
func word(field string) string { return strings.ToLower(strings.TrimSpace(field)) }

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
