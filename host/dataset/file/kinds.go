package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// sniffed is how many bytes at the beginning of a CSV tell what its columns hold.
const sniffed = 1 << 20

// tally counts the kinds of values in a column.
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
	if isMissing(text) {
		t.missing++
		return
	}
	if _, ok := decimal.Parse(text); ok || decimal.IsNonFinite(string(text)) ||
		decimal.BeyondRange(text) {
		t.numbers++
	} else if _, ok := parseTruth(text); ok {
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

// survey is what was found in the fields of a table before it is read, with MissingAuto.
type survey struct {
	holes  bool           // columns of numbers hold more than plain numbers
	commas bool           // numbers have decimal commas
	asides map[int]string // why columns are set aside
	asked  map[int]string // what the user says that columns are
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
			"%d), by which "+quote.Option("id-column")+" names them", len(t.levels), words), false
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
			quote.Text(t.comma), quote.Option("decimal", "comma"), quote.Option("categories", c.option(j)))
	}
	return ""
}

// datesFault refuses dates, which found describes, in column j.
func datesFault(c *columns, j int, found string) string {
	column := c.option(j)
	return fmt.Sprintf("%s: found %s, which are neither numbers nor categories; leave the column out "+
		"(%s), or make numbers of it, such as the day of the week or the days since a "+
		"day, or, if the same ones come again, take it for a category (%s)", c.describe(j), found,
		quote.Option("ignore-columns", column), quote.Option("categories", column))
}

// kinds returns what the feature columns hold, by the records in the buffer, or by all.
func (r *csvReader) kinds() (kinds []string, fault string) {
	r.leadingColumn()
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
		next.fit(len(tallies))
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
		r.c.survey.commas = !r.rec.layout.comma && judgeCommas(tallies, r.rec.delim)
	}
	if follows {
		return nil, ""
	}
	asked, fault := r.columns.asked(r.c.o.Encode)
	s := &r.c.survey
	s.asked = asked
	if s.asides = map[int]string{}; r.c.known.whole {
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

// surveyed returns the records behind the current one that tell what columns hold: those in the
// buffer, or all of the file.
func (r *csvReader) surveyed() (next *record, done func()) {
	if r.c.known.whole {
		if s, done, err := r.rec.src.in.open(); err == nil {
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
