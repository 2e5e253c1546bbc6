package features

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Tally counts the kinds of values in a column.
type Tally struct {
	Numbers, Truths, Words, Dates int    // dates are words
	Date                          string // the first
	Loose, LooseCommas            int    // words that are numbers with marks between
	Either                        string // the first number that fits both decimal marks

	plain                bool // programs write Either so
	points, commas       int  // numbers that fit one decimal mark alone
	missing, blanks, iso int  // blanks in words; dates that begin with the year
	levels               map[string]struct{}
}

// mostTold is how many different words of a column are counted.
const mostTold = 1 << 16

// Count counts a text that is there so often.
func (t *Tally) Count(text []byte, times int) {
	if IsMissing(text) {
		t.missing += times
		return
	}
	if _, ok := decimal.Parse(text); ok || decimal.IsNonFinite(string(text)) ||
		decimal.BeyondRange(text) {
		t.countMarks(text, ok, times)
		t.Numbers += times
	} else if _, ok := ParseTruth(text); ok {
		t.Truths += times
	} else {
		if _, point := decimal.Loose(text, false); point {
			t.Loose += times
		}
		if _, comma := decimal.Loose(text, true); comma {
			t.LooseCommas += times
		}
		t.countMarks(text, false, times)
		if t.levels == nil {
			t.levels = map[string]struct{}{}
		}
		if len(t.levels) < mostTold {
			t.levels[string(text)] = struct{}{}
		}
		t.blanks += times * bytes.Count(text, []byte(" "))
		if t.Words += times; isDate(string(text)) {
			if _, iso := ParseDate(text); iso {
				t.iso += times
			}
			if t.Dates += times; t.Date == "" {
				t.Date = string(text)
			}
		}
	}
}

// countMarks counts a number by the decimal marks that it fits; plain says that it is one as
// programs write it.
func (t *Tally) countMarks(text []byte, plain bool, times int) {
	if !bytes.ContainsAny(text, ",.") {
		return
	}
	point := plain
	if !plain {
		_, point = decimal.Loose(text, false)
	}
	switch _, comma := decimal.Loose(text, true); {
	case point && comma:
		if t.Either == "" || t.plain && !plain {
			t.Either, t.plain = string(text), plain
		}
	case point:
		t.points += times
	case comma:
		t.commas += times
	}
}

// number reports whether a column is read as numbers by either mark.
func (t *Tally) number() bool {
	return t.Lenient(false).Kind == dataset.KindNumber || t.Lenient(true).Kind == dataset.KindNumber
}

// DecimalCommas says which columns have decimal commas, nil for none: each by its own cells. Where
// all of these fit both marks, such as 1,234, the other columns tell, if they agree; what programs
// write as a number, such as 1.234, has a point unless another column has commas. undecided is the
// first column that nothing decides, -1 for none.
func DecimalCommas(tallies []Tally) (commas []bool, undecided int) {
	pointed, others := 0, 0 // columns of either mark
	for k := range tallies {
		switch t := &tallies[k]; {
		case t.points+t.commas == 0 || !t.number():
		case t.commas > t.points:
			others++
		default:
			pointed++
		}
	}
	found := make([]bool, len(tallies))
	undecided = -1
	for k := range tallies {
		t := &tallies[k]
		switch {
		case t.points+t.commas > 0:
			found[k] = t.commas > t.points
		case t.Either == "" || !t.number() || t.plain && others == 0:
		case !t.plain && (pointed == 0) != (others == 0):
			found[k] = others > 0
		case undecided < 0:
			undecided = k
		}
		if found[k] {
			commas = found
		}
	}
	return commas, undecided
}

// Strict is a category if words outnumber numbers; commas says that numbers have decimal commas.
func (t *Tally) Strict(commas bool) string {
	words, numbers := t.Words, t.Numbers
	if commas {
		words, numbers = words-t.LooseCommas, numbers+t.LooseCommas
	}
	if words > 0 && words+t.Truths > numbers {
		return dataset.KindCategory
	}
	return dataset.KindNumber
}

// Judged is what a column of a table holds.
type Judged struct {
	Kind  string // as dataset.Column.Kind
	Dates bool   // of a number: seconds since 1970
	Why   string // it is set aside, or taken for what it is not at once; "" without a question
	Holes bool   // a column of numbers holds other things too
}

// Lenient returns what a column of a table holds that is read without a question; commas says that
// numbers have decimal commas.
func (t *Tally) Lenient(commas bool) Judged {
	loose := t.Loose
	if commas {
		loose = t.LooseCommas
	}
	words, numbers := t.Words-loose, t.Numbers+loose
	all := words + numbers + t.Truths
	texts := words >= few && t.blanks >= 3*t.Words
	switch {
	case all == 0:
		return Judged{Kind: dataset.KindAside, Why: "holds no value but missing ones"}
	case words == 0, 20*words <= all && numbers > t.Truths, words < numbers && len(t.levels) > 30:
		return Judged{Kind: dataset.KindNumber, Holes: t.missing > 0 || t.Words > 0}
	case 20*(words-t.iso) <= words && numbers == 0:
		return Judged{Kind: dataset.KindNumber, Dates: true, Holes: true, Why: fmt.Sprintf(
			"holds dates such as %s, and is taken for the seconds since 1970", quote.Text(t.Date))}
	case 2*t.Dates > t.Words:
		return Judged{Kind: dataset.KindAside, Why: "holds dates or times such as " + quote.Text(t.Date)}
	case texts && 2*len(t.levels) > words:
		return Judged{Kind: dataset.KindText, Why: "holds sentences, and is taken for a text of words"}
	case words >= few && 10*len(t.levels) > 9*words && len(t.levels) < mostTold:
		return Judged{Kind: dataset.KindAside, Why: fmt.Sprintf("holds a different text for nearly "+
			"each example (%d in %d), by which "+quote.Option("id-column")+" names them", len(t.levels),
			words)}
	}
	return Judged{Kind: dataset.KindCategory}
}

// Texts is Lenient of a column that is declared to be texts: numbers among them stay texts.
func (t *Tally) Texts() Judged {
	judged := t.Lenient(false)
	if judged.Kind == dataset.KindNumber && !judged.Dates && t.Numbers+t.Loose > 0 {
		return Judged{Kind: dataset.KindCategory}
	}
	return judged
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

// ParseDate returns the seconds since 1970, in UTC unless it says otherwise, of a date that begins
// with its year (ISO 8601), with or without a time.
func ParseDate(text []byte) (seconds float64, ok bool) {
	if len(text) < 8 || text[4] != '-' && text[4] != '/' {
		return 0, false
	}
	date := strings.NewReplacer("/", "-", "T", " ").Replace(string(text))
	for _, layout := range []string{"2006-1-2", "2006-1-2 15:04:05", "2006-1-2 15:04",
		"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04Z07:00"} {
		if t, err := time.Parse(layout, date); err == nil {
			return float64(t.UnixMicro()) / 1e6, true
		}
	}
	return 0, false
}

// ParseWord returns the number that a word is: seconds of dates, else 1 or 0 of truths, or a
// decimal.
func ParseWord(text []byte, dates bool) (v float64, ok bool) {
	if dates {
		return ParseDate(text)
	}
	if v, ok = ParseTruth(text); !ok {
		v, ok = decimal.Parse(text)
	}
	return v, ok
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

// TruthNote says how a word for 1 or 0 is read in a column of other numbers.
func TruthNote(column, text string) string {
	v, _ := ParseTruth([]byte(text))
	return fmt.Sprintf("%s holds other numbers than 0 and 1, and words such as %s, which is read as "+
		"%v", column, quote.Text(text), v)
}

// ParseTruth reads a word that is true or false, as 1 or 0.
func ParseTruth(text []byte) (v float64, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE", "yes", "Yes", "YES":
		return 1, true
	case "false", "False", "FALSE", "no", "No", "NO":
		return 0, true
	}
	return 0, false
}
