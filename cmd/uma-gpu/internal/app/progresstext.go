package app

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

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

// line is what there is to say of t beside its bar, as much of it as the terminal has room for.
func (m *Meter) line(t *progress.Task, now time.Time) string {
	var parts []string
	for _, task := range outermostFirst(t) {
		parts = append(parts, standing(task, task == t))
	}
	places := len(parts)
	parts = append(parts, m.figures(t, now)...)
	room := m.Width() - barColumn - 1
	for len(parts) > places && ColumnsIn(strings.Join(parts, ", ")) > room {
		parts = parts[:len(parts)-1]
	}
	text := []rune(Legible(strings.Join(parts, ", ")))
	for ColumnsIn(string(text)) > max(0, room) {
		text = text[:len(text)-1]
	}
	return string(text)
}

// text is a line for whoever reads it later, or elsewhere.
func (m *Meter) text(t *progress.Task, now time.Time) string {
	var parts []string
	for _, task := range outermostFirst(t) {
		where := standing(task, task == t)
		if task.Unit != "" && task.Unit != progress.Bytes {
			where = task.Name + ": " + where
		}
		parts = append(parts, where)
	}
	if share, head := shareOf(t); head != nil {
		parts = append(parts, fmt.Sprintf("%.0f %% done", math.Floor(100*share)))
	}
	return Legible(strings.Join(append(parts, m.figures(t, now)...), ", "))
}

// outermostFirst lists a task behind those of which it is a part.
func outermostFirst(t *progress.Task) (all []*progress.Task) {
	for ; t != nil; t = t.Parent {
		all = append(all, t)
	}
	slices.Reverse(all)
	return all
}

// standing says where a task stands: how much is done of the innermost one, and which unit of
// another is under way.
func standing(t *progress.Task, innermost bool) string {
	done, total := t.Done(), ""
	if t.Total > 0 {
		total = fmt.Sprintf("/%d", t.Total)
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

// figures are the time left, the speed and the estimated error, as far as they are known.
func (m *Meter) figures(t *progress.Task, now time.Time) (figures []string) {
	if share, head := shareOf(t); head != nil {
		from := m.beginning[head]
		if made := share - from.share; made > 0 {
			left := time.Duration(float64(now.Sub(from.at)) * min((1-share)/made, 1e6))
			most := ""
			if head.AtMost {
				most = "<"
			}
			figures = append(figures, most+durationText(left)+" left")
		}
	}
	seconds := now.Sub(m.beginning[t].at).Seconds()
	if made := float64(t.Done() - t.From); made > 0 && seconds > 0 {
		switch rate := made / seconds; {
		case t.Unit == progress.Bytes:
			figures = append(figures, BytesText(int64(rate))+"/s")
		case rate >= 10:
			figures = append(figures, fmt.Sprintf("%.0f/s", rate))
		default:
			figures = append(figures, fmt.Sprintf("%.2g/s", rate))
		}
	}
	for ; t != nil; t = t.Parent {
		if e, known := t.EstimatedError(); known {
			return append(figures, fmt.Sprintf("estimated error %.4f", e))
		}
	}
	return figures
}

// durationText rounds up to seconds, minutes or hours, whatever suits.
func durationText(d time.Duration) string {
	switch {
	case d <= 2*time.Minute:
		return fmt.Sprintf("%ds", int(math.Ceil(d.Seconds())))
	case d <= 2*time.Hour:
		return fmt.Sprintf("%dmin", int(math.Ceil(d.Minutes())))
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
