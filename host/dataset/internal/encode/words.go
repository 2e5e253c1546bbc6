package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// termReader finds the terms of a text.
type termReader struct {
	text  []byte
	words [][]byte
	term  []byte
}

// each calls f for each run of at most longest words; a term is valid until f returns.
func (r *termReader) each(text []byte, longest int, f func(term []byte)) {
	r.read(text)
	for k := range r.words {
		f(r.words[k])
		r.term = append(r.term[:0], r.words[k]...)
		for n := 1; n < longest && k+n < len(r.words); n++ {
			r.term = append(append(r.term, ' '), r.words[k+n]...)
			f(r.term)
		}
	}
}

// read finds the words of a text.
func (r *termReader) read(text []byte) {
	r.text, r.words = append(r.text[:0], text...), r.words[:0]
	ascii := true
	for i, c := range r.text {
		if 'A' <= c && c <= 'Z' {
			r.text[i] = c | 0x20
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii {
		r.text = appendLower(r.text[:0], text)
	}
	for word := range bytes.FieldsFuncSeq(r.text, func(c rune) bool { return !inWord(c) }) {
		if utf8.RuneCount(word) > 1 {
			r.words = append(r.words, word)
		}
	}
}

// inWord reports whether words are made of c: what Python's \w takes.
func inWord(c rune) bool {
	if c < utf8.RuneSelf {
		return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
	}
	return unicode.IsLetter(c) || unicode.IsNumber(c)
}

// setText enters a text: a mark for each term, and how often it is there.
func (s *Encoder) setText(k int, text []byte) string {
	if !utf8.Valid(text) {
		return "found a text that is not UTF-8; convert the data file to UTF-8 (iconv -t UTF-8)"
	}
	if s.terms == nil {
		s.terms = &termReader{}
	}
	c, begin := &s.columns[k], len(s.row)
	s.terms.each(text, c.longest, func(term []byte) {
		m, seen := c.levels[string(term)]
		if !seen {
			if s.recipe != nil {
				if _, known := termPlace(&s.recipe.Columns[c.at], string(term)); !known {
					return
				}
			}
			m = s.newMark(k, isTerm, string(term))
			c.levels[s.marks[m].level] = m
		}
		for len(s.at) <= int(m) {
			s.at = append(s.at, 0)
		}
		if at := s.at[m]; begin <= at && at < len(s.row) && s.row[at].mark == m {
			s.row[at].value++
			return
		}
		s.at[m] = len(s.row)
		s.row = append(s.row, markedValue{m, 1})
	})
	return ""
}

// vocabularies returns the terms of the columns that are texts, and their idf.
func vocabularies(s *Encoder, all *census) (terms map[int][]string, idf map[int][]float32,
	err error) {
	marks := map[int][]int32{} // of the columns
	for m := range s.marks {
		if k := int(s.marks[m].column); s.marks[m].kind == isTerm &&
			all.counts[m] >= int64(cmp.Or(s.o.Text.MinExamples, features.DefaultTextMinExamples)) {
			marks[k] = append(marks[k], int32(m))
		}
	}
	terms, idf = map[int][]string{}, map[int][]float32{}
	for _, k := range slices.Sorted(maps.Keys(marks)) {
		list := marks[k]
		byName := func(a, b int32) int { return strings.Compare(s.marks[a].level, s.marks[b].level) }
		if most := cmp.Or(s.o.Text.Features, features.DefaultTextFeatures); len(list) > most {
			s.columns[k].terms, s.columns[k].left = len(list), len(list)-most
			list = mostUsed(list, most, all.counts, byName)
		}
		slices.SortFunc(list, byName)
		for _, m := range list {
			terms[k] = append(terms[k], s.marks[m].level)
			idf[k] = append(idf[k], numerics.Log(float32(float64(1+all.n)/float64(1+all.counts[m])))+1)
		}
	}
	for k := range s.columns {
		if c := &s.columns[k]; c.Kind == dataset.KindText && terms[k] == nil {
			return nil, nil, fmt.Errorf("%s: %s has no word that %d or more examples have, wanted a text; "+
				"leave the column out (%s), or ask for fewer (%s)", s.path, c.Text,
				cmp.Or(s.o.Text.MinExamples, features.DefaultTextMinExamples),
				option.Named("ignore-columns", c.Option), option.Named("text-min-df", "1"))
		}
	}
	return terms, idf, nil
}

// mostUsed returns the most marks that most examples have, of equal ones the first by name.
func mostUsed(list []int32, most int, counts []int64, byName func(a, b int32) int) []int32 {
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), byName(a, b))
	})
	return list[:most]
}

// termPlace returns where a term is in the vocabulary of a text.
func termPlace(c *dataset.Column, term string) (place int, known bool) {
	return slices.BinarySearch(c.Terms, term)
}

// weigh appends the features of a text's known terms; idf are those from feature first on.
func (s *Encoder) weigh(row []weight, marks []int32, values []float32, goes []int32, idf []float32,
	first int32) []weight {
	s.weights = s.weights[:0]
	sum := 0.0
	for i, m := range marks {
		if goes[m] == noFeature {
			continue
		}
		w := float64(values[i]) * float64(idf[goes[m]-first]) // exact
		sum += float64(w * w)
		row, s.weights = append(row, weight{goes[m], 0}), append(s.weights, w)
	}
	length := math.Sqrt(sum)
	for i, w := range s.weights {
		row[len(row)-len(s.weights)+i].value = float32(w / length)
	}
	return row
}

// longest returns how many words the longest term of c has.
func longest(c *dataset.Column) int {
	most := 1
	for _, term := range c.Terms {
		most = max(most, 1+strings.Count(term, " "))
	}
	return most
}

// textNotes says how many terms of a text are no features, and how many of n examples have none.
func (c *cellColumn) textNotes(n int) (notes []string) {
	if c.Kind != dataset.KindText {
		return nil
	}
	if c.left > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d terms are left out, as the %d that most examples "+
			"have are features (%s takes all)", c.Text, c.left, c.terms-c.left,
			option.Named("text-features", fmt.Sprint(c.terms))))
	}
	if c.spoken < n {
		notes = append(notes, fmt.Sprintf("%s: %d of %d examples have no word of the vocabulary, and "+
			"are zero there", c.Text, n-c.spoken, n))
	}
	return notes
}

// appendLower appends UTF-8 in lower case by Unicode's rules: final sigma is ς, İ keeps its dot.
func appendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == 'İ':
			dst = append(dst, "i̇"...)
		case c == 'Σ' && endsWord(text[:i], text[i+size:]):
			dst = append(dst, "ς"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(c))
		}
		i += size
	}
	return dst
}

// endsWord reports whether a letter between two texts is the last one of a word and not its first.
func endsWord(before, after []byte) bool {
	var last, next rune
	for size := 1; size > 0 && !cased(last) && (last == 0 || caseIgnorable(last)); {
		last, size = utf8.DecodeLastRune(before)
		before = before[:len(before)-size]
	}
	for size := 1; size > 0 && (next == 0 || caseIgnorable(next)); {
		next, size = utf8.DecodeRune(after)
		after = after[size:]
	}
	return cased(last) && !cased(next)
}

func cased(c rune) bool {
	return unicode.In(c, unicode.Ll, unicode.Lu, unicode.Lt, unicode.Other_Lowercase,
		unicode.Other_Uppercase)
}

// caseIgnorable reports whether a character occurs within words, as a mark or an apostrophe does.
func caseIgnorable(c rune) bool {
	switch c {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
