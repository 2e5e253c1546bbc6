package file

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/names"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// sniffed is how many bytes at the beginning of a CSV tell what its columns hold.
const sniffed = 1 << 20

// tally counts what stands in a column.
type tally struct {
	numbers, truths, words, dates, commas, missing int    // commas and dates are words
	date, comma                                    string // the first

	loose, looseCommas int // words that are numbers with marks between, by point and by comma
	blanks             int // in words
	levels             map[string]struct{}
}

// mostTold is how many different words of a column are counted.
const mostTold = 1 << 16

func (t *tally) count(text []byte) {
	if encode.IsMissing(text) {
		t.missing++
		return
	}
	if _, ok := decimal.Parse(text); ok || decimal.IsNonFinite(string(text)) || beyondRange(text) {
		t.numbers++
	} else if _, ok := encode.ParseTruth(text); ok {
		t.truths++
	} else {
		_, point := decimal.Loose(text, false)
		_, comma := decimal.Loose(text, true)
		if point {
			t.loose++
		}
		if comma {
			t.looseCommas++
		}
		if t.levels == nil {
			t.levels = map[string]struct{}{}
		}
		if len(t.levels) < mostTold {
			t.levels[string(text)] = struct{}{}
		}
		t.blanks += bytes.Count(text, []byte(" "))
		switch t.words++; {
		case isDate(string(text)):
			if t.dates++; t.date == "" {
				t.date = string(text)
			}
		case decimal.HasComma(string(text)):
			if t.commas++; t.comma == "" {
				t.comma = string(text)
			}
		}
	}
}

// kind is a category if words outnumber numbers.
func (t *tally) kind() string {
	if t.words > 0 && t.words+t.truths > t.numbers {
		return dataset.KindCategory
	}
	return dataset.KindNumber
}

// survey is what the fields of a table told before it was read, by EncodeOptions.Missing auto.
type survey struct {
	whole  bool           // all of the table is looked at, in a reading of its own
	once   bool           // it can be read but once
	holes  bool           // columns of numbers hold more than plain numbers
	commas bool           // numbers have decimal commas
	asides map[int]string // why columns are set aside
}

// lenient reports whether any table is to be read.
func (o *Options) lenient() bool {
	return o.Encode != nil && o.Encode.Missing == dataset.MissingAuto
}

// judgeCommas finds out whether numbers have decimal commas: if some cannot be read otherwise, or
// between semicolons.
func judgeCommas(tallies []tally, delim byte) bool {
	points, commas := 0, 0
	for _, t := range tallies {
		points, commas = points+t.loose, commas+t.looseCommas
	}
	return commas > points || commas == points && commas > 0 && delim == ';'
}

// lenientKind returns what a column of a table holds that is read without a question, why it is set
// aside, if it is, and whether a column of numbers holds other things too.
func (t *tally) lenientKind(commas bool) (kind, why string, holes bool) {
	loose := t.loose
	if commas {
		loose = t.looseCommas
	}
	words, numbers := t.words-loose, t.numbers+loose
	all := words + numbers + t.truths
	texts := words >= fewExamples && t.blanks >= 3*t.words
	switch {
	case all == 0:
		return dataset.KindAside, "holds no value but missing ones", false
	case words == 0, 20*words <= all && numbers > t.truths, words < numbers && len(t.levels) > 30:
		return dataset.KindNumber, "", t.missing > 0 || t.words > 0
	case 2*t.dates > t.words:
		return dataset.KindAside, "holds dates or times such as " + quote.Text(t.date), false
	case texts && 2*len(t.levels) > words:
		return dataset.KindText, "holds sentences, and is taken for a text of words", false
	case words >= fewExamples && 10*len(t.levels) > 9*words && len(t.levels) < mostTold:
		return dataset.KindAside, fmt.Sprintf("holds a different text for nearly each example (%d in "+
			"%d), by which "+option.Named("id-column")+" names them", len(t.levels), words), false
	}
	return dataset.KindCategory, "", false
}

// fault says what is wrong with a column of dates, or of numbers with commas, "" if it is none.
func (t *tally) fault(c *columns, j int) string {
	switch {
	case t.kind() != dataset.KindCategory:
	case 2*t.dates > t.words:
		return datesFault(c, j, "dates or times such as "+quote.Text(t.date))
	case 2*t.commas > t.words:
		return fmt.Sprintf("%s: found numbers with commas such as %s; if these are decimal commas, say "+
			"so (%s), and if they are words, take the column for a category (%s)", c.describe(j),
			quote.Text(t.comma), option.Named("decimal", "comma"), option.Named("categories", c.option(j)))
	}
	return ""
}

// datesFault refuses dates, which found describes, in column j.
func datesFault(c *columns, j int, found string) string {
	column := c.option(j)
	return fmt.Sprintf("%s: found %s, which are neither numbers nor categories; leave the column out "+
		"(%s), or make numbers of it, such as the day of the week or the days since a "+
		"day, or, if the same ones come again, take it for a category (%s)", c.describe(j), found,
		option.Named("ignore-columns", column), option.Named("categories", column))
}

// option names column j as flags do.
func (c *columns) option(j int) string {
	if c.names != nil && c.names[j] != "" && c.names[j] == quote.Short(c.names[j]) &&
		!strings.Contains(c.names[j], ",") {
		return c.names[j]
	}
	return fmt.Sprint(j + 1)
}

// kinds returns what the feature columns hold, by the records in the buffer, or by all.
func (r *csvReader) kinds() (kinds []string, fault string) {
	follows := r.c.o.Encoding != nil
	if r.c.o.Encode == nil && !follows {
		return nil, ""
	}
	tallies := make([]tally, len(r.columns.role))
	if !r.header {
		for j := range tallies {
			tallies[j].count(r.rec.telling(j))
		}
	}
	next, done := r.surveyed()
	defer done()
	for next.next() == nil {
		if next.bad != nil {
			continue
		}
		if next.split(); next.layout.lenient {
			next.fit(len(tallies))
		}
		if len(next.ends) != len(tallies) {
			continue
		}
		for j := range tallies {
			if r.columns.role[j] == feature {
				tallies[j].count(next.telling(j))
			}
		}
	}
	if r.c.o.lenient() || follows {
		r.c.o.survey.commas = !r.rec.layout.comma && judgeCommas(tallies, r.rec.delim)
	}
	if follows {
		return nil, ""
	}
	asked, fault := r.columns.asked(r.c.o.Encode)
	s := &r.c.o.survey
	if s.asides = map[int]string{}; s.whole {
		s.holes = true
	}
	for j := range tallies {
		if r.columns.role[j] != feature || fault != "" {
			continue
		}
		kind := asked[j]
		switch {
		case kind == "" && r.c.o.lenient():
			var why string
			var holes bool
			kind, why, holes = tallies[j].lenientKind(s.commas)
			s.holes = s.holes || holes
			if why != "" {
				s.asides[j] = why
			}
		case kind == "":
			kind, fault = tallies[j].kind(), tallies[j].fault(&r.columns, j)
		}
		kinds = append(kinds, kind)
	}
	return kinds, fault
}

// joinHeader returns the names of columns, with those of a second row where the first leaves some
// empty, as a spreadsheet with merged cells does, and no field of the second is a number. line is
// that of the second row, 0 without one.
func (r *record) joinHeader(names []string) (joined []string, line int) {
	if !slices.Contains(names[1:], "") {
		return names, 0
	}
	next := r.ahead(sniffed)
	words := func() (texts []string, numbers int) {
		if next.next() != nil || next.bad != nil {
			return nil, 0
		}
		next.split()
		texts = next.fields()
		return texts, lists.Count(texts, func(text string) bool {
			_, ok := decimal.Parse([]byte(text))
			return ok
		})
	}
	second, numbers := words()
	_, then := words()
	if len(second) != len(names) || numbers > 0 || then == 0 || slices.Contains(second[1:], "") {
		return names, 0
	}
	group := ""
	joined = slices.Clone(names)
	for j, name := range names {
		if name != "" {
			group = name
		}
		joined[j] = strings.TrimSpace(group + " " + second[j])
	}
	return joined, r.line + next.src.line - 1
}

// distinct returns the names, equal ones told apart as pandas does: x, x.1, x.2.
func (r *csvReader) distinct(names []string) []string {
	told := slices.Clone(names)
	taken := make(map[string]int, len(names))
	for j, name := range names {
		if k := taken[name]; k > 0 && name != "" {
			told[j] = fmt.Sprintf("%s.%d", name, k)
			r.c.remarks.note("column %d is called %s, as there are several named %s", j+1,
				quote.Text(told[j]), quote.Text(name))
		}
		taken[name]++
	}
	return told
}

// surveyed returns the records behind the current one that tell what columns hold: those in the
// buffer, or all of the file.
func (r *csvReader) surveyed() (next *record, done func()) {
	if r.c.o.survey.whole {
		if s, done, err := openSource(r.rec.src.ctx, r.rec.src.path, nil); err == nil {
			if r.rec.layout.lenient {
				s.latin()
			}
			next := &record{src: s, layout: r.rec.layout, delim: r.rec.delim, usual: r.rec.usual}
			for next.line < r.rec.line && next.next() == nil {
			}
			return next, done
		}
	}
	return r.rec.ahead(sniffed), func() {}
}

// telling is field j with a point for a decimal comma.
func (r *record) telling(j int) []byte {
	field, _ := r.pointed(r.field(j))
	return decimal.Trim(field)
}

// asked returns what the user says that columns are: nothing if o is nil.
func (c *columns) asked(o *features.EncodeOptions) (asked map[int]string, fault string) {
	if o == nil {
		return nil, ""
	}
	asked = make(map[int]string, len(o.Categories)+len(o.Text.Columns))
	for _, list := range []struct {
		kind, what string
		columns    []string
	}{{dataset.KindCategory, "a category", o.Categories}, {dataset.KindText, "a text",
		o.Text.Columns}} {
		for _, text := range list.columns {
			j, fault := c.find(strings.TrimSpace(text), list.what)
			if fault == "" && c.role[j] != feature {
				fault = fmt.Sprintf("found %s, asked for as %s, among the columns that are no features, "+
					"wanted one or the other", c.describe(j), list.what)
			}
			if fault == "" && asked[j] != "" && asked[j] != list.kind {
				fault = fmt.Sprintf("found %s, asked for as a category, among the texts, wanted one or the "+
					"other", c.describe(j))
			}
			if fault != "" {
				return nil, fault
			}
			asked[j] = list.kind
		}
	}
	return asked, ""
}

// beyondRange reports whether text is a number that float32 cannot hold.
func beyondRange(text []byte) bool {
	return strings.Contains(decimal.Fault(text), "range of float32")
}

// isDate reports whether a text is a date, perhaps with a time, or a time.
func isDate(text string) bool {
	date, _, timed := strings.Cut(text, " ")
	if day, _, found := strings.Cut(text, "T"); found && !timed {
		date = day
	}
	for _, separator := range []string{"-", "/", ".", ":"} {
		parts := strings.Split(date, separator)
		if len(parts) != 3 && !(separator == ":" && len(parts) == 2) || slices.ContainsFunc(parts,
			func(p string) bool {
				return p == "" || len(p) > 4 || strings.Trim(p, "0123456789") != ""
			}) {
			continue
		}
		if separator == ":" || len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2 ||
			len(parts[0]) <= 2 && len(parts[1]) <= 2 && len(parts[2]) != 3 {
			return true
		}
	}
	return false
}

// looksLikeHeader is the rule of Options.Header for "auto".
func (r *csvReader) looksLikeHeader(fields []string) bool {
	other, named := r.notFeatures(fields) // not a feature, or perhaps not
	if named || r.namesWanted(fields) {
		return true
	}
	words, numbers := false, false
	var features []string
	for j, text := range fields {
		if other[j] {
			continue
		}
		features = append(features, text)
		number, comma := r.rec.pointed([]byte(text))
		_, loose := decimal.Loose(number, true)
		switch _, ok := decimal.Parse(number); {
		case ok || loose && r.rec.layout.lenient || comma != "" ||
			decimal.IsNonFinite(text) || strings.EqualFold(text, "true") ||
			strings.EqualFold(text, "false"):
			numbers = true
		case text != "" && !(len(features) == 1 && isIndexName(text)):
			words = true
		}
	}
	if !numbers {
		return words || slices.ContainsFunc(features, isIndexName)
	}
	return !words && r.numbersColumns(fields, features)
}

// notFeatures says which fields of the first record may be no features; named, that one was asked
// for by its name: a header.
func (r *csvReader) notFeatures(fields []string) (other []bool, named bool) {
	asked := r.c.o.Ignore
	if r.c.o.LabelColumn != "" && r.c.o.given == nil {
		asked = append(asked[:len(asked):len(asked)], r.c.o.LabelColumn)
	} else if !r.c.o.NoLabels && r.c.o.given == nil {
		asked = append(asked[:len(asked):len(asked)], "last")
	}
	for _, o := range []string{r.c.o.IDColumn, r.c.o.WeightColumn} {
		if o != "" {
			asked = append(asked[:len(asked):len(asked)], o)
		}
	}
	other = make([]bool, len(fields))
	for _, text := range asked {
		text = strings.TrimSpace(text)
		if position := columnPosition(text, len(fields)); position >= 0 {
			other[position] = true
		}
		if text == "first" || text == "last" {
			continue
		}
		if at, _ := findName(fields, text); at >= 0 {
			if !decimal.IsInteger(text) {
				return other, true
			}
			other[at] = true
		}
	}
	return other, false
}

// namesWanted reports whether the record holds all names of Options.FeatureNames, with a word or
// many.
func (r *csvReader) namesWanted(fields []string) bool {
	if r.c.o.FeatureNames == nil {
		return false
	}
	there, words := names.Set(fields), false
	for _, name := range r.c.o.FeatureNames {
		if !there[name] {
			return false
		}
		_, number := decimal.Parse([]byte(name))
		words = words || !number && name != ""
	}
	return words || len(r.c.o.FeatureNames) >= manyNumbers
}

// manyNumbers is how many numbers in the order of counting are no accident.
const manyNumbers = 3

// numbersColumns reports whether a first record of numbers is surely a header: pandas counts
// columns from 0, R from 1, without a gap, behind an empty field or with a word for the label that
// no example has.
func (r *csvReader) numbersColumns(fields, features []string) bool {
	index := features[0] == "" || isIndexName(features[0])
	if index {
		features = features[1:]
	}
	base := 0
	if len(features) > 0 && features[0] == "1" {
		base = 1
	}
	for k, text := range features {
		if text != strconv.Itoa(base+k) {
			return false
		}
	}
	word, at := false, r.labelField(fields)
	if at >= 0 {
		_, number := decimal.Parse([]byte(fields[at]))
		word = !number && fields[at] != ""
	}
	if index && len(features) >= manyNumbers || word && (isLabelName(fields[at]) ||
		decimal.IsInteger(r.nextField(at))) {
		r.c.remarks.note("line %d (%s) is taken as the header; if it is an example, say so ("+
			option.Named("header", "no")+")", r.rec.line, quote.Printable(strings.Join(fields, ",")))
		return true
	}
	if base == 0 && (word || len(features) >= manyNumbers) {
		r.c.remarks.maybeHeader = r.rec.line
	}
	return false
}

// labelField returns which field of the first record is the label, -1 for none.
func (r *csvReader) labelField(fields []string) int {
	if r.c.o.NoLabels || r.c.o.given != nil {
		return -1
	}
	if column := strings.TrimSpace(r.c.o.LabelColumn); column != "" {
		return columnPosition(column, len(fields))
	}
	return len(fields) - 1
}

// isLabelName reports whether a word is what people call the column of the label.
func isLabelName(word string) bool {
	switch strings.ToLower(word) {
	case "label", "labels", "class", "target", "species", "category", "outcome":
		return true
	}
	return false
}

// nextField returns a field of the record behind, "" if it was not read ahead.
func (r *csvReader) nextField(j int) string {
	next := r.rec.ahead(1 << 16)
	if next.next() != nil || next.bad != nil {
		return ""
	}
	next.split()
	if j >= len(next.ends) {
		return ""
	}
	return string(decimal.Trim(next.field(j)))
}
