package features

import (
	"unicode"
	"unicode/utf8"
)

// appendLower appends a text, which is UTF-8, in lower case by Unicode's rules of no language: a
// capital sigma at the end of a word is ς, and a capital I with a dot keeps its dot.
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

// caseIgnorable reports whether a character stands within words, as a mark or an apostrophe does.
func caseIgnorable(c rune) bool {
	switch c {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
