package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

var parquetCodecs = []compress.Codec{
	&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd,
	&parquet.Lz4Raw,
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

// Values that hardly pack: version 0.32.0 of the library reads them from a buffer
// that holds something else.
func TestParquetLZ4(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, 4000)
	for k := range x {
		x[k] = rng.Float32()
	}
	for _, codec := range parquetCodecs {
		got, err := readText("f", string(benchParquet(t, x, 4, parquet.Compression(codec))),
			Options{NoLabels: true, Storage: "dense"})
		if err != nil || !slices.Equal(got.X, x) {
			t.Errorf("%s: got other data than those written (error %v)", codec, err)
		}
	}
}

// readHead returns the head of a page and its length.
func readHead(t testing.TB, raw []byte) (head parquetformat.PageHeader, length int64) {
	t.Helper()
	r := bytes.NewReader(raw)
	if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(r)).Decode(&head); err != nil {
		t.Fatal(err)
	}
	return head, int64(len(raw) - r.Len())
}

// rebuild writes a file anew with pages that change may change: the head, whose sizes
// and check sum follow, and the bytes as they lie in the file.
func rebuild(t testing.TB, raw []byte, change func(column string, head *parquetformat.PageHeader,
	body []byte) []byte) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)), parquet.SkipPageIndex(true))
	if err != nil {
		t.Fatal(err)
	}
	protocol := &thrift.CompactProtocol{}
	out := []byte("PAR1")
	meta := *f.Metadata()
	for g := range meta.RowGroups {
		for c := range meta.RowGroups[g].Columns {
			m := &meta.RowGroups[g].Columns[c].MetaData
			at := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				at = m.DictionaryPageOffset
				m.DictionaryPageOffset = int64(len(out))
			}
			from, first := int64(len(out)), true
			for end := at + m.TotalCompressedSize; at < end; {
				head, length := readHead(t, raw[at:])
				at += length
				body := bytes.Clone(raw[at : at+int64(head.CompressedPageSize)])
				at += int64(head.CompressedPageSize)
				body = change(strings.Join(m.PathInSchema, "."), &head, body)
				head.CRC = 0 // there is none
				if m.Codec == parquetformat.Uncompressed {
					head.UncompressedPageSize = int32(len(body))
				}
				head.CompressedPageSize = int32(len(body))
				if head.Type != parquetformat.DictionaryPage && first {
					m.DataPageOffset, first = int64(len(out)), false
				}
				bytes, err := thrift.Marshal(protocol, &head)
				if err != nil {
					t.Fatal(err)
				}
				out = append(append(out, bytes...), body...)
			}
			m.TotalCompressedSize = int64(len(out)) - from
		}
	}
	footer, err := thrift.Marshal(protocol, &meta)
	if err != nil {
		t.Fatal(err)
	}
	out = binary.LittleEndian.AppendUint32(append(out, footer...), uint32(len(footer)))
	return append(out, "PAR1"...)
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

// A page of any encoding that is shorter or longer than its values take, or that
// claims another number of them: an error that names the column and the page, or,
// where only padding is missing, the data as they were. Never old memory.
func TestParquetShortPages(t *testing.T) {
	columns := encodedColumns()
	for name := range columns {
		for version := 1; version <= 2; version++ {
			raw, _ := encodedFile(t, smallGroup(columns, name), 21, 5, parquet.DataPageVersion(version))
			want, err := readSmall(raw, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []parquetformat.PageType{parquetformat.DataPage, parquetformat.DataPageV2,
				parquetformat.DictionaryPage} {
				pages := 0
				try := func(what string, sure bool, change func(head *parquetformat.PageHeader,
					body []byte) []byte) {
					pages = 0
					file := rebuild(t, raw, func(column string, head *parquetformat.PageHeader,
						body []byte) []byte {
						if column != name || head.Type != kind {
							return body
						}
						pages++
						return change(head, body)
					})
					got, err := readSmall(file, name)
					switch {
					case pages == 0:
					case err == nil && (sure || got.SHA256 != want.SHA256):
						t.Errorf("%s, version %d, %s %s: read without an error: %v %v",
							name, version, kind, what, got.X, got.Y)
					case err != nil && (!strings.HasPrefix(err.Error(), "f.parquet: column ") ||
						!facts.Told(err, name)):
						t.Errorf("%s, version %d, %s %s: %v", name, version, kind, what, err)
					}
				}
				size := 0
				try("", false, func(_ *parquetformat.PageHeader, body []byte) []byte {
					size = len(body)
					return body
				})
				step := 1
				if testing.Short() {
					step = 7
				}
				for cut := 1; cut <= size; cut += step {
					try(fmt.Sprintf("shorter by %d of %d bytes", cut, size), false,
						func(_ *parquetformat.PageHeader, body []byte) []byte {
							return body[:size-cut]
						})
				}
				if pages == 0 {
					continue
				}
				try("longer by a byte", true, func(_ *parquetformat.PageHeader, body []byte) []byte {
					return append(body, 0)
				})
				for _, more := range []int32{-21, -1, 1, 1000, 1 << 30} {
					try(fmt.Sprintf("with %+d values", more), kind != parquetformat.DictionaryPage,
						func(h *parquetformat.PageHeader, body []byte) []byte {
							h.DataPageHeader.V.NumValues += more
							h.DataPageHeaderV2.V.NumValues += more
							h.DictionaryPageHeader.V.NumValues += more
							return body
						})
				}
			}
		}
	}
}

// Of a page that holds too few values the rest came out of old memory: here the
// values of another column.
func TestParquetOldMemory(t *testing.T) {
	x := make([]float32, 2*64)
	for i := range 64 {
		x[2*i], x[2*i+1] = 9.25, float32(i)
	}
	for version := 1; version <= 2; version++ {
		raw := rebuild(t, benchParquet(t, x, 2, parquet.DataPageVersion(version)), func(column string,
			_ *parquetformat.PageHeader, body []byte) []byte {
			if column == "x001" {
				return body[:len(body)-4*8]
			}
			return body
		})
		for range 20 {
			d, err := readText("f.parquet", string(raw), Options{NoLabels: true, Storage: "dense"})
			if want := "f.parquet: column 2 (x001), page 1 at byte "; err == nil ||
				!strings.HasPrefix(err.Error(), want) || !facts.Told(err, "224 bytes 64 values 256") {
				t.Fatalf("got %v, error %v, wanted %s", d, err, want)
			}
		}
	}
}

// A byte of the pages that is not as it was written, any at all, or some that are
// missing: the data as they were, or an error. The library writes check sums of the
// pages; their heads have none.
func TestParquetFlippedBytes(t *testing.T) {
	columns := encodedColumns()
	rng := rand.New(rand.NewPCG(11, 12))
	flips, cuts := 30, 6 // of each file
	if testing.Short() {
		flips, cuts = 3, 1
	}
	for k, codec := range parquetCodecs {
		for name := range columns {
			for version := 1; version <= 2; version++ {
				raw, _ := encodedFile(t, smallGroup(columns, name), 21, uint64(k), parquet.Compression(codec),
					parquet.DataPageVersion(version))
				want, err := readSmall(raw, name)
				if err != nil {
					t.Fatal(err)
				}
				end := len(raw) - 8 - int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
				check := func(what string, file []byte) {
					got, err := readSmall(file, name)
					if err == nil && (got.SHA256 != want.SHA256 || fmt.Sprint(got.Y) != fmt.Sprint(want.Y)) {
						t.Errorf("%s, %s, version %d, %s: read as other data", codec, name, version, what)
					}
				}
				for range flips {
					at, mask := 4+rng.IntN(end-4), byte(1+rng.IntN(255))
					if rng.IntN(2) == 0 {
						mask = 1 << rng.IntN(8)
					}
					file := bytes.Clone(raw)
					file[at] ^= mask
					check(fmt.Sprintf("byte %d changed by %#x", at, mask), file)
				}
				for range cuts {
					at := 4 + rng.IntN(end-4)
					cut := 1 + rng.IntN(min(9, end-at))
					check(fmt.Sprintf("%d bytes at %d missing", cut, at), slices.Delete(bytes.Clone(raw), at,
						at+cut))
				}
			}
		}
	}
}

// Without check sums and codec a changed byte of a value changes that value, and no
// other; a changed head, none.
func TestParquetFlippedBytesWithoutSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	x := make([]float32, 40)
	for k := range x {
		x[k] = rng.Float32()
	}
	type span struct{ from, to int }
	var bodies []span
	raw := rebuild(t, benchParquet(t, x, 4), func(_ string, _ *parquetformat.PageHeader,
		body []byte) []byte {
		return body
	})
	for at := 4; len(bodies) < 4; {
		h, length := readHead(t, raw[at:])
		bodies = append(bodies, span{at + int(length), at + int(length) + int(h.CompressedPageSize)})
		at = bodies[len(bodies)-1].to
	}
	for at := 4; at < bodies[3].to; at++ {
		for bit := range 8 {
			file := bytes.Clone(raw)
			file[at] ^= 1 << bit
			got, err := readLimited("f", string(file), Options{NoLabels: true, Storage: "dense"},
				wideLimits())
			if err != nil {
				continue
			}
			changed := 0
			for k := range x {
				if got.X[k] != x[k] {
					changed++
				}
			}
			most := 0
			if slices.ContainsFunc(bodies, func(s span) bool { return s.from <= at && at < s.to }) {
				most = 1
			}
			if changed > most {
				t.Errorf("byte %d, bit %d: %d values changed, wanted at most %d", at, bit, changed, most)
			}
		}
	}
}
