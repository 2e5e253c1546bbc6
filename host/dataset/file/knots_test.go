package file

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// bent is a table of n examples: a number with a gap, one that is mostly 0, a row number and words.
func bent(n int) string {
	var b strings.Builder
	b.WriteString(",balance,gain,colour,class\n")
	for i := range n {
		balance, gain := fmt.Sprint(i%101-50), 0
		if i%101 == 50 {
			balance = ""
		}
		if i%10 == 0 {
			gain = i % 1000
		}
		fmt.Fprintf(&b, "%d,%s,%d,%s,%c\n", i, balance, gain, []string{"red", "blue"}[i%2], 'a'+i%2)
	}
	return b.String()
}

func bending(knots int) Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto,
		Knots: knots}}}
}

// TestKnots: numbers of a table that is long enough get features that bend, of gaps too; 0 stays 0,
// and a model's recipe gives the same features again.
func TestKnots(t *testing.T) {
	text := bent(features.KnotExamples)
	for _, storage := range []string{"dense", "sparse"} {
		o := bending(3)
		o.Storage = storage
		d, err := readText("f.csv", text, o)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"balance", "balance below -26", "balance below -1", "balance above 25",
			"balance (missing)", "gain"}
		if !slices.Equal(d.Features[:len(names)], names) {
			t.Fatalf("found the features %q", d.Features)
		}
		gains := d.Encoding.Columns[1].Knots
		if len(gains) != 3 || gains[0] < 200 || gains[0] > 300 || gains[2] > 800 {
			t.Errorf("found the knots %v of a number that is mostly 0", gains)
		}
		x := d.Examples.Dense()
		for i := range x.N {
			row := x.Row(i)
			v := float32(i%101 - 50)
			if i%101 == 50 {
				v = *d.Encoding.Columns[0].Mean
			}
			want := []float32{v, max(0, -26-v), max(0, -1-v), max(0, v-25)}
			if !slices.Equal(row[:4], want) {
				t.Fatalf("example %d: found %v, wanted %v", i, row[:4], want)
			}
			for k, knot := range gains {
				if row[6+k] != max(0, row[5]-knot) {
					t.Fatalf("example %d: gain %v has %v", i, row[5], row[6:9])
				}
			}
		}
		o.Encoding, o.Encode = d.Encoding, nil
		var some strings.Builder // without the numbers of the rows
		for line := range strings.Lines(text[:strings.Index(text, "\n60,")+1]) {
			some.WriteString(line[strings.Index(line, ",")+1:])
		}
		again, err := readText("g.csv", some.String(), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range again.N {
			if !reflect.DeepEqual(again.Examples.Dense().Row(i), x.Row(i)) {
				t.Fatalf("example %d by the recipe: found %v, wanted %v", i, again.Examples.Dense().Row(i),
					x.Row(i))
			}
		}
	}
}

// TestNoKnots: a short table, one of numbers alone, and one whose reader wants none have no knots.
func TestNoKnots(t *testing.T) {
	numbers := strings.NewReplacer("red", "1", "blue", "2").Replace(bent(features.KnotExamples))
	numbers = strings.ReplaceAll(numbers, ",,", ",7,")
	for _, of := range []struct {
		text  string
		knots int
	}{{bent(features.KnotExamples - 1), 3}, {bent(features.KnotExamples), 0}, {numbers, 3}} {
		d, err := readText("f.csv", of.text, bending(of.knots))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(d.Features, " "), "above") {
			t.Errorf("found the features %q", d.Features)
		}
	}
}

// TestDamagedKnots: a recipe with knots that cannot be is refused.
func TestDamagedKnots(t *testing.T) {
	zero := float32(0)
	for _, c := range []dataset.Column{
		{Name: "a", Kind: dataset.KindNumber, Mean: &zero, Knots: []float32{2, 1}},
		{Name: "a", Kind: dataset.KindCategory, Levels: []string{"b"}, Knots: []float32{1}},
	} {
		e := dataset.Encoding{Missing: dataset.MissingMean, Columns: []dataset.Column{c}}
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), "knots") {
			t.Errorf("%v: got %v", c, err)
		}
	}
}
