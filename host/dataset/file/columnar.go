package file

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Parquet opens a Parquet file of size bytes; nil unless package host/dataset/parquet is linked.
var Parquet func(r io.ReaderAt, size int64) (*Columnar, error)

// Columnar is an open table that is stored by columns. Its errors do not name the file.
type Columnar struct {
	Columns []StoredColumn
	Rows    []int64 // of each row group, as the file claims
	// Numbers sets dst[i·stride] to value i of a column of numbers in a row group; a missing one is
	// the NaN of decimal.MissingBits.
	Numbers func(group, column int, dst []float32, stride int) error
	// Texts returns the values of a column in a row group as a CSV has them, nil for missing ones.
	Texts func(group, column int) ([]*string, error)
}

// StoredColumn is what a file says of a column.
type StoredColumn struct {
	Name, Type string
	Kind       StoredKind
}

// StoredKind says what a column holds.
type StoredKind int

const (
	StoredOther   StoredKind = iota
	StoredInteger            // truths, integers, and decimals of fixed digits
	StoredFloat
	StoredText
	StoredDate
	StoredNested // several values in a row
)

func (k StoredKind) number() bool { return k == StoredInteger || k == StoredFloat }

// columnarReader reads a table row group by row group, and each of these column by column.
type columnarReader struct {
	c       *collector
	table   *Columnar
	columns columns
}

// enterParquet reads a table of plain columns: numbers as features, numbers or texts as the label.
func enterParquet(c *collector, s *source, o Options) error {
	if err := c.next(s, o); err != nil {
		return err
	}
	if Parquet == nil {
		return s.errorf("found Parquet, which this program does not read (import package " +
			"host/dataset/parquet, or write the table as CSV)")
	}
	at, size, err := s.whole()
	if err != nil {
		return err
	}
	table, err := Parquet(at, size)
	if err != nil {
		return s.errorf("%w", err)
	}
	r := &columnarReader{c: c, table: table}
	names := make([]string, len(table.Columns))
	for j, column := range table.Columns {
		names[j] = column.Name
	}
	c.o = c.o.forTable(names)
	if fault := c.resolve(&r.columns, names, len(names), "example", r.kinds); fault != "" {
		return s.errorf("%s", fault)
	}
	width, limit := c.pile.width, max(s.limits.dense, s.limits.perByte*s.text)
	for g, rows := range table.Rows {
		if rows < 0 || rows > int64(s.limits.rows) || float64(rows)*float64(width)*4 > float64(limit) {
			return c.faults.fatal(s.errorf("found a row group of %d examples × %d features, wanted at "+
				"most %d bytes in memory; write the file with smaller row groups", rows, width, limit))
		}
		if err := r.group(g, int(rows)); err != nil {
			return err
		}
	}
	return nil
}

// kinds returns what the columns that are features hold, in their order.
func (r *columnarReader) kinds() (kinds []string, fault string) {
	asked, fault := r.columns.asked(r.c.o.Encode)
	if fault != "" {
		return nil, fault
	}
	mixed := r.c.o.Encode != nil || r.c.o.Encoding != nil
	for j, c := range r.table.Columns {
		if r.columns.role[j] == ignored {
			continue
		}
		isFeature, isText := r.columns.role[j] == feature, c.Kind == StoredText
		known := isText || c.Kind.number()
		switch {
		case r.c.o.lenient() && isFeature && !known:
			r.columns.leaveOut(j)
			r.c.remarks.note("%s is set aside: it is of type %s", r.columns.describe(j), c.Type)
			continue
		case c.Kind == StoredNested:
			return nil, r.columns.describe(j) +
				" is nested, wanted one plain value per example; leave it out"
		case c.Kind == StoredDate && isFeature && mixed:
			return nil, datesFault(&r.columns, j, "values of type "+c.Type)
		case !known || isText && isFeature && !mixed:
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

// group enters the n examples of one row group.
func (r *columnarReader) group(g, n int) error {
	d := r.c.pile.width
	x := make([]float32, n*d)
	texts := make([][]*string, d) // of the features that are texts
	others := make([][]*string, len(r.table.Columns))
	next := 0 // feature
	for j, c := range r.table.Columns {
		var err error
		switch r.columns.role[j] {
		case ignored:
		case feature:
			if r.c.encoder != nil && (c.Kind == StoredText || !r.c.encoder.IsNumber(next)) {
				texts[next], err = r.table.Texts(g, j)
			} else if n > 0 {
				err = r.table.Numbers(g, j, x[next:], d)
			}
			next++
		default:
			others[j], err = r.table.Texts(g, j)
		}
		if err != nil {
			return r.c.faults.fatal(r.c.src.errorf("%s, %w", r.columns.describe(j), err))
		}
	}
	setOthers := func(i int) error {
		for j, rows := range others {
			if rows == nil {
				continue
			}
			if fault := r.other(j, rows[i]); fault != "" {
				return r.c.src.errorf("example %d, %s: %w", r.c.number(), r.columns.describe(j),
					fieldFault(fault))
			}
		}
		return nil
	}
	if r.c.encoder != nil {
		return r.mixedGroup(x, texts, n, setOthers)
	}
	names := r.columns.featureNames()
	return r.c.adopt(x, setOthers, func(i, j int, v float32) error {
		fault := r.c.src.errorf("example %d, column %s: %s", i+1, quote.Text(names[j]),
			decimal.FaultOf(v))
		return advise(r.c.o, fault, v != v && math.Float32bits(v) != decimal.OverflowBits)
	})
}

// other takes the value of a column that is no feature, nil if it is missing.
func (r *columnarReader) other(j int, value *string) (fault string) {
	text := ""
	if value != nil {
		text = *value
	}
	if r.columns.role[j] == label && value == nil && !r.c.o.lacksLabels() {
		return nullLabel
	}
	if r.columns.role[j] == label && text != "" && r.table.Columns[j].Kind == StoredFloat {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err.Error()
		}
		whole, fault := appendWhole(nil, v)
		if fault == noNumber && r.c.o.lacksLabels() {
			fault = ""
		}
		if fault != "" {
			return fault
		}
		text = string(whole)
	}
	return r.c.setOther(r.columns.role[j], []byte(text))
}

// mixedGroup enters n examples of more than numbers: of each feature texts, or a column of x.
func (r *columnarReader) mixedGroup(x []float32, texts [][]*string, n int,
	setOthers func(i int) error) error {
	names, d := r.columns.featureNames(), r.c.pile.width
	for i := range n {
		r.c.encoder.Begin(r.c.number())
		err := setOthers(i)
		for k := 0; k < d && err == nil; k++ {
			v, missing := x[i*d+k], false
			fault := ""
			switch {
			case texts[k] != nil && texts[k][i] != nil:
				text := []byte(*texts[k][i])
				missing, fault = encode.IsMissing(text), r.c.encoder.Set(k, text, &r.c.pile.subnormals)
			case texts[k] != nil || v != v && math.Float32bits(v) != decimal.OverflowBits:
				missing, fault = true, r.c.encoder.SetMissing(k, nil)
			case !decimal.Finite(v):
				fault = decimal.FaultOf(v)
			default:
				r.c.encoder.SetNumber(k, decimal.Flush(v, &r.c.pile.subnormals))
			}
			if fault == "" {
				continue
			}
			err = advise(r.c.o, r.c.src.errorf("example %d, column %s: %s", r.c.number(),
				quote.Text(names[k]), fault), missing)
		}
		if err := r.c.decide(err, r.c.number()); err != nil {
			return err
		}
	}
	return nil
}

// advise adds advice to the error of a missing value.
func advise(o Options, err error, missing bool) error {
	if missing && o.Encode != nil {
		return fmt.Errorf("%w; %w", err, features.ErrMissing)
	}
	return err
}
