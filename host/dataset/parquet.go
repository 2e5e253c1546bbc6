package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// parquetReader reads row group by row group and in each column by column, as
// the values lie in the file.
type parquetReader struct {
	*builder
	columns columns
	leaves  []*parquet.Column
}

// readParquet reads a table of plain columns: numbers as features, numbers or
// texts as the label.
func readParquet(s *source, o Options) (d *Dataset, err error) {
	// The library panics on some damaged files.
	defer func() {
		if p := recover(); p != nil {
			d, err = nil, s.errorf("the Parquet data are corrupt (%v); fetch the file again", p)
		}
	}()
	at, size, err := s.whole()
	if err != nil {
		return nil, err
	}
	if err := checkParquetFooter(at, size); err != nil {
		return nil, s.errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
	}
	f, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, s.errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
	}
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, err
	}
	r := &parquetReader{builder: b, leaves: f.Root().Columns()}
	if err := r.resolve(); err != nil {
		return nil, err
	}
	for k, group := range f.RowGroups() {
		if err := r.checkGroup(at, size, &f.Metadata().RowGroups[k]); err != nil {
			return nil, b.fatal(err)
		}
		if err := r.group(group); err != nil {
			return nil, err
		}
	}
	if d, err = b.finish(); err != nil {
		return nil, err
	}
	d.Features, d.Label, d.LabelColumn = r.columns.featureNames(), r.columns.labelName(), r.columns.label+1
	return d, nil
}

// resolve chooses the columns and refuses those that are no numbers.
func (r *parquetReader) resolve() error {
	names := make([]string, len(r.leaves))
	for j, c := range r.leaves {
		names[j] = c.Name()
	}
	var fault string
	if r.columns, fault = chooseColumns(names, len(names), r.o); fault != "" {
		return r.src.errorf("%s", fault)
	}
	r.width = r.columns.features
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		if !c.Leaf() || c.Repeated() {
			return r.src.errorf("%s is nested, wanted one plain value per example; leave it out", r.columns.describe(j))
		}
		if kind := parquetKind(c); kind == 0 || (kind == 'S' && r.columns.role[j] == feature) {
			return r.src.errorf("%s is of type %s, wanted float, double, integers or booleans; leave it out or make it numbers", r.columns.describe(j), c.Type())
		}
	}
	return nil
}

// parquetKind returns what a column holds: 'f', 'i', 'u', 'b', 'S' for a text, 0
// for all that is none of them (decimals, times).
func parquetKind(c *parquet.Column) byte {
	unsigned, number := false, true
	if t := c.Type().LogicalType(); t != nil {
		switch annotation := t.Value.(type) {
		case nil, *parquetformat.StringType, *parquetformat.EnumType:
		case *parquetformat.IntType:
			unsigned = !annotation.IsSigned
		default:
			number = false
		}
	}
	switch kind := c.Type().Kind(); {
	case !number:
		return 0
	case kind == parquet.Boolean:
		return 'b'
	case kind == parquet.Int32 || kind == parquet.Int64:
		if unsigned {
			return 'u'
		}
		return 'i'
	case kind == parquet.Float || kind == parquet.Double:
		return 'f'
	case kind == parquet.ByteArray:
		return 'S'
	}
	return 0
}

// checkGroup refuses a row group that claims more memory than it may.
func (r *parquetReader) checkGroup(at io.ReaderAt, size int64, g *parquetformat.RowGroup) error {
	n, d := g.NumRows, r.width
	limit := max(r.src.limits.dense, r.src.limits.perByte*r.src.text)
	if n < 0 || n > int64(r.src.limits.rows) || float64(n)*float64(d)*4 > float64(limit) {
		return r.src.errorf("found a row group of %d examples × %d features, wanted at most %d bytes in memory; write the file with smaller row groups", n, d, limit)
	}
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		if c.Index() < 0 || c.Index() >= len(g.Columns) {
			return r.src.errorf("%s: found no data in a row group; the file is corrupt, fetch it again", r.columns.describe(j))
		}
		if err := checkPages(at, size, &g.Columns[c.Index()].MetaData, n, r.src.limits.page); err != nil {
			return r.src.errorf("%s: %w; the file is corrupt, fetch it again", r.columns.describe(j), err)
		}
	}
	return nil
}

// group enters the examples of one row group.
func (r *parquetReader) group(g parquet.RowGroup) error {
	n, d := g.NumRows(), r.width
	if n == 0 {
		return nil
	}
	x := make([]float32, int(n)*d)
	codes, bad := []int32(nil), map[int]string{} // of the labels
	feature := 0
	chunks := g.ColumnChunks() // of all leaves, also nested ones
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		var err error
		chunk := chunks[c.Index()]
		if r.columns.role[j] == label {
			err = r.column(j, chunk, int(n), func(i int, v parquet.Value) {
				text, fault := r.labelText(j, v)
				if fault == "" {
					fault = r.labels.set(text)
				}
				if fault != "" {
					bad[i] = fault
				}
				codes = append(codes, r.labels.pending)
			})
		} else {
			kind, at := parquetKind(r.leaves[j]), feature
			feature++
			err = r.column(j, chunk, int(n), func(i int, v parquet.Value) { x[i*d+at] = parquetNumber(kind, v) })
		}
		if err != nil {
			return r.fatal(err)
		}
	}
	names := r.columns.featureNames()
	setLabel := func(i int) error {
		if codes == nil {
			return nil
		}
		if fault, isBad := bad[i]; isBad {
			return r.src.errorf("example %d, %s: %s", r.seen+1, r.columns.describe(r.columns.label), fault)
		}
		r.labels.pending = codes[i]
		return nil
	}
	return r.adopt(x, d, setLabel, func(i, j int, v float32) error {
		return r.src.errorf("example %d, column %s: %s", i+1, quote(names[j]), cellFault(v))
	})
}

// column calls take for the n values of column j.
func (r *parquetReader) column(j int, chunk parquet.ColumnChunk, n int, take func(i int, v parquet.Value)) (err error) {
	pages := chunk.Pages()
	defer func() {
		if closed := pages.Close(); err == nil && closed != nil {
			err = r.src.errorf("%s: cannot read: %w", r.columns.describe(j), closed)
		}
	}()
	values, i := make([]parquet.Value, 1024), 0
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.src.errorf("%s: cannot read: %w; fetch the file again", r.columns.describe(j), err)
		}
		from := page.Values()
		for err == nil {
			var k int
			k, err = from.ReadValues(values)
			if k > n-i {
				parquet.Release(page)
				return r.src.errorf("%s: found more values than the %d of its row group; the file is corrupt, fetch it again", r.columns.describe(j), n)
			}
			for _, v := range values[:k] {
				take(i, v)
				i++
			}
		}
		parquet.Release(page)
		if !errors.Is(err, io.EOF) {
			return r.src.errorf("%s: cannot read: %w; fetch the file again", r.columns.describe(j), err)
		}
	}
	if i < n {
		return r.src.errorf("%s: found only %d values of the %d of its row group; the file is corrupt, fetch it again", r.columns.describe(j), i, n)
	}
	return nil
}

// parquetNumber returns the nearest float32.
func parquetNumber(kind byte, v parquet.Value) float32 {
	switch {
	case v.IsNull():
		return math.Float32frombits(missingBits)
	case kind == 'b':
		if v.Boolean() {
			return 1
		}
		return 0
	case kind == 'f' && v.Kind() == parquet.Float:
		return v.Float()
	case kind == 'f':
		return narrow(v.Double())
	case kind == 'u' && v.Kind() == parquet.Int32:
		return float32(v.Uint32())
	case kind == 'u':
		return float32(v.Uint64())
	case v.Kind() == parquet.Int32:
		return float32(v.Int32())
	}
	return float32(v.Int64())
}

// labelText returns a label as text; fault says what is wrong with it.
func (r *parquetReader) labelText(j int, v parquet.Value) (text []byte, fault string) {
	if v.IsNull() {
		return nil, "found a missing label (null), wanted a class"
	}
	switch kind := parquetKind(r.leaves[j]); {
	case kind == 'S':
		return v.ByteArray(), ""
	case kind == 'b':
		return fmt.Append(nil, parquetNumber(kind, v)), ""
	case kind == 'u' && v.Kind() == parquet.Int32:
		return fmt.Append(nil, v.Uint32()), ""
	case kind == 'u':
		return fmt.Append(nil, v.Uint64()), ""
	case kind == 'f' && v.Kind() == parquet.Float:
		return appendWhole(nil, float64(v.Float()))
	case kind == 'f':
		return appendWhole(nil, v.Double())
	case v.Kind() == parquet.Int32:
		return fmt.Append(nil, v.Int32()), ""
	}
	return fmt.Append(nil, v.Int64()), ""
}
