package compare

import (
	"encoding/csv"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// measure names what the ways are ranked by.
func (r Report) measure() string {
	if r.JudgedBy != "" {
		return "corrected accuracy"
	}
	return "accuracy"
}

// write writes the table to a CSV file: the ways to train, the best first, with a column for each
// parameter of the grid, and behind them the ways that failed.
func (r *Report) write(path string, grid []string) error {
	var names []string
	for _, text := range grid {
		name, _ := flagOf(text)
		names = append(names, name)
	}
	values := func(flags string) (all []string) {
		for _, name := range names {
			all = append(all, flagIn(flags, name))
		}
		return all
	}
	number := app.NumberText
	return atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		rows := [][]string{slices.Concat([]string{"flags"}, names, []string{"accuracy", "low", "high",
			"behind", "behind_error", "noisy_log_loss", "error"})}
		for _, one := range r.Tried {
			loss := ""
			if one.NoisyLogLoss != nil {
				loss = number(*one.NoisyLogLoss)
			}
			a := one.Accuracy
			rows = append(rows, slices.Concat([]string{one.Flags}, values(one.Flags),
				[]string{number(a.Value),
					number(a.Low), number(a.High), number(one.Behind), number(one.BehindError), loss, ""}))
		}
		for _, f := range r.Failed {
			rows = append(rows, slices.Concat([]string{f.Flags}, values(f.Flags),
				[]string{"", "", "", "", "", "", f.Error}))
		}
		return out.WriteAll(rows)
	})
}
