package labels

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// keys finds the examples that the rows of a table are about, by one of its columns:
//
//	row, example      numbers of rows of the input, from 1
//	index, no header  numbers of rows of the input, from 0, as pandas writes them
//	id, item, task    ids of the data; also a column with the name of the data's column of ids
//
// Without data every such column has names of examples.
type keys struct {
	column int    // in the header
	name   string // of the column

	data  *dataset.Dataset // nil for none
	first int              // the number of the first row of the input; -1 for ids or names
	rows  []int            // the example of each row of the input, -1 for none
	twice map[string][]int // the first two examples of ids that several have
	names *names           // ids of the data, or names without data
}

// findKeys returns the keys of a table, nil if no column of the header names examples.
func findKeys(header []string, d *dataset.Dataset) *keys {
	hasIDs := d != nil && d.IDs != nil
	words := make([]string, len(header))
	for at, field := range header {
		if words[at] = word(field); hasIDs && strings.TrimSpace(field) == d.ID {
			words[at] = "id"
		}
	}
	first := map[string]int{"id": -1, "item": -1, "task": -1, "row": 1, "example": 1}
	choice := []string{"row", "example", "index", "", "id", "item", "task"}
	if d == nil || hasIDs {
		choice = []string{"id", "item", "task", "row", "example", "index", ""}
	}
	at := slices.IndexFunc(choice, func(word string) bool { return slices.Contains(words, word) })
	if at < 0 {
		return nil
	}
	column := slices.Index(words, choice[at])
	k := &keys{column: column, name: cmp.Or(strings.TrimSpace(header[column]), "index"), data: d,
		first: first[choice[at]], names: newNames(nil)}
	if d == nil {
		k.first = -1
		return k
	}
	if hasIDs {
		k.names, k.twice = newNames(d.IDs), map[string][]int{}
		for i, id := range d.IDs { // names has the last of each
			if last := int(k.names.index[id]); last != i && k.twice[id] == nil {
				k.twice[id] = []int{i, last}
			}
		}
	}
	k.rows = dataset.ExamplesByRow(d)
	return k
}

// find returns the index of the example that a row names, -1 if that row of the data was skipped.
func (k *keys) find(row []string) (int, error) {
	text := strings.TrimSpace(row[k.column])
	if k.first < 0 {
		i, ok := k.names.index[text]
		switch at := k.twice[text]; {
		case at != nil:
			return 0, fmt.Errorf("found %s %.40q, which rows %d and %d of the data have, wanted one of "+
				"its own", k.name, text, k.data.SourceRow(at[0])+1, k.data.SourceRow(at[1])+1)
		case ok:
			return int(i), nil
		case k.data != nil && k.data.IDs == nil:
			return 0, fmt.Errorf("found column %s and data without ids: call it row if it has row numbers "+
				"from 1, index if from 0, or name the data's column of ids", k.name)
		case k.data != nil || text == "":
			return 0, fmt.Errorf("found %s %.40q, wanted the id of an example of the data", k.name, text)
		}
		i, err := k.names.find(text)
		return int(i), err
	}
	number, err := strconv.Atoi(whole(text))
	if number -= k.first; err != nil || number < 0 || number >= len(k.rows) {
		return 0, fmt.Errorf("found %s %.40q, wanted the number of a row of the data, %d to %d", k.name,
			text, k.first, len(k.rows)-1+k.first)
	}
	return k.rows[number], nil
}
