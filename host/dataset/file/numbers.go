package file

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// numbers says how columns that are nothing but numbers become float32.
type numbers struct {
	row     []float64       // of the current example, NaN where one is missing
	origins []float64       // of the columns; nil if all are 0
	commas  []bool          // columns that have decimal commas; nil if none has
	fills   bool            // a model has means for missing values, which make cells of the numbers
	spans   []features.Span // of the columns; nil if nothing is to be found out
	watched []int           // columns whose spans more values can change
	rest    uint64          // of the current example, with Options.Exact
	rests   []uint64        // of the examples; nil while all are 0
	done    bool            // the rows are behind their origins, and the spans have their values
}

// beginNumbers prepares for rows of d numbers with those names, nil for none.
func beginNumbers(c *collector, d int, names []string) {
	c.pile.x, c.pile.width = []float32{}, d
	n := &c.numbers
	n.origins = c.known.origins
	e := c.o.Encoding
	if e == nil || !e.Plain() || len(e.Columns) != d {
		return
	}
	columns := slices.Clone(e.Columns)
	if names != nil && c.o.FeatureNames != nil { // these are matched when all are read
		for k, name := range names {
			columns[k] = e.Columns[slices.IndexFunc(e.Columns,
				func(known dataset.Column) bool { return known.Name == name })]
		}
	}
	here := dataset.Encoding{Columns: columns}
	n.origins, n.commas = here.Origins(), c.o.commas(here.Commas(), d)
	n.fills = e.Missing == dataset.MissingMean
}

// refuseSparse refuses sparse data where a model has learned an origin, which makes zeros others.
func refuseSparse(c *collector) error {
	for j, origin := range c.o.Encoding.Origins() {
		if origin != 0 {
			return c.src.errorf("found sparse data, wanted a table or a dense array: the model takes "+
				"%s relative to %.15g", dataset.ColumnText(j+1, c.o.Encoding.Columns[j].Name), origin)
		}
	}
	return nil
}

// judges reports whether the columns are to be judged, as no model has done it.
func judges(c *collector) bool {
	return c.asked.Encoding == nil && c.asked.Features == 0 && c.prepared == nil
}

// enterNumbers enters the row in pile. It returns what is wrong with the first value that has no
// float32, as cell words it, or the lesson that values are missing which a model fills.
func enterNumbers(c *collector, cell func(j int, v float64) error) error {
	n, p := &c.numbers, &c.pile
	if n.spans == nil && !n.done && judges(c) { // not before there is a row: headers claim any
		n.spans, n.watched = features.SpansOf(len(n.row)), lists.UpTo[int](len(n.row))
	}
	p.x = slices.Grow(p.x, len(n.row))
	x := p.x[len(p.x):][:len(n.row)]
	for j, v := range n.row {
		if n.origins != nil && !n.done {
			v -= n.origins[j]
		}
		f := float32(v)
		switch bits := math.Float32bits(f); bits & 0x7f800000 {
		case 0x7f800000:
			if v != v && n.fills {
				return c.known.withGaps()
			}
			return cell(j, n.row[j])
		case 0:
			if bits<<1 != 0 && c.prepared == nil {
				f = decimal.Flush(f, &p.subnormals)
			}
		}
		x[j] = f
	}
	if n.rest = 0; c.o.Exact {
		for j, v := range n.row {
			n.rest = restOf(n.rest, j, v-originOf(c, j), x[j])
		}
	}
	p.x = p.x[:len(p.x)+len(n.row)]
	return nil
}

// restOf adds to a hash of an example what number j loses as float32.
func restOf(rest uint64, j int, v float64, rounded float32) uint64 {
	lost := v - float64(rounded)
	if lost == 0 || lost != lost {
		return rest
	}
	const prime = 0x9e3779b97f4a7c15
	return (rest ^ math.Float64bits(lost) ^ uint64(j)<<32) * prime
}

// keepRest keeps what example i lost.
func (n *numbers) keepRest(i int) {
	if n.rests == nil && n.rest != 0 {
		n.rests = make([]uint64, i)
	}
	if n.rests != nil {
		n.rests = append(n.rests, n.rest)
	}
}

// originOf returns the origin of column j.
func originOf(c *collector, j int) float64 {
	switch {
	case c.cells != nil:
		return c.cells.columns[j].Origin
	case c.numbers.origins != nil:
		return c.numbers.origins[j]
	}
	return 0
}

// alreadyRounded says that the rows are behind their origins, and the spans have all values.
func alreadyRounded(c *collector, spans []features.Span) {
	if !judges(c) {
		spans = nil
	}
	c.numbers.done, c.numbers.spans = true, spans
	if c.cells != nil {
		c.cells.done, c.cells.spans = true, spans
	}
}

// watch looks at the row that is kept.
func (n *numbers) watch() {
	if len(n.watched) > 0 {
		n.watched = slices.DeleteFunc(n.watched,
			func(j int) bool { return !n.spans[j].Add(n.row[j]) })
	}
}

// addRow enters the row of numbers, unless fault says what is wrong with its example; cell words
// the error of a value that is no finite float32.
func (c *collector) addRow(fault error, cell func(j int, v float64) error) error {
	switch {
	case fault != nil:
	case c.cells == nil:
		fault = enterNumbers(c, cell)
	default:
		c.cells.begin(c.number())
		for k, v := range c.numbers.row {
			if what := c.cells.setNumber(k, v); what != "" && fault == nil {
				fault = cell(k, v)
			}
		}
	}
	return c.decide(fault, c.number())
}

// learnOrigins returns the lesson that columns of numbers have origins, if it is not known.
func learnOrigins(c *collector) error {
	if c.known.origins != nil {
		return nil
	}
	spans := c.numbers.spans
	if c.cells != nil {
		spans = c.cells.spans
	}
	known := c.known
	if known.origins = features.Origins(spans); known.origins == nil {
		return nil
	}
	return &known
}

// mayBeCells reports whether the d columns of an array are cells, as a model makes more of each
// than a feature, or as some have missing values.
func mayBeCells(c *collector, d int) bool {
	e := c.o.Encoding
	if e != nil && !e.Plain() && len(e.Columns) == d && !slices.ContainsFunc(e.Columns,
		func(column dataset.Column) bool { return column.Kind != dataset.KindNumber }) {
		c.o.Features = d
		return true
	}
	return c.known.gaps
}

// beginArray prepares for the d columns of an array.
func beginArray(c *collector, d int, cells bool) {
	if !cells {
		beginNumbers(c, d, nil)
		return
	}
	columns := make([]dataset.TableColumn, d)
	for j := range columns {
		columns[j] = dataset.TableColumn{Position: j + 1, Kind: dataset.KindNumber}
	}
	c.cells, _ = newCells("example", columns, c.o, false) // their number is right
	beginCells(c)
}

// beginCells prepares the cells for numbers.
func beginCells(c *collector) {
	if judges(c) {
		c.cells.spans = features.SpansOf(len(c.cells.columns))
	}
	for k, origin := range c.known.origins {
		c.cells.columns[k].Origin = origin
	}
}

// noteNumbers says in d what of the numbers is not as it was read.
func noteNumbers(c *collector, d *dataset.Dataset) {
	column := c.column
	if column == nil {
		column = func(k int) string { return dataset.ColumnText(k+1, "") }
	}
	for _, note := range features.OriginNotes(c.numbers.spans, c.numbers.origins, column) {
		d.Notes = append(d.Notes, c.src.path+": "+note)
	}
}

// plainEncoding returns the encoding of columns of numbers with names or with origins, nil for
// others: what is missing where they are predicted becomes their mean.
func plainEncoding(c *collector, d *dataset.Dataset) *dataset.Encoding {
	origins, commas := c.numbers.origins, c.numbers.commas
	if !judges(c) || c.numbers.row == nil {
		return nil
	}
	if origins == nil && commas != nil {
		origins = make([]float64, d.D)
	}
	var e *dataset.Encoding
	switch {
	case c.o.lenient() && (origins != nil || d.Features != nil):
		e = features.Plain(d.Features, origins, features.Means(d.Examples))
	case origins != nil:
		e = features.Plain(d.Features, origins, nil)
	}
	features.SetCommas(e, commas)
	return e
}
