package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// shades of a heat map in a terminal, from nothing to all.
var shades = []rune(" ·░▒▓█")

// WriteText writes verdict, curve and heat map for a terminal of that many columns.
func (r *Report) WriteText(w io.Writer, columns int) error {
	var b strings.Builder
	for _, n := range r.Verdict.Numbers {
		fmt.Fprintf(&b, "%12s  %.40s. %.60s\n", n.Value, n.What, n.Note)
	}
	fmt.Fprintf(&b, "%12s  %s\n\n%s\n", "next", r.Verdict.Next, r.Verdict.Text)
	for _, e := range r.Verdict.Evidence {
		fmt.Fprintf(&b, "- %s\n", e)
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(&b, "- doubt: %s %s\n", d.Finding, d.Advice)
	}
	if len(r.History) > 1 {
		b.WriteString("\n" + sparkline(r.History, max(10, columns-12)))
	}
	if j := r.Judged; j != nil {
		r.heatText(&b, j, columns)
		if len(j.Pairs) > 0 {
			b.WriteString("\nHardest pairs:\n")
		}
		for _, p := range j.Pairs[:min(5, len(j.Pairs))] {
			fmt.Fprintf(&b, "  %.40s taken for %.40s: %s examples, %s of the class\n", p.True, p.Predicted,
				count(p.Examples), percent(p.Share))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sparkline draws the estimated error by steps as one line of blocks, at most width wide.
func sparkline(history []Moment, width int) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	errors := make([]float64, min(width, len(history)))
	for k := range errors {
		errors[k] = history[k*(len(history)-1)/max(1, len(errors)-1)].EstimatedError
	}
	low, high := slices.Min(errors), slices.Max(errors)
	line := make([]rune, len(errors))
	for k, v := range errors {
		if line[k] = blocks[0]; high > low {
			line[k] = blocks[int((v-low)/(high-low)*float64(len(blocks)-1)+0.5)]
		}
	}
	return fmt.Sprintf("Error on the training examples, %.3f to %.3f, by steps:\n\n%s\n", errors[0],
		errors[len(errors)-1], string(line))
}

// heatText draws a cell of two characters for each pair of classes, where they fit.
func (r *Report) heatText(b *strings.Builder, j *Judged, columns int) {
	q := len(r.Classes)
	if 2*q+16 > columns {
		return
	}
	b.WriteString("\nPredicted (rows) by true class (columns, in the same order):\n\n")
	for p, name := range r.Classes {
		if r := []rune(name); len(r) > 12 {
			name = string(r[:11]) + "…"
		}
		fmt.Fprintf(b, "%12s │", name)
		for t := range q {
			shade := shades[(level(j.share(p, t))*(len(shades)-1)+levels-1)/levels]
			b.WriteString(string([]rune{shade, shade}))
		}
		b.WriteString("│\n")
	}
}
