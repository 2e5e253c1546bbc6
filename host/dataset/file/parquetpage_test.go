package file

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

var parquetCodecs = []compress.Codec{
	&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd,
}

// encodedColumns are a column of every type in every encoding that the library
// writes, by name.
func encodedColumns() parquet.Group {
	group := parquet.Group{}
	for name, typ := range map[string]parquet.Type{
		"bool": parquet.BooleanType, "int32": parquet.Int32Type, "int64": parquet.Int64Type,
		"uint8": parquet.Uint(8).Type(),
		"float": parquet.FloatType, "double": parquet.DoubleType, "text": parquet.String().Type(),
	} {
		leaf := parquet.Leaf(typ)
		group[name] = leaf
		switch {
		case name == "bool":
			group["bool rle"] = parquet.Encoded(leaf, &parquet.RLE)
		case name == "text":
			group["text length"] = parquet.Encoded(leaf, &parquet.DeltaLengthByteArray)
			group["text delta"] = parquet.Encoded(leaf, &parquet.DeltaByteArray)
			group["text plain"] = parquet.Encoded(leaf, &parquet.Plain)
		case strings.Contains(name, "int"):
			group[name+" delta"] = parquet.Encoded(leaf, &parquet.DeltaBinaryPacked)
		default:
			group[name+" split"] = parquet.Encoded(leaf, &parquet.ByteStreamSplit)
		}
		if name != "bool" {
			group[name+" dict"] = parquet.Encoded(leaf, &parquet.RLEDictionary)
		}
	}
	for name, node := range maps.Clone(group) {
		group[name+" opt"] = parquet.Optional(node)
	}
	return group
}

// encodedFile writes n rows of such columns and returns the same as CSV text of
// the columns that are numbers, and the texts.
func encodedFile(t testing.TB, group parquet.Group, n int, seed uint64,
	o ...parquet.WriterOption) (raw []byte, csv string) {
	t.Helper()
	schema := parquet.NewSchema("table", group)
	rng := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	var text strings.Builder
	w := parquet.NewWriter(&b, append([]parquet.WriterOption{schema}, o...)...)
	for range n {
		row := parquet.Row{}
		for j, field := range schema.Fields() {
			var v parquet.Value
			k := rng.IntN(100) - 50
			switch name := field.Name(); {
			case strings.HasPrefix(name, "bool"):
				v = parquet.BooleanValue(k > 0)
				k = max(0, min(k, 1))
			case strings.HasPrefix(name, "int32"):
				v = parquet.Int32Value(int32(k))
			case strings.HasPrefix(name, "int64"):
				k <<= 30
				v = parquet.Int64Value(int64(k))
			case strings.HasPrefix(name, "uint8"):
				k += 50
				v = parquet.Int32Value(int32(k))
			case name == "label":
				k &= 1
				v = parquet.Int32Value(int32(k))
			case name == "other":
				v = parquet.FloatValue(9.25)
			case strings.HasPrefix(name, "float"):
				v = parquet.FloatValue(float32(k))
			case strings.HasPrefix(name, "double"):
				v = parquet.DoubleValue(float64(k))
			default:
				v = parquet.ByteArrayValue(fmt.Appendf(nil, "t%03d", k+50))
			}
			level := 0
			if field.Optional() {
				level = 1
			}
			row = append(row, v.Level(0, level, j))
			if j > 0 {
				text.WriteByte(',')
			}
			if v.Kind() == parquet.ByteArray {
				text.Write(v.ByteArray())
			} else {
				fmt.Fprint(&text, k)
			}
		}
		text.WriteByte('\n')
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), text.String()
}

// readEncoded reads such a file, or its text, with one of the columns of texts as
// label.
func readEncoded(raw []byte, group parquet.Group, label string, csv bool) (*dataset.Dataset,
	error) {
	o := Options{Table: Table{LabelColumn: label}, Storage: "dense"}
	for k, field := range parquet.NewSchema("table", group).Fields() {
		name := field.Name()
		if csv && name == label {
			o.LabelColumn = fmt.Sprint(k + 1)
		}
		if !strings.HasPrefix(name, "text") || name == label {
			continue
		}
		if csv {
			name = fmt.Sprint(k + 1)
		}
		o.Ignore = append(o.Ignore, name)
	}
	if csv {
		o.Format, o.Header = "csv", "no"
	}
	return readLimited("f.parquet", string(raw), o, wideLimits())
}

func labelsOf(group parquet.Group) (labels []string) {
	for name := range group {
		if strings.HasPrefix(name, "text") {
			labels = append(labels, name)
		}
	}
	slices.Sort(labels)
	return labels
}

// What the library writes with any codec in any encoding is read as it was.
func TestParquetCodecsAndEncodings(t *testing.T) {
	group := encodedColumns()
	for _, n := range []int{3, 300} {
		if n > 3 && testing.Short() {
			break
		}
		_, text := encodedFile(t, group, n, 1)
		for _, label := range labelsOf(group) {
			want, err := readEncoded([]byte(text), group, label, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, codec := range parquetCodecs {
				for version := 1; version <= 2; version++ {
					raw, _ := encodedFile(t, group, n, 1, parquet.Compression(codec),
						parquet.DataPageVersion(version), parquet.PageBufferSize(512))
					got, err := readEncoded(raw, group, label, false)
					if err != nil {
						t.Fatalf("%s, version %d, %d rows, label %s: %v", codec, version, n, label, err)
					}
					if got.SHA256 != want.SHA256 || fmt.Sprint(got.Y) != fmt.Sprint(want.Y) {
						t.Errorf("%s, version %d, %d rows, label %s: got other data than those written",
							codec, version, n, label)
					}
				}
			}
		}
	}
}

// Version 0.32.0 of the library misreads what LZ4 hardly packs, so it is refused.
func TestParquetLZ4(t *testing.T) {
	raw := benchParquet(t, []float32{1, 2, 3, 4}, 2, parquet.Compression(&parquet.Lz4Raw))
	_, err := readText("f", string(raw), Options{NoLabels: true})
	if want := `f row group 1 column "x000" LZ4 Zstandard`; !facts.Told(err, want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// smallGroup is one column and, for two classes, a label.
func smallGroup(columns parquet.Group, name string) parquet.Group {
	return parquet.Group{name: columns[name], "label": parquet.Leaf(parquet.Int32Type),
		"other": parquet.Leaf(parquet.FloatType)}
}

// readSmall reads the file of such a group: a column of texts is the label.
func readSmall(raw []byte, name string) (*dataset.Dataset, error) {
	o := Options{Table: Table{LabelColumn: "label"}, Storage: "dense"}
	if strings.HasPrefix(name, "text") {
		o.LabelColumn = name
	}
	return readLimited("f.parquet", string(raw), o, wideLimits())
}

// A byte of the pages that is not as it was written, any at all, or some that are missing: data of
// the same shape, or an error.
func TestParquetFlippedBytes(t *testing.T) {
	columns := encodedColumns()
	rng := rand.New(rand.NewPCG(11, 12))
	flips, cuts := 30, 6 // of each file
	if testing.Short() {
		flips, cuts = 3, 1
	}
	for k, codec := range parquetCodecs {
		for name := range columns {
			raw, _ := encodedFile(t, smallGroup(columns, name), 21, uint64(k), parquet.Compression(codec),
				parquet.DataPageVersion(1+k%2))
			want, err := readSmall(raw, name)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, file []byte) {
				got, err := readSmall(file, name)
				if err == nil && (got.N != want.N || got.D != want.D || got.CheckAll(t.Context()) != nil) {
					t.Errorf("%s, %s, %s: read as other data", codec, name, what)
				}
			}
			for range flips {
				at, mask := 4+rng.IntN(len(raw)-4), byte(1+rng.IntN(255))
				file := bytes.Clone(raw)
				file[at] ^= mask
				check(fmt.Sprintf("byte %d changed by %#x", at, mask), file)
			}
			for range cuts {
				at := 4 + rng.IntN(len(raw)-4)
				cut := 1 + rng.IntN(min(9, len(raw)-at))
				check(fmt.Sprintf("%d bytes at %d missing", cut, at), slices.Delete(bytes.Clone(raw), at,
					at+cut))
			}
		}
	}
}
