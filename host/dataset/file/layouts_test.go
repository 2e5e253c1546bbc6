package file

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Tables of other lay-outs say what a usual one says.
func TestLayouts(t *testing.T) {
	const usual = "x,y,class\n1.5,-2,a\n0.25,4e2,b b\n"
	blanks := strings.NewReplacer("b b", `"b b"`, ",", "  ").Replace(usual)
	commas := "x;y;class\n1,5;-2;a\n0,25;4e2;b b\n"
	bare := usual[len("x,y,class\n"):]
	for _, c := range []struct {
		what, text string
		o          Options
		like       string
		note       string
	}{
		{"blanks", blanks, Options{}, usual, ""},
		{"blanks at both ends, and tabs", " \t" + strings.ReplaceAll(blanks, "\n", " \n\t ") + "\n",
			Options{Table: Table{Separator: "blanks"}}, usual, ""},
		{"blanks without a header", blanks[len("x  y  class\n"):], Options{}, bare, ""},
		{"tabs", strings.ReplaceAll(usual, ",", "\t"), Options{}, usual, ""},
		{"a separator of its own", strings.ReplaceAll(usual, ",", "|"),
			Options{Table: Table{Separator: "|"}}, usual, ""},
		{"semicolons said", strings.ReplaceAll(usual, ",", ";"),
			Options{Table: Table{Separator: "semicolon"}}, usual, ""},
		{"decimal commas", commas, Options{Table: Table{Decimal: decimalComma}}, usual, ""},
		{"decimal commas without a header", commas[len("x;y;class\n"):],
			Options{Table: Table{Decimal: decimalComma}}, bare, ""},
		{"decimal commas and tabs", strings.ReplaceAll(commas, ";", "\t"),
			Options{Table: Table{Decimal: decimalComma}}, usual, ""},
		{"decimal commas and blanks", strings.NewReplacer("b b", `"b b"`, ";", " ").Replace(commas),
			Options{Table: Table{Decimal: decimalComma, Separator: "blanks"}}, usual, ""},
		{"decimal commas in quotes", "x,y,class\n\"1,5\",-2,a\n\"0,25\",4e2,b b\n",
			Options{Table: Table{Decimal: decimalComma}}, usual, ""},
		{"comments", "# by hand; of 1, 2\n#\n" + strings.ReplaceAll(usual, "\n0", "\n# isn't \"it\n0") +
			"# end",
			Options{}, usual, "f: lines that begin with # (4) are taken as comments, the first is line 1"},
		{"comments before blanks", "# x y\n" + blanks, Options{}, usual, "f: lines that begin with # (1)"},
		{"no comment, of as many fields", "#x,y,class\n#1,2,a\n3,4,b\n",
			Options{Table: Table{Ignore: []string{"1"}}}, "y,class\n2,a\n4,b\n", ""},
		{"UTF-16LE", inUTF16(binary.LittleEndian, usual), Options{}, usual, ""},
		{"UTF-16BE", inUTF16(binary.BigEndian, usual), Options{}, usual, ""},
	} {
		for _, mixed := range []bool{false, true} {
			if c.o.Encode = nil; mixed {
				c.o.Encode = &features.EncodeOptions{}
			}
			want, err := readText("f", c.like, Options{Table: Table{Encode: c.o.Encode}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readText("f", c.text, c.o)
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				continue
			}
			if got.SHA256 != want.SHA256 || fmt.Sprint(got.Features) != fmt.Sprint(want.Features) {
				t.Errorf("%s: read %v\n%s%v", c.what, got.Features, rows(got.Examples), got.Classes)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" &&
				notes != "" {
				t.Errorf("%s: notes %q", c.what, notes)
			}
		}
	}
}

func inUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, c)
	}
	return string(b)
}

func TestLayoutsBad(t *testing.T) {
	little := inUTF16(binary.LittleEndian, "x,y,class\n1,2,\U0001f600\n3,4,b\n")
	for _, c := range []struct {
		what, text string
		o          Options
		want       string
	}{
		{"place between blanks", "x  y  class\n1  2 a\n3   x  b\n", Options{}, `f:3:5 column 2 y "x"`},
		{"place in the last column", "x y class\n1 2 a\n 3   4\n", Options{}, "f:3:7 2 fields 3"},
		{"names of R's rows", "x y class\n1 1 2 a\n2 3 4 b\n", Options{}, "R"},
		{"a point among commas", "x;y;c\n1,5;2;a\n1.2;2;b\n", Options{Table: Table{Decimal: decimalComma}},
			`f:3:1 column 1 x "1.2" decimal`},
		{"two commas", "x;y;c\n1,5;2;a\n1,234,5;2;b\n", Options{Table: Table{Decimal: decimalComma}}, `"1,234,5"`},
		{"decimal commas unsaid", "x;y;c\n1,5;2;a\n", Options{}, `"1,5" decimal decimal decimal=comma`},
		{"decimal commas between commas", "x,y,c\n", Options{Table: Table{Decimal: decimalComma,
			Separator: "comma"}}, "decimal"},
		{"a separator of numbers", "x,y,c\n", Options{Table: Table{Separator: "5"}}, `"5"`},
		{"a separator of two", "x,y,c\n", Options{Table: Table{Separator: "||"}}, `"||"`},
		{"a separator of LIBSVM", "a 1:2\n", Options{Table: Table{Separator: "blanks"}, Format: "libsvm"},
			"separator decimal out"},
		{"nothing but comments", "# a\n# b\n", Options{}, "f:1 label"},
		{"UTF-16 cut", little[:len(little)-1], Options{}, "UTF-16"},
		{"UTF-16 torn", little[:32] + little[34:], Options{}, "UTF-16"},
		{"UTF-16 without a mark", little[2:], Options{}, "f UTF-16LE UTF-8"},
		{"UTF-16BE without a mark", inUTF16(binary.BigEndian, "x,y,class\n1,2,a\n")[2:], Options{},
			"UTF-16BE"},
	} {
		_, err := readText("f", c.text, c.o)
		if !facts.Told(err, c.want) {
			t.Errorf("%s: %v\nwanted %s", c.what, err, c.want)
		}
	}
}

// decimalParquet is a table of two examples of decimals, stored in each way that there is.
func decimalParquet(t testing.TB) string {
	type row struct {
		Small *int32   `parquet:"small,optional,decimal(2:9)"`
		Large int64    `parquet:"large,decimal(4:18)"`
		Text  []byte   `parquet:"text"`
		Fixed [16]byte `parquet:"fixed"`
		Class string   `parquet:"class"`
	}
	fixed := func(text string) (b [16]byte) {
		n, _ := new(big.Int).SetString(text, 10)
		if n.Sign() < 0 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		n.FillBytes(b[:])
		return b
	}
	small := func(n int32) *int32 { return &n }
	list := []row{
		{small(-5), 123456789012345678, []byte{0xff}, fixed("-1"), "a"},
		{small(1234), -1, []byte{0x01, 0x00}, fixed("12345678901234567890123456789012345678"), "b"},
	}
	group := parquet.Group{}
	for _, f := range parquet.SchemaOf(row{}).Fields() {
		group[f.Name()] = f
	}
	group["fixed"] = parquet.Decimal(10, 38, parquet.FixedLenByteArrayType(16))
	group["text"] = parquet.Decimal(3, 30, parquet.ByteArrayType)
	var b strings.Builder
	w := parquet.NewGenericWriter[row](&b, parquet.NewSchema("decimals", group))
	if _, err := w.Write(list); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Decimals of Parquet are what the same digits are in a CSV, whatever they are stored as.
func TestParquetDecimals(t *testing.T) {
	table := decimalParquet(t)
	got, err := readText("f.parquet", table, Options{Table: Table{LabelColumn: "class"}})
	if err != nil {
		t.Fatal(err)
	}
	csv := "class,fixed,large,small,text\na,-0.0000000001,12345678901234.5678,-0.05,-0.001\n" +
		"b,1234567890123456789012345678.9012345678,-0.0001,12.34,0.256\n"
	want, err := readText("f.csv", csv, Options{Table: Table{LabelColumn: "class"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.SHA256 != want.SHA256 || fmt.Sprint(got.Features) != fmt.Sprint(want.Features) {
		t.Errorf("read %v\n%swanted %v\n%s", got.Features, rows(got.Examples), want.Features,
			rows(want.Examples))
	}
	// as a label, and as what names the examples
	for _, column := range []string{"fixed", "large", "small", "text"} {
		o := Options{Table: Table{LabelColumn: column, IDColumn: "text", Ignore: []string{"class"}}}
		if column == "text" {
			o.IDColumn = "fixed"
		}
		got, err := readText("f.parquet", table, o)
		if err != nil {
			t.Errorf("%s as the label: %v", column, err)
			continue
		}
		want, err := readText("f.csv", csv, o)
		if err != nil || got.SHA256 != want.SHA256 || fmt.Sprint(got.Classes, got.Y, got.IDs) !=
			fmt.Sprint(want.Classes, want.Y, want.IDs) {
			t.Errorf("%s as the label: found the classes %v, %v of %v, wanted %v, %v of %v, %v", column,
				got.Classes, got.Y, got.IDs, want.Classes, want.Y, want.IDs, err)
		}
	}
	category, err := readText("f.parquet", table, Options{Table: Table{LabelColumn: "class",
		Encode: &features.EncodeOptions{Categories: []string{"small"}}}})
	if err != nil || !strings.Contains(fmt.Sprint(category.Features), "small=-0.05 small=12.34") {
		t.Errorf("%v, %v", category, err)
	}
}
