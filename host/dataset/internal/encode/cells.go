// Package encode makes features of the columns of a table: numbers, categories, texts and missing
// values.
package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Encoder collects examples of a table of more than numbers, as sparse rows of marks, one for each
// column of numbers, level, term and missing value. Encode makes features of them.
type Encoder struct {
	path    string
	o       features.EncodeOptions
	recipe  *dataset.Encoding // nil until it is learned
	missing string
	columns []cellColumn
	marks   []mark
	row     []markedValue // of the current example
	begun   int           // examples so far
	place   int           // its line, or its number from 1
	places  string        // which of them: "line" or "example"
	strict  bool          // a level that recipe does not know is an error
	terms   *termReader   // nil until there is a text
	at      []int         // where each term was in row last
	weights []float64     // of weigh
	growth  memory.Growth // of marks
	lenient bool          // words among numbers are missing values
	Commas  bool          // numbers have decimal commas
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
	other   int32 // the last of them, shared by all beyond the limit
	strange int   // examples with unknown levels
	longest int   // words of a term of a text
	spoken  int   // examples with a term of a text
	odd     int   // words among numbers
	oddText string
	oddAt   int    // where the first is
	loose   string // a number with marks between, and what it is read as
	looseAs float32
	rare    string // says which levels have no feature, "" if none
	terms   int    // of a text from which the vocabulary was chosen
	left    int    // how many of them it leaves out
}

// mark is the meaning of a value in an example's row of marks.
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
	Why    string // it is set aside
}

// New returns an Encoder that learns an Encoding by o; places are "line" or "example".
func New(path, places string, columns []Source, o features.EncodeOptions) *Encoder {
	s := &Encoder{path: path, places: places, o: o, missing: cmp.Or(o.Missing, dataset.MissingError),
		first: map[int32]int{}}
	if s.missing == dataset.MissingAuto {
		s.missing, s.lenient = dataset.MissingIndicator, true
	}
	for k, c := range columns {
		s.columns = append(s.columns, cellColumn{Source: c, at: k, gap: noMark, number: noMark})
		if c.Kind != dataset.KindNumber && c.Kind != dataset.KindAside {
			s.columns[k].levels = map[string]int32{}
			s.columns[k].longest = cmp.Or(o.Text.Words, features.DefaultTextWords)
		}
	}
	return s
}

// Follow returns an Encoder that follows recipe; byName matches columns by name, and strict makes
// an unknown level a fault.
func Follow(path, places string, columns []Source, recipe *dataset.Encoding, byName,
	strict bool) (*Encoder, string) {
	s := New(path, places, columns, features.EncodeOptions{})
	s.recipe, s.missing, s.strict = recipe, recipe.Missing, strict
	return s, follow(s, byName)
}

// Forgive has words among numbers count as missing, as the recipe allows, with a warning.
func (s *Encoder) Forgive() { s.lenient = !s.strict && s.missing == dataset.MissingIndicator }

// follow makes marks of all that the recipe knows.
func follow(s *Encoder, byName bool) string {
	at := make(map[string]int, len(s.recipe.Columns))
	for k, c := range s.recipe.Columns {
		at[c.Name] = k
	}
	if !byName && len(s.columns) != len(s.recipe.Columns) { // and then chooseColumns said so
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
		if c.Kind == dataset.KindNumber || c.Kind == dataset.KindAside {
			continue
		}
		c.levels, c.longest = make(map[string]int32, len(known.Levels)), longest(known)
		for _, level := range known.Levels {
			c.levels[level] = s.newMark(k, isLevel, level)
		}
	}
	return ""
}

func (s *Encoder) newMark(column int, kind markKind, level string) int32 {
	s.marks = append(s.marks, mark{int32(column), level, kind})
	s.growth.Bytes += len(level) + 128 // with what the lists take of it
	return int32(len(s.marks) - 1)
}

// CheckGrowth returns an error where memory would not hold many more levels and terms.
func (s *Encoder) CheckGrowth() error {
	return s.growth.Check(1<<22, "a list of more than %d levels and words", len(s.marks))
}

// Width is how many marks there are.
func (s *Encoder) Width() int { return len(s.marks) }

// HasText reports whether a column is a text.
func (s *Encoder) HasText() bool {
	return slices.ContainsFunc(s.columns,
		func(c cellColumn) bool { return c.Kind == dataset.KindText })
}

// Surprised reports whether a column of numbers holds many words, where its beginning had few.
func (s *Encoder) Surprised() bool {
	return s.recipe == nil && slices.ContainsFunc(s.columns,
		func(c cellColumn) bool { return c.odd > few && 20*c.odd > s.begun })
}

// IsNumber reports whether column k holds numbers alone.
func (s *Encoder) IsNumber(k int) bool { return s.columns[k].Kind == dataset.KindNumber }

// AppendRow appends the marks of the current example, as columns, and their values.
func (s *Encoder) AppendRow(columns []int32, values []float32) ([]int32, []float32) {
	for _, v := range s.row {
		columns, values = append(columns, v.mark), append(values, v.value)
	}
	return columns, values
}

// Begin starts the example at a place.
func (s *Encoder) Begin(place int) {
	s.row, s.place = s.row[:0], place
	s.begun++
}

// Set enters a text in column k of the example; it returns what is wrong with it.
func (s *Encoder) Set(k int, text []byte, subnormals *int) string {
	switch s.columns[k].Kind {
	case dataset.KindText:
		return s.setText(k, text)
	case dataset.KindAside:
		return ""
	}
	if text = decimal.Trim(text); text == nil {
		text = []byte{} // which is there, and empty
	}
	if IsMissing(text) {
		return s.SetMissing(k, text)
	}
	if s.columns[k].Kind == dataset.KindCategory {
		return s.setLevel(k, text)
	}
	v, ok := ParseCell(text)
	if !ok || s.Commas && bytes.ContainsAny(text, ",.") {
		if loose, fits := decimal.Loose(text, s.Commas); fits {
			v, ok = loose, true
			if c := &s.columns[k]; c.loose == "" {
				c.loose, c.looseAs = string(text), v
			}
		}
	}
	if !ok && s.lenient {
		c := &s.columns[k]
		if c.odd++; c.odd == 1 {
			c.oddText, c.oddAt = string(text), s.place
		}
		return s.SetMissing(k, text)
	}
	if !ok {
		return decimal.Fault(text)
	}
	s.SetNumber(k, decimal.Flush(v, subnormals))
	return ""
}

// SetNumber enters a finite number that is not subnormal.
func (s *Encoder) SetNumber(k int, v float32) {
	c := &s.columns[k]
	if c.number == noMark {
		c.number = s.newMark(k, isNumber, "")
	}
	if math.Float32bits(v) != 0 {
		s.row = append(s.row, markedValue{c.number, v})
	}
}

// SetMissing enters a missing value, written as text; nil for a null.
func (s *Encoder) SetMissing(k int, text []byte) string {
	c := &s.columns[k]
	switch {
	case c.Kind == dataset.KindText:
		return s.setText(k, nil)
	case c.Kind == dataset.KindAside:
		return ""
	case s.missing != dataset.MissingError:
		if c.gap == noMark {
			c.gap = s.newMark(k, isGap, "")
		}
		s.row = append(s.row, markedValue{c.gap, 1})
		return ""
	case text == nil:
		return decimal.NullFault
	case c.Kind == dataset.KindNumber:
		return decimal.Fault(text)
	}
	return fmt.Sprintf("found %s, a missing value, wanted a level of a category",
		quote.Text(string(text)))
}

// setLevel enters a level of a category.
func (s *Encoder) setLevel(k int, text []byte) string {
	c := &s.columns[k]
	at, known := c.levels[string(text)]
	switch {
	case known:
	case s.recipe != nil && s.strict:
		levels := s.recipe.Columns[c.at].Levels
		return fmt.Sprintf("found %s, which is none of the %d levels of the training data, %s; take "+
			"such levels for none of them ("+option.Named("unseen",
			"zero")+"), or train on data that have "+
			"them", quote.Text(string(text)), len(levels), quote.List(levels))
	case !utf8.Valid(text):
		return "found " + quote.Text(string(text)) +
			", which is not UTF-8; convert the data file to UTF-8 (iconv -t UTF-8)"
	case s.recipe != nil:
		at = s.newUnseen(k, string(text))
	default:
		at = s.newMark(k, isLevel, string(text))
		c.levels[string(text)] = at
	}
	s.row = append(s.row, markedValue{at, 1})
	return ""
}

// mostUnseen is how many unknown levels of a column are listed.
const mostUnseen = 100

// newUnseen returns the mark of an unknown level, which becomes no feature and is counted.
func (s *Encoder) newUnseen(k int, text string) int32 {
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
	return fmt.Sprintf("leave the column out (%s), say that it names the examples (%s), allow more "+
		"levels (%s), or take it for a text of words (%s)", option.Named("ignore-columns", c.Option),
		option.Named("id-column", c.Option), option.Named("levels"),
		option.Named("text", c.Option))
}

// IsMissing reports whether a field is one of the usual words for a missing value.
func IsMissing(text []byte) bool {
	switch string(text) {
	case "", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>",
		"#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN":
		return true
	}
	return false
}

// ParseCell is parseNumber for a field of a table, which also has words for 1 and 0.
func ParseCell(text []byte) (float32, bool) {
	if v, ok := decimal.Parse(text); ok {
		return v, true
	}
	return ParseTruth(text)
}

// ParseTruth reads a word that is true or false, as 1 or 0.
func ParseTruth(text []byte) (v float32, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE", "yes", "Yes", "YES":
		return 1, true
	case "false", "False", "FALSE", "no", "No", "NO":
		return 0, true
	}
	return 0, false
}

// Check returns an error if o asks for what no Encoder can do; o may be nil.
func Check(o *features.EncodeOptions) error {
	switch {
	case o == nil:
		return nil
	case o.Levels < 0:
		return fmt.Errorf("dataset: asked for categories of at most %d levels, wanted 0 (%d) or more",
			o.Levels, features.DefaultLevels)
	case o.Knots < 0:
		return fmt.Errorf("dataset: asked for %d knots of numbers, wanted 0 (none) or more", o.Knots)
	case o.Missing != "" && o.Missing != dataset.MissingError && o.Missing != dataset.MissingMean &&
		o.Missing != dataset.MissingIndicator && o.Missing != dataset.MissingAuto:
		return fmt.Errorf("dataset: unknown choice %s for missing values, wanted auto, error, mean or "+
			"indicator", quote.Text(o.Missing))
	}
	return checkText(o.Text)
}

func checkText(o features.TextOptions) error {
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"terms of a text", o.Features, math.MaxInt32}, {"examples of a term", o.MinExamples,
			math.MaxInt32},
		{"words of a term", o.Words, features.MostTextWords},
	} {
		if c.n < 0 || c.n > c.most {
			return fmt.Errorf("dataset: asked for %d %s, wanted 0 (as usual) to %d", c.n, c.what, c.most)
		}
	}
	return nil
}
