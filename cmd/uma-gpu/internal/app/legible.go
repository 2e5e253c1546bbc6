package app

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Legible returns text with what is not to be seen, or would do something to a terminal, as Go
// would write it: names in files and of files may hold anything. Line breaks and tabs stay.
func Legible(text string) string {
	hidden := func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\t'
	}
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case hidden(r) && r != utf8.RuneError:
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// forPeople makes what a command prints legible, unless it prints data: JSON, or what is written
// to a file elsewhere.
func forPeople(c *cli.Context) {
	data := c.Bool("json")
	for _, f := range c.Command.Flags {
		if f, ok := f.(OutputFlag); ok && c.String(f.Name) == "-" {
			data = true
		}
	}
	if !data {
		c.App.Writer = legibleWriter{c.App.Writer}
	}
}

// legibleWriter writes whole texts, so that no character is cut in two.
type legibleWriter struct{ w io.Writer }

func (l legibleWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(l.w, Legible(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
