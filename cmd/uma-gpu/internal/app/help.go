package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, about any) {
		p, columns := page{}, UsualColumns
		switch about := about.(type) {
		case *cli.App:
			p = appPage(about)
		case *cli.Command:
			p = CommandPage(about.HelpName, about)
		}
		if s, ok := w.(Screen); ok {
			columns = s.Columns
		}
		p.print(w, columns)
	}
}

// Screen is standard output, buffered. The buffer keeps the first write error; nobody below has to
// look.
type Screen struct {
	*bufio.Writer
	Columns int // for texts that are wrapped
}

// The columns of a help text: where nobody knows how many there are, and the most that are read
// with ease.
const (
	UsualColumns = 80
	mostColumns  = 110
	leastColumns = 30
)

// ColumnsOf returns how many columns a text on w should have: those of the terminal, or of the
// variable COLUMNS.
func ColumnsOf(w io.Writer) int {
	columns := UsualColumns
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		columns = n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			columns = n
		}
	}
	return min(max(columns, leastColumns), mostColumns)
}

// print writes the page for a terminal of so many columns.
func (p page) print(w io.Writer, columns int) {
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", Wrap(p.Name+": "+p.usage, columns, 0), Wrap(p.synopsis,
		columns-7, 4))
	if len(p.text) > 0 {
		fmt.Fprintln(w)
	}
	for k, text := range p.text {
		if k > 0 {
			fmt.Fprintln(w)
		}
		if !text.verbatim {
			fmt.Fprintln(w, Wrap(strings.Join(text.lines, " "), columns, 0))
			continue
		}
		for _, line := range text.lines {
			fmt.Fprintln(w, WrapLine(line, columns))
		}
	}
	printSections(w, p.commands, columns)
	printSections(w, p.Flags, columns)
	if p.commands != nil {
		fmt.Fprintf(w, "\n%s\n", Wrap(p.Name+" COMMAND --help explains a command.", columns, 0))
	}
}

// printSections writes commands or flags in two columns, one below the other where the window is
// narrow.
func printSections(w io.Writer, all []Section, columns int) {
	widest := 0
	for _, s := range all {
		for _, i := range s.Items {
			widest = max(widest, utf8.RuneCountInString(i.Term))
		}
	}
	left := min(widest, columns/3) + 4 // with two spaces on either side
	for _, s := range all {
		fmt.Fprintf(w, "\n%s:\n", s.Heading)
		for _, i := range s.Items {
			term := "  " + i.Term
			if gap := left - utf8.RuneCountInString(term); gap >= 2 {
				term += strings.Repeat(" ", gap)
			} else {
				term += "\n" + strings.Repeat(" ", left)
			}
			fmt.Fprintln(w, term+Hang(i.About, columns, left))
		}
	}
}

// Wrap breaks a text into lines of at most so many columns where its words allow; lines after the
// first begin with margin spaces.
func Wrap(text string, columns, margin int) string {
	var b strings.Builder
	at := 0
	for k, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case k == 0:
		case at+1+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", margin))
			at = margin
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	return b.String()
}

// Hang breaks a text that begins behind so many columns of other text, below which it goes on.
func Hang(text string, columns, behind int) string {
	return strings.ReplaceAll(Wrap(text, columns-behind, 0), "\n", "\n"+strings.Repeat(" ", behind))
}

// WrapLine breaks a line of its own, such as a command or a row of a table, if it is too wide:
// what follows stands where the last cell of a row began, and a command goes on behind a
// backslash.
func WrapLine(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	words := strings.TrimLeft(line, " ")
	head := line[:len(line)-len(words)]
	if k := strings.Index(words, "  "); k >= 0 && len(head)+k < columns/2 {
		cell := strings.TrimLeft(words[k:], " ")
		head, words = line[:len(line)-len(cell)], cell
	}
	margin := strings.Repeat(" ", utf8.RuneCountInString(head))
	if strings.Contains(line, "uma-gpu ") {
		return head + strings.ReplaceAll(Wrap(words, columns-len(margin)-6, 0), "\n", " \\\n    "+margin)
	}
	return head + Hang(words, columns, len(margin))
}
