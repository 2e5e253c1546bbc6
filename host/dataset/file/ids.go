package file

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// ids collects what the examples are called: the texts of Options.IDColumn.
type ids struct {
	pending string // what commit pushes
	texts   blocks[string]
	bytes   int // of texts, with what the list takes of them
	checked int // of bytes, when memory was last looked at
}

// set takes the id of the next example, which commit then keeps; it returns what is wrong with it,
// "" if nothing is. An empty one is as good as another.
func (s *ids) set(text []byte) string {
	s.pending = string(decimal.Trim(text))
	if fault := dataset.NameFault(s.pending); fault != "" && s.pending != "" {
		return "id " + quote.Text(s.pending) + " " + fault
	}
	return ""
}

// commit gives the next example the id set last, and returns an error where memory would not hold
// many more.
func (s *ids) commit() error {
	s.texts.push(s.pending)
	s.bytes += len(s.pending) + 32
	const piece = 1 << 22
	added := s.bytes - s.checked
	if added < piece {
		return nil
	}
	s.checked = s.bytes
	return memory.Check(int64(8*piece+2*added), fmt.Sprintf("a list of more than %d ids",
		s.texts.len()))
}

// chooseID finds the column that names the examples, if one is asked for.
func (c *columns) chooseID(o Options) string {
	text := strings.TrimSpace(o.IDColumn)
	if text == "" {
		return ""
	}
	j, fault := c.find(text, "the column of ids")
	switch {
	case fault != "":
		return fault
	case c.role[j] == ignored:
		return fmt.Sprintf("found the column of ids %s among the columns to leave out, wanted one or "+
			"the other", quote.Text(text))
	}
	c.leaveOut(j)
	c.role[j], c.id = identity, j
	return ""
}

// judgeIDs warns of ids that several examples have.
func judgeIDs(d *dataset.Dataset) {
	first := make(map[string]int, len(d.IDs))
	repeated, example := 0, ""
	for i, id := range d.IDs {
		if _, seen := first[id]; !seen {
			first[id] = i
		} else if repeated++; repeated == 1 {
			example = fmt.Sprintf("%s of examples %d and %d", quote.Text(id), first[id]+1, i+1)
		}
	}
	if repeated > 0 {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("%s: %d examples have the id of an earlier one, such as %s; is it the column of "+
				"their names (--id-column)?", d.Path, repeated, example))
	}
}

// idFault refuses ids of a format that has no columns.
func idFault(s *source, f format, o Options) error {
	return fmt.Errorf("%s: found the format %s, whose columns have no names, wanted a table (CSV, "+
		"ARFF, Parquet) with the column of ids %s; leave --id-column out: examples are numbered from "+
		"1", s.path, f.name, quote.Text(o.IDColumn))
}
