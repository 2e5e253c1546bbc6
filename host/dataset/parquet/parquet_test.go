package parquet

import (
	"bytes"
	"os"
	"reflect"
	"strconv"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// The library reads the rows back; our own reader takes numbers for features and texts for labels.
func TestWrite(t *testing.T) {
	type row struct {
		Example int64   `parquet:"example"`
		Wrong   bool    `parquet:"is_label_issue"`
		Quality float64 `parquet:"label_quality"`
		Given   string  `parquet:"given_label"`
	}
	var rows []row
	for i := range 3000 {
		rows = append(rows, row{int64(i + 1), i%3 == 0, 1 / float64(i+1), "class " + strconv.Itoa(i%7)})
	}
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := Write(b, rows); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("other bytes the second time")
	}
	back, err := parquetgo.Read[row](bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil || !reflect.DeepEqual(back, rows) {
		t.Errorf("found %d rows, %v", len(back), err)
	}
	path := t.TempDir() + "/rows.parquet"
	if err := os.WriteFile(path, first.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	o := file.Options{Table: file.Table{LabelColumn: "given_label",
		Ignore: []string{"is_label_issue"}}}
	d, err := file.Read(t.Context(), path, o)
	if err != nil || d.N != 3000 || d.D != 2 || len(d.Classes) != 7 || d.Row(1)[1] != 0.5 {
		t.Errorf("found %+v, %v", d, err)
	}
}
