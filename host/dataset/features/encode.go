package features

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Learn returns the encoding of a table by o, and notes on what becomes no feature.
func Learn(t *dataset.Table, o EncodeOptions) (*dataset.Encoding, []string, error) {
	e := &dataset.Encoding{Missing: cmp.Or(o.Missing, dataset.MissingError)}
	lenient := o.Missing == dataset.MissingAuto
	if lenient {
		e.Missing = dataset.MissingIndicator
	}
	var notes []string
	knots := knotsOf(t, o.Knots)
	for k := range t.Columns {
		c := &t.Columns[k]
		learned := dataset.Column{Name: c.Name, Kind: c.Kind}
		note := ""
		switch c.Kind {
		case dataset.KindNumber:
			if lenient && !c.Dates && identifies(c, t.N) {
				learned = dataset.Column{Name: c.Name, Kind: dataset.KindAside}
				note = AsideNote(c, "names the examples: whole numbers, each once")
				break
			}
			learned.Knots, learned.Origin, learned.Dates = knots[k], c.Origin, c.Dates
			learned.Commas = c.Commas
			if e.Missing != dataset.MissingError {
				mean := meanOf(c.Numbers)
				learned.Mean = &mean
			}
			learned.Indicator = slices.ContainsFunc(c.Numbers, missing)
		case dataset.KindText:
			var err error
			if learned.Terms, learned.IDF, note, err = vocabulary(c, t.N, o.Text); err != nil {
				return nil, nil, err
			}
		case dataset.KindCategory:
			var why string
			learned.Levels, note, why = commonLevels(c, t.N, o.Levels)
			if lenient && why == "" && o.Levels == 0 && !c.Chosen {
				why = names(c, t.N)
			}
			if why != "" && !lenient {
				return nil, nil, fmt.Errorf("%s %s; %s", c, why, tooManyLevels(c.Option()))
			}
			if why = cmp.Or(why, note); lenient && (why != note || learned.Levels == nil) {
				learned = dataset.Column{Name: c.Name, Kind: dataset.KindAside}
				note = AsideNote(c, why)
				break
			}
			learned.Indicator = slices.ContainsFunc(c.Codes, func(code int32) bool { return code < 0 })
			if note != "" {
				note = c.String() + ": " + note
			}
		}
		learned.Indicator = learned.Indicator && e.Missing == dataset.MissingIndicator
		if note != "" {
			notes = append(notes, note)
		}
		e.Columns = append(e.Columns, learned)
	}
	return e, notes, e.Check() // a name may not be UTF-8
}

// AsideNote says why a column becomes no feature, and how it would.
func AsideNote(c *dataset.TableColumn, why string) string {
	return fmt.Sprintf("%s is set aside: it %s (%s makes a category of it, %s a text)", c, why,
		quote.Option("categories", c.Option()), quote.Option("text", c.Option()))
}

func missing(v float32) bool { return v != v }

// NamesExamples reports whether a column is called as identifiers are, such as CustomerId or
// row_key.
func NamesExamples(column string) bool {
	var words []string
	last := rune(0)
	for _, r := range column {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			words = append(words, "")
		case words == nil, unicode.IsUpper(r) && unicode.IsLower(last):
			words = append(words, string(r))
		default:
			words[len(words)-1] += string(r)
		}
		last = r
	}
	return len(words) > 0 && slices.Contains([]string{"id", "ids", "uuid", "guid", "key", "index"},
		strings.ToLower(words[len(words)-1]))
}

// identifies reports whether a column of numbers names the examples: by its name, and as all of its
// values are whole and different.
func identifies(c *dataset.TableColumn, n int) bool {
	if n < few || !NamesExamples(c.Name) {
		return false
	}
	seen := make(map[float32]struct{}, n)
	for _, v := range c.Numbers {
		if v != float32(math.Trunc(float64(v))) { // also missing
			return false
		}
		seen[v] = struct{}{}
	}
	return len(seen) == n
}

// leastNames is the number of different texts from which a category may hold names, and mostEach of
// how many examples each then is on average at most.
const (
	leastNames = 50
	mostEach   = 4
)

// names says why a category is taken for names of people or things, which tell nothing of others;
// "" if it is not.
func names(c *dataset.TableColumn, n int) string {
	used := map[int32]struct{}{}
	for _, code := range c.Codes {
		if code >= 0 {
			used[code] = struct{}{}
		}
	}
	if len(used) < leastNames || mostEach*len(used) <= n {
		return ""
	}
	return fmt.Sprintf("holds %d different texts in %d examples, as names do, such as %s",
		len(used), n, quote.Text(slices.Min(c.Levels)))
}

// meanOf returns the mean of the numbers, summed in their order.
func meanOf(numbers []float32) float32 {
	sum, n, subnormal := 0.0, 0, 0
	for _, v := range numbers {
		if !missing(v) {
			sum, n = sum+float64(v), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return decimal.Flush(float32(sum/float64(n)), &subnormal)
}

// few examples say nothing of a category's levels.
const few = 20

// commonLevels returns the levels of a category that become features, a note on the others, and
// why it is no category: most examples have their own level, or none.
func commonLevels(c *dataset.TableColumn, n, most int) (common []string, note, why string) {
	counts := make([]int, len(c.Levels))
	for _, code := range c.Codes {
		if code >= 0 {
			counts[code]++
		}
	}
	var chosen []int
	levels := 0
	for code, count := range counts {
		if count > 0 {
			if levels++; count >= RareLevel || n < few || c.Chosen {
				chosen = append(chosen, code)
			}
		}
	}
	switch {
	case levels == 0:
		return nil, "", "holds no value but missing ones"
	case most == 0 && !c.Chosen && n >= few && 2*levels > n:
		why = fmt.Sprintf("holds %d different texts in %d examples, such as %s, wanted a category, "+
			"whose levels come again", levels, n, quote.Text(slices.Min(c.Levels)))
	}
	if most = cmp.Or(most, DefaultLevels); len(chosen) > most {
		slices.SortFunc(chosen, func(a, b int) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(c.Levels[a], c.Levels[b]))
		})
		chosen = chosen[:most]
	}
	for _, code := range chosen {
		common = append(common, c.Levels[code])
	}
	dataset.SortClasses(common)
	if levels > len(common) {
		note = fmt.Sprintf("%d of its %d levels are rare and have no feature (%s keeps more)",
			levels-len(common), levels, quote.Option("categories", c.Option()))
	}
	return common, note, why
}

// tooManyLevels says what to do with a category of too many levels.
func tooManyLevels(column string) string {
	return fmt.Sprintf("leave the column out (%s), say that it names the examples (%s), allow more "+
		"levels (%s), or take it for a text of words (%s)", quote.Option("ignore-columns", column),
		quote.Option("id-column", column), quote.Option("levels"), quote.Option("text", column))
}

// plan says where the values of a column go.
type plan struct {
	first  int32            // feature of the column
	levels []int32          // feature of each code of a category, noFeature for none
	terms  map[string]int32 // place of each term of a text
	words  int              // of the longest term
	spoken int              // examples with a term of the text
}

// noFeature is where a level goes that the encoding does not know.
const noFeature = -1

// Encode calls row with the columns, increasing, and the values other than +0 of the features that
// e makes of each example of t, valid for the call. Column k of t is the one of e. The notes say
// how many examples have no known word.
func Encode(ctx context.Context, t *dataset.Table, e *dataset.Encoding,
	row func(columns []int32, values []float32) error) (notes []string, err error) {
	const step = 1 << 12 // examples between reports
	_, task := progress.Begin(ctx, progress.Work{Name: "making features", Unit: "example",
		Total: int64(t.N)})
	defer task.End()
	if len(t.Columns) != len(e.Columns) {
		return nil, fmt.Errorf("found %d columns, wanted the %d of the encoding", len(t.Columns),
			len(e.Columns))
	}
	plans := plansOf(t, e)
	var columns []int32
	var values []float32
	add := func(feature int32, v float32) {
		if math.Float32bits(v) != 0 {
			columns, values = append(columns, feature), append(values, v)
		}
	}
	reader := termReader{seen: map[int32]int{}}
	for i := range t.N {
		if i%step == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			task.Reach(int64(i))
		}
		columns, values = columns[:0], values[:0]
		for k := range plans {
			c, known, p := &t.Columns[k], &e.Columns[k], &plans[k]
			gap := false
			switch known.Kind {
			case dataset.KindNumber:
				v := c.Numbers[i]
				if gap = missing(v); gap && known.Mean != nil {
					v = *known.Mean
				}
				if !missing(v) {
					add(p.first, v)
					for l, knot := range known.Knots {
						add(p.first+1+int32(l), dataset.Bend(v, knot))
					}
				}
			case dataset.KindCategory:
				if gap = c.Codes[i] < 0; !gap && p.levels[c.Codes[i]] != noFeature {
					add(p.levels[c.Codes[i]], 1)
				}
			case dataset.KindText:
				weights := reader.weigh(c.Texts.At(i), p, known.IDF)
				if len(weights) > 0 {
					p.spoken++
				}
				for _, w := range weights {
					add(p.first+w.term, w.value)
				}
			}
			if gap && known.Indicator {
				add(p.first+int32(known.Width())-1, 1)
			}
		}
		if err := row(columns, values); err != nil {
			return nil, err
		}
	}
	task.Reach(int64(t.N))
	for k := range plans {
		if silent := t.N - plans[k].spoken; e.Columns[k].Kind == dataset.KindText && silent > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of %d examples have no word of the vocabulary, and "+
				"are zero there", &t.Columns[k], silent, t.N))
		}
	}
	return notes, nil
}

// plansOf returns where the values of each column of t go.
func plansOf(t *dataset.Table, e *dataset.Encoding) []plan {
	plans := make([]plan, len(t.Columns))
	next := int32(0)
	for k := range plans {
		c, known, p := &t.Columns[k], &e.Columns[k], &plans[k]
		p.first = next
		next += int32(known.Width())
		feature := make(map[string]int32, len(known.Levels))
		for l, level := range known.Levels {
			feature[level] = p.first + int32(l)
		}
		for _, level := range c.Levels {
			at, found := feature[level]
			if !found {
				at = noFeature
			}
			p.levels = append(p.levels, at)
		}
		p.terms, p.words = make(map[string]int32, len(known.Terms)), 1
		for l, term := range known.Terms {
			p.terms[term], p.words = int32(l), max(p.words, 1+strings.Count(term, " "))
		}
	}
	return plans
}
