package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// markdown returns all tables.
func (t table) markdown() string {
	var b strings.Builder
	b.WriteString("\n## The learners\n\n| name in the tables | `uma-gpu train` | C |\n|---|---|---|\n")
	for _, w := range t.ways {
		told := "the true one"
		if w.blind {
			told = "none, that is the identity"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", w.name, w.flags, told)
	}
	made := func(o noise) bool { return !o.human && o.name != right.name }
	t.summary(&b, "All sets and all noises that a seed makes", t.rows(made))
	t.summary(&b, "All labels that people gave", t.rows(func(o noise) bool { return o.human }))
	if t.details {
		t.summary(&b, "Sets of more than 1,000 training examples", slices.DeleteFunc(t.rows(made),
			t.isSmall))
		t.means(&b)
	}
	t.human(&b)
	for _, o := range t.noises() {
		rows := t.rows(func(other noise) bool { return other.name == o.name && !other.human })
		fmt.Fprintf(&b, "\n## Noise: %s\n\n%s", o.name, t.head("set"))
		for _, r := range rows {
			b.WriteString(r.line(r.set.name))
		}
	}
	t.chosen(&b)
	t.failures(&b)
	t.times(&b)
	t.about(&b)
	t.missing(&b)
	return b.String()
}

// noises returns the noises that a seed makes, each once.
func (t table) noises() (noises []noise) {
	seen := map[string]bool{}
	for _, s := range t.sets {
		for _, o := range s.noises {
			if !o.human && !seen[o.name] {
				seen[o.name] = true
				noises = append(noises, o)
			}
		}
	}
	return noises
}

// summary compares the ways over the rows in which all have figures.
func (t table) summary(b *strings.Builder, title string, rows []row) {
	var complete []row
	for _, r := range rows {
		if r.complete() {
			complete = append(complete, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\nEvery learner was measured on %d of %d pairs of a set and a noise.\n\n"+
		"| learner | mean error, %% | mean rank | mean excess over the least, %% | largest excess, %% "+
		"|\n|---|--:|--:|--:|--:|\n", title, len(complete), len(rows))
	for i, w := range t.ways {
		total, rank, excess, worst, where := 0.0, 0.0, 0.0, 0.0, "none"
		for _, r := range complete {
			x := r.cells[i].mean() - r.least()
			total, rank, excess = total+r.cells[i].mean(), rank+r.rank(i), excess+x
			if x > worst {
				worst, where = x, r.set.name+", "+r.noise.name
			}
		}
		if n := float64(len(complete)); n > 0 {
			fmt.Fprintf(b, "| %s | %s | %.2f | %s | %s (%s) |\n", w.name, percent(total/n), rank/n,
				percent(excess/n), percent(worst), where)
		}
	}
}

// isSmall reports whether a set has at most 1,000 training examples.
func (t table) isSmall(r row) bool {
	for _, v := range t.results.found {
		if v.Set == r.set.name {
			return v.Train <= 1000
		}
	}
	return true
}

// means writes, for each noise, the mean errors of the sets in which every way was measured.
func (t table) means(b *strings.Builder) {
	b.WriteString("\n## Mean of all sets\n\n" + t.head("noise"))
	for _, o := range t.noises() {
		of := row{cells: make([]cell, len(t.ways))}
		for _, r := range t.rows(func(other noise) bool { return other.name == o.name && !other.human }) {
			for k, c := range r.cells {
				if r.complete() {
					of.cells[k].errors = append(of.cells[k].errors, c.mean())
				}
			}
		}
		for k := range of.cells {
			if c := &of.cells[k]; c.known() {
				c.errors = []float64{c.mean()}
			}
		}
		b.WriteString(of.line(o.name))
	}
}

// human writes the table of labels that people gave.
func (t table) human(b *strings.Builder) {
	rows := t.rows(func(o noise) bool { return o.human })
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n## Labels that people gave\n\n" + t.head("set, labels, share of wrong ones"))
	for _, r := range rows {
		head := r.set.name + ", " + r.noise.name
		if wrong := t.wrong(r); !math.IsNaN(wrong) {
			head += ", " + percent(wrong) + " %"
		}
		b.WriteString(r.line(head))
	}
}

// wrong returns the mean share of wrong labels, NaN if nothing is known.
func (t table) wrong(r row) float64 {
	var shares []float64
	for _, v := range t.results.found {
		if v.Set == r.set.name && v.Noise == r.noise.name {
			shares = append(shares, v.Wrong)
		}
	}
	return median(shares)
}

// failures says of each way how often nothing was learned, and the first reason.
func (t table) failures(b *strings.Builder) {
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
			lines += fmt.Sprintf("| %s | %d of %d | %s |\n", w.name, failed, tried,
				strings.ReplaceAll(reason, "|", "\\|"))
		}
	}
	if lines != "" {
		b.WriteString("\n## Where a learner fails\n\nIn the summaries a training that fails counts as " +
			"guessing.\n\n| learner | trainings | why, the first time |\n|---|--:|---|\n" + lines)
	}
}

// times writes the table of medians over noises and seeds.
func (t table) times(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Time to learn\n\nSeconds of processor time, the median over noises and "+
		"seeds, on %s.\n\n%s", t.machine, t.head("set"))
	for _, s := range t.sets {
		line, measured := "| "+s.name, false
		for _, w := range t.ways {
			var all []float64
			for _, o := range s.noises {
				all = append(all, t.cell(s, o, w).seconds...)
			}
			if len(all) == 0 {
				line += " | –"
				continue
			}
			line, measured = line+" | "+seconds(median(all)), true
		}
		if measured {
			b.WriteString(line + " |\n")
		}
	}
}

// seconds writes a time with two digits that say something, or three.
func seconds(v float64) string {
	switch {
	case v < 0.0095:
		return fmt.Sprintf("%.4f", v)
	case v < 0.095:
		return fmt.Sprintf("%.3f", v)
	case v < 0.95:
		return fmt.Sprintf("%.2f", v)
	case v < 9.5:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// missing says which sets lack results.
func (t table) missing(b *strings.Builder) {
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
	if none > 0 {
		fmt.Fprintf(b, "\nNot measured yet are %d of %d trainings: %s. A number in brackets counts the "+
			"seeds, where fewer than %d.\n", none, all, strings.Join(lines, ", "), t.seeds)
	}
}

// about writes the table of sets.
func (t table) about(b *strings.Builder) {
	b.WriteString("\n## Sets\n\n| set | training | test | features | classes | preparation |\n" +
		"|---|--:|--:|--:|--:|---|\n")
	shapes := map[string]shape{}
	for _, v := range t.results.found {
		if v.Failed == "" {
			shapes[v.Set] = v.shape
		}
	}
	for _, s := range t.sets {
		a, ok := shapes[s.name]
		if !ok {
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | `%s` |\n", s.name, a.Train, a.Test, a.Features,
			a.Classes, a.Preparation)
	}
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
