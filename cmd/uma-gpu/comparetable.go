package main

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// write writes the table to a CSV file: the ways to train, the best first, with a column for each
// parameter of the grid, and behind them those that failed.
func (r *compareReport) write(path string, grid []string) error {
	var names []string
	for _, text := range grid {
		name, _, _ := strings.Cut(text, "=")
		names = append(names, strings.TrimLeft(strings.TrimSpace(name), "-"))
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		rows := [][]string{slices.Concat([]string{"flags"}, names, []string{"accuracy", "low", "high", "behind",
			"behind_error", "noisy_log_loss", "error"})}
		for _, one := range r.Tried {
			loss := ""
			if one.NoisyLogLoss != nil {
				loss = number(*one.NoisyLogLoss)
			}
			a := one.Accuracy
			rows = append(rows, slices.Concat([]string{one.Flags}, gridValues(one.Flags, names), []string{number(a.Value),
				number(a.Low), number(a.High), number(one.Behind), number(one.BehindError), loss, ""}))
		}
		for _, f := range r.Failed {
			rows = append(rows, slices.Concat([]string{f.Flags}, gridValues(f.Flags, names),
				[]string{"", "", "", "", "", "", f.Error}))
		}
		return out.WriteAll(rows)
	})
}

// gridValues are those that flags give the flags of these names.
func gridValues(flags string, names []string) []string {
	values := make([]string, len(names))
	for _, word := range strings.Fields(flags) {
		name, value, _ := strings.Cut(word, "=")
		if k := slices.Index(names, strings.TrimLeft(name, "-")); k >= 0 {
			values[k] = value
		}
	}
	return values
}
