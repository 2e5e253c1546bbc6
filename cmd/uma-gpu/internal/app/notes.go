package app

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/uma-gpu/uma-gpu/host/progress"
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

// Meter has standard error to itself and shows the progress of long work there: on a terminal in a
// line that is redrawn below what is written, else in a line of its own every ten seconds. It is
// the listener of all commands, and the writer of their notes and warnings.
type Meter struct {
	w     io.Writer
	Now   func() time.Time
	Width func() int // of the terminal, in columns

	lock  sync.Mutex
	Live  bool // w is a terminal
	quiet bool
	began map[*progress.Task]beginning
	Last  time.Time // when progress was shown last, or the meter was made
	drawn bool      // the live line is visible
}

// beginning is when a task began, and the share of it that was done then.
type beginning struct {
	at    time.Time
	share float64
}

// When progress is shown: in the live line of tasks that take longer than patience, and in plain
// lines.
const (
	patience      = 500 * time.Millisecond
	liveInterval  = 100 * time.Millisecond
	plainInterval = 10 * time.Second
)

// NewMeter returns a meter that shows progress on w.
func NewMeter(w io.Writer) *Meter {
	m := &Meter{w: w, Now: time.Now, began: map[*progress.Task]beginning{}, Live: IsTerminal(w)}
	m.Last = m.Now()
	m.Width = func() int {
		if n, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && n > 0 {
			return n
		}
		return 80
	}
	return m
}

// IsTerminal reports whether w is a terminal that can be drawn on.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Still applies flags of a command: --quiet shows no progress, and --verbose, which prints many
// lines, no live line.
func (m *Meter) Still(quiet, verbose bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.quiet, m.Live = m.quiet || quiet, m.Live && !verbose
}

// Write writes above the live line.
func (m *Meter) Write(b []byte) (int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.clear()
	return m.w.Write(b)
}

// Gone removes the live line.
func (m *Meter) Gone() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.clear()
}

func (m *Meter) clear() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K") // that stderr cannot be written to is no reason to stop
		m.drawn = false
	}
}

// Hear receives the events of all tasks.
func (m *Meter) Hear(t *progress.Task, e progress.Event) {
	m.lock.Lock()
	defer m.lock.Unlock()
	switch e {
	case progress.Began:
		share, _ := shareOf(t)
		m.began[t] = beginning{m.Now(), share}
	case progress.Moved:
		m.show(t)
	case progress.Ended:
		if delete(m.began, t); t.Parent == nil {
			m.clear()
		}
	}
}

// show shows t, if enough time has passed.
func (m *Meter) show(t *progress.Task) {
	now := m.Now()
	root := t
	for root.Parent != nil {
		root = root.Parent
	}
	since := now.Sub(m.Last)
	due := since >= plainInterval
	if m.Live {
		due = since >= liveInterval && now.Sub(m.began[root].at) >= patience
	}
	if m.quiet || !due {
		return
	}
	m.Last = now
	var names []string
	for task := t; task != nil; task = task.Parent {
		names = slices.Insert(names, 0, done(task, task == t))
	}
	share, head := shareOf(t)
	when := now.Sub(m.began[root].at).Round(time.Second).String() + " so far"
	if from := m.began[head]; head != nil && share > from.share {
		left := float64(now.Sub(from.at)) * min((1-share)/(share-from.share), 1e6)
		when = time.Duration(left).Round(time.Second).String() + " left"
	}
	if head != nil {
		when = fmt.Sprintf("%.0f %%, %s", math.Floor(100*share), when)
	}
	text := Legible(strings.Join(append(names, when), ", "))
	if !m.Live {
		fmt.Fprintf(m.w, "progress: %s\n", text)
		return
	}
	for columnsIn(text) >= m.Width() {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	fmt.Fprint(m.w, "\r\x1b[K", text)
	m.drawn = true
}

// shareOf returns the share that is done of the outermost task around t, or of t itself, that has a
// total, and that task; nil if none has.
func shareOf(t *progress.Task) (share float64, head *progress.Task) {
	inner := 0.0 // of the unit under way
	for ; t != nil; t = t.Parent {
		if t.Total == 0 {
			inner = 0
			continue
		}
		share, head = min(1, (float64(t.Done())+inner)/float64(t.Total)), t
		inner = share
	}
	return share, head
}

// done says how much is done of the innermost task, and which unit of another is under way.
func done(t *progress.Task, innermost bool) string {
	done, total := t.Done(), ""
	if t.Total > 0 {
		total = fmt.Sprintf("/%d", t.Total)
	}
	if stage := t.Stage(); stage != "" && innermost {
		total += " (" + stage + ")"
	}
	switch {
	case t.Unit == "":
		return t.Name
	case t.Unit == progress.Bytes && t.Total > 0:
		return fmt.Sprintf("%s %s/%s", t.Name, BytesText(min(done, t.Total)), BytesText(t.Total))
	case t.Unit == progress.Bytes:
		return t.Name + " " + BytesText(done)
	case !innermost && (t.Total == 0 || done < t.Total):
		done++
	}
	return fmt.Sprintf("%s: %s %d%s", t.Name, t.Unit, done, total)
}

// columnsIn returns how many columns a text takes, or more: non-ASCII counts as wide.
func columnsIn(text string) (n int) {
	for _, r := range text {
		if n++; r > '~' {
			n++
		}
	}
	return n
}
