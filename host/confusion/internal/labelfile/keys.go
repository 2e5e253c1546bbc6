package labelfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Data are the examples that a table is about.
type Data struct {
	N        int      // 0 without data
	IDs      []string // of each example; nil for none
	IDColumn string   // the column of the data with the IDs
	// Source[i] is the row of the input, counted from 0, that holds example i; nil if it is row i.
	Source []int
}

// Keys finds the examples that the lines of a table are about, by one of its columns:
//
//	row, example      numbers of rows of the input, from 1
//	index, no header  numbers of rows of the input, from 0, as pandas writes them
//	id, item, task    ids of the data; also a column with the name of the data's column of ids
//
// Without data every such column has names of examples.
type Keys struct {
	Column int    // in the header
	Name   string // of the column

	first   int            // the number of the first row; -1 for names
	n       int            // examples; 0 without data
	index   map[string]int // of ids, or of names without data
	rows    map[int]int    // the example of each row of the input; nil if example i is row i
	names   []string       // without data, in the order in which they come
	noIDs   bool           // the column names examples, and the data have no ids
	lastRow int            // of the input that holds an example
}

// FindKeys returns the keys of a table, nil if no column of the header names examples.
func FindKeys(header []string, data Data) *Keys {
	words := make([]string, len(header))
	for at, field := range header {
		if words[at] = Word(field); data.IDs != nil && trim(field) == data.IDColumn {
			words[at] = "id"
		}
	}
	first := map[string]int{"id": -1, "item": -1, "task": -1, "row": 1, "example": 1}
	choice := []string{"row", "example", "index", "", "id", "item", "task"}
	if data.N == 0 || data.IDs != nil {
		choice = []string{"id", "item", "task", "row", "example", "index", ""}
	}
	for _, word := range choice {
		column := slices.Index(words, word)
		if column < 0 {
			continue
		}
		k := &Keys{Column: column, Name: cmp.Or(trim(header[column]), "index"), n: data.N,
			first: first[word], index: map[string]int{}, lastRow: data.N - 1}
		if data.N == 0 {
			k.first = -1
		}
		k.noIDs = k.first < 0 && data.N > 0 && data.IDs == nil
		for i, id := range data.IDs {
			k.index[id] = i
		}
		if data.Source != nil {
			k.rows = make(map[int]int, data.N)
			for i, row := range data.Source {
				k.rows[row] = i
				k.lastRow = max(k.lastRow, row)
			}
		}
		return k
	}
	return nil
}

// Word returns the field of a header as it is compared: without white space, in lower case.
func Word(field string) string { return strings.ToLower(trim(field)) }

func trim(field string) string { return strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")) }

// Find returns the index of the example that a line names.
func (k *Keys) Find(text string) (int, error) {
	text = strings.TrimSpace(text)
	if k.noIDs {
		return 0, fmt.Errorf("found column %s and data without ids: call it row if it has row numbers "+
			"from 1, index if from 0, or name the data's column of ids", k.Name)
	}
	if k.first < 0 {
		i, ok := k.index[text]
		switch {
		case ok:
			return i, nil
		case k.n > 0 || text == "":
			return 0, fmt.Errorf("found %s %.40q, wanted the id of an example of the data", k.Name, text)
		}
		name := strings.Clone(text)
		k.index[name], k.names = len(k.names), append(k.names, name)
		return len(k.names) - 1, nil
	}
	row, err := strconv.Atoi(Whole(text))
	if row -= k.first; err != nil || row < 0 || row > k.lastRow {
		return 0, fmt.Errorf("found %s %.40q, wanted the number of a row of the data, %d to %d", k.Name,
			text, k.first, k.lastRow+k.first)
	}
	if k.rows == nil {
		return row, nil
	}
	i, ok := k.rows[row]
	if !ok {
		return 0, fmt.Errorf("found %s %.40q, which was skipped when the data were read, wanted a row "+
			"that was read", k.Name, text)
	}
	return i, nil
}

// Names returns the names of examples without data, sorted: by number if all are numbers, else
// bytewise; and the place of each in that order by the index that Find returned.
func (k *Keys) Names() (names []string, place []int) {
	numbers := make(map[string]int, len(k.names))
	for _, name := range k.names {
		if v, err := strconv.Atoi(name); err == nil {
			numbers[name] = v
		}
	}
	names = slices.Clone(k.names)
	slices.SortFunc(names, func(a, b string) int {
		if len(numbers) == len(names) {
			return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	place = make([]int, len(names))
	for to, name := range names {
		place[k.index[name]] = to
	}
	return names, place
}

// Whole returns an integer as pandas writes it in a column with missing ones, 3.0, without the .0.
func Whole(text string) string {
	if whole, ok := strings.CutSuffix(text, ".0"); ok {
		if _, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return whole
		}
	}
	return text
}
