package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
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
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step is host.Options.OnStep.
func (p *progress) step(r host.Report) {
	if p.verbose {
		fmt.Fprintf(p.w, "step %d: predicted %q to true %q, ‖z‖ %.4g, moved %d, estimated error %.4f\n",
			r.Step, p.classes[r.P], p.classes[r.Q], r.Norm, r.Moved, r.EstimatedError)
	}
	if now := time.Now(); p.live && now.Sub(p.shown) >= interval {
		p.shown = now
		fmt.Fprintf(p.w, "\r\x1b[Kstep %d  %s→%s  ‖z‖ %.3g  moved %d  estimated error %.4f  %.0f steps/s",
			r.Step, shorten(p.classes[r.P]), shorten(p.classes[r.Q]), r.Norm, r.Moved, r.EstimatedError,
			float64(r.Step)/now.Sub(p.start).Seconds())
	}
}

// done clears the live line.
func (p *progress) done() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
