package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// ErrMissing is what the error of a missing value wraps, if Options.Encode could say what stands
// for it.
var ErrMissing = errors.New("say what stands for missing values (--missing mean or indicator)")

// cells collects the examples of a table that holds more than numbers. What its levels and means
// are is known at the end alone, so each number, level and missing value gets a mark at first, in
// the order of their appearance, and an example is a sparse row of marks. encode makes features of
// them.
type cells struct {
	path    string
	o       EncodeOptions
	recipe  *Encoding // nil until it is learned
	missing string
	columns []cellColumn
	marks   []mark
	row     []markedValue // of the current example
	place   int           // where that stands: a line, or its number from 1
	places  string        // which of them: "line" or "example"
	fault   error         // ends reading, as no example is to blame
	strict  bool          // a level that recipe does not know is an error
	terms   *termReader   // nil until there is a text
	at      []int         // where each term was in row last
	weights []float64     // of weigh
	bytes   int           // that marks take
	checked int           // of bytes, when memory was last looked at
	first   map[int32]int // where the marks of unknown levels are found first
}

// cellColumn is a column of the table that is a feature.
type cellColumn struct {
	Source
	at      int // the column of the recipe
	levels  map[string]int32
	number  int32 // the mark of a number, noMark if there was none
	gap     int32 // the mark of a missing value, noMark if there was none
	gaps    int   // how many there are
	unseen  int   // how many marks of unknown levels there are
	other   int32 // the last of them, which stands for all beyond the limit
	strange int   // examples with unknown levels
	longest int   // words of a term of a text
	spoken  int   // examples with a term of a text
}

// mark is what a value of an example's row of marks stands for.
type mark struct {
	column int32
	level  string
	kind   markKind
}

type markKind byte

const (
	isNumber markKind = iota
	isLevel
	isGap
	isTerm // of a text, whose value is how often it is there
)

type markedValue struct {
	mark  int32
	value float32
}

// noMark is the number of a mark that was not needed yet.
const noMark = -1

// Source is a column of a table that is a feature.
type Source struct {
	Name   string // the header's, "" without one
	Text   string // for messages
	Option string // how an option names it
	Kind   string // Column.Kind, if that is learned
	Chosen bool   // the user says that it is a category
}

// newCells returns cells that learn an Encoding of the columns, by o. Places are "line" or
// "example".
func newCells(path, places string, columns []Source, o EncodeOptions) *cells {
	s := &cells{path: path, places: places, o: o, missing: cmp.Or(o.Missing, missingError),
		first: map[int32]int{}}
	for k, c := range columns {
		s.columns = append(s.columns, cellColumn{Source: c, at: k, gap: noMark, number: noMark})
		if c.Kind != kindNumber {
			s.columns[k].levels = map[string]int32{}
			s.columns[k].longest = cmp.Or(o.Text.Words, DefaultTextWords)
		}
	}
	return s
}

// followCells returns cells that make of the columns what recipe says; byName matches them by
// their names, which they have then. A level that recipe does not know is a fault if strict. The
// string says what is wrong, "" if nothing is.
func followCells(path, places string, columns []Source, recipe *Encoding, byName,
	strict bool) (*cells, string) {
	s := newCells(path, places, columns, EncodeOptions{})
	s.recipe, s.missing, s.strict = recipe, recipe.Missing, strict
	return s, s.follow(byName)
}

// follow makes marks of all that the recipe knows.
func (s *cells) follow(byName bool) string {
	at := make(map[string]int, len(s.recipe.Columns))
	for k, c := range s.recipe.Columns {
		at[c.Name] = k
	}
	if len(s.columns) != len(s.recipe.Columns) { // and then chooseColumns said so
		return fmt.Sprintf("found %d columns, wanted the %d of the model", len(s.columns),
			len(s.recipe.Columns))
	}
	for k := range s.columns {
		c := &s.columns[k]
		if byName {
			c.at = at[c.Name]
		}
		known := &s.recipe.Columns[c.at]
		c.Kind, c.levels = known.Kind, nil
		if c.Kind == kindNumber {
			continue
		}
		c.levels, c.longest = make(map[string]int32, len(known.Levels)), known.longest()
		for _, level := range known.Levels {
			c.levels[level] = s.newMark(k, isLevel, level)
		}
	}
	return ""
}

func (s *cells) newMark(column int, kind markKind, level string) int32 {
	s.marks = append(s.marks, mark{int32(column), level, kind})
	s.bytes += len(level) + 128 // with what the lists take of it
	return int32(len(s.marks) - 1)
}

// checkGrowth returns an error where memory would not hold many more levels and terms.
func (s *cells) checkGrowth() error {
	const piece = 1 << 22
	added := s.bytes - s.checked
	if added < piece {
		return nil
	}
	s.checked = s.bytes
	return memory.Check(int64(8*piece+2*added), fmt.Sprintf("a list of more than %d levels and words",
		len(s.marks)))
}

// width is how many marks there are.
func (s *cells) width() int { return len(s.marks) }

// encoding returns what s follows, nil before it is learned.
func (s *cells) encoding() *Encoding { return s.recipe }

// broken reports whether reading has to end.
func (s *cells) broken() bool { return s != nil && s.fault != nil }

// goOn has s take another file of the same columns.
func (s *cells) goOn(path, places string) { s.path, s.places = path, places }

// isNumber reports whether column k holds numbers alone.
func (s *cells) isNumber(k int) bool { return s.columns[k].Kind == kindNumber }

// appendRow appends the marks of the current example, as columns, and their values.
func (s *cells) appendRow(columns []int32, values []float32) ([]int32, []float32) {
	for _, v := range s.row {
		columns, values = append(columns, v.mark), append(values, v.value)
	}
	return columns, values
}

// begin starts the example at a place.
func (s *cells) begin(place int) { s.row, s.place = s.row[:0], place }

// set enters the text that stands in column k of the current example, and counts a number that is
// subnormal; it returns what is wrong with it, "" if nothing is.
func (s *cells) set(k int, text []byte, subnormals *int) string {
	if s.columns[k].Kind == kindText {
		return s.setText(k, text)
	}
	text = trimSpace(text)
	if isMissing(text) {
		return s.setMissing(k, text)
	}
	if s.columns[k].Kind == kindCategory {
		return s.setLevel(k, text)
	}
	v, ok := parseCell(text)
	if !ok {
		return numberFault(text)
	}
	s.setNumber(k, flush(v, subnormals))
	return ""
}

// setNumber enters a finite number that is not subnormal.
func (s *cells) setNumber(k int, v float32) {
	c := &s.columns[k]
	if c.number == noMark {
		c.number = s.newMark(k, isNumber, "")
	}
	if math.Float32bits(v) != 0 {
		s.row = append(s.row, markedValue{c.number, v})
	}
}

// setMissing enters a value that is missing; text is what stands for it, nil for a null.
func (s *cells) setMissing(k int, text []byte) string {
	c := &s.columns[k]
	switch {
	case c.Kind == kindText:
		return s.setText(k, nil)
	case s.missing != missingError:
		if c.gap == noMark {
			c.gap = s.newMark(k, isGap, "")
		}
		s.row = append(s.row, markedValue{c.gap, 1})
		return ""
	case text == nil:
		return nullFault
	case c.Kind == kindNumber:
		return numberFault(text)
	}
	return fmt.Sprintf("found %s, a missing value, wanted a level of a category", quote(string(text)))
}

// setLevel enters a level of a category.
func (s *cells) setLevel(k int, text []byte) string {
	c := &s.columns[k]
	at, known := c.levels[string(text)]
	switch {
	case known:
	case s.recipe != nil && s.strict:
		levels := s.recipe.Columns[c.at].Levels
		return fmt.Sprintf("found %s, which is none of the %d levels of the training data, %s; take "+
			"such levels for none of them (--unseen zero), or train on data that have "+
			"them", quote(string(text)), len(levels), quoteList(levels))
	case !utf8.Valid(text):
		return "found " + quote(string(text)) +
			", which is not UTF-8; convert the data file to UTF-8 (iconv -t UTF-8)"
	case s.recipe != nil:
		at = s.newUnseen(k, string(text))
	default:
		if most := s.mostLevels(); len(c.levels) == most {
			fault := fmt.Sprintf("found more than %d different texts, such as %s, wanted a category of at "+
				"most %d levels; %s", most, quote(string(text)), most, c.advice())
			s.fault = errors.New(fault)
			return fault
		}
		at = s.newMark(k, isLevel, string(text))
		c.levels[string(text)] = at
	}
	s.row = append(s.row, markedValue{at, 1})
	return ""
}

// mostLevels is how many levels a category may have.
func (s *cells) mostLevels() int { return cmp.Or(s.o.Levels, DefaultLevels) }

// mostUnseen is how many unknown levels of a column are told apart.
const mostUnseen = 100

// newUnseen returns the mark of a level that the recipe does not know. It is a level all the same,
// which becomes no feature, so that it can be counted.
func (s *cells) newUnseen(k int, text string) int32 {
	c := &s.columns[k]
	if c.unseen == mostUnseen {
		return c.other
	}
	c.other = s.newMark(k, isLevel, text)
	c.levels[text] = c.other
	s.first[c.other] = s.place
	c.unseen++
	return c.other
}

// advice says what to do with a category of too many levels.
func (c *cellColumn) advice() string {
	return fmt.Sprintf("leave the column out (--ignore-columns %[1]s), say that it names the "+
		"examples (--id-column %[1]s), allow more levels (--levels), or take it for a text of words "+
		"(--text %[1]s)", c.Option)
}

// isMissing reports whether a field says that its value is missing, in the words of pandas and
// ARFF.
func isMissing(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if len(text) > len("#N/A N/A") {
		return false
	}
	switch string(text) {
	case "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A",
		"#N/A N/A",
		"#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN":
		return true
	}
	return false
}

// parseCell is parseNumber for a field of a table, which also has words for 1 and 0.
func parseCell(text []byte) (float32, bool) {
	if v, ok := parseNumber(text); ok {
		return v, true
	}
	return parseTruth(text)
}

// parseTruth reads a word that is true or false, as 1 or 0.
func parseTruth(text []byte) (v float32, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE", "yes", "Yes", "YES":
		return 1, true
	case "false", "False", "FALSE", "no", "No", "NO":
		return 0, true
	}
	return 0, false
}
