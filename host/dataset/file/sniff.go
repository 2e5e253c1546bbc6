package file

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// detect finds out what separates fields from the first lines; it returns the first.
func (r *record) detect(line []byte) []byte {
	if t := r.src.sheet; t != nil {
		r.delim, r.usual = ',', t.width
		return line
	}
	line = bytes.Clone(line) // peek moves what it lies in
	most := 2
	if r.layout.lenient {
		most = 12
	}
	telling := [][]byte{line}
	if line[0] == '#' {
		telling = nil
	}
	for next := range bytes.SplitSeq(r.src.peek(1<<16), []byte{cmp.Or(r.src.end, '\n')}) {
		if len(telling) == most {
			break
		}
		if next = bytes.TrimRight(next, "\r\n"); len(bytes.Trim(next, " \t")) > 0 && next[0] != '#' {
			telling = append(telling, next)
		}
	}
	if telling == nil {
		telling = [][]byte{line}
	}
	steady, fields := steadySeparator(telling)
	if r.delim = r.layout.separator; r.delim == 0 && r.layout.lenient {
		r.delim = steady
	}
	if r.delim == 0 {
		r.delim = detectDelimiter(telling, extension(r.src.path) == ".tsv", r.layout)
	}
	if r.usual = countFields(telling[0], r.delim); r.layout.lenient && r.delim == steady {
		r.usual = fields
	}
	return line
}

// steadySeparator returns the character that cuts the last lines, at least half of them and three,
// into one number of fields, the largest, and that number; 0 if none does. Blanks cut all lines, if
// into more fields than tabs.
func steadySeparator(lines [][]byte) (separator byte, fields int) {
	for _, c := range []byte{'\t', ';', '|', ','} {
		n, run := countFields(lines[len(lines)-1], c), 0
		for k := len(lines) - 1; k >= 0 && countFields(lines[k], c) == n; k-- {
			run++
		}
		if run >= 3 && 2*run >= len(lines) && n > max(fields, 1) {
			separator, fields = c, n
		}
	}
	blanks := countFields(lines[0], ' ')
	if separator == '\t' && blanks > fields && !slices.ContainsFunc(lines,
		func(line []byte) bool { return countFields(line, ' ') != blanks }) {
		return ' ', blanks
	}
	return separator, fields
}

// detectDelimiter returns the comma if the first line has one outside of quotes, else tab or
// semicolon; tab first in .tsv, no comma with decimal commas. Without them it is blanks if the
// second line has as many fields or one more, as in R; else the comma.
func detectDelimiter(lines [][]byte, tsv bool, l layout) byte {
	var seen [256]bool
	quoted := false
	for _, c := range lines[0] {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			seen[c] = true
		}
	}
	order := []byte{',', '\t', ';'}
	if tsv {
		order = []byte{'\t', ',', ';'}
	}
	if l.comma {
		order = []byte{';', '\t'}
	}
	for _, c := range order {
		if seen[c] {
			return c
		}
	}
	if l.blanks && seen[' '] && len(lines) > 1 {
		first, second := countFields(lines[0], ' '), countFields(lines[1], ' ')
		if first > 1 && (second == first || second == first+1) {
			return ' '
		}
	}
	return ','
}

// countFields returns how many fields a line has.
func countFields(line []byte, delim byte) (n int) {
	if delim == ' ' {
		for range blankFields(line) {
			n++
		}
		return n
	}
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		} else if c == delim && !quoted {
			n++
		}
	}
	return n + 1
}

// rowNames reports whether most of the next records have one field more than a header of width
// fields: R's write.table has row names without a place in the header.
func (r *record) rowNames(width int) bool {
	next, records, wider := r.ahead(sniffed), 0, 0
	for records < fewExamples && next.next() == nil {
		records++
		if next.bad != nil {
			continue
		}
		next.split()
		if len(next.ends) == width+1 && len(decimal.Trim(next.field(width))) > 0 {
			wider++
		}
	}
	return 2*wider > records
}

// distinct makes equal names unique as pandas does: x, x.1, x.2.
func (r *csvReader) distinct(names []string) []string {
	unique := slices.Clone(names)
	taken, present := make(map[string]int, len(names)), lists.Set(names)
	for j, name := range names {
		if k := taken[name]; k > 0 && name != "" {
			for unique[j] = name; present[unique[j]]; k++ {
				unique[j] = fmt.Sprintf("%s.%d", name, k)
			}
			taken[name] = k - 1
			r.c.remarks.note("column %d is called %s, as there are several named %s", j+1,
				quote.Text(unique[j]), quote.Text(name))
		}
		taken[name]++
	}
	return unique
}

// looksLikeHeader is the rule of Options.Header for "auto".
func (r *csvReader) looksLikeHeader(fields []string) bool {
	other, named := r.notFeatures(fields) // not a feature, or perhaps not
	if named || namesWanted(fields, r.c.o.FeatureNames) {
		return true
	}
	words, numbers := false, false
	var features []string
	for j, text := range fields {
		if other[j] {
			continue
		}
		features = append(features, text)
		_, loose := decimal.Loose([]byte(text), true)
		switch _, ok := decimal.Parse([]byte(text)); {
		case ok || loose && (r.rec.layout.lenient || r.rec.layout.comma) ||
			decimal.IsNonFinite(text) || strings.EqualFold(text, "true") ||
			strings.EqualFold(text, "false"):
			numbers = true
		case text != "" && !(len(features) == 1 && isIndexName(text)):
			words = true
		}
	}
	if !numbers {
		return words || slices.ContainsFunc(features, isIndexName)
	}
	return !words && r.numbersColumns(fields, features)
}

// notFeatures says which fields of the first record may be no features; named, that one was asked
// for by its name: a header.
func (r *csvReader) notFeatures(fields []string) (other []bool, named bool) {
	asked := r.c.o.Ignore
	if r.c.o.LabelColumn != "" && r.c.given == nil {
		asked = append(asked[:len(asked):len(asked)], r.c.o.LabelColumn)
	} else if r.c.inline() {
		asked = append(asked[:len(asked):len(asked)], "last")
	}
	for _, o := range []string{r.c.o.IDColumn, r.c.o.WeightColumn} {
		if o != "" {
			asked = append(asked[:len(asked):len(asked)], o)
		}
	}
	other = make([]bool, len(fields))
	for _, text := range asked {
		text = strings.TrimSpace(text)
		if position := columnPosition(text, len(fields)); position >= 0 {
			other[position] = true
		}
		if text == "first" || text == "last" {
			continue
		}
		if at, _ := findName(fields, text); at >= 0 {
			if !decimal.IsInteger(text) {
				return other, true
			}
			other[at] = true
		}
	}
	return other, false
}

// namesWanted reports whether a record holds wanted names of features: one that is a word, or all,
// if these are many numbers.
func namesWanted(fields, wanted []string) bool {
	present, all := lists.Set(fields), len(wanted) >= manyNumbers
	for _, name := range wanted {
		_, number := decimal.Parse([]byte(name))
		if present[name] && !number && name != "" {
			return true
		}
		all = all && present[name]
	}
	return all
}

// manyNumbers is how many numbers in the order of counting are no accident.
const manyNumbers = 3

// numbersColumns reports whether a first record of numbers is surely a header: whole numbers that
// increase, such as years, with a name for the label; or counted as pandas does from 0 and R from
// 1, behind an empty field or with a word for the label that no example has.
func (r *csvReader) numbersColumns(fields, features []string) bool {
	index := features[0] == "" || isIndexName(features[0])
	if index {
		features = features[1:]
	}
	base, counts, grows, last := 0, true, true, 0.0
	if len(features) > 0 && features[0] == "1" {
		base = 1
	}
	for k, text := range features {
		v, _ := decimal.Parse([]byte(text))
		counts = counts && text == strconv.Itoa(base+k)
		grows = grows && decimal.IsInteger(text) && (k == 0 || v > last)
		last = v
	}
	if !grows {
		return false
	}
	word, at := false, r.labelField(fields)
	if at >= 0 {
		_, number := decimal.Parse([]byte(fields[at]))
		word = !number && fields[at] != ""
	}
	if word && isLabelName(fields[at]) || counts && (index && len(features) >= manyNumbers ||
		word && decimal.IsInteger(r.nextField(at))) {
		r.c.remarks.note("line %d (%s) is taken as the header; if it is an example, say so ("+
			quote.Option("header", "no")+")", r.rec.line, quote.Printable(strings.Join(fields, ",")))
		return true
	}
	if (base == 0 || !counts) && (word || len(features) >= manyNumbers) {
		r.c.remarks.maybeHeader = r.rec.line
	}
	return false
}

// labelField returns which field of the first record is the label, -1 for none.
func (r *csvReader) labelField(fields []string) int {
	if !r.c.inline() {
		return -1
	}
	if column := strings.TrimSpace(r.c.o.LabelColumn); column != "" {
		return columnPosition(column, len(fields))
	}
	return len(fields) - 1
}

// isLabelName reports whether a word is what people call the column of the label.
func isLabelName(word string) bool {
	switch strings.ToLower(word) {
	case "label", "labels", "class", "target", "species", "category", "outcome":
		return true
	}
	return false
}

// nextField returns a field of the record behind, "" if it was not read ahead.
func (r *csvReader) nextField(j int) string {
	next := r.rec.ahead(1 << 16)
	if next.next() != nil || next.bad != nil {
		return ""
	}
	next.split()
	if j >= len(next.ends) {
		return ""
	}
	return string(decimal.Trim(next.field(j)))
}
