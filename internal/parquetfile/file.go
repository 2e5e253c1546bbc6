// Package parquetfile reads and writes tables in Apache Parquet. A library reads the footer. Pages
// are read here: parquet-go v0.32.0 reads some damaged pages as other values, takes gigabytes for
// others, and misreads values in LZ4_RAW that hardly pack.
package parquetfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/columnar"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// file is an open file.
type file struct {
	meta   *format.FileMetaData
	leaves []*parquet.Column
	pages  pages
}

// Open reads the footer of a file. It is a columnar.Open.
func Open(r io.ReaderAt, size int64, l columnar.Limits) (_ columnar.Table, err error) {
	defer corrupt(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, notWhole(err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, notWhole(err)
	}
	return &file{f.Metadata(), f.Root().Columns(),
		pages{r: r, size: size, starts: chunkStarts(f.Metadata()), limits: l}}, nil
}

func notWhole(err error) error {
	return fmt.Errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
}

// corrupt makes an error of a panic, as the library has on some damaged files.
func corrupt(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the Parquet data are corrupt (%v); fetch the file again", p)
	}
}

func (f *file) Columns() []columnar.Column {
	columns := make([]columnar.Column, len(f.leaves))
	for j, c := range f.leaves {
		if columns[j].Name = c.Name(); !c.Leaf() || c.Repeated() {
			columns[j].Nested = true
			continue
		}
		_, columns[j].Decimal = decimalScale(c)
		columns[j].Number, columns[j].Date = numberOf(c)
		columns[j].Type = c.Type().String()
		if columns[j].Decimal {
			columns[j].Number = npyfile.Type{Kind: 'S'}
		}
	}
	return columns
}

func (f *file) Groups() []int64 {
	rows := make([]int64, len(f.meta.RowGroups))
	for g := range rows {
		rows[g] = f.meta.RowGroups[g].NumRows
	}
	return rows
}

func (f *file) Check(group, column int) error {
	g, c := &f.meta.RowGroups[group], f.leaves[column]
	if c.Index() < 0 || c.Index() >= len(g.Columns) {
		return fmt.Errorf("found no data in a row group; the file is corrupt, fetch it again")
	}
	chunk := &g.Columns[c.Index()]
	switch m := &chunk.MetaData; {
	case chunk.FilePath != "":
		return fmt.Errorf("its data lie in another file, %.40q; write the table as one file",
			chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil:
		return fmt.Errorf("its data are encrypted; write the file without")
	case m.Type != format.Type(c.Type().Kind()) || m.NumValues != g.NumRows:
		return fmt.Errorf("found %d values of type %s in a row group, wanted %d of type %s; the file is "+
			"corrupt, fetch it again", m.NumValues, m.Type, g.NumRows, c.Type())
	}
	return nil
}

func (f *file) Read(group, j int, take func(i int, raw []byte)) (err error) {
	defer corrupt(&err)
	g, c := &f.meta.RowGroups[group], f.leaves[j]
	number, _ := numberOf(c)
	var fault error
	taken := take
	if scale, ok := decimalScale(c); ok {
		number = decimalStore(c)
		taken = func(i int, raw []byte) {
			if raw != nil {
				text, err := decimalText(number, raw, scale)
				if raw = text; err != nil && fault == nil {
					fault = err
				}
			}
			take(i, raw)
		}
	}
	err = f.pages.column(column{&g.Columns[c.Index()].MetaData, number, c.Optional(), int(g.NumRows)},
		taken)
	if err == nil {
		err = fault
	}
	return err
}

// numberOf returns how values are stored, of Kind 0 if no numbers or texts, and whether they are
// dates.
func numberOf(c *parquet.Column) (t npyfile.Type, date bool) {
	kind, unsigned := c.Type().Kind(), false
	if logical := c.Type().LogicalType(); logical != nil {
		switch annotation := logical.Value.(type) {
		case nil, *format.StringType, *format.EnumType:
		case *format.IntType:
			unsigned = !annotation.IsSigned
		case *format.DateType, *format.TimeType, *format.TimestampType:
			return t, true
		default:
			return t, false
		}
	}
	switch {
	case (kind == parquet.Int32 || kind == parquet.Int64) && unsigned:
		t.Kind = 'u'
	default:
		t.Kind = map[parquet.Kind]byte{parquet.Boolean: 'b', parquet.Int32: 'i', parquet.Int64: 'i',
			parquet.Float: 'f', parquet.Double: 'f', parquet.ByteArray: 'S'}[kind]
	}
	t.Size = sizes[kind]
	return t, false
}

// sizes are the bytes of values; texts have one each.
var sizes = map[parquet.Kind]int{
	parquet.Boolean: 1, parquet.Int32: 4, parquet.Float: 4, parquet.Int64: 8, parquet.Double: 8,
}

// decimalStore returns how a column of decimals stores its integers.
func decimalStore(c *parquet.Column) npyfile.Type {
	switch kind := c.Type().Kind(); kind {
	case parquet.ByteArray:
		return npyfile.Type{Kind: 'S'}
	case parquet.FixedLenByteArray:
		return npyfile.Type{Kind: 'V', Size: c.Type().Length()}
	default:
		return npyfile.Type{Kind: 'i', Size: sizes[kind]}
	}
}
