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

	"golang.org/x/term"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

// Meter has standard error to itself, and shows there how far long work is: on a terminal in a line
// that is drawn over and over below what is written, else in a line of its own now and then. It is
// the listener of all commands, and the writer of their notes and warnings.
type Meter struct {
	w     io.Writer
	Now   func() time.Time
	Width func() int // of the terminal, in columns

	lock  sync.Mutex
	Live  bool // w is a terminal
	quiet bool
	began map[*progress.Task]beginning
	Last  time.Time // when progress was shown last, or the meter made
	drawn bool      // the live line is to be seen
	open  bool      // the last text has no line break at its end, so the line is not the meter's
}

// beginning is how a task began.
type beginning struct {
	at    time.Time
	share float64 // of it that was done

	moved   time.Time // when the share changed last
	reached float64   // the share then
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
	m := &Meter{w: w, Now: time.Now, began: map[*progress.Task]beginning{}}
	if m.Last = m.Now(); IsTerminal(w) {
		f := w.(*os.File)
		m.Live, m.Width = true, func() int {
			if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
				return n
			}
			return 80
		}
	}
	return m
}

// IsTerminal reports whether w is a terminal that can be drawn on.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Still takes over what the flags of a command ask for: of --quiet no progress, of --verbose, whose
// lines are many, no live line.
func (m *Meter) Still(quiet, verbose bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.quiet, m.Live = m.quiet || quiet, m.Live && !verbose
}

// Watched reports whether each step is shown.
func (m *Meter) Watched() bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.Live && !m.quiet
}

// Write writes above the live line.
func (m *Meter) Write(b []byte) (int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.clear()
	if len(b) > 0 {
		m.open = b[len(b)-1] != '\n'
	}
	return m.w.Write(b)
}

// Gone takes the live line away.
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

// Hear takes what has become of a task.
func (m *Meter) Hear(t *progress.Task, e progress.Event) {
	m.lock.Lock()
	defer m.lock.Unlock()
	switch e {
	case progress.Began:
		share, _ := shareOf(t)
		now := m.Now()
		m.began[t] = beginning{now, share, now, share}
	case progress.Moved:
		m.moved(t)
	case progress.Ended:
		if delete(m.began, t); t.Parent == nil {
			m.clear()
		}
	}
}

// moved shows t, if it is time to.
func (m *Meter) moved(t *progress.Task) {
	now := m.Now()
	if share, head := shareOf(t); head != nil && share != m.began[head].reached {
		from := m.began[head]
		from.moved, from.reached = now, share
		m.began[head] = from
	}
	root := t
	for root.Parent != nil {
		root = root.Parent
	}
	since := now.Sub(m.Last)
	due := since >= plainInterval
	if m.Live {
		due = since >= liveInterval && now.Sub(m.began[root].at) >= patience
	}
	if m.quiet || m.open || !due {
		return
	}
	m.Last = now
	if m.Live {
		fmt.Fprint(m.w, "\r\x1b[K", m.line(t, now))
		m.drawn = true
	} else {
		fmt.Fprintf(m.w, "progress: %s\n", m.text(t, now))
	}
}

// barWidth is how many columns show the share that is done.
const barWidth = 5

// barOf draws a share that is done. The bar is never full: the end of a task takes it away.
func barOf(share float64) string {
	share = min(share, 0.999)
	full := int(share * barWidth)
	done := strings.Repeat("=", full)
	if full > 0 {
		done = done[1:] + ">"
	}
	return fmt.Sprintf("%3d%% [%-*s]  ", int(100*share), barWidth, done)
}

// shareOf returns how much is done of the outermost task around t, or of t itself, that knows how
// much there is, and that task; nil if none does.
func shareOf(t *progress.Task) (share float64, head *progress.Task) {
	inner := 0.0 // of the unit that is under way
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

// line is the bar and as much of the state of t as the terminal has room for.
func (m *Meter) line(t *progress.Task, now time.Time) string {
	bar := ""
	if share, head := shareOf(t); head != nil {
		bar = barOf(share)
	}
	var parts []string
	for task := t; task != nil; task = task.Parent {
		parts = slices.Insert(parts, 0, standing(task, task == t))
	}
	places := len(parts)
	parts = append(parts, m.figures(t, now)...)
	room := max(0, m.Width()-len(barOf(0))-1)
	for len(parts) > places && ColumnsIn(strings.Join(parts, ", ")) > room {
		parts = parts[:len(parts)-1]
	}
	text := []rune(Legible(strings.Join(parts, ", ")))
	for ColumnsIn(string(text)) > room {
		text = text[:len(text)-1]
	}
	return bar + string(text)
}

// text is the state of t in a line that is read later, or elsewhere.
func (m *Meter) text(t *progress.Task, now time.Time) string {
	var parts []string
	for task := t; task != nil; task = task.Parent {
		where := standing(task, task == t)
		if task.Unit != "" && task.Unit != progress.Bytes {
			where = task.Name + ": " + where
		}
		parts = slices.Insert(parts, 0, where)
	}
	if share, head := shareOf(t); head != nil {
		parts = append(parts, fmt.Sprintf("%.0f %% done", math.Floor(100*share)))
	}
	return Legible(strings.Join(append(parts, m.figures(t, now)...), ", "))
}

// standing says how much is done of the innermost task, and which unit of another is under way.
func standing(t *progress.Task, innermost bool) string {
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
	return fmt.Sprintf("%s %d%s", t.Unit, done, total)
}

// left returns how long a task will still take whose share is done, by its rate until the share
// changed last. A unit that takes longer than those before it is taken to end now.
func (b beginning) left(share, unit float64, now time.Time) (time.Duration, bool) {
	made := share - b.share
	if !(made > 0) {
		return 0, false
	}
	most := 1e6
	byRate := float64(b.moved.Sub(b.at))*min((1-share)/made, most) - float64(now.Sub(b.moved))
	atLeast := float64(now.Sub(b.at)) * min((1-share-unit)/(made+unit), most)
	return time.Duration(max(byRate, atLeast, 0)), true
}

// figures are the time left, or the time so far, the speed and the estimated error, as far as they
// are known.
func (m *Meter) figures(t *progress.Task, now time.Time) (figures []string) {
	var left time.Duration
	known := false
	share, head := shareOf(t)
	if head != nil {
		left, known = m.began[head].left(share, 1/float64(head.Total), now)
	}
	if known {
		figures = append(figures, durationText(left)+" left")
	} else {
		root := t
		for root.Parent != nil {
			root = root.Parent
		}
		figures = append(figures, durationText(now.Sub(m.began[root].at))+" so far")
	}
	seconds := now.Sub(m.began[t].at).Seconds()
	if made := float64(t.Done() - t.From); made > 0 && seconds > 0 {
		rate := made / seconds
		text := fmt.Sprintf("%.2g/s", rate)
		if t.Unit == progress.Bytes {
			text = BytesText(int64(rate)) + "/s"
		} else if rate >= 10 {
			text = fmt.Sprintf("%.0f/s", rate)
		}
		figures = append(figures, text)
	}
	for ; t != nil; t = t.Parent {
		if e, known := t.EstimatedError(); known {
			return append(figures, fmt.Sprintf("estimated error %.4f", e))
		}
	}
	return figures
}

// durationText rounds up to seconds, minutes or hours.
func durationText(d time.Duration) string {
	switch {
	case d <= 2*time.Minute:
		return fmt.Sprintf("%.0fs", math.Ceil(d.Seconds()))
	case d <= 2*time.Hour:
		return fmt.Sprintf("%.0fmin", math.Ceil(d.Minutes()))
	}
	return fmt.Sprintf("%.0fh", math.Ceil(d.Hours()))
}

// ColumnsIn returns how many columns a text takes, or more: what is not ASCII is taken to be wide.
func ColumnsIn(text string) (n int) {
	for _, r := range text {
		if n++; r > '~' {
			n++
		}
	}
	return n
}
