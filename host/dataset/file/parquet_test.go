package file

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

type parquetRow struct {
	Float  float32  `parquet:"float"`
	Double *float64 `parquet:"double,optional"`
	Int    int64    `parquet:"int"`
	Small  uint8    `parquet:"small"`
	Flag   bool     `parquet:"flag"`
	Note   string   `parquet:"note"`
	Class  string   `parquet:"zclass,dict"`
}

// parquetRows writes rows in groups of at most perGroup, and returns the same as
// CSV text.
func parquetRows(n int) (rows []parquetRow, text string) {
	var b strings.Builder
	b.WriteString("float,double,int,small,flag,note,zclass\n")
	for i := range n {
		double := float64(i) / 8
		r := parquetRow{float32(i) - 2.5, &double, int64(-i) << 20, uint8(255 - i%50), i%3 == 0, "note",
			"c" + string(rune('a'+i%3))}
		rows = append(rows, r)
		flag := 0
		if r.Flag {
			flag = 1
		}
		fmt.Fprintf(&b, "%v,%v,%d,%d,%d,%s,%s\n", r.Float, double, r.Int, r.Small, flag, r.Note, r.Class)
	}
	return rows, b.String()
}

func writeParquet(t testing.TB, rows []parquetRow, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&b, o...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// parquetBytes is a small file without the text column "note" in its way: of
// numbers and a label.
func parquetBytes(t testing.TB, n int) []byte {
	t.Helper()
	type row struct {
		A float32 `parquet:"a"`
		B int32   `parquet:"b"`
		Y int32   `parquet:"y"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range n {
		if _, err := w.Write([]row{{float32(i) / 4, int32(i * i), int32(i % 2)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// benchParquet returns a file of d float columns.
func benchParquet(t testing.TB, x []float32, d int, o ...parquet.WriterOption) []byte {
	t.Helper()
	group := parquet.Group{}
	for j := range d {
		group[fmt.Sprintf("x%03d", j)] = parquet.Leaf(parquet.FloatType)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, append([]parquet.WriterOption{parquet.NewSchema("table", group)},
		o...)...)
	row := make(parquet.Row, d)
	for i := range len(x) / d {
		for j, v := range x[i*d : (i+1)*d] {
			row[j] = parquet.FloatValue(v).Level(0, 0, j)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zstdPack packs as Zstandard.
func zstdPack(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadParquetEqualsCSV(t *testing.T) {
	for _, n := range []int{3, 100, 700} {
		rows, text := parquetRows(n)
		o := Options{Table: Table{LabelColumn: "zclass", Ignore: []string{"note"}}}
		want, err := readText("f.csv", text, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range [][]parquet.WriterOption{
			nil, {parquet.Compression(&parquet.Zstd)}, {parquet.Compression(&parquet.Snappy)},
			{parquet.MaxRowsPerRowGroup(7)},
			{parquet.DataPageVersion(1)}, {parquet.PageBufferSize(64)},
		} {
			for _, storage := range []string{"dense", "sparse"} {
				o.Storage = storage
				got, err := readText("f", string(writeParquet(t, rows, w...)), o)
				if err != nil {
					t.Fatal(err)
				}
				sameExamples(t, storage, got.Examples, want.Examples)
				if got.SHA256 != want.SHA256 || fmt.Sprint(got.Features) != fmt.Sprint(want.Features) ||
					got.Label != "zclass" || got.LabelColumn != 7 {
					t.Errorf("%d rows: got %v, label %s in column %d", n, got.Features, got.Label, got.LabelColumn)
				}
			}
		}
	}
}

func TestReadParquetBad(t *testing.T) {
	rows, _ := parquetRows(20)
	good := writeParquet(t, rows)
	rows[3].Double = nil
	huge := 1e300
	rows[7].Double = &huge
	rows[9].Class = ""
	bad := writeParquet(t, rows)
	type nested struct {
		A []float32 `parquet:"a"`
		B int32     `parquet:"b"`
	}
	var nest bytes.Buffer
	w := parquet.NewGenericWriter[nested](&nest)
	if _, err := w.Write([]nested{{[]float32{1, 2}, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	note := Options{Table: Table{Ignore: []string{"note"}}}
	for _, c := range []struct {
		what string
		raw  []byte
		o    Options
		want string
	}{
		{"text feature", good, Options{}, "f column 6 note STRING"},
		{"no column", good, Options{Table: Table{LabelColumn: "class"}}, `f "float" "double" "int" "small" "flag" "note" "zclass" "class"`},
		{"ignored label", good, Options{Table: Table{Ignore: []string{"note", "zclass"}}}, `f "last"`},
		{"null", bad, note, `f example 4 "double" missing null`},
		{"nested", nest.Bytes(), Options{}, "f column 1 a"},
		{"cut short", good[:len(good)-20], note, "f Parquet"},
	} {
		d, err := readText("f", string(c.raw), c.o)
		if !facts.Told(err, c.want) {
			t.Errorf("%s: got %v, %v\nwant %s", c.what, d, err, c.want)
		}
	}
	for what, spoil := range map[string]func([]byte) []byte{
		"nothing but a footer": func([]byte) []byte { return []byte("PAR1PAR1") },
		"no footer":            func(raw []byte) []byte { return raw[:len(raw)-1] },
		"a footer that is longer than the file": func(
			raw []byte) []byte {
			raw[len(raw)-6] = 0xff
			return raw
		},
		"zeros": func(
			raw []byte) []byte {
			clear(raw[4 : len(raw)-8])
			return raw
		},
		"pages of ones": func(raw []byte) []byte {
			copy(raw[4:], bytes.Repeat([]byte{0xff}, 200))
			return raw
		},
	} {
		d, err := readText("f.parquet", string(spoil(bytes.Clone(good))), note)
		if err == nil || !strings.HasPrefix(err.Error(), "f.parquet: ") {
			t.Errorf("%s: got %v, %v", what, d, err)
		}
	}
	d, err := readText("f", string(bad), Options{Table: Table{Ignore: []string{"note"}},
		SkipBad: math.MaxInt})
	if err != nil {
		t.Fatal(err)
	}
	none := fmt.Sprint(dataset.WithoutLabel(d)) // of row 10
	if d.N != 18 || fmt.Sprint(d.SkippedAt) != "[4 8]" || none != "[7]" || d.SourceRow(7) != 9 {
		t.Errorf("%d examples, skipped %v, %s without a label", d.N, d.SkippedAt, none)
	}
}

// An error of a row in a later group of rows names its number in the file.
func TestParquetRowNumbers(t *testing.T) {
	rows, _ := parquetRows(30)
	rows[12].Class = "a\x01b"
	raw := string(writeParquet(t, rows, parquet.MaxRowsPerRowGroup(7)))
	o := Options{Table: Table{Ignore: []string{"note"}}}
	_, err := readText("f", raw, o)
	if want := `f example 13 column 7 (zclass) "a\x01b" skip-bad=1`; !facts.Told(err, want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	o.SkipBad = 1
	if d, err := readText("f", raw, o); err != nil || fmt.Sprint(d.SkippedAt) != "[13]" || d.N != 29 {
		t.Errorf("got %+v, %v", d, err)
	}
}
