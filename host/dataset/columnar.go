package dataset

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// parquetReader reads row group by row group and in each column by column, as
// the values lie in the file. The library reads the footer; pages are read here,
// since it fills one that is too short from old memory, and misreads LZ4.
type parquetReader struct {
	*builder
	columns columns
	leaves  []*parquet.Column
	pages   pages
}

// readParquet reads a table of plain columns: numbers as features, numbers or
// texts as the label.
func readParquet(s *source, o Options) (d *Dataset, err error) {
	r, f, err := openParquet(s, o)
	if err != nil {
		return nil, err
	}
	r.takeGroups(f)
	if err := r.meet(r.groups(f)); err != nil {
		return nil, err
	}
	return r.finish()
}

// notCorrupt makes an error of what the library panics with, as it does on some damaged files.
func (s *source) notCorrupt(err *error) {
	if p := recover(); p != nil {
		*err = s.errorf("the Parquet data are corrupt (%v); fetch the file again", p)
	}
}

// openParquet reads the footer and chooses the columns.
func openParquet(s *source, o Options) (r *parquetReader, f *parquet.File, err error) {
	defer s.notCorrupt(&err)
	at, size, err := s.whole()
	if err != nil {
		return nil, nil, err
	}
	if err := checkParquetFooter(at, size); err != nil {
		return nil, nil, s.errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
	}
	f, err = parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, nil, s.errorf("found no whole Parquet file (%w); if it was cut short, fetch it again", err)
	}
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, nil, err
	}
	r = &parquetReader{builder: b, leaves: f.Root().Columns()}
	r.pages = pages{r: at, size: size, starts: chunkStarts(f.Metadata()), limits: s.limits}
	return r, f, r.resolve()
}

// takeGroups leaves this rank its part of the examples, if ranks share them.
func (r *parquetReader) takeGroups(f *parquet.File) {
	n := int64(0)
	for k := range f.Metadata().RowGroups {
		rows := f.Metadata().RowGroups[k].NumRows
		if rows < 0 || rows > int64(r.src.limits.rows)-n {
			return // which is an error
		}
		n += rows
	}
	if n > 0 && r.shares() {
		r.take(int(n))
	}
}

// groups enters the examples of all row groups that this rank has any of.
func (r *parquetReader) groups(f *parquet.File) (err error) {
	defer r.src.notCorrupt(&err)
	begin := 0
	for k := range f.Metadata().RowGroups {
		group := &f.Metadata().RowGroups[k]
		if err := r.checkGroup(group); err != nil {
			return r.fatal(err)
		}
		n := int(group.NumRows)
		from, to := 0, n
		if r.share != nil {
			from, to = max(0, r.share.From-begin), min(n, r.share.To-begin)
		}
		if from < to {
			if err := r.group(group, from, to); err != nil {
				return err
			}
		}
		begin += n
	}
	return nil
}

// resolve chooses the columns and refuses those that are no numbers.
func (r *parquetReader) resolve() error {
	names := make([]string, len(r.leaves))
	for j, c := range r.leaves {
		names[j] = c.Name()
	}
	var fault string
	r.o = r.o.forTable(names)
	if r.columns, fault = chooseColumns(names, len(names), r.o); fault != "" {
		return r.src.errorf("%s", fault)
	}
	r.width, r.about = r.columns.features, r.columns.about
	kinds, err := r.kinds()
	if err != nil {
		return err
	}
	if fault = r.tableCells("example", &r.columns, kinds); fault != "" {
		return r.src.errorf("%s", fault)
	}
	return nil
}

// checkGroup refuses a row group that claims more memory than it may.
func (r *parquetReader) checkGroup(g *parquetformat.RowGroup) error {
	n, d := g.NumRows, r.width
	limit := max(r.src.limits.dense, r.src.limits.perByte*r.src.text)
	if n < 0 || n > int64(r.src.limits.rows) || float64(n)*float64(d)*4 > float64(limit) {
		return r.src.errorf("found a row group of %d examples × %d features, wanted at most %d bytes in memory; "+
			"write the file with smaller row groups", n, d, limit)
	}
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		if c.Index() < 0 || c.Index() >= len(g.Columns) {
			return r.src.errorf("%s: found no data in a row group; the file is corrupt, fetch it again", r.columns.describe(j))
		}
		if err := checkChunk(&g.Columns[c.Index()], c, n); err != nil {
			return r.src.errorf("%s: %w", r.columns.describe(j), err)
		}
	}
	return nil
}

// checkChunk refuses a column of a row group of n examples that is of another type
// than the file says, or lies elsewhere.
func checkChunk(chunk *parquetformat.ColumnChunk, c *parquet.Column, n int64) error {
	switch m := &chunk.MetaData; {
	case chunk.FilePath != "":
		return fmt.Errorf("its data lie in another file, %s; write the table as one file", quote(chunk.FilePath))
	case chunk.CryptoMetadata.Value != nil:
		return fmt.Errorf("its data are encrypted; write the file without")
	case m.Type != parquetformat.Type(c.Type().Kind()) || m.NumValues != n:
		return fmt.Errorf("found %d values of type %s in a row group, wanted %d of type %s; the file is corrupt, "+
			"fetch it again",
			m.NumValues, m.Type, n, c.Type())
	}
	return nil
}

// group enters examples from..to-1 of one row group.
func (r *parquetReader) group(g *parquetformat.RowGroup, from, to int) error {
	n, d := to-from, r.width
	x := make([]float32, n*d)
	texts := make([][]*string, d)                // of the features that are texts
	codes, bad := []int32(nil), map[int]string{} // of the labels
	var ids []*string                            // of the examples
	next := 0                                    // of the features
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		t := parquetType(c)
		scale, isDecimal := parquetDecimal(c)
		take := func(_ int, raw []byte) {
			text, fault := parquetLabel(t, raw)
			if isDecimal && raw != nil {
				text, fault = decimalText(t, raw, scale)
			}
			if fault == "" {
				fault = r.labels.set(text)
			}
			if fault != "" {
				bad[len(codes)] = fault
			}
			codes = append(codes, r.labels.pending)
		}
		switch r.columns.role[j] {
		case identity:
			ids = make([]*string, n)
			if take = parquetTexts(t, ids); isDecimal {
				take = decimalTexts(t, scale, ids)
			}
		case feature:
			decode, at := t.decoder(), next
			next++
			take = func(i int, raw []byte) {
				switch v := &x[i*d+at]; {
				case raw == nil:
					*v = math.Float32frombits(missingBits)
				case isDecimal:
					*v = decimalCell(t, raw, scale)
				default:
					decode(x[i*d+at:][:1], raw)
				}
			}
			if r.cells != nil && (t.Kind == 'S' && !isDecimal || r.cells.columns[at].kind != kindNumber) {
				texts[at] = make([]*string, n)
				if take = parquetTexts(t, texts[at]); isDecimal {
					take = decimalTexts(t, scale, texts[at])
				}
			}
		}
		chunk := &g.Columns[c.Index()].MetaData
		if err := r.pages.column(chunk, t, c.Optional(), int(g.NumRows), from, to, take); err != nil {
			return r.fatal(r.src.errorf("%s, %w", r.columns.describe(j), err))
		}
	}
	names := r.columns.featureNames()
	setOthers := func(i int) error {
		if ids != nil {
			id := ""
			if ids[i] != nil {
				id = *ids[i]
			}
			if fault := r.ids.set([]byte(id)); fault != "" {
				return r.src.errorf("example %d, %s: %s", r.number(), r.columns.describe(r.columns.id), fault)
			}
		}
		if codes == nil {
			return nil
		}
		if fault, isBad := bad[i]; isBad {
			return r.src.errorf("example %d, %s: %s", r.number(), r.columns.describe(r.columns.label), fault)
		}
		r.labels.pending = codes[i]
		return nil
	}
	if r.cells != nil {
		return r.mixedGroup(x, d, texts, setOthers)
	}
	return r.adopt(x, d, setOthers, func(i, j int, v float32) error {
		fault := r.src.errorf("example %d, column %s: %s", i+1, quote(names[j]), cellFault(v))
		if r.o.Encode != nil && (v != v) && math.Float32bits(v) != overflowBits {
			fault = fmt.Errorf("%w; %w", fault, ErrMissing)
		}
		return fault
	})
}

// parquetTexts keeps the values of a column as texts, equal ones once, and nil for none.
func parquetTexts(t numberType, texts []*string) taker {
	known := map[string]*string{}
	return func(i int, raw []byte) {
		if raw == nil {
			return
		}
		switch {
		case t.Kind == 'f' && t.Size == 4:
			raw = strconv.AppendFloat(nil, float64(math.Float32frombits(t.Order().Uint32(raw))), 'g', -1, 32)
		case t.Kind == 'f':
			raw = strconv.AppendFloat(nil, math.Float64frombits(t.Order().Uint64(raw)), 'g', -1, 64)
		case t.Kind != 'S':
			raw, _ = t.appendLabel(nil, raw) // integers and truths are sound
		}
		if texts[i] = known[string(raw)]; texts[i] == nil {
			text := string(raw)
			known[text], texts[i] = &text, &text
		}
	}
}

// mixedGroup enters the examples of a row group of more than numbers: x has d features, those aside that are texts.
func (r *parquetReader) mixedGroup(x []float32, d int, texts [][]*string, setOthers func(i int) error) error {
	names := r.columns.featureNames()
	for i := range len(x) / d {
		r.cells.begin(r.number())
		err := setOthers(i)
		for k := 0; k < d && err == nil; k++ {
			if fault := r.mixedCell(k, x[i*d+k], texts[k], i); fault != "" {
				err = r.src.errorf("example %d, column %s: %s", r.number(), quote(names[k]), fault)
				if r.cells.broken() {
					return r.fatal(err)
				}
				if r.o.Encode != nil && r.missing(x[i*d+k], texts[k], i) {
					err = fmt.Errorf("%w; %w", err, ErrMissing)
				}
			}
		}
		if err != nil {
			err = r.reject(err, r.number())
		} else {
			err = r.accept(r.number())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missing reports whether feature k of example i has no value.
func (r *parquetReader) missing(v float32, texts []*string, i int) bool {
	if texts != nil {
		return texts[i] == nil || isMissing([]byte(*texts[i]))
	}
	return v != v && math.Float32bits(v) != overflowBits
}

// mixedCell enters feature k of example i: v, or the text of that example if there are texts.
func (r *parquetReader) mixedCell(k int, v float32, texts []*string, i int) (fault string) {
	switch {
	case texts != nil && texts[i] != nil:
		return r.cells.set(k, []byte(*texts[i]), &r.subnormals)
	case r.missing(v, texts, i):
		return r.cells.setMissing(k, nil)
	case !finite(v):
		return cellFault(v)
	}
	r.cells.setNumber(k, flush(v, &r.subnormals))
	return ""
}

// parquetType returns how the pages store a column, whose parquetKind is not 0. The
// size of texts is 0: they have one each.
func parquetType(c *parquet.Column) numberType {
	size := map[parquet.Kind]int{
		parquet.Boolean: 1, parquet.Int32: 4, parquet.Float: 4, parquet.Int64: 8, parquet.Double: 8,
	}
	t := numberType{npyfile.Type{Kind: parquetKind(c), Size: size[c.Type().Kind()]}}
	if _, ok := parquetDecimal(c); ok {
		switch c.Type().Kind() {
		case parquet.ByteArray:
			t.Kind = 'S'
		case parquet.FixedLenByteArray:
			t.Kind, t.Size = 'V', c.Type().Length()
		default:
			t.Kind = 'i'
		}
	}
	return t
}

// parquetLabel returns a label as text; fault says what is wrong with it.
func parquetLabel(t numberType, raw []byte) (text []byte, fault string) {
	switch {
	case raw == nil:
		return nil, "found a missing label (null), wanted a class"
	case t.Kind == 'S':
		return raw, ""
	}
	return t.appendLabel(nil, raw)
}
