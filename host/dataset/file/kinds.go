package file

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// sniffed is how many bytes at the beginning of a CSV tell what its columns hold.
const sniffed = 1 << 20

// survey is what was found in the fields of a table before it is read, with MissingAuto.
type survey struct {
	whole  bool           // all of the table was looked at
	holes  bool           // columns of numbers hold more than plain numbers
	commas []bool         // columns whose numbers have decimal commas; nil for none
	asides map[int]string // why columns are set aside, or what they are taken for
	dates  map[int]bool   // columns of numbers that are dates
	asked  map[int]string // what the user says that columns are
}

// lenient reports whether any table is to be read.
func (o *Options) lenient() bool {
	return o.Encode != nil && o.Encode.Missing == dataset.MissingAuto
}

// judgeCommas finds out which columns have decimal commas. An error names both formats that a
// column fits.
func (r *csvReader) judgeCommas(tallies []features.Tally) (fault string) {
	s, width := &r.c.survey, len(tallies)
	switch r.c.o.Decimal {
	case decimalComma:
		s.commas = slices.Repeat([]bool{true}, width)
	case decimalPoint:
	default:
		for j := range tallies {
			if r.columns.role[j] != feature || s.asked[j] != "" {
				tallies[j] = features.Tally{}
			}
		}
		undecided := 0
		if s.commas, undecided = features.DecimalCommas(tallies); undecided >= 0 {
			text := []byte(tallies[undecided].Either)
			point, _ := decimal.Loose(text, false)
			comma, _ := decimal.Loose(text, true)
			return fmt.Sprintf("%s: found numbers such as %s, which are %v with a decimal point (%s) and "+
				"%v with a decimal comma (%s), wanted to know which", r.columns.describe(undecided),
				quote.Text(string(text)), point, quote.Option("decimal", decimalPoint), comma,
				quote.Option("decimal", decimalComma))
		}
	}
	return ""
}

// commas says which of d columns have decimal commas, as the user says, or else a model; nil for
// none.
func (o *Options) commas(known []bool, d int) []bool {
	switch o.Decimal {
	case decimalComma:
		return slices.Repeat([]bool{true}, d)
	case decimalPoint:
		return nil
	}
	return known
}

// comma reports whether column j has decimal commas.
func (s *survey) comma(j int) bool { return s.commas != nil && s.commas[j] }

// strictFault says what is wrong with a column of dates, "" if it is none.
func strictFault(t *features.Tally, c *columns, j int, commas bool) string {
	switch {
	case t.Strict(commas) != dataset.KindCategory:
	case 2*t.Dates > t.Words:
		return datesFault(c, j, "dates or times such as "+quote.Text(t.Date))
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
	if r.c.o.Encode == nil && r.c.o.Encoding == nil && r.rec.layout.comma {
		return nil, r.judgeCommas(make([]features.Tally, len(r.columns.role)))
	}
	if r.c.o.Encode == nil || r.c.o.Encoding != nil { // of a model, whose columns say it
		return nil, ""
	}
	tallies := make([]features.Tally, len(r.columns.role))
	if !r.header {
		for j := range tallies {
			tallies[j].Count(decimal.Trim(r.rec.field(j)), 1)
		}
	}
	next, done := r.surveyed()
	defer done()
	for next.next() == nil {
		if next.bad != nil || isHeader(r, next) {
			continue
		}
		next.fit(len(tallies))
		if len(next.ends) != len(tallies) {
			continue
		}
		for j := range tallies {
			if r.columns.role[j] == feature {
				tallies[j].Count(decimal.Trim(next.field(j)), 1)
			}
		}
	}
	asked, fault := r.columns.asked(r.c.o.Encode)
	s := &r.c.survey
	if s.asked = asked; fault == "" {
		fault = r.judgeCommas(slices.Clone(tallies))
	}
	s.asides, s.dates, s.holes = map[int]string{}, map[int]bool{}, r.c.known.whole
	for j := range tallies {
		if r.columns.role[j] != feature || fault != "" {
			continue
		}
		kind := asked[j]
		switch {
		case kind == "" && r.c.o.lenient():
			judged := tallies[j].Lenient(s.comma(j))
			kind, s.dates[j] = judged.Kind, judged.Dates
			s.holes = s.holes || judged.Holes
			if judged.Why != "" {
				s.asides[j] = judged.Why
			}
		case kind == "":
			kind = tallies[j].Strict(s.comma(j))
			fault = strictFault(&tallies[j], &r.columns, j, s.comma(j))
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
			if s.lines(); r.rec.layout.lenient {
				s.latin()
			}
			r.c.survey.whole = true
			next := &record{src: s, layout: r.rec.layout, delim: r.rec.delim, usual: r.rec.usual}
			for next.line < r.rec.line && next.next() == nil {
			}
			return next, done
		}
	}
	r.c.survey.whole = len(r.rec.src.peek(sniffed)) < sniffed
	return r.rec.ahead(sniffed), func() {}
}
