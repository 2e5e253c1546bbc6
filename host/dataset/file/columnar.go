package file

import (
	"fmt"
	"math"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/columnar"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// columnarReader reads a table row group by row group, and each of these column by column.
type columnarReader struct {
	*builder
	table   columnar.Table
	held    []columnar.Column
	columns columns
}

// enterParquet reads a table of plain columns: numbers as features, numbers or texts as the label.
func enterParquet(b *builder) error {
	s := b.src
	if columnar.Parquet == nil {
		return s.errorf("found Parquet, which this program does not read (import package " +
			"host/dataset/parquet, or write the table as CSV)")
	}
	at, size, err := s.whole()
	if err != nil {
		return err
	}
	table, err := columnar.Parquet(at, size,
		columnar.Limits{Page: s.limits.page, Window: s.limits.window})
	if err != nil {
		return s.errorf("%w", err)
	}
	r := &columnarReader{builder: b, table: table, held: table.Columns()}
	if err := r.resolve(); err != nil {
		return err
	}
	return r.groups()
}

// groups enters the examples of all row groups.
func (r *columnarReader) groups() error {
	for g, rows := range r.table.Groups() {
		if err := r.checkGroup(g, rows); err != nil {
			return r.fatal(err)
		}
		if rows == 0 {
			continue
		}
		if err := r.group(g, int(rows)); err != nil {
			return err
		}
	}
	return nil
}

// resolve chooses the columns and refuses columns that are no numbers.
func (r *columnarReader) resolve() error {
	names := make([]string, len(r.held))
	for j, c := range r.held {
		names[j] = c.Name
	}
	r.o = r.o.forTable(names)
	fault := r.builder.resolve(&r.columns, names, len(names), "example", r.kinds)
	if fault != "" {
		return r.src.errorf("%s", fault)
	}
	return nil
}

// kinds returns what the columns that are features hold, in their order.
func (r *columnarReader) kinds() (kinds []string, fault string) {
	asked, fault := r.columns.asked(r.o.Encode)
	if fault != "" {
		return nil, fault
	}
	mixed := r.o.Encode != nil || r.o.Encoding != nil
	for j, c := range r.held {
		if r.columns.role[j] == ignored {
			continue
		}
		isFeature := r.columns.role[j] == feature
		isText := c.Number.Kind == 'S' && !c.Decimal
		switch {
		case r.o.lenient() && isFeature && (c.Nested || c.Number.Kind == 0):
			r.columns.leaveOut(j)
			r.o.remarks.note("%s is set aside: it is of type %s", r.columns.describe(j), c.Type)
			continue
		case c.Nested:
			return nil, r.columns.describe(j) +
				" is nested, wanted one plain value per example; leave it out"
		case c.Number.Kind == 0 && isFeature && mixed && c.Date:
			return nil, datesFault(&r.columns, j, "values of type "+c.Type)
		case c.Number.Kind == 0 || isText && isFeature && !mixed:
			return nil, fmt.Sprintf("%s is of type %s, wanted float, double, decimals, integers or "+
				"booleans; leave it out or make it numbers", r.columns.describe(j), c.Type)
		case !isFeature:
			continue
		}
		kind := asked[j]
		if kind == "" && isText {
			kind = dataset.KindCategory
		} else if kind == "" {
			kind = dataset.KindNumber
		}
		kinds = append(kinds, kind)
	}
	return kinds, ""
}

// checkGroup refuses a row group of more memory than allowed, or of other columns.
func (r *columnarReader) checkGroup(g int, n int64) error {
	d := r.width
	limit := max(r.src.limits.dense, r.src.limits.perByte*r.src.text)
	if n < 0 || n > int64(r.src.limits.rows) || float64(n)*float64(d)*4 > float64(limit) {
		return r.src.errorf("found a row group of %d examples × %d features, wanted at most %d bytes in "+
			"memory; write the file with smaller row groups", n, d, limit)
	}
	for j := range r.held {
		if r.columns.role[j] == ignored {
			continue
		}
		if err := r.table.Check(g, j); err != nil {
			return r.src.errorf("%s: %w", r.columns.describe(j), err)
		}
	}
	return nil
}

// columnTexts are the values of a column as texts, equal ones once, and nil for missing ones.
type columnTexts struct {
	rows   []*string
	known  map[string]*string
	faults map[int]string
}

// take returns a function that keeps values; toText returns what is wrong with one.
func (c *columnTexts) take(n int, toText func(raw []byte) ([]byte, string)) func(i int,
	raw []byte) {
	c.rows, c.known, c.faults = make([]*string, n), map[string]*string{}, map[int]string{}
	return func(i int, raw []byte) {
		if raw == nil {
			return
		}
		raw, fault := toText(raw)
		if fault != "" {
			c.faults[i] = fault
		}
		if c.rows[i] = c.known[string(raw)]; c.rows[i] == nil {
			text := string(raw)
			c.known[text], c.rows[i] = &text, &text
		}
	}
}

// row returns the text of a row, "" for a missing one.
func (c *columnTexts) row(i int) []byte {
	if c.rows[i] == nil {
		return nil
	}
	return []byte(*c.rows[i])
}

// group enters the n examples of one row group.
func (r *columnarReader) group(g, n int) error {
	d := r.width
	x := make([]float32, n*d)
	texts := make([]*columnTexts, d) // of the features that are texts
	var labels, ids, weights columnTexts
	next := 0 // of the features
	for j, c := range r.held {
		t := numberType{c.Number}
		var take func(i int, raw []byte)
		switch r.columns.role[j] {
		case ignored:
			continue
		case label:
			take = labels.take(n, func(raw []byte) ([]byte, string) {
				if t.Kind == 'S' {
					return raw, ""
				}
				return t.appendLabel(nil, raw)
			})
		case identity:
			take = ids.take(n, t.text)
		case weight:
			take = weights.take(n, t.text)
		case feature:
			at := next
			next++
			if r.Encoder != nil && (t.Kind == 'S' && !c.Decimal || !r.Encoder.IsNumber(at)) {
				texts[at] = &columnTexts{}
				take = texts[at].take(n, t.text)
				break
			}
			decode := t.decoder()
			if c.Decimal {
				decode = decodeDecimal
			}
			take = func(i int, raw []byte) {
				if raw == nil {
					x[i*d+at] = math.Float32frombits(decimal.MissingBits)
					return
				}
				decode(x[i*d+at:][:1], raw)
			}
		}
		if err := r.table.Read(g, j, take); err != nil {
			return r.fatal(r.src.errorf("%s, %w", r.columns.describe(j), err))
		}
	}
	setOthers := func(i int) error {
		if ids.rows != nil {
			if fault := r.ids.set(ids.row(i)); fault != "" {
				return r.src.errorf("example %d, %s: %s", r.number(), r.columns.describe(r.columns.id), fault)
			}
		}
		if weights.rows != nil {
			if fault := r.weights.set(weights.row(i)); fault != "" {
				return r.src.errorf("example %d, column of weights: %s", r.number(), fault)
			}
		}
		if labels.rows == nil {
			return nil
		}
		fault := labels.faults[i]
		if fault == noNumber && r.o.lacksLabels() {
			fault = ""
		}
		if labels.rows[i] == nil && !r.o.lacksLabels() {
			fault = "found a missing label (null), wanted a class"
		}
		if fault == "" {
			fault = r.labels.set(labels.row(i))
		}
		if fault != "" {
			return r.src.errorf("example %d, %s: %s", r.number(), r.columns.describe(r.columns.label), fault)
		}
		return nil
	}
	if r.Encoder != nil {
		return r.mixedGroup(x, texts, setOthers)
	}
	names := r.columns.featureNames()
	return r.adopt(x, d, setOthers, func(i, j int, v float32) error {
		fault := r.src.errorf("example %d, column %s: %s", i+1, quote.Text(names[j]), decimal.FaultOf(v))
		return r.advise(fault, v != v && math.Float32bits(v) != decimal.OverflowBits)
	})
}

// decodeDecimal makes a float32 of the digits of a number, or the mark of overflow.
func decodeDecimal(dst []float32, text []byte) {
	v, ok := decimal.Parse(text)
	if !ok {
		v = math.Float32frombits(decimal.OverflowBits)
	}
	dst[0] = v
}

// text returns a value as a CSV would have it.
func (t numberType) text(raw []byte) ([]byte, string) {
	switch {
	case t.Kind == 'f' && t.Size == 4:
		return strconv.AppendFloat(nil, float64(math.Float32frombits(t.Order().Uint32(raw))), 'g', -1,
			32), ""
	case t.Kind == 'f':
		return strconv.AppendFloat(nil, math.Float64frombits(t.Order().Uint64(raw)), 'g', -1, 64), ""
	case t.Kind != 'S':
		return t.appendLabel(nil, raw)
	}
	return raw, ""
}

// mixedGroup enters a row group of more than numbers: of each feature texts, or a column of x.
func (r *columnarReader) mixedGroup(x []float32, texts []*columnTexts,
	setOthers func(i int) error) error {
	names, d := r.columns.featureNames(), r.width
	for i := range len(x) / d {
		r.Encoder.Begin(r.number())
		err := setOthers(i)
		for k := 0; k < d && err == nil; k++ {
			v, missing := x[i*d+k], false
			fault := ""
			switch {
			case texts[k] != nil && texts[k].rows[i] != nil:
				text := texts[k].row(i)
				missing, fault = encode.IsMissing(text), r.Encoder.Set(k, text, &r.subnormals)
			case texts[k] != nil || v != v && math.Float32bits(v) != decimal.OverflowBits:
				missing, fault = true, r.Encoder.SetMissing(k, nil)
			case !decimal.Finite(v):
				fault = decimal.FaultOf(v)
			default:
				r.Encoder.SetNumber(k, decimal.Flush(v, &r.subnormals))
			}
			if fault == "" {
				continue
			}
			err = r.advise(r.src.errorf("example %d, column %s: %s", r.number(), quote.Text(names[k]),
				fault), missing)
		}
		if err := r.decide(err, r.number()); err != nil {
			return err
		}
	}
	return nil
}
