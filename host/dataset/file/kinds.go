package file

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// sniffed is how many bytes at the beginning of a CSV tell what its columns hold.
const sniffed = 1 << 20

// survey is what was found in the fields of a table before it is read, with MissingAuto.
type survey struct {
	holes  bool           // columns of numbers hold more than plain numbers
	commas bool           // numbers have decimal commas
	asides map[int]string // why columns are set aside, or what they are taken for
	dates  map[int]bool   // columns of numbers that are dates
	asked  map[int]string // what the user says that columns are
}

// lenient reports whether any table is to be read.
func (o *Options) lenient() bool {
	return o.Encode != nil && o.Encode.Missing == dataset.MissingAuto
}

// judgeCommas finds out whether numbers have decimal commas: if some cannot be read otherwise, or
// between semicolons.
func judgeCommas(tallies []features.Tally, delim byte) bool {
	points, commas := 0, 0
	for _, t := range tallies {
		points, commas = points+t.Loose, commas+t.LooseCommas
	}
	return commas > points || commas == points && commas > 0 && delim == ';'
}

// strictFault says what is wrong with a column of dates, or of numbers with commas, "" if it is
// none.
func strictFault(t *features.Tally, c *columns, j int, commas bool) string {
	switch {
	case t.Strict(commas) != dataset.KindCategory:
	case 2*t.Dates > t.Words:
		return datesFault(c, j, "dates or times such as "+quote.Text(t.Date))
	case 2*t.Commas > t.Words:
		return fmt.Sprintf("%s: found numbers with commas such as %s; if these are decimal commas, say "+
			"so (%s), and if they are words, take the column for a category (%s)", c.describe(j),
			quote.Text(t.Comma), quote.Option("decimal", "comma"), quote.Option("categories", c.option(j)))
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
	r.c.survey.commas = r.rec.layout.comma
	follows := r.c.o.Encoding != nil
	if r.c.o.Encode == nil && !follows {
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
	if r.c.o.lenient() || follows {
		r.c.survey.commas = r.c.survey.commas || judgeCommas(tallies, r.rec.delim)
	}
	if follows {
		return nil, ""
	}
	asked, fault := r.columns.asked(r.c.o.Encode)
	s := &r.c.survey
	s.asked = asked
	s.asides, s.dates, s.holes = map[int]string{}, map[int]bool{}, r.c.known.whole
	for j := range tallies {
		if r.columns.role[j] != feature || fault != "" {
			continue
		}
		kind := asked[j]
		switch {
		case kind == "" && r.c.o.lenient():
			judged := tallies[j].Lenient(s.commas)
			kind, s.dates[j] = judged.Kind, judged.Dates
			s.holes = s.holes || judged.Holes
			if judged.Why != "" {
				s.asides[j] = judged.Why
			}
		case kind == "":
			kind, fault = tallies[j].Strict(s.commas), strictFault(&tallies[j], &r.columns, j, s.commas)
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
			next := &record{src: s, layout: r.rec.layout, delim: r.rec.delim, usual: r.rec.usual}
			for next.line < r.rec.line && next.next() == nil {
			}
			return next, done
		}
	}
	return r.rec.ahead(sniffed), func() {}
}
