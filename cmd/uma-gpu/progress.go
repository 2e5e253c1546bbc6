package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// progress shows on stderr how a run goes on: one line that is overwritten if it
// is a terminal, a line for each step if asked for, else nothing.
type progress struct {
	w       io.Writer
	classes []string
	live    bool
	verbose bool
	start   time.Time
	shown   time.Time // when the live line was last drawn
}

// interval between two drawings of the live line.
const interval = 100 * time.Millisecond

func newProgress(n notes, verbose bool, classes []string) *progress {
	live := !n.quiet && !verbose && isTerminal(n.w)
	return &progress{w: n.w, classes: classes, live: live, verbose: verbose, start: time.Now()}
}

// isTerminal reports whether w is a terminal that can be drawn on.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// step is host.RunOptions.OnStep.
func (p *progress) step(r host.Report) {
	if p.verbose {
		fmt.Fprintf(p.w, "step %d: %sestimated error %.4f\n",
			r.Step, p.fields(r, "predicted %q to true %q", "%.4g", ", ", func(s string) string { return s }), r.EstimatedError)
	}
	if now := time.Now(); p.live && now.Sub(p.shown) >= interval {
		p.shown = now
		fmt.Fprintf(p.w, "\r\x1b[Kstep %d  %sestimated error %.4f  %.0f steps/s",
			r.Step, p.fields(r, "%s→%s", "%.3g", "  ", shorten), r.EstimatedError, float64(r.Step)/now.Sub(p.start).Seconds())
	}
}

// fields writes the learner's fields, each with the separator behind it.
func (p *progress) fields(r host.Report, pair, number, separator string, name func(string) string) string {
	var b strings.Builder
	for _, f := range r.Fields {
		switch v := f.Value.(type) {
		case engine.Pair:
			fmt.Fprintf(&b, pair, name(p.classes[v.P]), name(p.classes[v.Q]))
		case float64:
			fmt.Fprintf(&b, "%s "+number, f.Name, v)
		default:
			fmt.Fprintf(&b, "%s %v", f.Name, v)
		}
		b.WriteString(separator)
	}
	return b.String()
}

// done clears the live line.
func (p *progress) done() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
