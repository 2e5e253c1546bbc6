package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
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
	name    string
	text    string // for messages
	kind    string
	at      int // the column of the recipe
	levels  map[string]int32
	chosen  bool  // the user says that it is a category
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

// newCells returns nil if there is nothing but numbers. kinds are the kinds of the columns of c
// that are features, in their order, as learned from the table; they do not matter where
// o.Encoding knows them.
func newCells(path, places string, c *columns, kinds []string, o Options) (*cells, string) {
	if o.Encoding == nil && o.Encode == nil {
		return nil, ""
	}
	s := &cells{path: path, places: places, recipe: o.Encoding, missing: missingError,
		strict: o.Unseen == unseenError, first: map[int32]int{}}
	if o.Encode != nil {
		s.o = *o.Encode
		if s.o.Missing != "" {
			s.missing = s.o.Missing
		}
	}
	plain := s.missing == missingError
	for j, role := range c.role {
		if role != feature {
			continue
		}
		k := len(s.columns)
		column := cellColumn{text: c.describe(j), kind: kindNumber, at: k, gap: noMark, number: noMark}
		if c.names != nil {
			column.name = c.names[j]
		}
		if kinds != nil {
			column.kind = kinds[k]
		}
		plain = plain && column.kind == kindNumber
		s.columns = append(s.columns, column)
	}
	if s.recipe != nil {
		s.missing = s.recipe.Missing
		return s, s.follow(c.names != nil && o.FeatureNames != nil)
	}
	if plain {
		return nil, ""
	}
	for _, text := range s.o.Categories {
		if j, fault := c.find(strings.TrimSpace(text), "a column that is a category"); fault == "" &&
			c.role[j] == feature {
			s.columns[c.featureAt(j)].chosen = true
		}
	}
	for k := range s.columns {
		if s.columns[k].kind != kindNumber {
			s.columns[k].levels, s.columns[k].longest = map[string]int32{}, cmp.Or(s.o.Text.Words,
				DefaultTextWords)
		}
	}
	return s, ""
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
			c.at = at[c.name]
		}
		known := &s.recipe.Columns[c.at]
		c.kind, c.levels = known.Kind, nil
		if c.kind == kindNumber {
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

// broken reports whether reading has to end.
func (s *cells) broken() bool { return s != nil && s.fault != nil }

// begin starts the example at a place.
func (s *cells) begin(place int) { s.row, s.place = s.row[:0], place }

// set enters the text that stands in column k of the current example, and counts a number that is
// subnormal; it returns what is wrong with it, "" if nothing is.
func (s *cells) set(k int, text []byte, subnormals *int) string {
	if s.columns[k].kind == kindText {
		return s.setText(k, text)
	}
	text = trimSpace(text)
	if isMissing(text) {
		return s.setMissing(k, text)
	}
	if s.columns[k].kind == kindCategory {
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
	case c.kind == kindText:
		return s.setText(k, nil)
	case s.missing != missingError:
		if c.gap == noMark {
			c.gap = s.newMark(k, isGap, "")
		}
		s.row = append(s.row, markedValue{c.gap, 1})
		return ""
	case text == nil:
		return cellFault(math.Float32frombits(missingBits))
	case c.kind == kindNumber:
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
		"(--text %[1]s)", c.option())
}

// option names c in a flag.
func (c *cellColumn) option() string {
	if c.name != "" && c.name == shorten(c.name) {
		return c.name
	}
	_, position, _ := strings.Cut(c.text, " ")
	position, _, _ = strings.Cut(position, " ")
	return position
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
