package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// table is the whole result.
type table struct {
	plan
	results *results[key, result]
	machine string
}

// cell holds the results of one way on one set under one noise.
type cell struct {
	errors  []float64 // of the seeds that were measured; of failed ones that of guessing
	seconds []float64
	failed  int    // of the seeds
	reason  string // of the first of them
	wanted  int    // seeds
}

func (t table) cell(s set, o noise, w choice) cell {
	c := cell{wanted: t.seeds}
	for seed := 1; seed <= t.seeds; seed++ {
		r, ok := t.results.found[t.key(s, o, w, seed)]
		switch {
		case ok && r.Failed != "":
			c.failed++
			c.reason = cmp.Or(c.reason, r.Failed)
			c.errors = append(c.errors, 1-1/float64(r.Classes)) // what is left is to guess
		case ok:
			c.errors, c.seconds = append(c.errors, r.Error), append(c.seconds, r.Seconds)
		}
	}
	return c
}

// known says whether there is a figure.
func (c cell) known() bool { return len(c.errors) > 0 }

// mean returns the mean error, NaN if there is none.
func (c cell) mean() float64 {
	if !c.known() {
		return math.NaN()
	}
	return mean(c.errors)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, e := range v {
		sum += e
	}
	return sum / float64(len(v))
}

// spread returns the standard deviation of the errors, NaN of less than two.
func (c cell) spread() float64 {
	m, sum := mean(c.errors), 0.0
	for _, e := range c.errors {
		sum += (e - m) * (e - m)
	}
	return math.Sqrt(sum / float64(len(c.errors)-1))
}

// String returns the error in percent, with its spread, and how many seeds there are if some are
// missing.
func (c cell) String() string {
	switch {
	case c.failed > 0:
		return fmt.Sprintf("fails %d of %d", c.failed, len(c.errors))
	case !c.known():
		return "–"
	}
	text := percent(c.mean())
	if len(c.errors) > 1 {
		text += " ± " + percent(c.spread())
	}
	if len(c.errors) < c.wanted {
		text += fmt.Sprintf(" (%d)", len(c.errors))
	}
	return text
}

func percent(v float64) string { return fmt.Sprintf("%.1f", 100*v) }

// row is the cells of all ways, of one set under one noise.
type row struct {
	set   set
	noise noise
	cells []cell
}

// rows returns the measured rows of the noises that the condition holds for.
func (t table) rows(holds func(noise) bool) (rows []row) {
	for _, s := range t.sets {
		for _, o := range s.noises {
			if !holds(o) {
				continue
			}
			r := row{set: s, noise: o}
			for _, w := range t.ways {
				r.cells = append(r.cells, t.cell(s, o, w))
			}
			if slices.ContainsFunc(r.cells, cell.known) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// complete says whether there is a figure in each cell, so that ways may be compared.
func (r row) complete() bool {
	return !slices.ContainsFunc(r.cells, func(c cell) bool { return !c.known() })
}

// least returns the least mean error, +Inf if there is none.
func (r row) least() float64 {
	least := math.Inf(1)
	for _, c := range r.cells {
		if c.known() {
			least = min(least, c.mean())
		}
	}
	return least
}

// rank returns the rank of a way in a complete row, 1 for the least error; equal errors share
// the mean of their ranks.
func (r row) rank(way int) float64 {
	rank := 0.5
	for _, c := range r.cells {
		switch cmp.Compare(c.mean(), r.cells[way].mean()) {
		case -1:
			rank++
		case 0:
			rank += 0.5 // once by itself
		}
	}
	return rank
}

// line is a line of a table: what is least, as printed, is bold.
func (r row) line(head string) string {
	cells := []any{head}
	for _, c := range r.cells {
		text := c.String()
		if c.known() && c.failed == 0 && percent(c.mean()) == percent(r.least()) {
			text = "**" + text + "**"
		}
		cells = append(cells, text)
	}
	return line(cells...)
}

// head returns the first two lines of a table with a column for each way.
func (t table) head(first string) string {
	columns := []string{first}
	for _, w := range t.ways {
		columns = append(columns, ">"+w.name)
	}
	return head(columns...)
}

// median returns the middle value, NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
