package parquetfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/columnar"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// The files of other writers that the library's own tests have (Impala, parquet-mr,
// Arrow and others) are read as the library reads them.
func TestParquetOfOthers(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/parquet-go/parquet-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files (error %v)", err)
	}
	columns := 0
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
		if err != nil || f.NumRows() == 0 {
			continue
		}
		for _, c := range f.Root().Columns() {
			if !c.Leaf() || c.Repeated() || c.Compression().CompressionCodec() == format.Lz4Raw {
				continue
			}
			if number, _ := numberOf(c); number.Kind == 0 {
				continue
			}
			columns++
			sameColumn(t, filepath.Base(path), raw, f, c)
		}
	}
	if columns < 50 {
		t.Errorf("compared only %d columns", columns)
	}
}

// sameColumn compares a column with what the library reads.
func sameColumn(t *testing.T, name string, raw []byte, f *parquet.File, c *parquet.Column) {
	typ, _ := numberOf(c)
	for k, group := range f.RowGroups() {
		var want []parquet.Value
		pages := group.ColumnChunks()[c.Index()].Pages()
		for {
			page, err := pages.ReadPage()
			if err != nil {
				break
			}
			values := make([]parquet.Value, page.NumValues())
			n, _ := page.Values().ReadValues(values)
			for _, v := range values[:n] {
				want = append(want, v.Clone())
			}
		}
		pages.Close()
		p := pagesOf(raw)
		p.starts = chunkStarts(f.Metadata())
		seen := 0
		err := p.column(column{&f.Metadata().RowGroups[k].Columns[c.Index()].MetaData, typ, c.Optional(),
			int(group.NumRows())}, func(i int, raw []byte) {
			v := want[i]
			same := i == seen && v.IsNull() == (raw == nil)
			if same && raw != nil {
				switch v.Kind() {
				case parquet.Boolean:
					same = v.Boolean() == (raw[0] == 1)
				case parquet.Int32, parquet.Float:
					same = v.Uint32() == binary.LittleEndian.Uint32(raw)
				case parquet.Int64, parquet.Double:
					same = v.Uint64() == binary.LittleEndian.Uint64(raw)
				default:
					same = bytes.Equal(v.ByteArray(), raw)
				}
			}
			seen++
			if !same {
				t.Errorf("%s, column %s, value %d: got % x, wanted %v", name, c.Name(), i, raw, v)
			}
		})
		if err != nil || seen != len(want) {
			t.Errorf("%s, column %s: got %d of %d values, %v", name, c.Name(), seen, len(want), err)
		}
	}
}

func pagesOf(raw []byte) *pages {
	return &pages{r: bytes.NewReader(raw), size: int64(len(raw)),
		limits: columnar.Limits{Page: 1 << 26, Window: 1 << 28}}
}

// A codec that is not read is an error that says what to do.
func TestParquetUnknownCodec(t *testing.T) {
	type row struct {
		X int32 `parquet:"x"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write([]row{{1}, {2}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Metadata().RowGroups[0].Columns[0].MetaData
	c.Codec = format.Lz4
	number, _ := numberOf(f.Root().Columns()[0])
	err = pagesOf(raw).column(column{&c, number, false, 2}, func(int, []byte) {})
	if want := "LZ4 LZ4_RAW"; !facts.Told(err, want) {
		t.Errorf("got %v", err)
	}
}
