package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the verdict, its evidence and the hardest pairs for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, n := range r.Verdict.Numbers {
		fmt.Fprintf(&b, "%12s  %.40s. %.60s\n", n.Value, n.What, n.Note)
	}
	fmt.Fprintf(&b, "%12s  %s\n", "next", r.Verdict.Next)
	if r.Verdict.Command != "" {
		fmt.Fprintf(&b, "%14s%s\n", "", r.Verdict.Command)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Verdict.Text)
	for _, e := range r.Verdict.Evidence {
		fmt.Fprintf(&b, "- %s\n", e)
	}
	if pairs := r.Judged.Pairs; len(pairs) > 0 {
		b.WriteString("\nHardest pairs:\n")
		for _, p := range pairs[:min(5, len(pairs))] {
			fmt.Fprintf(&b, "  %.40s taken for %.40s: %s examples, %s of the class\n", p.True, p.Predicted,
				count(p.Examples), percent(p.Share))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
