package file

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// remarks are what readers say about the columns of a table, without the path.
type remarks struct {
	notes, warnings []string
	// maybeHeader is the line of the first example if it looks like a header, else 0.
	maybeHeader int
}

func (r *remarks) note(format string, args ...any) {
	if r == nil {
		return
	}
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.notes, text) { // by a part before
		r.notes = append(r.notes, text)
	}
}

// remark adds what the readers said, and looks for columns and labels that are not what they seem.
// It may change d in place.
func remark(d *dataset.Dataset, r *remarks, o Options) error {
	for _, note := range r.notes {
		d.Notes = append(d.Notes, d.Path+": "+note)
	}
	warn := func(format string, args ...any) {
		d.Warnings = append(d.Warnings, d.Path+": "+fmt.Sprintf(format, args...))
	}
	for _, warning := range r.warnings {
		warn("%s", warning)
	}
	if name, found := lists.Repeated(d.Features); found && o.FeatureNames == nil {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: several features are named %s; only their order tells them apart, so data to "+
				"predict need these columns in this order", d.Path, quote.Text(name)))
	}
	if none := dataset.WithoutLabel(d); none != nil {
		rows := make([]string, 0, mostRows)
		for _, i := range none[:min(len(none), mostRows)] {
			rows = append(rows, strconv.Itoa(d.SourceRow(i)+1))
		}
		if len(none) > mostRows {
			rows = append(rows, "…")
		}
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %d of %d rows have no label: %s (counted from 1)",
			d.Path, len(none), d.N, strings.Join(rows, ", ")))
	}
	if r.maybeHeader > 0 && d.N >= fewExamples && (d.Y == nil || !slices.Contains(d.Y[1:], d.Y[0])) {
		warn("line %d reads like a header of numbers and was taken as an example; if it is "+
			"a header, say so ("+quote.Option("header",
			"yes")+"), and if not, too ("+quote.Option("header", "no")+")", r.maybeHeader)
	}
	if o.Classes != nil || d.Y == nil {
		return nil
	}
	return judgeLabels(d, o, warn)
}

// mostRows is how many rows a remark lists.
const mostRows = 10

// fewExamples is the number below which nothing that examples have in common is telling.
const fewExamples = 20

// leadingColumn leaves out a first column that numbers the first examples, and warns if unsure.
func (r *csvReader) leadingColumn() {
	c := &r.columns
	if r.c.asked.Features > 0 || r.c.o.Encoding != nil || c.role[0] != feature || c.features < 2 {
		return
	}
	const most = 1000
	next, rows, first, counts := r.rec.ahead(sniffed), 0, 0.0, true
	for rec := &r.rec; rows < most; rec = next {
		if rec == next && next.next() != nil {
			break
		}
		if rec == &r.rec && r.header || rec.bad != nil {
			continue
		}
		rec.split()
		v, ok := decimal.Parse(decimal.Trim(rec.field(0)))
		if rows == 0 {
			first = v
		}
		counts = counts && ok && v == first+float64(rows)
		rows++
	}
	counts = counts && first >= 0 && first < 1<<23 && first == math.Trunc(first) && rows > 1
	nameless := c.names != nil && c.names[0] == "" && !slices.Contains(c.names[1:], "")
	switch {
	case counts && nameless:
		r.c.remarks.note("column 1 has no name and numbers the examples; it is left out")
		c.leaveOut(0)
	case counts && r.c.o.lenient() && c.names != nil && rows >= fewExamples:
		r.c.remarks.note("%s numbers the examples; it is left out", c.describe(0))
		c.leaveOut(0)
	case nameless && rows > 2:
		r.c.remarks.warnings = append(r.c.remarks.warnings, "column 1 has no name and is taken as a "+
			"feature; if it is an index or holds row names, leave it out ("+
			quote.Option("ignore-columns", "1")+")")
	case counts && rows >= fewExamples:
		r.c.remarks.warnings = append(r.c.remarks.warnings, c.describe(0)+" numbers the examples and is "+
			"taken as a feature; if it is an index, leave it out ("+
			quote.Option("ignore-columns", "1")+")")
	}
}

// looksOf returns a text that is equal for names that look alike: sameClass, without what nobody
// sees at their ends, and for all spellings of a number, such as 1, 01 and 1e0.
func looksOf(name string) string {
	name = strings.Trim(name, " \t\u00a0\u200b\u200c\u200d\u2060\ufeff")
	if v, number := decimal.Parse([]byte(name)); number && len(name) <= 15 { // else it may be rounded
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return name
}

// judgeLabels refuses labels that are measurements, and warns of labels that may be.
func judgeLabels(d *dataset.Dataset, o Options, warn func(string, ...any)) error {
	const usual = 20 // classes that are no wonder, whatever their names; or examples of a class
	const forgotten = 50
	if text := severalAtOnce(d.Classes); text != "" {
		return fmt.Errorf("%s: found labels of several classes, such as %s, wanted one class; if one of "+
			"them is right, say what stands between them (%s); if all are (multi-label), take "+
			"scikit-learn's MultiLabelBinarizer and OneVsRestClassifier", d.Path, quote.Text(text),
			quote.Option("candidates"))
	}
	spelt := make(map[string]string, len(d.Classes))
	for _, name := range d.Classes {
		looks := looksOf(name)
		if other, twice := spelt[looks]; twice {
			warn("%s and %s are two classes; if they are one, spell them alike", quote.Text(other),
				quote.Text(name))
		}
		spelt[looks] = name
	}
	if d.N < fewExamples || len(d.Classes) <= usual {
		return nil
	}
	fractions := ""
	for _, name := range d.Classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil {
			fractions = ""
			break
		}
		if fractions == "" && v != float64(int64(v)) {
			fractions = name
		}
	}
	column := "the label"
	switch {
	case d.Label != "":
		column = fmt.Sprintf("the label column %d (%s)", d.LabelColumn, quote.Printable(d.Label))
	case d.LabelColumn > 0:
		column = fmt.Sprintf("the label column %d", d.LabelColumn)
	}
	mostlyUnique := 2*len(d.Classes) > d.N
	switch {
	case o.lenient() && o.LabelColumn == "" && d.Label != "" && usual*len(d.Classes) > d.N &&
		len(d.Classes) > forgotten:
		return fmt.Errorf("%s: %s, the last, holds %d classes in %d examples, such as %s, and no label "+
			"column was named; name it (%s, or %s if it is this one)", d.Path, column, len(d.Classes), d.N,
			quote.List(d.Classes), quote.Option("label-column"), quote.Option("label-column", "last"))
	case fractions != "" && mostlyUnique:
		return fmt.Errorf("%s: %s holds %d different numbers in %d examples, %s among them, wanted "+
			"classes and not a measurement; name the column of the class (%s), or read the data without "+
			"labels; to predict a number, take scikit-learn's HistGradientBoostingRegressor", d.Path, column,
			len(d.Classes), d.N, quote.Text(fractions), quote.Option("label-column"))
	case fractions != "":
		warn("%s holds numbers that are not whole, such as %s: %d classes; is it a measurement? then "+
			"name the column of the class ("+quote.Option("label-column")+")", column, fractions,
			len(d.Classes))
	case mostlyUnique:
		warn("%s holds %d classes in %d examples; if it is a number of the example or a measurement, "+
			"name the column of the class ("+quote.Option("label-column")+")", column,
			len(d.Classes), d.N)
	}
	return nil
}

// judgeIDs warns of ids that several examples have.
func judgeIDs(d *dataset.Dataset) {
	first := make(map[string]int, len(d.IDs))
	repeated, example := 0, ""
	for i, id := range d.IDs {
		if _, seen := first[id]; !seen {
			first[id] = i
		} else if repeated++; repeated == 1 {
			example = fmt.Sprintf("%s of rows %d and %d", quote.Text(id), d.SourceRow(first[id])+1,
				d.SourceRow(i)+1)
		}
	}
	if repeated > 0 {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("%s: %d examples have the id of an earlier one, such as %s; is it the column of "+
				"their names ("+quote.Option("id-column")+")?", d.Path, repeated, example))
	}
}

// severalAtOnce returns a class name that is a list of classes, if the names that are lists are at
// least three, and have no part that another name has not, as one or in a list; else "".
func severalAtOnce(names []string) string {
	const least = 3
	for _, mark := range []string{"|", ";", ","} {
		in, several := map[string]int{}, [][]string(nil)
		for _, name := range names {
			parts := strings.Split(strings.Trim(name, "[](){}"), mark)
			for k, part := range parts {
				parts[k] = strings.Trim(part, " \"'")
				in[parts[k]]++
			}
			if len(parts) > 1 {
				several = append(several, parts)
			}
		}
		all := len(several) >= least && len(in) < len(names)
		for _, parts := range several {
			all = all && !slices.ContainsFunc(parts, func(part string) bool {
				return part == "" || in[part] < 2
			})
		}
		if all {
			return strings.Join(several[0], mark)
		}
	}
	return ""
}
