package app

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

// Meter has standard error to itself, and shows there how far long work is: on a terminal in a
// line that is drawn over and over below what is written, else in a line of its own every so
// often. It is the progress.Listener of all commands, and the writer of their notes and warnings.
type Meter struct {
	w     io.Writer
	Now   func() time.Time
	Width func() int // of the terminal, in columns

	lock      sync.Mutex
	Live      bool // w is a terminal
	quiet     bool
	beginning map[*progress.Task]beginning
	Last      time.Time // when progress was shown last, or the meter made
	drawn     bool      // the live line is to be seen
	// what was written last has no line break at its end, so the line is not the meter's
	open bool
}

// beginning is how a task began.
type beginning struct {
	at    time.Time
	share float64 // of it that was done
}

// When progress is shown: in the live line of tasks that take longer than patience, and in plain
// lines.
const (
	patience      = 500 * time.Millisecond
	liveInterval  = 100 * time.Millisecond
	plainInterval = 10 * time.Second
)

func NewMeter(w io.Writer) *Meter {
	m := &Meter{w: w, Now: time.Now, beginning: map[*progress.Task]beginning{}}
	if m.Last = m.Now(); IsTerminal(w) {
		f := w.(*os.File)
		m.Live, m.Width = true, func() int {
			n, _, err := term.GetSize(int(f.Fd()))
			if err != nil || n <= 0 {
				n = UsualColumns
			}
			return n
		}
	}
	return m
}

// IsTerminal reports whether w is a terminal that can be drawn on.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Still takes over what the flags of a command ask for: of --quiet no progress, of --verbose,
// whose lines are many, no live line.
func (m *Meter) Still(quiet, verbose bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.quiet, m.Live = m.quiet || quiet, m.Live && !verbose
}

// Watched says whether somebody sees each step.
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

// Began is of progress.Listener.
func (m *Meter) Began(t *progress.Task) {
	m.lock.Lock()
	defer m.lock.Unlock()
	share, _ := shareOf(t)
	m.beginning[t] = beginning{m.Now(), share}
}

// Ended is of progress.Listener.
func (m *Meter) Ended(t *progress.Task) {
	m.lock.Lock()
	defer m.lock.Unlock()
	delete(m.beginning, t)
	if t.Parent == nil {
		m.clear()
	}
}

// Moved is of progress.Listener.
func (m *Meter) Moved(t *progress.Task) {
	m.lock.Lock()
	defer m.lock.Unlock()
	now := m.Now()
	if m.quiet || m.open || !m.due(t, now) {
		return
	}
	m.Last = now
	if !m.Live {
		fmt.Fprintf(m.w, "progress: %s\n", m.text(t, now))
		return
	}
	share, head := shareOf(t)
	fmt.Fprint(m.w, "\r\x1b[K", barOf(share, head != nil, m.line(t, now)))
	m.drawn = true
}

// due says whether it is time to show progress.
func (m *Meter) due(t *progress.Task, now time.Time) bool {
	if !m.Live {
		return now.Sub(m.Last) >= plainInterval
	}
	root := t
	for root.Parent != nil {
		root = root.Parent
	}
	return now.Sub(m.Last) >= liveInterval && now.Sub(m.beginning[root].at) >= patience
}

// barOf draws a share that is done, if it is known, with a text behind it. It has no colours,
// whatever NO_COLOR says.
func barOf(share float64, known bool, text string) string {
	if !known {
		return text
	}
	const parts = 1000 // the bar never gets all of them: it would draw another line
	bar := progressbar.NewOptions(parts,
		progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetTheme(progressbar.Theme{
			Saucer: "=", SaucerHead: ">", SaucerPadding: " ", BarStart: "[", BarEnd: "]"}))
	bar.Set64(min(int64(share*parts), parts-1)) // cannot fail below the end
	bar.Describe("")                            // draws, whatever has changed
	return fmt.Sprintf("%s%s", bar.String()[len("\r "):], text)
}

const (
	barWidth  = 5
	barColumn = barWidth + 9 // where the text behind a bar begins
)
