package file

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// withFooter is a Parquet file whose footer change has changed.
func withFooter(t testing.TB, raw []byte, change func(m *parquetformat.FileMetaData)) []byte {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
	start := len(raw) - 8 - length
	protocol := &thrift.CompactProtocol{}
	var m parquetformat.FileMetaData
	if err := thrift.Unmarshal(protocol, raw[start:start+length], &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	footer, err := thrift.Marshal(protocol, &m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(raw[:start]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// A schema that says one thing here and another there is refused, whichever of the two the library
// believes.
func TestParquetSchemaContradicts(t *testing.T) {
	type meta = parquetformat.FileMetaData
	raw := parquetBytes(t, 5) // a, b, label
	if _, err := readText("f", string(withFooter(t, raw, func(*meta) {})), Options{}); err != nil {
		t.Fatal(err)
	}
	kind := func(k parquetformat.Type) thrift.Null[parquetformat.Type] { return thrift.New(k) }
	for what, change := range map[string]func(m *meta){
		"stored as int, said float": func(m *meta) { m.Schema[1].Type = kind(parquetformat.Int32) },
		"stored as float, said int": func(m *meta) {
			m.RowGroups[0].Columns[0].MetaData.Type = parquetformat.Int32
		},
		"a float that is text": func(m *meta) {
			m.Schema[1].LogicalType = parquetformat.LogicalType{Value: &parquetformat.StringType{}}
		},
		"a float that is text, as of old": func(m *meta) {
			m.Schema[1].ConvertedType = thrift.New(
				deprecated.UTF8)
		},
		"a float that is an integer of 64 bits": func(m *meta) {
			m.Schema[1].LogicalType = parquetformat.LogicalType{Value: &parquetformat.IntType{BitWidth: 64,
				IsSigned: true}}
		},
		"a float that is an integer of 8 bits": func(m *meta) {
			m.Schema[1].LogicalType = parquetformat.LogicalType{Value: &parquetformat.IntType{BitWidth: 8}}
		},
		"a float that is a day": func(m *meta) {
			m.Schema[1].LogicalType = parquetformat.LogicalType{Value: &parquetformat.DateType{}}
		},
		"no type": func(m *meta) { m.Schema[1].Type = thrift.Null[parquetformat.Type]{} },
		"columns exchanged": func(m *meta) {
			c := m.RowGroups[0].Columns
			c[0], c[1] = c[1], c[0]
		},
		"a column more": func(m *meta) {
			m.RowGroups[0].Columns = append(m.RowGroups[0].Columns, m.RowGroups[0].Columns[0])
		},
		"a column less":    func(m *meta) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:2] },
		"a name more":      func(m *meta) { m.Schema = append(m.Schema, m.Schema[1]) },
		"a name less":      func(m *meta) { m.Schema = m.Schema[:len(m.Schema)-1] },
		"children missing": func(m *meta) { m.Schema[0].NumChildren.V = 5000 },
		"children below 0": func(m *meta) { m.Schema[0].NumChildren.V = -1 },
	} {
		d, err := readText("f", string(withFooter(t, raw, change)), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: got %+v, %v", what, d, err)
		}
	}
}

// A schema that is nested deep takes no more memory than one that is not.
func TestParquetDeepSchema(t *testing.T) {
	for _, deep := range []int{64, 40_000} {
		raw := withFooter(t, parquetBytes(t, 5), func(m *parquetformat.FileMetaData) {
			root, leaf := m.Schema[0], m.Schema[1]
			root.NumChildren = thrift.New(int32(1))
			m.Schema = []parquetformat.SchemaElement{root}
			for range deep {
				m.Schema = append(m.Schema, parquetformat.SchemaElement{Name: "g",
					NumChildren: thrift.New(int32(1)), RepetitionType: leaf.RepetitionType})
			}
			m.Schema = append(m.Schema, leaf)
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readText("f", string(raw), Options{})
		runtime.ReadMemStats(&after)
		want := "64 deep"
		if !facts.Told(err, want) {
			t.Errorf("%d deep: %v, want %s", deep, err, want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%d deep: took %d bytes for a file of %d", deep, took, len(raw))
		}
	}
}
