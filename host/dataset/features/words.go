package features

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// termReader finds the terms of a text.
type termReader struct {
	text  []byte
	words [][]byte
	term  []byte

	weights []weight      // of weigh
	seen    map[int32]int // where weights has each term
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

// vocabulary returns the terms of a text of n examples and their idf, and a note on terms that are
// left out.
func vocabulary(c *dataset.TableColumn, n int, o TextOptions) (terms []string, idf []float32,
	note string, err error) {
	type use struct {
		examples, last int // how many have the term, and the last of them
	}
	var growth memory.Growth
	uses := map[string]*use{}
	var reader termReader
	for i := range n {
		reader.each(c.Texts.At(i), cmp.Or(o.Words, DefaultTextWords), func(term []byte) {
			u := uses[string(term)]
			if u == nil {
				u = &use{last: -1}
				uses[string(term)] = u
				growth.Bytes += len(term) + 128 // with what the map takes of it
			}
			if u.last < i {
				u.examples, u.last = u.examples+1, i
			}
		})
		if err := growth.Check(1<<22, "a list of more than %d words", len(uses)); err != nil {
			return nil, nil, "", err
		}
	}
	least := cmp.Or(o.MinExamples, DefaultTextMinExamples)
	for term, u := range uses {
		if u.examples >= least {
			terms = append(terms, term)
		}
	}
	if terms == nil {
		advice := fmt.Sprintf("leave the column out (%s)", quote.Option("ignore-columns", c.Option()))
		if least > 1 {
			advice += fmt.Sprintf(", or ask for fewer (%s)", quote.Option("text-min-df", "1"))
		}
		return nil, nil, "", fmt.Errorf("%s has no word of two or more letters that %d or more examples "+
			"have, wanted a text; %s", c, least, advice)
	}
	if most := cmp.Or(o.Features, DefaultTextFeatures); len(terms) > most {
		note = fmt.Sprintf("%s: %d terms are left out, as the %d that most examples have are features "+
			"(%s takes all)", c, len(terms)-most, most,
			quote.Option("text-features", fmt.Sprint(len(terms))))
		slices.SortFunc(terms, func(a, b string) int {
			return cmp.Or(cmp.Compare(uses[b].examples, uses[a].examples), strings.Compare(a, b))
		})
		terms = terms[:most]
	}
	slices.Sort(terms)
	for _, term := range terms {
		share := float64(1+n) / float64(1+uses[term].examples)
		idf = append(idf, numerics.Log(float32(share))+1)
	}
	return terms, idf, note, nil
}

// weight is the tf-idf of a term of the vocabulary.
type weight struct {
	term  int32
	value float32
	exact float64
}

// weigh returns the terms of a text that p knows, increasing, and their weights, scaled to length
// 1. The squares are summed in the order in which the terms come first in the text.
func (r *termReader) weigh(text []byte, p *plan, idf []float32) []weight {
	r.weights = r.weights[:0]
	clear(r.seen)
	r.each(text, p.words, func(term []byte) {
		place, known := p.terms[string(term)]
		if !known {
			return
		}
		at, seen := r.seen[place]
		if !seen {
			at = len(r.weights)
			r.seen[place] = at
			r.weights = append(r.weights, weight{term: place})
		}
		r.weights[at].value++
	})
	sum := 0.0
	for k := range r.weights {
		w := &r.weights[k]
		w.exact = float64(w.value) * float64(idf[w.term])
		sum += float64(w.exact * w.exact)
	}
	length := math.Sqrt(sum)
	for k := range r.weights {
		r.weights[k].value = float32(r.weights[k].exact / length)
	}
	slices.SortFunc(r.weights, func(a, b weight) int { return cmp.Compare(a.term, b.term) })
	return r.weights
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
