// Package quote shows in messages what users wrote, in quotes, short, and without what steers a
// terminal, and options as the command line spells them.
package quote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text in quotes for an error message, shortened if long.
func Text(text string) string {
	short := Short(text)
	if len(short) < len(text) {
		return fmt.Sprintf("%q…", short)
	}
	return fmt.Sprintf("%q", text)
}

// Short returns at most the first 40 bytes of text, cut between characters.
func Short(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// Printable returns text for an error message, shortened if long, without characters that steer a
// terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, Short(text))
}

// Or returns words like "a, b or c".
func Or[T ~string](words []T) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// List returns names in quotes for an error message, the first few.
func List(names []string) string {
	const most = 12
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, ", … (%d in all)", len(names))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Text(name))
	}
	return b.String()
}
