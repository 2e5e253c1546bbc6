package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// table is the whole result.
type table struct {
	plan
	results *results[key, result]
	machine string
}

// cell holds the results of one way on one set under one noise.
type cell struct {
	errors  []float64 // of the seeds that were measured; of a failed one that of guessing
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
func (c cell) mean() float64 { return stat.Mean(c.errors, nil) }

// String returns the error in percent, with its standard deviation, and how many seeds there are if
// some are missing.
func (c cell) String() string {
	switch {
	case c.failed > 0:
		return fmt.Sprintf("fails %d of %d", c.failed, len(c.errors))
	case !c.known():
		return "–"
	}
	text := percent(c.mean())
	if len(c.errors) > 1 {
		text += " ± " + percent(stat.StdDev(c.errors, nil))
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

// median returns the middle value, NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// section returns a table of a page, with a title and a text above it.
func section(title, text string, columns []string, lines string) string {
	if text != "" {
		text += "\n\n"
	}
	return "\n## " + title + "\n\n" + text + head(columns...) + lines
}

// columns are those of a table with one for each way.
func (t table) columns(first string) []string {
	columns := []string{first}
	for _, w := range t.ways {
		columns = append(columns, ">"+w.name)
	}
	return columns
}

// markdown returns all tables.
func (t table) markdown() string {
	lines := ""
	for _, w := range t.ways {
		told := "the true one"
		if w.blind {
			told = "none, that is the identity"
		}
		lines += line(w.name, "`"+w.flags+"`", told)
	}
	text := section("The learners", "", []string{"name in the tables", "`uma-gpu train`", "C"}, lines)
	made := t.rows(func(o noise) bool { return !o.human && o.name != right.name })
	human := t.rows(func(o noise) bool { return o.human })
	text += t.summary("All sets and all noises that a seed makes", made) +
		t.summary("All labels that people gave", human)
	means, noises, seen := "", "", map[string]bool{}
	for _, s := range t.sets {
		for _, o := range s.noises {
			if o.human || seen[o.name] {
				continue
			}
			seen[o.name] = true
			rows := t.rows(func(other noise) bool { return other.name == o.name && !other.human })
			mean, lines := row{cells: make([]cell, len(t.ways))}, ""
			for _, r := range rows {
				lines += r.line(r.set.name)
			}
			for k := range mean.cells {
				var all []float64
				for _, r := range rows {
					if r.complete() {
						all = append(all, r.cells[k].mean())
					}
				}
				if all != nil {
					mean.cells[k].errors = []float64{stat.Mean(all, nil)}
				}
			}
			means += mean.line(o.name)
			noises += section("Noise: "+o.name, "", t.columns("set"), lines)
		}
	}
	shapes := t.shapes()
	if t.details {
		text += t.summary("Sets of more than 1,000 training examples",
			slices.DeleteFunc(made, func(r row) bool { return shapes[r.set.name].Train <= 1000 })) +
			section("Mean of all sets", "", t.columns("noise"), means)
	}
	lines = ""
	for _, r := range human {
		head := r.set.name + ", " + r.noise.name
		if wrong := t.wrong(r); !math.IsNaN(wrong) {
			head += ", " + percent(wrong) + " %"
		}
		lines += r.line(head)
	}
	if lines != "" {
		text += section("Labels that people gave", "", t.columns("set, labels, share of wrong ones"),
			lines)
	}
	text += noises + t.chosen() + t.failures() + t.times()
	lines = ""
	for _, s := range t.sets {
		if a := shapes[s.name]; a.Preparation != "" {
			lines += line(s.name, a.Train, a.Test, a.Features, a.Classes, "`"+a.Preparation+"`")
		}
	}
	return text + section("Sets", "", []string{"set", ">training", ">test", ">features", ">classes",
		"preparation"}, lines) + t.missing()
}

// summary compares the ways over the rows in which all have figures.
func (t table) summary(title string, rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	complete := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.complete() })
	lines, n := "", float64(len(complete))
	for i, w := range t.ways {
		total, rank, excess, worst, where := 0.0, 0.0, 0.0, 0.0, "none"
		for _, r := range complete {
			x := r.cells[i].mean() - r.least()
			total, rank, excess = total+r.cells[i].mean(), rank+r.rank(i), excess+x
			if x > worst {
				worst, where = x, r.set.name+", "+r.noise.name
			}
		}
		if n > 0 {
			lines += line(w.name, percent(total/n), fmt.Sprintf("%.2f", rank/n), percent(excess/n),
				fmt.Sprintf("%s (%s)", percent(worst), where))
		}
	}
	return section(title, fmt.Sprintf("Every learner was measured on %d of %d pairs of a set and a "+
		"noise.", len(complete), len(rows)), []string{"learner", ">mean error, %", ">mean rank",
		">mean excess over the least, %", ">largest excess, %"}, lines)
}

// wrong returns the median share of wrong labels, NaN if nothing is known.
func (t table) wrong(r row) float64 {
	var shares []float64
	for _, v := range t.results.found {
		if v.Set == r.set.name && v.Noise == r.noise.name {
			shares = append(shares, v.Wrong)
		}
	}
	return median(shares)
}

// shapes returns the shapes of the measured sets, without a preparation where all trainings failed.
func (t table) shapes() map[string]shape {
	shapes := map[string]shape{}
	for _, v := range t.results.found {
		if _, known := shapes[v.Set]; !known || v.Failed == "" {
			shapes[v.Set] = v.shape
		}
	}
	return shapes
}

// failures says of each way how often nothing was learned, and the first reason.
func (t table) failures() string {
	lines := ""
	for _, w := range t.ways {
		failed, tried, reason := 0, 0, ""
		for _, s := range t.sets {
			for _, o := range s.noises {
				c := t.cell(s, o, w)
				failed, tried, reason = failed+c.failed, tried+len(c.errors), cmp.Or(reason, c.reason)
			}
		}
		if failed > 0 {
			lines += line(w.name, fmt.Sprintf("%d of %d", failed, tried),
				strings.ReplaceAll(reason, "|", "\\|"))
		}
	}
	if lines == "" {
		return ""
	}
	return section("Where a learner fails", "In the summaries a training that fails counts as "+
		"guessing.", []string{"learner", ">trainings", "why, the first time"}, lines)
}

// times returns the table of medians over noises and seeds.
func (t table) times() string {
	lines := ""
	for _, s := range t.sets {
		cells, measured := []any{s.name}, false
		for _, w := range t.ways {
			var all []float64
			for _, o := range s.noises {
				all = append(all, t.cell(s, o, w).seconds...)
			}
			cells = append(cells, "–")
			if len(all) > 0 {
				cells[len(cells)-1], measured = seconds(median(all)), true
			}
		}
		if measured {
			lines += line(cells...)
		}
	}
	return section("Time to learn", "Seconds of processor time, the median over noises and seeds, on "+
		t.machine+".", t.columns("set"), lines)
}

// seconds writes a time with two digits that say something, or three.
func seconds(v float64) string {
	digits := 4
	for _, limit := range []float64{0.0095, 0.095, 0.95, 9.5} {
		if v >= limit {
			digits--
		}
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// missing says which sets lack results.
func (t table) missing() string {
	var lines []string
	all, none := 0, 0
	for _, s := range t.sets {
		wanted, lacking := map[key]bool{}, 0
		for seed := 1; seed <= t.seeds; seed++ {
			for _, o := range s.noises {
				for _, w := range t.ways {
					wanted[t.key(s, o, w, seed)] = true
				}
			}
		}
		for k := range wanted {
			if _, ok := t.results.found[k]; !ok {
				lacking++
			}
		}
		if lacking > 0 {
			lines = append(lines, fmt.Sprintf("%s %d of %d", s.name, lacking, len(wanted)))
		}
		all, none = all+len(wanted), none+lacking
	}
	if none == 0 {
		return ""
	}
	return fmt.Sprintf("\nNot measured yet are %d of %d trainings: %s. A number in brackets counts "+
		"the seeds, where fewer than %d.\n", none, all, strings.Join(lines, ", "), t.seeds)
}

// mark is the line of a page after which the tables stand.
const mark = "<!-- What follows is written by go run ./bench. -->\n"

// aboveTables returns the text of a page above its tables, the mark included.
func aboveTables(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	above, _, found := strings.Cut(string(text), mark)
	if !found {
		return "", fmt.Errorf("%s: found no line %q, after which the tables go", path,
			strings.TrimSpace(mark))
	}
	return above + mark, nil
}

// writePage replaces the tables of a page.
func writePage(path, tables string) error {
	above, err := aboveTables(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, above+tables)
		return err
	})
}
