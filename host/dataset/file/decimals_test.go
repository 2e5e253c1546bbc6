package file

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	"pgregory.net/rapid"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// columnOf returns a column of numbers as they are in the file; NaN is a missing value.
func columnOf(d *dataset.Dataset, j int) (values []float64) {
	c, at := &d.Encoding.Columns[j], 0
	for k := range j {
		at += d.Encoding.Columns[k].Width()
	}
	for i := range d.N {
		values = append(values, float64(d.DenseRow(make([]float32, d.D), i)[at])+c.Origin)
	}
	return values
}

// Each column has its own decimal mark, by all its cells, and a cell of one changes no other. What
// fits both marks is an error that names both, unless other columns agree on one or the user says.
func TestDecimalMarks(t *testing.T) {
	said := func(mark string) Options {
		o := lenientOptions()
		o.Decimal = mark
		return o
	}
	const once = "once "
	const ask = "1234 decimal=point 1.234 decimal=comma"
	for name, c := range map[string]struct {
		a, b [3]string // the columns
		o    Options
		want string // the values, or the facts of an error
	}{
		"one comma among points": {[3]string{"1.5", once + `"1,5"`, "2.5"},
			[3]string{"0.580", "1.125", "2.250"}, said(""), "[1.5 1.5 2.5] [0.58 1.125 2.25]"},
		"one column of commas": {[3]string{`"1,5"`, `"0,25"`, "3"}, [3]string{"0.580", "1.125", "2.250"},
			said(""), "[1.5 0.25 3] [0.58 1.125 2.25]"},
		"no group begins with 0": {[3]string{`"0,580"`, `"1,250"`, "2"}, [3]string{"1", "2", "3"},
			said(""), "[0.58 1.25 2] [1 2 3]"},
		"groups": {[3]string{`"1,234,567"`, `"1,250"`, "2"}, [3]string{"1", "2", "3"}, said(""),
			"[1.234567e+06 1250 2] [1 2 3]"},
		"either": {[3]string{`"1,234"`, `"2,345"`, "7"}, [3]string{"1", "2", "3"}, said(""), ask},
		"point said": {[3]string{`"1,234"`, "7", "8"}, [3]string{"1", "2", "3"}, said("point"),
			"[1234 7 8] [1 2 3]"},
		"comma said": {[3]string{`"1,234"`, "7", "8"}, [3]string{"1", "2", "3"}, said("comma"),
			"[1.234 7 8] [1 2 3]"},
		"others agree": {[3]string{`"1,250"`, "7", "8"}, [3]string{`"0,5"`, "2", "3"}, said(""),
			"[1.25 7 8] [0.5 2 3]"},
		"others have points": {[3]string{`"1,250"`, "7", "8"}, [3]string{"0.5", "2", "3"}, said(""),
			"[1250 7 8] [0.5 2 3]"},
		"plain numbers beside commas": {[3]string{"1.234", "2.345", "7"}, [3]string{`"0,5"`, "2", "3"},
			said(""), "1.234 decimal=point 1234 decimal=comma"},
		"plain numbers": {[3]string{"1.250", "2.375", "7"}, [3]string{"1", "2", "3"}, said(""),
			"[1.25 2.375 7] [1 2 3]"},
	} {
		var text strings.Builder
		text.WriteString("a,b,kind\n")
		for i := range 60 {
			a := c.a[i%3]
			if rare, is := strings.CutPrefix(a, once); is && i != 31 {
				a = c.a[0]
			} else if is {
				a = rare
			}
			fmt.Fprintf(&text, "%s,%s,%s\n", a, c.b[i%3], []string{"p", "q"}[i%2])
		}
		d, err := readText("f", text.String(), c.o)
		if err != nil {
			if !facts.Told(err, c.want) {
				t.Errorf("%s: %v, wanted %s", name, err, c.want)
			}
			continue
		}
		round := func(j int) (values []float64) {
			for _, v := range columnOf(d, j)[:3] {
				values = append(values, math.Round(v*1e6)/1e6)
			}
			return values
		}
		if got := fmt.Sprint(round(0), round(1)); got != c.want {
			t.Errorf("%s: found %s, wanted %s", name, got, c.want)
		}
		// A model reads its own format, whatever else a cell fits.
		o := Options{Table: Table{Encoding: d.Encoding}, NoLabels: true, FeatureNames: d.Features}
		p, err := readText("g", "a,b\n\"1,250\",2\n\"2,375\",3\n", o)
		want := "[1250 2375]"
		if d.Encoding.Columns[0].Commas {
			want = "[1.25 2.375]"
		}
		if err != nil && !d.Encoding.Plain() || err == nil && fmt.Sprint(p.DenseRow(make([]float32, p.D),
			0)[0], p.DenseRow(make([]float32, p.D), 1)[0]) != strings.Trim(want, "[]") {
			t.Errorf("%s: predicting, found %v, %v, wanted %s", name, p, err, want)
		}
	}
}

// The whole of a column tells its format, not its beginning.
func TestDecimalMarkOfWhole(t *testing.T) {
	var text strings.Builder
	text.WriteString("a;b;kind\n")
	for i := range 90000 {
		fmt.Fprintf(&text, "%d;12345678;%s\n", i%7, []string{"p", "q"}[i%2])
	}
	if text.Len() < sniffed {
		t.Fatalf("the table has %d bytes, wanted more than %d", text.Len(), sniffed)
	}
	if _, err := readText("f", text.String()+"1,234;1;p\n", lenientOptions()); !facts.Told(err,
		"1234 decimal=point 1.234 decimal=comma") {
		t.Errorf("found %v", err)
	}
	d, err := readText("f", text.String()+"1,234;1;p\n0,5;1;q\n", lenientOptions())
	if err != nil {
		t.Fatal(err)
	}
	if v := columnOf(d, 0); math.Abs(v[d.N-2]-1.234) > 1e-6 || v[d.N-1] != .5 {
		t.Errorf("found %v", v[d.N-2:])
	}
}

// People of eight countries write numbers in a column, and one number tells the decimal mark. The
// reader returns their values, or refuses the column because a number fits both marks.
func TestLocales(t *testing.T) {
	for _, locale := range []string{"en-US", "de-DE", "fr-FR", "de-CH", "it-IT", "pl-PL", "sv-SE",
		"pt-BR"} {
		p, read, tried := message.NewPrinter(language.MustParse(locale)), 0, 0
		rapid.Check(t, func(t *rapid.T) {
			tried++
			halves := rapid.SliceOfN(rapid.IntRange(0, 6), 2, 8).Draw(t, "halves")
			var text strings.Builder
			text.WriteString("a;kind\n")
			var values []float64
			for i := range 64 {
				whole := rapid.IntRange(-1<<22, 1<<22).Draw(t, "whole")
				v := math.Ldexp(float64(whole>>rapid.IntRange(0, 20).Draw(t, "shorter")),
					-halves[i%len(halves)])
				if i == 0 {
					v = 0.5 // which tells the mark, where all others fit both
				}
				values = append(values, v)
				fmt.Fprintf(&text, "%s;%s\n", p.Sprint(number.Decimal(v, number.MaxFractionDigits(6))),
					[]string{"p", "q"}[i/8%2])
			}
			d, err := readText("f", text.String(), lenientOptions())
			if err != nil && facts.Told(err, "decimal=point decimal=comma") {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", locale, err, text.String())
			}
			read++
			for i, v := range columnOf(d, 0) {
				if v != values[i] {
					t.Fatalf("%s: found %v in row %d, wanted %v\n%s", locale, v, i+1, values[i], text.String())
				}
			}
		})
		if 2*read < tried {
			t.Errorf("%s: %d of %d tables were read, wanted at least half", locale, read, tried)
		}
	}
}
