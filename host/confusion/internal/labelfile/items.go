package labelfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Items finds examples of the data by what a table calls them: by their id, if the data have ids
// and the table a column for them, else by the number of their row, 1 for the first.
type Items struct {
	N      int      // examples of the data
	IDs    []string // their ids; nil for none
	Column string   // what the data call the column of ids; "" for nothing

	ByID  bool // set by Place: items are ids
	place map[string]int
}

// The names of a column of items: of row numbers only, and of ids if the data have some.
var (
	rowColumns = []string{"example", "row"}
	idColumns  = []string{"id", "item", "task"}
)

// ColumnName returns a field of a header as columns are compared.
func ColumnName(field string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")))
}

// Place returns the column of the items, -1 if the header has none. It is that of ids if the data
// have some, else the first.
func (t *Items) Place(header []string) int {
	row, id := -1, -1
	for k, field := range header {
		name := ColumnName(field)
		own := t.Column != "" && strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")) == t.Column
		switch {
		case t.IDs != nil && (own || name == "id"):
			t.ByID = true
			return k
		case slices.Contains(rowColumns, name) && row < 0:
			row = k
		case slices.Contains(idColumns, name) && id < 0:
			id = k
		}
	}
	t.ByID = t.IDs != nil && row < 0 && id >= 0
	if row < 0 || t.IDs == nil && id >= 0 && id < row {
		return id
	}
	return row
}

// Find returns the index of an example, from 0, by its id or the number of its row.
func (t *Items) Find(text string) (int, error) {
	text = strings.TrimSpace(text)
	if t.ByID {
		if t.place == nil {
			t.place = make(map[string]int, len(t.IDs))
			for i, id := range t.IDs {
				if _, twice := t.place[id]; twice {
					i = -1
				}
				t.place[id] = i
			}
		}
		i, ok := t.place[text]
		switch {
		case !ok:
			return 0, fmt.Errorf("found id %.40q, wanted one of the data (numbers of rows, from 1, belong "+
				"in a column example)", text)
		case i < 0:
			return 0, fmt.Errorf("found id %.40q, which several examples of the data have, wanted one "+
				"(give the number of its row, from 1, in a column example)", text)
		}
		return i, nil
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 1 || i > t.N {
		return 0, fmt.Errorf("found item %.40q, wanted the number of an example, 1 to %d: the first is 1",
			text, t.N)
	}
	return i - 1, nil
}

// Name returns what a message calls an example: its id, or the number of its row.
func (t *Items) Name(i int) string {
	if t.ByID {
		return fmt.Sprintf("%.60q", t.IDs[i])
	}
	return strconv.Itoa(i + 1)
}
