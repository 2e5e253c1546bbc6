package labelfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keys finds the examples that the lines of a table are about, by a column whose header says how
// they are named:
//
//	row, example      numbers from 1, as lists of label issues and tables of predictions have them
//	index, no header  numbers from 0, as pandas writes them
//	id, item, task    ids of the data; in data without ids, numbers from 0 or from 1, which the
//	                  table must tell by having the first or the last
//
// A column with the name of the data's column of ids comes before these. Without data, every column
// has names of examples.
type Keys struct {
	Column int    // in the header
	Name   string // of the column

	n       int            // examples; -1 without data
	from    int            // of numbers; -1 if the table is to tell
	index   map[string]int // of ids, or of names without data
	names   []string       // without data, in the order in which they come
	lines   [2]int         // with the first and the last number, if the table is to tell
	byNames bool
}

// Data are the examples that a table is about: N of them, with ids if IDs are not nil, from the
// column IDColumn. N is -1 without data.
type Data struct {
	N        int
	IDs      []string
	IDColumn string
}

// named and numbered are the columns that may name examples, the first choice first, and where the
// numbers of the latter begin.
var (
	named    = []string{"id", "item", "task"}
	numbered = []string{"row", "example", "index", ""}
	from     = map[string]int{"row": 1, "example": 1, "index": 0, "": 0}
)

// FindKeys returns the keys of a table, nil if no column of the header names examples.
func FindKeys(header []string, data Data) *Keys {
	k := &Keys{n: data.N, from: -1, byNames: data.N < 0 || data.IDs != nil, index: map[string]int{}}
	for i, id := range data.IDs {
		k.index[id] = i
	}
	words := make([]string, len(header))
	for at, field := range header {
		if words[at] = Word(field); data.IDs != nil && strings.TrimSpace(field) == data.IDColumn {
			words[at] = "id"
		}
	}
	choice := slices.Concat(named, numbered)
	if !k.byNames {
		choice = slices.Concat(numbered, named)
	}
	for _, word := range choice {
		if k.Column = slices.Index(words, word); k.Column < 0 {
			continue
		}
		k.Name = strings.TrimSpace(header[k.Column])
		if first, ok := from[word]; ok {
			k.from, k.byNames = first, data.N < 0
		}
		return k
	}
	return nil
}

// Word returns the field of a header as it is compared: without white space, in lower case.
func Word(field string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")))
}

// Add returns the index of the example that a line names. If the table is to tell where numbers
// begin it is that number; First is to be subtracted from it in the end.
func (k *Keys) Add(text string, line int) (int, error) {
	text = strings.TrimSpace(text)
	if k.byNames {
		i, ok := k.index[text]
		switch {
		case ok:
			return i, nil
		case k.n >= 0 || text == "":
			return 0, fmt.Errorf("found %s %.40q, wanted the id of an example of the data", k.Name, text)
		}
		k.index[strings.Clone(text)], k.names = len(k.names), append(k.names, strings.Clone(text))
		return len(k.names) - 1, nil
	}
	i, err := strconv.Atoi(Whole(text))
	least, most := max(k.from, 0), k.n-1+max(k.from, 0)
	if k.from < 0 {
		most = k.n
	}
	if err != nil || i < least || i > most {
		return 0, fmt.Errorf("found %s %.40q, wanted the number of an example, %d to %d", k.named(), text,
			least, most)
	}
	if k.from >= 0 {
		return i - k.from, nil
	}
	if i == 0 && k.lines[0] == 0 {
		k.lines[0] = line
	}
	if i == k.n && k.lines[1] == 0 {
		k.lines[1] = line
	}
	return i, nil
}

func (k *Keys) named() string { return cmp.Or(k.Name, "index") }

// First returns the number of the first example, 0 or 1, which is to be subtracted from each number
// that Add returned. The error says that the table does not tell it.
func (k *Keys) First() (int, error) {
	switch {
	case k.byNames || k.from >= 0:
		return 0, nil
	case k.lines[0] > 0 && k.lines[1] > 0:
		return 0, fmt.Errorf("found %s 0 in line %d and %d in line %d, wanted numbers of %d examples, "+
			"from 0 or from 1", k.Name, k.lines[0], k.n, k.lines[1], k.n)
	case k.lines[0] > 0:
		return 0, nil
	case k.lines[1] > 0:
		return 1, nil
	}
	return 0, fmt.Errorf("found neither 0 nor %d in column %s, so that it does not tell whether "+
		"numbers begin at 0 or at 1: name the column row if at 1, index if at 0", k.n, k.Name)
}

// Names returns the names of examples without data, sorted: by number if all are numbers, else
// bytewise; and the place of each in that order by the index that Add returned.
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

// Whole returns a whole number as pandas writes it beside missing ones, 3.0, without the .0.
func Whole(text string) string {
	if whole, ok := strings.CutSuffix(text, ".0"); ok {
		if _, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return whole
		}
	}
	return text
}
