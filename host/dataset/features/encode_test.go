package features

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// people is a table of a number, a category and a text, with values missing in the second row.
func people() *dataset.Table {
	texts := dataset.Texts{}
	for _, text := range []string{"red hat", "", "hat", "red"} {
		texts.Bytes = append(texts.Bytes, text...)
		texts.Ends = append(texts.Ends, int64(len(texts.Bytes)))
	}
	return &dataset.Table{N: 4, Columns: []dataset.TableColumn{
		{Name: "age", Position: 1, Kind: dataset.KindNumber,
			Numbers: []float32{1, float32(math.NaN()), 2, 6}},
		{Name: "city", Position: 3, Kind: dataset.KindCategory, Codes: []int32{1, -1, 0, 1},
			Levels: []string{"Rome", "Oslo", "Bonn"}},
		{Name: "wears", Position: 4, Kind: dataset.KindText, Texts: texts},
	}}
}

// Numbers and texts that name the examples become no feature where nobody said what a column is.
func TestNamesAreSetAside(t *testing.T) {
	const n = 200
	column := func(name string, number func(i int) float32) dataset.TableColumn {
		c := dataset.TableColumn{Name: name, Kind: dataset.KindNumber}
		for i := range n {
			c.Numbers = append(c.Numbers, number(i))
		}
		return c
	}
	surname := dataset.TableColumn{Name: "Surname", Kind: dataset.KindCategory}
	for i := range n {
		surname.Codes = append(surname.Codes, int32(i%60))
	}
	for k := range 60 {
		surname.Levels = append(surname.Levels, fmt.Sprint("name ", k))
	}
	each := func(i int) float32 { return float32(i*i + 7) }
	table := &dataset.Table{N: n, Columns: []dataset.TableColumn{
		column("CustomerId", each), column("row_key", each), column("paid", each), surname,
		column("id", func(i int) float32 { return float32(i % 9) }),
		column("idx id", func(i int) float32 { return float32(i) / 2 })}}
	for missing, want := range map[string]string{
		dataset.MissingAuto:  "aside aside number aside number number",
		dataset.MissingError: "number number number category number number"} {
		e, _, err := Learn(table, EncodeOptions{Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, c := range e.Columns {
			kinds = append(kinds, c.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("missing %s: got %s, want %s", missing, got, want)
		}
	}
}

// An encoding that is learned from a table encodes it, and others by the names of their levels.
func TestLearnAndEncode(t *testing.T) {
	table := people()
	e, notes, err := Learn(table, EncodeOptions{Missing: dataset.MissingIndicator})
	if err != nil || notes != nil {
		t.Fatal(notes, err)
	}
	const want = "age,age (missing),city=Oslo,city=Rome,city (missing)," +
		"wears=hat,wears=red,wears=red hat"
	if got := strings.Join(e.FeatureNames(), ","); got != want {
		t.Errorf("got the features %s, want %s", got, want)
	}
	rows := func(table *dataset.Table) string {
		var b strings.Builder
		notes, err = Encode(t.Context(), table, e, func(columns []int32, values []float32) error {
			fmt.Fprint(&b, columns, len(values), values[0], " ")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := rows(table); got != "[0 2 5 6 7] 5 1 [0 1 4] 3 3 [0 3 5] 3 2 [0 2 6] 3 6 " {
		t.Errorf("got %s", got)
	}
	if len(notes) != 1 || !facts.Told(notes[0], "column 4 wears 1 of 4") {
		t.Errorf("got the notes %q", notes)
	}
	other := people()
	other.Columns[1].Levels = []string{"Oslo", "Paris", "Rome"}
	if got := rows(other); got != "[0 5 6 7] 4 1 [0 1 4] 3 3 [0 2 5] 3 2 [0 6] 2 6 " {
		t.Errorf("other levels: got %s", got)
	}
	other.Columns = other.Columns[:2]
	if _, err := Encode(t.Context(), other, e, nil); !facts.Told(err, "2 columns 3") {
		t.Errorf("a column less: got %v", err)
	}
}
