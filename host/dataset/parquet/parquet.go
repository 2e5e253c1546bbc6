// Package parquet makes package file read Apache Parquet. A program that reads such files imports
// it for that alone: import _ "github.com/uma-gpu/uma-gpu/host/dataset/parquet".
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

func init() { file.Parquet = open }

// table is an open file.
type table struct {
	groups []parquet.RowGroup
	leaves []*parquet.Column
}

// open is file.Parquet.
func open(r io.ReaderAt, size int64) (_ *file.Columnar, err error) {
	defer recovered(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, notWhole(err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, notWhole(err)
	}
	t := &table{groups: f.RowGroups(), leaves: f.Root().Columns()}
	c := &file.Columnar{Numbers: t.numbers, Texts: t.texts}
	for _, leaf := range t.leaves {
		c.Columns = append(c.Columns, describe(leaf))
	}
	for g, group := range f.Metadata().RowGroups {
		if err := t.check(&group); err != nil {
			return nil, fmt.Errorf("row group %d: %w", g+1, err)
		}
		c.Rows = append(c.Rows, group.NumRows)
	}
	return c, nil
}

func notWhole(err error) error {
	return fmt.Errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
}

// recovered makes an error of a panic, as the library has on some damaged files.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the Parquet data are corrupt (%v); fetch the file again", p)
	}
}

// check returns an error unless the columns of a row group match the schema.
func (t *table) check(g *format.RowGroup) error {
	for _, leaf := range t.leaves {
		if !leaf.Leaf() || leaf.Repeated() {
			continue
		}
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
		case m.Codec == format.Lz4Raw: // v0.32.0 of the library misreads what hardly packs
			return fmt.Errorf("column %.40q is packed by LZ4, wanted Zstandard, Snappy, Gzip, Brotli or "+
				"none", leaf.Name())
		case m.Type != format.Type(leaf.Type().Kind()) || m.NumValues != g.NumRows ||
			!slices.Equal(m.PathInSchema, leaf.Path()):
			return fmt.Errorf("found %d values of type %s of column %.40q, wanted %d of type %s of "+
				"%.40q; the "+
				"file is corrupt, fetch it again", m.NumValues, m.Type, m.PathInSchema, g.NumRows,
				leaf.Type(), leaf.Path())
		}
	}
	return nil
}

// describe says what a column holds.
func describe(c *parquet.Column) file.StoredColumn {
	if !c.Leaf() || c.Repeated() {
		return file.StoredColumn{Name: c.Name(), Kind: file.StoredNested}
	}
	return file.StoredColumn{Name: c.Name(), Type: c.Type().String(), Kind: kindOf(c)}
}

func kindOf(c *parquet.Column) file.StoredKind {
	if _, ok := scaleOf(c); ok {
		return file.StoredInteger // or with digits after a point, exactly
	}
	if logical := c.Type().LogicalType(); logical != nil {
		switch logical.Value.(type) {
		case nil, *format.IntType, *format.StringType, *format.EnumType:
		case *format.DateType, *format.TimeType, *format.TimestampType:
			return file.StoredDate
		default:
			return file.StoredOther
		}
	}
	switch c.Type().Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64:
		return file.StoredInteger
	case parquet.Float, parquet.Double:
		return file.StoredFloat
	case parquet.ByteArray:
		return file.StoredText
	}
	return file.StoredOther
}

// scaleOf returns how many digits after the point a column of decimals has.
func scaleOf(c *parquet.Column) (scale int, ok bool) {
	const most = 76 // of 32 bytes, and no writer makes more
	logical := c.Type().LogicalType()
	if logical == nil {
		return 0, false
	}
	d, ok := logical.Value.(*format.DecimalType)
	if !ok || d.Scale < 0 || d.Scale > most {
		return 0, false
	}
	switch c.Type().Kind() {
	case parquet.Int32, parquet.Int64, parquet.ByteArray, parquet.FixedLenByteArray:
		return int(d.Scale), true
	}
	return 0, false
}

// numbers sets dst[i·stride] to value i of a column; a missing one is the NaN of
// decimal.MissingBits.
func (t *table) numbers(group, column int, dst []float32, stride int) error {
	leaf := t.leaves[column]
	scale, isDecimal := scaleOf(leaf)
	unsigned := isUnsigned(leaf)
	return t.each(group, column, func(row int, v parquet.Value) error {
		to := &dst[row*stride]
		switch kind := v.Kind(); {
		case v.IsNull():
			*to = math.Float32frombits(decimal.MissingBits)
		case isDecimal:
			text, err := decimalText(v, scale)
			if err != nil {
				return err
			}
			number, ok := decimal.Parse([]byte(text))
			if *to = number; !ok {
				*to = math.Float32frombits(decimal.OverflowBits)
			}
		case kind == parquet.Boolean:
			if *to = 0; v.Boolean() {
				*to = 1
			}
		case kind == parquet.Int32 && unsigned:
			*to = float32(v.Uint32())
		case kind == parquet.Int32:
			*to = float32(v.Int32())
		case kind == parquet.Int64 && unsigned:
			*to = float32(v.Uint64())
		case kind == parquet.Int64:
			*to = float32(v.Int64())
		case kind == parquet.Float:
			*to = v.Float()
		case kind == parquet.Double:
			*to = decimal.Narrow(v.Double())
		default:
			return fmt.Errorf("found a value of type %s, wanted a number", kind)
		}
		return nil
	})
}

// texts returns the values of a column of n rows as a CSV has them, equal ones once, nil for
// missing
// ones.
func (t *table) texts(group, column int) ([]*string, error) {
	leaf := t.leaves[column]
	scale, isDecimal := scaleOf(leaf)
	unsigned := isUnsigned(leaf)
	var rows []*string
	known := map[string]*string{}
	err := t.each(group, column, func(_ int, v parquet.Value) (err error) {
		text := ""
		switch kind := v.Kind(); {
		case v.IsNull():
			rows = append(rows, nil)
			return nil
		case isDecimal:
			if text, err = decimalText(v, scale); err != nil {
				return err
			}
		case kind == parquet.Boolean:
			text = "0"
			if v.Boolean() {
				text = "1"
			}
		case kind == parquet.Int32 && unsigned:
			text = strconv.FormatUint(uint64(v.Uint32()), 10)
		case kind == parquet.Int32:
			text = strconv.FormatInt(int64(v.Int32()), 10)
		case kind == parquet.Int64 && unsigned:
			text = strconv.FormatUint(v.Uint64(), 10)
		case kind == parquet.Int64:
			text = strconv.FormatInt(v.Int64(), 10)
		case kind == parquet.Float:
			text = strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
		case kind == parquet.Double:
			text = strconv.FormatFloat(v.Double(), 'g', -1, 64)
		case kind == parquet.ByteArray:
			text = string(v.ByteArray())
		default:
			return fmt.Errorf("found a value of type %s, wanted a number or a text", kind)
		}
		if known[text] == nil {
			known[text] = &text
		}
		rows = append(rows, known[text])
		return nil
	})
	return rows, err
}

func isUnsigned(c *parquet.Column) bool {
	if logical := c.Type().LogicalType(); logical != nil {
		integer, ok := logical.Value.(*format.IntType)
		return ok && !integer.IsSigned
	}
	return false
}

// each calls take with each value of a column of a row group, until it fails.
func (t *table) each(group, column int, take func(row int, v parquet.Value) error) (err error) {
	defer recovered(&err)
	n := t.groups[group].NumRows()
	pages := t.groups[group].ColumnChunks()[t.leaves[column].Index()].Pages()
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
				return fmt.Errorf("found more than the %d values of its row group; the file is corrupt, fetch "+
					"it again", n)
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
		return fmt.Errorf("found %d values, wanted %d as its row group has; the file is corrupt, "+
			"fetch it "+
			"again", row, n)
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
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
		n.Neg(n)
	}
	digits := fmt.Sprintf("%0*s", scale+1, n.Text(10))
	if scale == 0 {
		return sign + digits, nil
	}
	at := len(digits) - scale
	return sign + digits[:at] + "." + digits[at:], nil
}
