package file

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// columns says what each column of a table (CSV, Parquet) is for.
type columns struct {
	role     []role
	names    []string // of all columns; nil without a header
	label    int      // -1 without labels
	id       int      // -1 without ids
	features int      // how many are features
}

type role byte

const (
	feature role = iota
	label
	identity // names the example
	weight   // says how much it counts
	ignored
)

// chooseColumns returns what each column is for, by o; inline says that one is the label. The
// string says what is wrong. Remarks go to r, unless it is nil.
func chooseColumns(names []string, width int, o Options, inline bool, r *remarks) (columns,
	string) {
	c := columns{role: make([]role, width), names: names, label: -1, id: -1, features: width}
	if o.Encoding != nil && names != nil && o.FeatureNames != nil {
		o.Features = len(o.FeatureNames)
	}
	if width == 0 {
		return c, "found no column at all, wanted features and a label"
	}
	for _, text := range o.Ignore {
		j, fault := c.find(strings.TrimSpace(text), "a column to leave out")
		if fault != "" {
			return c, fault
		}
		c.leaveOut(j)
	}
	var fault string
	if c.id, fault = c.chooseOther(o.IDColumn, "the column of ids", "", identity); fault != "" {
		return c, fault
	}
	if _, fault = c.chooseOther(o.WeightColumn, "the column of weights", " or to name the examples",
		weight); fault != "" {
		return c, fault
	}
	if fault := c.chooseLabel(o, inline); fault != "" {
		return c, fault
	}
	c.leaveOutIndex(o, r)
	if fault := c.keepWanted(o, r); fault != "" {
		return c, fault
	}
	switch {
	case c.features == 0 && c.label >= 0 && width == 1:
		return c, "found no column but the label, wanted features as well; what separates the columns " +
			"(" + quote.Option("separator") + ")?"
	case c.features == 0:
		return c, fmt.Sprintf("found no feature among %d columns, wanted at least one besides the label "+
			"and those left out", width)
	case o.Features > 0 && c.features != o.Features:
		return c, fmt.Sprintf("found %d feature columns, wanted %d, as asked for", c.features,
			o.Features)
	}
	return c, ""
}

// leaveOut makes column j none of the features.
func (c *columns) leaveOut(j int) {
	if c.role[j] == feature {
		c.role[j] = ignored
		c.features--
	}
}

// chooseLabel finds the label column if there is one.
func (c *columns) chooseLabel(o Options, inline bool) string {
	byName := c.names != nil && o.FeatureNames != nil
	if !inline && (!o.NoLabels || o.LabelColumn == "" || (!byName && c.features == o.Features)) {
		return ""
	}
	column := strings.TrimSpace(o.LabelColumn)
	column = cmp.Or(column, "last")
	j, fault := c.find(column, "the label column")
	if !inline && byName && (fault != "" || slices.Contains(o.FeatureNames, c.names[j])) {
		return "" // the features are there or not, whatever else is
	}
	if fault != "" {
		return fault
	}
	if inline && o.MayLackLabels && o.LabelColumn == "" &&
		(byName && slices.Contains(o.FeatureNames, c.names[j]) ||
			c.names == nil && c.features == o.Features) {
		return "" // the last column is a feature, so there is no label
	}
	if column == "last" {
		for j > 0 && ((j == c.id || c.role[j] == weight) && o.LabelColumn == "" || c.names != nil &&
			strings.HasPrefix(c.names[j], parquetIndex)) {
			j--
		}
	}
	if c.role[j] == identity && inline {
		return fmt.Sprintf("found the label column %s to be the column of ids, wanted one or the other",
			quote.Text(column))
	}
	if c.role[j] == weight && inline {
		return fmt.Sprintf("found the label column %s to be the column of weights, wanted one or the "+
			"other", quote.Text(column))
	}
	if c.role[j] == ignored && inline {
		return fmt.Sprintf("found the label column %s among the columns to leave out, wanted one or the "+
			"other", quote.Text(column))
	}
	c.leaveOut(j)
	if inline {
		c.label, c.role[j] = j, label
	}
	return ""
}

// parquetIndex begins the names that pandas gives in Parquet to an index without one.
const parquetIndex = "__index_level_"

// isIndexName reports whether pandas or R's readr give this name to a column without one.
func isIndexName(name string) bool {
	return name == "Unnamed: 0" || strings.HasPrefix(name, "Unnamed: 0.") || name == "...1"
}

// leaveOutIndex leaves out columns that are an index by name, unless wanted.
func (c *columns) leaveOutIndex(o Options, r *remarks) {
	leading := true
	for j, name := range c.names {
		leading = leading && (j == 0 && name == "" || isIndexName(name))
		if !(leading && name != "") && !strings.HasPrefix(name, parquetIndex) {
			continue
		}
		enough := o.Features > 0 && o.FeatureNames == nil && c.features <= o.Features
		if c.role[j] == feature && !enough && c.features > 1 && !slices.Contains(o.FeatureNames, name) {
			c.leaveOut(j)
			r.note("column %d (%s) is an index and is left out; rename it if it is a feature", j+1,
				name)
		}
	}
}

// keepWanted leaves out what Options.FeatureNames does not list.
func (c *columns) keepWanted(o Options, r *remarks) string {
	if c.names == nil || o.FeatureNames == nil {
		return ""
	}
	have := c.featureNames()
	if _, fault := dataset.MatchNames(have, o.FeatureNames); fault != "" {
		if c.label >= 0 && slices.Contains(o.FeatureNames, c.names[c.label]) {
			fault += fmt.Sprintf("; the label was taken from column %d (%s): name its own ("+
				quote.Option("label-column")+")", c.label+1, quote.Printable(c.names[c.label]))
		}
		return fault
	}
	if slices.Equal(have, o.FeatureNames) {
		return ""
	}
	if note := dataset.ExtraNote(have, o.FeatureNames); note != "" {
		r.note("%s", note)
	}
	wanted := lists.Set(o.FeatureNames)
	for j, name := range c.names {
		if !wanted[name] {
			c.leaveOut(j)
		}
	}
	return ""
}

// about enters the names and positions of the columns in d.
func (c *columns) about(d *dataset.Dataset) {
	d.Features, d.Label, d.LabelColumn = c.featureNames(), c.nameOf(c.label), c.label+1
	d.ID, d.IDColumn = c.nameOf(c.id), c.id+1
}

// find returns the column that text means: a name, first, last, or a position.
func (c *columns) find(text, what string) (int, string) {
	width := len(c.role)
	position := columnPosition(text, width)
	if text != "first" && text != "last" {
		named, twice := findName(c.names, text)
		if twice {
			return 0, fmt.Sprintf("found several columns named %s, wanted one as %s; rename one of them",
				quote.Text(text), what)
		}
		if named >= 0 {
			return named, ""
		}
	}
	switch {
	case position >= 0:
		return position, ""
	case decimal.IsInteger(text):
		return 0, fmt.Sprintf("found %d columns, wanted %s in position %s", width, what, quote.Text(text))
	case c.names == nil:
		return 0, fmt.Sprintf("found no header, wanted one with %s %s; give the column's position, "+
			"first or last", what, quote.Text(text))
	}
	return 0, fmt.Sprintf("found the columns %s, wanted %s %s", quote.List(c.names), what,
		quote.Text(text))
}

// describe names column j in an error message.
func (c *columns) describe(j int) string { return dataset.ColumnText(j+1, c.nameOf(j)) }

// of returns the column of feature k.
func (c *columns) of(k int) int {
	for j, role := range c.role {
		if role == feature {
			if k--; k < 0 {
				return j
			}
		}
	}
	return -1
}

// featureNames returns the names of the features, nil without a header.
func (c *columns) featureNames() []string {
	if c.names == nil {
		return nil
	}
	names := make([]string, 0, c.features)
	for j, name := range c.names {
		if c.role[j] == feature {
			names = append(names, name)
		}
	}
	return names
}

// nameOf returns the name of column j, "" without a header.
func (c *columns) nameOf(j int) string {
	if j < 0 || j >= len(c.names) {
		return ""
	}
	return c.names[j]
}

// findName returns the first of names that is text, -1 for none, and whether several are.
func findName(names []string, text string) (at int, twice bool) {
	at = slices.Index(names, text)
	return at, at >= 0 && slices.Contains(names[at+1:], text)
}

// columnPosition returns the column, from 0, that a text means among width, -1 for none.
func columnPosition(column string, width int) int {
	switch column {
	case "first":
		return 0
	case "last":
		return width - 1
	}
	position, err := strconv.ParseUint(column, 10, 31)
	if err != nil || position < 1 || position > uint64(width) {
		return -1
	}
	return int(position) - 1
}

// chooseOther gives a column that is no feature its role, if one is asked for; not says among which
// it must not be. It returns the column, -1 for none.
func (c *columns) chooseOther(asked, what, not string, purpose role) (at int, fault string) {
	text := strings.TrimSpace(asked)
	if text == "" {
		return -1, ""
	}
	j, fault := c.find(text, what)
	if fault == "" && c.role[j] != feature {
		fault = fmt.Sprintf("found %s %s among the columns to leave out%s, wanted one or the other", what,
			quote.Text(text), not)
	}
	if fault != "" {
		return -1, fault
	}
	c.leaveOut(j)
	c.role[j] = purpose
	return j, ""
}

// resolve decides what the columns of a table are for, and what its cells become. kinds returns
// what the features among the columns hold; places says what errors count, "line" or "example".
func (c *collector) resolve(t *columns, names []string, width int, places string,
	kinds func() ([]string, string)) (fault string) {
	if *t, fault = chooseColumns(names, width, c.o, c.inline(),
		&c.remarks); fault != "" {
		return fault
	}
	c.describe = t.about
	if t.label < 0 && c.inline() {
		c.labels = nil
	}
	list, fault := kinds()
	if fault == "" && t.features == 0 {
		fault = withoutFeatures(&c.remarks, nil)
	}
	if c.survey.holes = c.survey.holes || c.known.gaps; fault == "" {
		c.cells, fault = t.cells(places, list, c.o, &c.survey, &c.remarks)
	}
	c.column = func(k int) string { return t.describe(t.of(k)) }
	switch {
	case fault != "":
	case c.cells == nil:
		if c.survey.commas != nil {
			for j, role := range t.role {
				if role == feature {
					c.numbers.commas = append(c.numbers.commas, c.survey.commas[j])
				}
			}
		}
		beginNumbers(c, t.features, t.featureNames())
	default:
		c.pile.width = t.features
		beginCells(c)
	}
	return fault
}

// cells returns a collection of the columns, of those kinds unless o.Encoding knows them; nil if
// all are numbers.
func (c *columns) cells(places string, kinds []string, o Options, s *survey, r *remarks) (*cells,
	string) {
	if o.Encoding == nil && o.Encode == nil {
		return nil, ""
	}
	plain := o.Encoding != nil && o.Encoding.Plain() && !s.holes ||
		o.Encoding == nil && (o.Encode.Missing == "" || o.Encode.Missing == dataset.MissingError ||
			o.lenient() && !s.holes)
	var list []dataset.TableColumn
	for j, role := range c.role {
		if role != feature {
			continue
		}
		column := dataset.TableColumn{Name: c.nameOf(j), Position: j + 1, Kind: dataset.KindNumber,
			Chosen: s.asked[j] == dataset.KindCategory, Dates: s.dates[j], Commas: s.comma(j)}
		if kinds != nil {
			column.Kind = kinds[len(list)]
		}
		plain = plain && column.Kind == dataset.KindNumber && !column.Dates &&
			!(o.lenient() && features.NamesExamples(column.Name))
		switch why := s.asides[j]; {
		case why == "":
		case column.Kind == dataset.KindAside:
			r.note("%s", features.AsideNote(&column, why))
		default:
			r.note("%s %s (%s leaves it out)", &column, why,
				quote.Option("ignore-columns", column.Option()))
		}
		list = append(list, column)
	}
	if plain {
		return nil, ""
	}
	made, fault := newCells(places, list, o, c.names != nil && o.FeatureNames != nil)
	if made != nil {
		made.surveyed = s.whole
	}
	return made, fault
}

// option names column j as flags do.
func (c *columns) option(j int) string { return dataset.ColumnOption(j+1, c.nameOf(j)) }

// asked returns what the user says that columns are: nothing if o is nil.
func (c *columns) asked(o *features.EncodeOptions) (asked map[int]string, fault string) {
	if o == nil {
		return nil, ""
	}
	asked = make(map[int]string, len(o.Categories)+len(o.Text.Columns))
	for _, list := range []struct {
		kind, what string
		columns    []string
	}{{dataset.KindCategory, "a category", o.Categories}, {dataset.KindText, "a text",
		o.Text.Columns}} {
		for _, text := range list.columns {
			j, fault := c.find(strings.TrimSpace(text), list.what)
			if fault == "" && c.role[j] != feature {
				fault = fmt.Sprintf("found %s, asked for as %s, among the columns that are no features, "+
					"wanted one or the other", c.describe(j), list.what)
			}
			if fault == "" && asked[j] != "" && asked[j] != list.kind {
				fault = fmt.Sprintf("found %s, asked for as a category, among the texts, wanted one or the "+
					"other", c.describe(j))
			}
			if fault != "" {
				return nil, fault
			}
			asked[j] = list.kind
		}
	}
	return asked, ""
}

// forTable returns o for a table with those columns: a model's Encoding wants the columns it was
// made of, unless the table has the features themselves.
func (o Options) forTable(header []string) Options {
	e := o.Encoding
	if e == nil {
		return o
	}
	columns, present := e.ColumnNames(), lists.Set(header)
	has := func(wanted []string) bool {
		return wanted != nil && !slices.ContainsFunc(wanted,
			func(name string) bool { return !present[name] })
	}
	if !has(columns) && has(e.FeatureNames()) {
		o.Encoding, o.Encode = nil, nil
		return o
	}
	o.Features = len(e.Columns)
	if o.FeatureNames != nil {
		o.FeatureNames = columns
	}
	return o
}
