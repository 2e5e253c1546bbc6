package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// cell holds the mean clean test errors of one set under one noise: of each way, then of
// learning without C; each in [0, 1], or NaN if C cannot be inverted.
type cell struct {
	set    string
	noise  noise
	errors []float64
}

// ways are the errors of the ways that are compared.
func (c cell) ways() []float64 { return c.errors[:len(c.errors)-1] }

// about describes a set as it was measured.
type about struct {
	name                           string
	train, test, features, classes int
	steps                          string
	seeds                          int
	divided                        bool // by the seed
}

// table is the whole result.
type table struct {
	steps int
	ways  []string
	sets  []about
	cells []cell
}

// least returns the error of the best way.
func (c cell) least() float64 { return slices.Min(c.ways()) }

// rank returns the rank of a way, 1 for the least error; equal errors share the
// mean of their ranks.
func (c cell) rank(way int) float64 {
	r := 0.5
	for _, e := range c.ways() {
		if e < c.errors[way] {
			r++
		} else if e == c.errors[way] {
			r += 0.5 // once by itself
		}
	}
	return r
}

// line is a row of a table: errors in percent, the least of the ways, as
// printed, in bold.
func (c cell) line(head string) string {
	if math.IsNaN(c.least()) {
		return fmt.Sprintf("| %s | refused |%s\n", head, strings.Repeat(" |", len(c.ways())))
	}
	line := "| " + head
	for i, e := range c.errors {
		text := fmt.Sprintf("%.1f", 100*e)
		if i < len(c.ways()) && text == fmt.Sprintf("%.1f", 100*c.least()) {
			text = "**" + text + "**"
		}
		line += " | " + text
	}
	return line + " |\n"
}

// only returns the cells that have errors and that the condition holds for.
func (t table) only(holds func(cell) bool) (some []cell) {
	for _, c := range t.cells {
		if !math.IsNaN(c.least()) && holds(c) {
			some = append(some, c)
		}
	}
	return some
}

// mean returns the mean errors of some cells, NaN if there are none.
func (t table) mean(cells []cell) cell {
	m := cell{errors: make([]float64, len(t.ways)+1)}
	for i := range m.errors {
		for _, c := range cells {
			m.errors[i] += c.errors[i]
		}
		m.errors[i] /= float64(len(cells))
	}
	return m
}

// summary has a line for each way over some cells.
func (t table) summary(cells []cell) (lines string) {
	for way, name := range t.ways {
		rank, excess, worst, where := 0.0, 0.0, 0.0, "none"
		for _, c := range cells {
			x := c.errors[way] - c.least()
			rank, excess = rank+c.rank(way), excess+x
			if x > worst {
				worst, where = x, fmt.Sprintf("%s, %s", c.set, c.noise)
			}
		}
		n := float64(len(cells))
		lines += fmt.Sprintf("| %s | %.2f | %.2f | %.1f (%s) |\n", name, rank/n, 100*excess/n, 100*worst, where)
	}
	return lines
}

// markdown returns the tables.
func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Ways of UMA\n\nMade by `go run ./bench/weights`; "+
		"[weights.md](weights.md) explains it. Clean test error in %%, mean of the seeds, at most %d steps: "+
		"UMA with the true C, and with C = identity. The least of the ways with C is bold.\n", t.steps)
	names := strings.Join(t.ways, " | ") + " | C = identity"
	begin := func(title, head, align string) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n%s\n", strings.ToUpper(title[:1])+title[1:], head, align)
	}
	begin("Sets", "| set | training | test | features | classes | preparation | seeds |", "|---|--:|--:|--:|--:|---|--:|")
	large := map[string]bool{}
	for _, s := range t.sets {
		large[s.name] = s.train > 1000
		divided := map[bool]string{true: ", each with its own split"}[s.divided]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | `%s` | %d%s |\n", s.name, s.train, s.test, s.features, s.classes,
			s.steps, s.seeds, divided)
	}
	const head, align = "| way | mean rank | mean excess over the least, % | largest excess, % |",
		"|---|--:|--:|--:|"
	begin("all sets and noises", head, align)
	b.WriteString(t.summary(t.only(func(cell) bool { return true })))
	begin("sets of more than 1,000 training examples", head, align)
	b.WriteString(t.summary(t.only(func(c cell) bool { return large[c.set] })))

	errorAlign := "|---|" + strings.Repeat("--:|", len(t.ways)+1)
	begin("mean of all sets", "| noise | "+names+" |", errorAlign)
	for _, o := range noises {
		b.WriteString(t.mean(t.only(func(c cell) bool { return c.noise == o })).line(o.String()))
	}
	for _, o := range noises {
		begin(o.String(), "| set | "+names+" |", errorAlign)
		for _, c := range t.cells {
			if c.noise == o {
				b.WriteString(c.line(c.set))
			}
		}
	}
	return b.String()
}
