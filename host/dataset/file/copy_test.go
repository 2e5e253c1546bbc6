package file

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// Cells keep their text, with quotes where a reader needs them; bad rows are no part of the copy
// unless asked for.
func TestCopyTable(t *testing.T) {
	lenient := Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
	skip := lenient
	skip.SkipBad = math.MaxInt
	semicolons := lenient
	semicolons.Separator, semicolons.IDColumn = "semicolon", "id"
	dropped := lenient
	dropped.Ignore = []string{"word", "first"}
	const plain = "id,x,word,y\n1,1.50,a b,p\n2,, c,q\n3,\"2\",\"d,\"\"e\",p\n4,1e3,,q\n"
	for _, c := range []struct {
		name, text string
		o          Options
		copy       Copy
		out, want  string
	}{
		{"as it is", plain, lenient, Copy{}, "o.csv",
			"id,x,word,y\n1,1.50,a b,p\n2,, c,q\n3,\"2\",\"d,\"\"e\",p\n4,1e3,,q\n"},
		{"other labels, one row less", plain, lenient, Copy{Y: []int32{1, -1, 0, 0}}, "o.csv",
			"id,x,word,y\n1,1.50,a b,q\n3,\"2\",\"d,\"\"e\",p\n4,1e3,,p\n"},
		{"tabs", plain, lenient, Copy{}, "o.tsv",
			"id\tx\tword\ty\n1\t1.50\ta b\tp\n2\t\t c\tq\n3\t\"2\"\t\"d,\"\"e\"\tp\n4\t1e3\t\tq\n"},
		{"fewer columns", plain, dropped, Copy{WithoutIgnored: true}, "o.csv",
			"x,y\n1.50,p\n,q\n\"2\",p\n1e3,q\n"},
		{"columns that are ignored stay", plain, dropped, Copy{Y: []int32{0, -1, -1, -1}}, "o.csv",
			"id,x,word,y\n1,1.50,a b,p\n"},
		{"decimal commas", "id;x;y\nu;1,5;p\nv;2,5;q\n", semicolons, Copy{}, "o.csv",
			"id;x;y\nu;1,5;p\nv;2,5;q\n"},
		{"no header", "1,2,p\n3,4,q\n", lenient, Copy{Y: []int32{1, 0}}, "o.csv", "1,2,q\n3,4,p\n"},
		{"a title", "Report of 2024\n\nx,z,y\n1,2,p\n3,4,q\n5,6,p\n", lenient, Copy{}, "o.csv",
			"Report of 2024\n\nx,z,y\n1,2,p\n3,4,q\n5,6,p\n"},
		{"bad rows", "x,z,y\n1,2,p\n3,4\n5,6,q\n", skip, Copy{}, "o.csv", "x,z,y\n1,2,p\n5,6,q\n"},
		{"bad rows, too", "x,z,y\n1,2,p\n3,4\n5,6,q\n", skip, Copy{Skipped: true}, "o.csv",
			"x,z,y\n1,2,p\n3,4\n5,6,q\n"},
		{"no label", "x,z,y\n1,2,p\n3,4,\n5,6,q\n", lenient, Copy{Y: []int32{1, 1, 0}}, "o.csv",
			"x,z,y\n1,2,q\n3,4,\n5,6,p\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, c.out)
			if err := os.WriteFile(in, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := Read(t.Context(), in, c.o)
			if err != nil {
				t.Fatal(err)
			}
			c.copy.Path, c.copy.Options = in, c.o
			if err := CopyTable(t.Context(), out, d, c.copy, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out)
			if err != nil || string(got) != c.want {
				t.Errorf("found %q, %v, want %q", got, err, c.want)
			}
			if err := os.WriteFile(in, []byte(c.text+c.want[len(c.want)-4:]), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := CopyTable(t.Context(), out, d, c.copy, WriteOptions{}); err == nil {
				t.Error("a file that has grown was copied")
			}
			again, err := os.ReadFile(out)
			if err != nil || string(again) != c.want {
				t.Errorf("the failure left %q, %v", again, err)
			}
		})
	}
}

// A copy has the bytes of the table but in cells of other labels, whatever the table looks like.
func TestCopyKeepsBytes(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(1, seed))
		bit := func() bool { return random.IntN(2) == 0 }
		one := func(texts ...string) string { return texts[random.IntN(len(texts))] }
		delim, end := one(",", ";", "\t"), one("\n", "\r\n", "\r")
		classes := []string{"p", "q r", "a,;b", `say "x"`, "ä"}
		cell := func(text string, quoted bool) string {
			if quoted || strings.ContainsAny(text, delim+"\"\r\n") {
				return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			return text
		}
		n := 6 + random.IntN(6)
		labels, wanted := make([]int, n), make([]int, n)
		for i := range labels {
			if labels[i] = i % len(classes); i >= len(classes) {
				labels[i] = random.IntN(len(classes))
			}
			wanted[i] = random.IntN(len(classes))
		}
		titled, broken := true, "w"
		if bit() { // lines within cells
			titled, broken = false, "two"+end+"lines"
		}
		quoted, words := make([]bool, n), make([]string, n)
		for i := range quoted {
			quoted[i] = bit() || strings.ContainsAny(classes[labels[i]], delim+`"`)
			words[i] = one("u", " v ", "w,;|x", "", "é", `1"`, broken)
		}
		first, last := bit(), bit()
		file := func(labels []int) string {
			var b strings.Builder
			if titled {
				b.WriteString("The table" + end + end)
			}
			row := func(label, x, z, word string) {
				fields := []string{x, z, word, label}
				if first {
					fields = []string{label, x, z, word}
				}
				b.WriteString(strings.Join(fields, delim) + end)
			}
			row("y", "x", "z", "word")
			for i, k := range labels {
				row(cell(classes[k], quoted[i]), fmt.Sprint(i), "2.50", cell(words[i], false))
			}
			if !last {
				return strings.TrimSuffix(b.String(), end)
			}
			return b.String()
		}
		codings := []encoding.Encoding{unicode.UTF8, unicode.UTF8BOM, charmap.Windows1252,
			unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
			unicode.UTF16(unicode.BigEndian, unicode.UseBOM)}
		coding := codings[random.IntN(len(codings))]
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
		encoded := func(labels []int) string {
			text, err := coding.NewEncoder().String(file(labels))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		if err := os.WriteFile(in, []byte(encoded(labels)), 0o666); err != nil {
			t.Fatal(err)
		}
		o := Options{Table: Table{LabelColumn: "y",
			Separator: map[string]string{",": "comma", ";": "semicolon", "\t": "tab"}[delim],
			Encode: &features.EncodeOptions{
				Missing: dataset.MissingAuto, Categories: []string{"word"}}}}
		d, err := Read(t.Context(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]int32, n)
		for i, k := range wanted {
			if y[i] = int32(slices.Index(d.Classes, classes[k])); y[i] < 0 {
				t.Fatalf("%q is not in %q", classes[k], d.Classes)
			}
		}
		columns, cells, err := ReadRows(t.Context(), d, Copy{Path: in, Options: o}, []int{0, n - 1})
		at, missing := FindColumn(columns, "word")
		if err != nil || missing != nil || len(cells) != 2 ||
			cells[n-1][at] != strings.ReplaceAll(words[n-1], end, "\n") {
			t.Fatalf("seed %d: found the cells %v of %q, %v, wanted %q", seed, cells, columns, err,
				words[n-1])
		}
		for _, c := range []struct {
			y    []int32
			want []int
		}{{nil, labels}, {d.Y, labels}, {y, wanted}} {
			err := CopyTable(t.Context(), out, d, Copy{Path: in, Options: o, Y: c.y}, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out)
			if want := encoded(c.want); err != nil || string(got) != want {
				t.Fatalf("seed %d: found %q, %v, wanted %q", seed, got, err, want)
			}
		}
	}
}

// Arrays, labels from elsewhere and pipes are not copied.
func TestCopyTableRefuses(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	labels := filepath.Join(dir, "labels")
	if err := os.WriteFile(labels, []byte("p\nq\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := Options{Labels: labels}
	d, err := Read(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{in, dir, "-"} {
		err := CopyTable(t.Context(), filepath.Join(dir, "out.csv"), d, Copy{Path: path, Options: o},
			WriteOptions{})
		if !errors.Is(err, ErrNoTable) {
			t.Errorf("%q: got %v", path, err)
		}
	}
}
