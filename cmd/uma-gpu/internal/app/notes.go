package app

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Notes are messages on standard error. Failing to write them does not end a command.
type Notes struct {
	W     io.Writer
	Quiet bool
	// Described means that the command prints the notes of data itself; warnings are always printed.
	Described bool
}

// Say prints a line, unless quiet.
func (n Notes) Say(format string, args ...any) {
	if !n.Quiet {
		fmt.Fprint(n.W, Legible(fmt.Sprintf(format+"\n", args...)))
	}
}

// Warn prints a line in any case.
func (n Notes) Warn(format string, args ...any) {
	fmt.Fprint(n.W, Legible(fmt.Sprintf("warning: "+format+"\n", args...)))
}

// Step prints a line for a step, whose learner's fields may name classes.
func (n Notes) Step(r host.Report, classes []string) {
	var b strings.Builder
	for _, f := range r.Fields {
		switch v := f.Value.(type) {
		case engine.Pair:
			fmt.Fprintf(&b, "predicted %q to true %q, ", classes[v.P], classes[v.Q])
		case float64:
			fmt.Fprintf(&b, "%s %.4g, ", f.Name, v)
		default:
			fmt.Fprintf(&b, "%s %v, ", f.Name, v)
		}
	}
	fmt.Fprintf(n.W, "step %d: %sestimated error %.4f\n", r.Step, b.String(), r.EstimatedError)
}

// Legible returns text with invisible and control characters escaped as in Go: names in files may
// hold any bytes. Line breaks and tabs stay.
func Legible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteString(text[:size])
		default:
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		}
		text = text[size:]
	}
	return b.String()
}

// forPeople makes the output of a command legible, unless it is data: JSON or an output file.
func forPeople(c *cli.Context) {
	data := c.Bool("json")
	for _, f := range c.Command.Flags {
		if f, ok := f.(FileFlag); ok && f.Written && c.String(f.Name) == "-" {
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
