package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// parquetReader reads a table row group by row group, and each of these column by column.
type parquetReader struct {
	c       *collector
	groups  []parquet.RowGroup
	stored  []parquetColumn
	columns columns
}

// parquetColumn is what a file says of a column.
type parquetColumn struct {
	leaf            *parquet.Column
	typ             string
	kind            parquetKind
	decimal         bool // integers with scale digits after the point
	scale           int
	unsignedInteger bool
	unit            time.Duration // of a date, since 1970; 0 of a time
	rounded         bool          // a note says that a number was
}

// parquetKind says what a column holds.
type parquetKind int

const (
	parquetOther   parquetKind = iota
	parquetInteger             // truths, integers, and decimals of fixed digits
	parquetFloat
	parquetText
	parquetDate
	parquetNested // several values in a row
)

func (k parquetKind) number() bool { return k == parquetInteger || k == parquetFloat }

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// enterParquet reads a table of plain columns: numbers as features, numbers or texts as the label.
func enterParquet(c *collector) error {
	s := c.src
	if err := c.begin(); err != nil {
		return err
	}
	at, size, err := s.whole()
	if err != nil {
		return err
	}
	r := &parquetReader{c: c}
	rows, err := r.open(at, size)
	if err != nil {
		return s.errorf("%w", err)
	}
	names := make([]string, len(r.stored))
	for j, column := range r.stored {
		names[j] = column.leaf.Name()
	}
	c.o = c.o.forTable(names)
	if fault := c.resolve(&r.columns, names, len(names), "example", r.kinds); fault != "" {
		return s.errorf("%s", fault)
	}
	width, limit := c.pile.width, max(s.limits.dense, s.limits.perByte*s.text)
	for g, n := range rows {
		what := fmt.Sprintf("a row group of %d examples × %d features", n, width)
		if n < 0 || n > int64(s.limits.rows) || float64(n)*float64(width)*4 > float64(limit) {
			return s.errorf("found %s, wanted at most %d bytes in memory; write the file with smaller row "+
				"groups", what, limit)
		}
		if err := memory.Check(memory.Product(int(n), width, 8), what); err != nil {
			return s.errorf("%w; write the file with smaller row groups", err)
		}
		if err := r.group(g, int(n)); err != nil {
			return err
		}
	}
	return nil
}

// open reads the schema, and returns the number of rows of each row group, as the file claims.
func (r *parquetReader) open(at io.ReaderAt, size int64) (rows []int64, err error) {
	defer recovered("Parquet", &err)
	notWhole := "found no whole Parquet file (%w); if it was cut short, fetch it again"
	if err := checkFooter(at, size); err != nil {
		return nil, fmt.Errorf(notWhole, err)
	}
	f, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf(notWhole, err)
	}
	r.groups = f.RowGroups()
	for _, leaf := range f.Root().Columns() {
		r.stored = append(r.stored, describeParquet(leaf))
	}
	for g, group := range f.Metadata().RowGroups {
		for _, column := range r.stored {
			if column.kind == parquetNested {
				continue
			}
			if err := checkChunk(column.leaf, &group); err != nil {
				return nil, fmt.Errorf("row group %d: %w", g+1, err)
			}
		}
		rows = append(rows, group.NumRows)
	}
	return rows, nil
}

// checkChunk returns an error unless a column of a row group matches the schema.
func checkChunk(leaf *parquet.Column, g *parquetformat.RowGroup) error {
	if leaf.Index() < 0 || leaf.Index() >= len(g.Columns) {
		return fmt.Errorf("found no data of column %.40q; the file is corrupt, fetch it again",
			leaf.Name())
	}
	chunk := &g.Columns[leaf.Index()]
	switch m := &chunk.MetaData; {
	case chunk.FilePath != "":
		return fmt.Errorf("the data of column %.40q lie in another file, %.40q; write the table as one "+
			"file", leaf.Name(), chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil:
		return fmt.Errorf("column %.40q is encrypted; write the file without", leaf.Name())
	case m.Codec == parquetformat.Lz4Raw: // v0.32.0 of the library misreads what hardly packs
		return fmt.Errorf("column %.40q is packed by LZ4, wanted Zstandard, Snappy, Gzip, Brotli or "+
			"none", leaf.Name())
	case m.Type != parquetformat.Type(leaf.Type().Kind()) || m.NumValues != g.NumRows ||
		!slices.Equal(m.PathInSchema, leaf.Path()):
		return fmt.Errorf("found %d values of type %s of column %.40q, wanted %d of type %s of %.40q; "+
			"the file is corrupt, fetch it again", m.NumValues, m.Type, m.PathInSchema, g.NumRows,
			leaf.Type(), leaf.Path())
	}
	return memory.Check(chunk.MetaData.TotalUncompressedSize, fmt.Sprintf("column %.40q",
		leaf.Name()))
}

// describeParquet says what a column holds.
func describeParquet(leaf *parquet.Column) parquetColumn {
	c := parquetColumn{leaf: leaf, typ: "list", kind: parquetNested}
	if !leaf.Leaf() || leaf.Repeated() {
		return c
	}
	c.typ, c.kind = leaf.Type().String(), parquetOther
	physical, logical := leaf.Type().Kind(), any(nil)
	if t := leaf.Type().LogicalType(); t != nil {
		logical = t.Value
	}
	switch t := logical.(type) {
	case nil, *parquetformat.StringType, *parquetformat.EnumType:
	case *parquetformat.IntType:
		c.unsignedInteger = !t.IsSigned
	case *parquetformat.DateType:
		if c.kind = parquetDate; physical == parquet.Int32 {
			c.unit = 24 * time.Hour
		}
		return c
	case *parquetformat.TimestampType:
		if c.kind = parquetDate; t.Unit.Value != nil && physical == parquet.Int64 {
			c.unit = t.Unit.Value.Duration()
		}
		return c
	case *parquetformat.TimeType:
		c.kind = parquetDate
		return c
	case *parquetformat.DecimalType:
		const most = 76 // digits of 32 bytes, and no writer makes more
		if t.Scale < 0 || t.Scale > most {
			return c
		}
		switch physical {
		case parquet.Int32, parquet.Int64, parquet.ByteArray, parquet.FixedLenByteArray:
			c.kind, c.decimal, c.scale = parquetInteger, true, int(t.Scale)
		}
		return c
	default:
		return c
	}
	switch physical {
	case parquet.Boolean, parquet.Int32, parquet.Int64:
		c.kind = parquetInteger
	case parquet.Float, parquet.Double:
		c.kind = parquetFloat
	case parquet.ByteArray:
		c.kind = parquetText
	}
	return c
}

// kinds returns what the columns that are features hold, in their order.
func (r *parquetReader) kinds() (kinds []string, fault string) {
	asked, fault := r.columns.asked(r.c.o.Encode)
	if fault != "" {
		return nil, fault
	}
	s := &r.c.survey
	s.asked, s.holes, s.asides, s.dates = asked, r.c.known.whole, map[int]string{}, map[int]bool{}
	mixed := r.c.o.Encode != nil || r.c.o.Encoding != nil
	for j, c := range r.stored {
		if r.columns.role[j] == ignored {
			continue
		}
		isFeature, isText := r.columns.role[j] == feature, c.kind == parquetText
		known := isText || c.kind.number()
		switch {
		case c.unit > 0 && isFeature && asked[j] == "" && (r.c.o.lenient() || r.c.o.Encoding != nil):
			s.dates[j] = true
			kinds = append(kinds, dataset.KindNumber)
			continue
		case r.c.o.lenient() && isFeature && !known:
			r.columns.leaveOut(j)
			r.c.remarks.note("%s is set aside: it is of type %s", r.columns.describe(j), c.typ)
			continue
		case c.kind == parquetNested:
			return nil, r.columns.describe(j) +
				" is nested, wanted one plain value per example; leave it out"
		case c.kind == parquetDate && isFeature && mixed:
			return nil, datesFault(&r.columns, j, "values of type "+c.typ)
		case !known || isText && isFeature && !mixed:
			return nil, fmt.Sprintf("%s is of type %s, wanted float, double, decimals, integers or "+
				"booleans; leave it out or make it numbers", r.columns.describe(j), c.typ)
		case !isFeature:
			continue
		}
		kind := asked[j]
		if kind == "" && isText && r.c.o.lenient() {
			judged, err := r.judge(j)
			if err != nil {
				return nil, err.Error()
			}
			kind, s.dates[j] = judged.Kind, judged.Dates
			if judged.Why != "" {
				s.asides[j] = judged.Why
			}
		} else if kind == "" && isText {
			kind = dataset.KindCategory
		} else if kind == "" {
			kind = dataset.KindNumber
		}
		kinds = append(kinds, kind)
	}
	return kinds, ""
}

// judge returns what texts hold, by those of the first row group.
func (r *parquetReader) judge(j int) (features.Judged, error) {
	var t features.Tally
	if len(r.groups) == 0 {
		return t.Texts(), nil
	}
	rows, err := r.texts(0, j)
	for _, text := range rows {
		if text != nil {
			t.Count([]byte(*text), 1)
		}
	}
	return t.Texts(), err
}

// group enters the n examples of one row group.
func (r *parquetReader) group(g, n int) error {
	d := r.c.pile.width
	x := make([]float64, n*d)
	texts := make([][]*string, d) // of the features that are texts
	others := make([][]*string, len(r.stored))
	next := 0 // feature
	for j, c := range r.stored {
		var err error
		switch r.columns.role[j] {
		case ignored:
		case feature:
			if r.c.cells != nil && (c.kind == parquetText ||
				r.c.cells.columns[next].Kind != dataset.KindNumber) {
				texts[next], err = r.texts(g, j)
			} else if n > 0 {
				err = r.numbers(g, j, x[next:], d)
			}
			next++
		default:
			others[j], err = r.texts(g, j)
		}
		if err != nil {
			return r.c.src.errorf("%s, %w", r.columns.describe(j), err)
		}
	}
	names := r.columns.featureNames()
	for i := range n {
		var fault error
		for j, rows := range others {
			if rows == nil || fault != nil {
				continue
			}
			if err := r.other(j, rows[i]); err != nil {
				fault = r.c.src.errorf("example %d, %s: %w", r.c.number(), r.columns.describe(j), err)
			}
		}
		word := func(k int, what string, missing bool) error {
			err := r.c.src.errorf("example %d, column %s: %s", r.c.number(), quote.Text(names[k]), what)
			if missing && r.c.o.Encode != nil {
				err = fmt.Errorf("%w; %w", err, features.ErrMissing)
			}
			return err
		}
		row := x[i*d : (i+1)*d]
		var err error
		if r.c.cells == nil {
			r.c.numbers.row = append(r.c.numbers.row[:0], row...)
			err = r.c.addRow(fault, func(k int, v float64) error {
				if v != v {
					return word(k, nullFault, true)
				}
				return word(k, valueFault(v), false)
			})
		} else {
			r.c.cells.begin(r.c.number())
			for k := 0; k < d && fault == nil; k++ {
				if what, missing := r.set(k, row[k], texts[k], i); what != "" {
					fault = word(k, what, missing)
				}
			}
			err = r.c.decide(fault, r.c.number())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// other takes the value of a column that is no feature, nil if it is missing.
func (r *parquetReader) other(j int, value *string) error {
	var text []byte
	if value != nil {
		text = []byte(*value)
	}
	if r.columns.role[j] == label && len(text) > 0 && r.stored[j].kind == parquetFloat {
		v, err := strconv.ParseFloat(*value, 64)
		if err == nil {
			text, err = appendWhole(nil, v)
		}
		if err != nil {
			return err
		}
	}
	return r.c.setOther(r.columns.role[j], text)
}

// set enters feature k of row i: one of the texts, if there are any, or v. It returns what is wrong
// with it.
func (r *parquetReader) set(k int, v float64, texts []*string, i int) (fault string, missing bool) {
	s := r.c.cells
	switch {
	case texts != nil && texts[i] != nil:
		text := []byte(*texts[i])
		return s.set(k, text), features.IsMissing(text)
	case texts != nil:
		return s.setMissing(k, nil), true
	}
	return s.setNumber(k, v), v != v
}

// numbers sets dst[i·stride] to value i of a column, NaN if it is missing.
func (r *parquetReader) numbers(group, column int, dst []float64, stride int) error {
	c := &r.stored[column]
	return r.each(group, column, func(row int, v parquet.Value) error {
		to := &dst[row*stride]
		switch kind := v.Kind(); {
		case v.IsNull():
			*to = math.NaN()
		case c.unit > time.Second:
			*to = float64(v.Int32()) * c.unit.Seconds()
		case c.unit > 0:
			*to = float64(v.Int64()) / float64(time.Second/c.unit)
		case c.decimal:
			text, err := decimalText(v, c.scale)
			if err != nil {
				return err
			}
			if *to, err = strconv.ParseFloat(text, 64); err != nil {
				return err // of digits beyond the range of float64
			}
		case kind == parquet.Boolean:
			if *to = 0; v.Boolean() {
				*to = 1
			}
		case kind == parquet.Int32 && c.unsignedInteger:
			*to = float64(v.Uint32())
		case kind == parquet.Int32:
			*to = float64(v.Int32())
		case kind == parquet.Int64:
			if *to = float64(v.Int64()); c.unsignedInteger {
				*to = float64(v.Uint64())
			}
			if !c.rounded && rounds(sizeOf(v.Uint64(), !c.unsignedInteger)) {
				c.rounded = true
				text := strconv.FormatInt(v.Int64(), 10)
				if c.unsignedInteger {
					text = strconv.FormatUint(v.Uint64(), 10)
				}
				r.c.remarks.note("%s", looseNote(r.columns.describe(column), text, *to))
			}
		case kind == parquet.Float:
			*to = float64(v.Float())
		case kind == parquet.Double:
			*to = v.Double()
		default:
			return fmt.Errorf("found a value of type %s, wanted a number", kind)
		}
		return nil
	})
}

// texts returns the values of a column as a CSV has them, equal ones once, nil for missing ones.
func (r *parquetReader) texts(group, column int) (rows []*string, err error) {
	c, known := &r.stored[column], map[string]*string{}
	var growth memory.Growth
	err = r.each(group, column, func(_ int, v parquet.Value) (err error) {
		if growth.Bytes += 8; v.IsNull() {
			rows = append(rows, nil)
			return nil
		}
		text, err := c.text(v)
		if known[text] == nil && err == nil {
			known[text] = &text
			growth.Bytes += len(text) + 128 // with what the lists take of it
			err = growth.Check(1<<22, "a list of more than %d texts", len(known))
		}
		rows = append(rows, known[text])
		return err
	})
	return rows, err
}

// text returns a value as a CSV has it.
func (c *parquetColumn) text(v parquet.Value) (string, error) {
	switch kind := v.Kind(); {
	case c.decimal:
		return decimalText(v, c.scale)
	case kind == parquet.Boolean && v.Boolean():
		return "1", nil
	case kind == parquet.Boolean:
		return "0", nil
	case kind == parquet.Int32 && c.unsignedInteger:
		return strconv.FormatUint(uint64(v.Uint32()), 10), nil
	case kind == parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10), nil
	case kind == parquet.Int64 && c.unsignedInteger:
		return strconv.FormatUint(v.Uint64(), 10), nil
	case kind == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10), nil
	case kind == parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32), nil
	case kind == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64), nil
	case kind == parquet.ByteArray:
		return string(v.ByteArray()), nil
	}
	return "", fmt.Errorf("found a value of type %s, wanted a number or a text", v.Kind())
}

// each calls take with each value of a column of a row group, until it fails.
func (r *parquetReader) each(group, column int, take func(row int, v parquet.Value) error,
) (err error) {
	defer recovered("Parquet", &err)
	n := r.groups[group].NumRows()
	pages := r.groups[group].ColumnChunks()[r.stored[column].leaf.Index()].Pages()
	defer pages.Close() // only read
	buffer := make([]parquet.Value, 1024)
	row := int64(0)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot unpack it: %w; fetch the file again", err)
		}
		values := page.Values()
		for {
			k, err := values.ReadValues(buffer)
			if row+int64(k) > n {
				return fmt.Errorf("found more than the %d values of its row group; the file is corrupt, "+
					"fetch it again", n)
			}
			for _, v := range buffer[:k] {
				if err := take(int(row), v); err != nil {
					return err
				}
				row++
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("cannot unpack it: %w; fetch the file again", err)
			}
			if k == 0 {
				return fmt.Errorf("found a page without an end; the file is corrupt, fetch it again")
			}
		}
		parquet.Release(page)
	}
	if row != n {
		return fmt.Errorf("found %d values, wanted %d as its row group has; the file is corrupt, fetch "+
			"it again", row, n)
	}
	return nil
}

// decimalText returns an unscaled integer with a point before its last scale digits.
func decimalText(v parquet.Value, scale int) (string, error) {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default:
		const most = 32
		raw := v.ByteArray()
		if len(raw) == 0 || len(raw) > most {
			return "", fmt.Errorf("found a decimal of %d bytes, wanted 1 to %d", len(raw), most)
		}
		if n.SetBytes(raw); raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
	}
	scaled := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	return scaled.FloatString(scale), nil
}
