package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Group is a heading of a help text with the names below it.
type Group struct {
	heading string
	Members string // separated by spaces
}

// CommandGroups are the commands by the task of the user.
var CommandGroups = []Group{
	{"Learn", "train query calibrate"},
	{"Judge and choose", "eval cv report inspect"},
	{"Doubt labels", "clean issues confusion"},
	{"Predict", "predict export import"},
	{"Data", "info split convert synth"},
	{"Kernel functions", "kpca kernelmean compress"},
	{"Devices", "devices doctor"},
	{"Learners", "learners"},
	{"This program", "version completion man worker"},
}

// FlagGroups are the flags by their subject, whatever the command. A new flag is a word here.
var FlagGroups = []Group{
	{"Data", `data format label-column ignore-columns id-column header separator decimal labels
		x-name y-name zero-based storage max-errors skip-bad no-labels categories knots levels
		text text-features text-min-df text-ngrams missing unseen encoding match-features normalize validate stream
		features classes examples labelled
		pool show show-file pictures fractions counts synthetic npz`},
	{"Label noise", `confusion confusion-axes trust-confusion inverse annotators functions trust table clean
		weight-column row-weights label-probabilities candidates unknown-label positive-unlabelled
		complementary checked prior probabilities method pairwise symmetric random`},
	{"Model", "model resume from basis temperature atoms atom-choice atom-weights atom-error"},
	{"Learner", `learner correction learn-confusion l2 class-weights rounds iterations tolerance
		max-steps time weights seed temperature-folds steps`},
	{"Kernel", `kernel gamma coef0 degree components variance landmarks
		normalize-components`},
	{"Trials", "retrain folds seeds try grid judge repeat top"},
	{"Questions", "answers ask k strategy diversity balance slack"},
	{"Device", "device shares max-alloc memory-limit audit allow-nonconforming"},
	{"Server", "listen max-rows max-body concurrency drain time-limit"},
	{"Output", `out to proba scores sets set-score by-class checkpoint every history report profile picture dir clean-by survey write-clean
		write-confusion write-labels write-probabilities write-labelled axes tables markdown dry-run json verbose quiet`},
}

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

// page is the text about a command: what help shows in a terminal, and man as a manual.
type page struct {
	Name     string // uma-gpu train
	usage    string
	synopsis string
	text     []paragraph
	commands []Section
	Flags    []Section
}

// paragraph is running text, or lines that stay as they are.
type paragraph struct {
	lines    []string
	verbatim bool
}

// Section is a group of commands or flags.
type Section struct {
	Heading string
	Items   []Item
}

// Item is a command or a flag, and what it is about.
type Item struct{ Term, About string }

// Pages returns the page of the program and of each command.
func (o *Common) Pages() []page {
	app := o.line.App
	all := []page{appPage(app)}
	var walk func(name string, commands []*cli.Command)
	walk = func(name string, commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden && c.Name != "help" {
				all = append(all, CommandPage(name+" "+c.Name, c))
				walk(name+" "+c.Name, c.Subcommands)
			}
		}
	}
	walk(app.Name, app.Commands)
	return all
}

func appPage(app *cli.App) page {
	return CommandPage(app.Name, &cli.Command{Usage: app.Usage, Description: app.Description,
		Subcommands: app.Commands})
}

// CommandPage is the page of the command of that full name.
func CommandPage(name string, c *cli.Command) page {
	p := page{Name: name, usage: c.Usage, synopsis: name, text: paragraphs(c.Description),
		Flags: Sections(c.Flags)}
	var commands []Item
	for _, s := range c.Subcommands {
		if !s.Hidden && s.Name != "help" {
			commands = append(commands, Item{s.Name, s.Usage})
		}
	}
	p.commands = divided(commands, CommandGroups, "Commands")
	switch {
	case p.commands != nil:
		p.synopsis += " COMMAND [options]"
	case p.Flags != nil:
		p.synopsis += " [options]"
	}
	if c.ArgsUsage != "" {
		p.synopsis += " " + c.ArgsUsage
	}
	return p
}

// Sections are the flags that help shows, in the order of their groups.
func Sections(flags []cli.Flag) []Section {
	var all []Item
	for _, f := range ShownFlags(flags) {
		all = append(all, flagItem(f))
	}
	return divided(all, FlagGroups, "Other")
}

// divided puts items under the headings of their groups, and others under rest.
func divided(items []Item, groups []Group, rest string) (all []Section) {
	place := map[string]int{} // of each member among all
	order := func(i Item) int {
		name, _, _ := strings.Cut(strings.TrimLeft(i.Term, "-"), " ")
		if at, ok := place[strings.TrimSuffix(name, ",")]; ok {
			return at
		}
		return len(place)
	}
	var headings []string // of each place
	for _, g := range groups {
		for _, member := range strings.Fields(g.Members) {
			place[member] = len(place)
			headings = append(headings, g.heading)
		}
	}
	headings = append(headings, rest)
	for _, i := range slices.SortedStableFunc(slices.Values(items), func(a, b Item) int {
		return order(a) - order(b)
	}) {
		heading := headings[order(i)]
		if len(all) == 0 || all[len(all)-1].Heading != heading {
			all = append(all, Section{Heading: heading})
		}
		last := &all[len(all)-1]
		last.Items = append(last.Items, i)
	}
	return all
}

// ShownFlags are the flags that help shows.
func ShownFlags(flags []cli.Flag) (shown []cli.DocGenerationFlag) {
	for _, f := range flags {
		about, documented := f.(cli.DocGenerationFlag)
		v, hideable := f.(cli.VisibleFlag)
		if documented && (!hideable || v.IsVisible()) && f.Names()[0] != "help" {
			shown = append(shown, about)
		}
	}
	return shown
}

// flagItem tells a flag with all its names and its value, what it is about, and a default only
// where there is something to know. That no flag is set unless it is given goes without saying.
func flagItem(f cli.DocGenerationFlag) Item {
	var names []string
	for _, name := range f.Names() {
		names = append(names, typed(name))
	}
	i := Item{strings.Join(names, ", "), strings.ReplaceAll(f.GetUsage(), "`", "")}
	if f.TakesValue() {
		value := "VALUE"
		if quoted := strings.Split(f.GetUsage(), "`"); len(quoted) > 2 {
			value = quoted[1]
		}
		i.Term += " " + value
		i.About = strings.TrimPrefix(i.About, value+": ")
		if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "0" {
			i.About += fmt.Sprintf(" (default: %s)", text)
		}
	}
	for _, name := range f.GetEnvVars() {
		i.About += " [$" + name + "]"
	}
	return i
}

// typed is the name of a flag with its dashes.
func typed(name string) string { return strings.Repeat("-", min(2, len(name))) + name }

// paragraphs cuts a description. Lines that begin with a space, and examples, stay as they are.
func paragraphs(description string) (all []paragraph) {
	for block := range strings.SplitSeq(strings.Trim(description, "\n"), "\n\n") {
		for k, line := range strings.Split(block, "\n") {
			verbatim := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "Example")
			if k == 0 || all[len(all)-1].verbatim != verbatim {
				all = append(all, paragraph{verbatim: verbatim})
			}
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// Roff returns the page for man.
func (p page) Roff() []byte {
	head := fmt.Sprintf("%% %s 1\n# NAME\n%s - %s\n\n# SYNOPSIS\n\n    %s\n\n# DESCRIPTION\n",
		strings.ToUpper(strings.ReplaceAll(p.Name, " ", "-")), p.Name, markdownText(p.usage), p.synopsis)
	return md2man.Render([]byte(head + p.body()))
}

// Markdown returns the page as Markdown.
func (p page) Markdown() []byte {
	return fmt.Appendf(nil, "# %s\n\n%s.\n\n    %s\n%s", p.Name, markdownText(p.usage), p.synopsis,
		p.body())
}

// body returns the description, the commands and the flags as Markdown.
func (p page) body() string {
	var b strings.Builder
	for _, text := range p.text {
		b.WriteByte('\n')
		for _, line := range text.lines {
			if text.verbatim {
				fmt.Fprintf(&b, "    %s\n", line)
			} else {
				fmt.Fprintln(&b, markdownText(line))
			}
		}
	}
	for _, s := range slices.Concat(p.commands, p.Flags) {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Heading)
		for _, i := range s.Items {
			term := i.Term
			if p.commands != nil {
				term = p.Name + " " + term
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", term, markdownText(i.About))
		}
	}
	return b.String()
}

// markdownText returns the text with a backslash before each mark of Markdown.
func markdownText(text string) string {
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|]").ReplaceAllString(text, `\$0`)
}

// Screen is standard output, buffered. The buffer keeps the first write error, so that a command
// need not look.
type Screen struct {
	*bufio.Writer
	Columns int // for texts that are wrapped
}

// The columns of a help text: where their number is not known, and the most that are read with
// ease.
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

// print writes the page for a terminal of that width.
func (p page) print(w io.Writer, columns int) {
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", Wrap(p.Name+": "+p.usage, columns, 0), Wrap(p.synopsis,
		columns-7, 4))
	for _, text := range p.text {
		fmt.Fprintln(w)
		if !text.verbatim {
			fmt.Fprintln(w, Wrap(strings.Join(text.lines, " "), columns, 0))
			continue
		}
		for _, line := range text.lines {
			fmt.Fprintln(w, WrapLine(line, columns))
		}
	}
	all := slices.Concat(p.commands, p.Flags)
	widest := 0
	for _, s := range all {
		for _, i := range s.Items {
			widest = max(widest, utf8.RuneCountInString(i.Term))
		}
	}
	left := min(widest, columns/3) + 4 // with two spaces on either side
	all, more := first(all)
	for _, s := range all {
		fmt.Fprintf(w, "\n%s:\n", s.Heading)
		for _, i := range s.Items {
			term := "  " + i.Term
			gap := left - utf8.RuneCountInString(term)
			if gap < 2 { // below the term
				term, gap = term+"\n", left
			}
			fmt.Fprintln(w, term+strings.Repeat(" ", gap)+Hang(i.About, columns, left))
		}
	}
	if more > 0 {
		_, command, _ := strings.Cut(p.Name, " ")
		fmt.Fprintf(w, "\n%s\n", Wrap(fmt.Sprintf("%d more options: uma-gpu man --markdown %s", more,
			command), columns, 0))
	}
	if p.commands != nil {
		fmt.Fprintf(w, "\n%s\n", Wrap(p.Name+" COMMAND --help explains a command.", columns, 0))
	}
}

// Options beyond mostFlags are too many to find one: then help has those of firstFlags.
const (
	mostFlags  = 60
	firstFlags = `data label-column ignore-columns id-column text missing normalize validate
		confusion annotators model resume learner correction learn-confusion l2 rounds
		max-steps epochs time seed kernel gamma components device report tables json quiet`
)

// first returns the flags that matter first, and how many others there are.
func first(all []Section) (some []Section, more int) {
	n := 0
	for _, s := range all {
		n += len(s.Items)
	}
	if n <= mostFlags {
		return all, 0
	}
	names := strings.Fields(firstFlags)
	for _, s := range all {
		s.Items = slices.DeleteFunc(slices.Clone(s.Items), func(i Item) bool {
			name, _, _ := strings.Cut(strings.TrimLeft(i.Term, "-"), " ")
			return !slices.Contains(names, strings.TrimSuffix(name, ","))
		})
		if n -= len(s.Items); len(s.Items) > 0 {
			some = append(some, s)
		}
	}
	return some, n
}

// Wrap breaks a text into lines of at most that many columns where its words allow; lines after the
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

// Hang breaks a text that begins in column behind; its other lines begin there too.
func Hang(text string, columns, behind int) string {
	return strings.ReplaceAll(Wrap(text, columns-behind, 0), "\n", "\n"+strings.Repeat(" ", behind))
}

// WrapLine breaks a line of its own, such as a command or a row of a table, if it is too wide. A row
// goes on where its last cell began, and a command behind a backslash.
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
