package file

import (
	"bytes"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A table without a column that can be a feature is an error that says why.
func TestParquetWithoutPlainColumns(t *testing.T) {
	for _, c := range []struct {
		kind  string
		node  parquet.Node
		value parquet.Value
	}{
		{"list", parquet.Repeated(parquet.Leaf(parquet.FloatType)), parquet.FloatValue(1)},
		{"INT96", parquet.Leaf(parquet.Int96Type), parquet.Int96Value(deprecated.Int96{1})},
		{"FIXED_LEN_BYTE_ARRAY(4)", parquet.Leaf(parquet.FixedLenByteArrayType(4)),
			parquet.FixedLenByteArrayValue([]byte("four"))},
	} {
		repeated := 0
		if c.node.Repeated() {
			repeated = 1
		}
		for _, names := range [][]string{{"a"}, {"a", "b", "y"}} {
			group := parquet.Group{}
			for _, name := range names {
				group[name] = c.node
			}
			var b bytes.Buffer
			w := parquet.NewWriter(&b, parquet.NewSchema("table", group))
			for range 300 {
				row := make(parquet.Row, len(names))
				for j := range row {
					row[j] = c.value.Level(0, repeated, j)
				}
				if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			lenient := Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}
			for _, o := range []Options{{}, {NoLabels: true}, {Table: lenient},
				{Table: lenient, NoLabels: true}} {
				_, err := readText("f.parquet", b.String(), o)
				alone := len(names) == 1 && !o.NoLabels
				if alone && !facts.Told(err, "f.parquet label") ||
					!alone && !facts.Told(err, "f.parquet "+c.kind) && !facts.Told(err, "f.parquet nested") {
					t.Errorf("%s %v %+v: got %v", c.kind, names, o, err)
				}
			}
		}
	}
}

// Unsigned integers of Parquet have no sign.
func TestParquetUnsigned(t *testing.T) {
	type row struct {
		A uint32 `parquet:"a"`
		B uint64 `parquet:"b"`
		Y string `parquet:"y"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{1 << 31, 1 << 63, "p"}, {0, 0, "q"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readText("f.parquet", b.String(), Options{})
	if err != nil || d.X[0] != 1<<31 || d.X[1] != 1<<63 {
		t.Errorf("got %v, %v", d, err)
	}
}

// A table all of whose columns are set aside is refused, though the first rows looked so only.
func TestNoFeature(t *testing.T) {
	o := Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
	empty := bytes.Repeat([]byte(",p\n,q\n"), 4000)
	d, err := readText("f.csv", "a,y\n"+string(empty), o)
	if !facts.Told(err, "f.csv no feature a missing") {
		t.Errorf("got %v, %v", d, err)
	}
	d, err = readText("f.csv", "a,y\n"+string(empty)+"1,p\n2,q\n", o)
	if err != nil || d.N != 8002 {
		t.Errorf("values in the last rows: got %v, %v", d, err)
	}
}

// A library that panics on a file is an error.
func TestLibraryPanics(t *testing.T) {
	if _, err := io.ReadAll(unpacking{broken{}, "gzip"}); !facts.Told(err, "gzip corrupt 7") {
		t.Errorf("got %v", err)
	}
	if err := (&sheet{name: "s"}).write(io.Discard, nil); !facts.Told(err, "Excel corrupt") {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { panic(7) }
