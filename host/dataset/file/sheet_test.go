package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// writeSheet writes a workbook with a hidden sheet before the table, a title and an empty row above
// it, and cells of each kind.
func writeSheet(t *testing.T, path string, label func(i int) any) *excelize.File {
	t.Helper()
	f := excelize.NewFile()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(f.SetCellValue("Sheet1", "A1", "not this one"))
	_, err := f.NewSheet("table")
	check(err)
	check(f.SetSheetVisible("Sheet1", false))
	f.SetActiveSheet(1)
	check(f.SetSheetVisible("Sheet1", false))
	check(f.SetSheetRow("table", "A1", &[]any{"Report, 2024"}))
	check(f.SetSheetRow("table", "A3", &[]any{"x", "when", "word", "label", "ok", "share"}))
	day, err := f.NewStyle(&excelize.Style{CustomNumFmt: new("dd/mm/yyyy")})
	check(err)
	percent, err := f.NewStyle(&excelize.Style{NumFmt: 10})
	check(err)
	for i := range 30 {
		row := []any{float64(i) + 0.5, time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC),
			[]string{"a, b", "two\nlines", " c "}[i%3], label(i), i%2 == 0, 0.25}
		check(f.SetSheetRow("table", fmt.Sprint("A", 4+i), &row))
		check(f.SetCellStyle("table", fmt.Sprint("B", 4+i), fmt.Sprint("B", 4+i), day))
		check(f.SetCellStyle("table", fmt.Sprint("F", 4+i), fmt.Sprint("F", 4+i), percent))
	}
	check(f.SetCellFormula("table", "H40", "SUM(A4:A33)"))
	_, err = f.NewSheet("notes")
	check(err)
	check(f.SaveAs(path))
	return f
}

// An Excel file is read like the CSV of its first visible sheet, and a copy of it differs in the
// labels alone that were asked for.
func TestSheet(t *testing.T) {
	for name, label := range map[string]func(i int) any{
		"texts":   func(i int) any { return []string{"p", "q, r"}[i%2] },
		"numbers": func(i int) any { return i % 2 },
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.xlsx"), filepath.Join(dir, "out.xlsx")
		writeSheet(t, in, label)
		o := Options{Table: Table{LabelColumn: "label", Encode: &features.EncodeOptions{
			Missing: dataset.MissingAuto, Categories: []string{"word", "when"}}}}
		d, err := Read(t.Context(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		if d.N != 30 || d.Format != "xlsx" || len(d.Classes) != 2 {
			t.Fatalf("%s: %d examples of classes %q", name, d.N, d.Classes)
		}
		columns, cells, err := ReadRows(t.Context(), d, Copy{Path: in, Options: o}, []int{1})
		if want := []string{"1.5", "2024-01-02", "two\nlines", fmt.Sprint(label(1)), "FALSE", "0.25", "",
			""}; err != nil ||
			!slices.Equal(cells[1], want) || columns[1] != "when" {
			t.Fatalf("%s: row 2 is %q of %q, %v; want %q", name, cells[1], columns, err, want)
		}
		y := slices.Clone(d.Y)
		y[7], y[20] = 1-y[7], 1-y[20]
		err = CopyTable(t.Context(), out, d, Copy{Path: in, Options: o, Y: y}, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before, after := must(excelize.OpenFile(in)), must(excelize.OpenFile(out))
		changed := 0
		for row := 1; row <= 41; row++ {
			for column := 1; column <= 9; column++ {
				at, _ := excelize.CoordinatesToCellName(column, row)
				about := func(f *excelize.File) string {
					return fmt.Sprint(must(f.GetCellValue("table", at, excelize.Options{RawCellValue: true})),
						must(f.GetCellStyle("table", at)), must(f.GetCellFormula("table", at)))
				}
				was, is := about(before), about(after)
				if was == is {
					continue
				}
				if changed++; at != "D11" && at != "D24" {
					t.Errorf("%s: cell %s was %s and is %s", name, at, was, is)
				}
			}
		}
		was, is := must(before.GetCellType("table", "D11")), must(after.GetCellType("table", "D11"))
		if was != is || changed != 2 {
			t.Errorf("%s: %d cells changed, and the type of one from %v to %v", name, changed, was, is)
		}
	}
}

// What no sheet can be read of is an error that says what to do.
func TestSheetFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.xlsx")
	writeSheet(t, path, func(int) any { return "p" })
	whole := must(os.ReadFile(path))
	for want, text := range map[string][]byte{"with a password": []byte("\xd0\xcf\x11\xe0" +
		strings.Repeat(" ", 600)), "cannot read the Excel file": whole[:len(whole)/2],
		"one class": whole} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(t.Context(), path, Options{Table: Table{LabelColumn: "label",
			Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Of several sheets with cells one is named behind the path.
func TestSheetNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.xlsx")
	f := excelize.NewFile()
	for k, name := range []string{"Sheet1", "my table"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for row, cells := range [][]any{{"x", "y"}, {1 + k, "a"}, {1234567890123 + k, "b"}} {
			if err := f.SetSheetRow(name, fmt.Sprint("A", row+1), &cells); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]string{
		"":          `found the sheets "Sheet1", "my table", wanted one`,
		"#none":     `wanted "none"`,
		"#my table": "", "#Sheet1": "",
	} {
		d, err := Read(t.Context(), path+suffix, Options{})
		if want == "" && (err != nil || d.N != 2) || want != "" && (err == nil ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", suffix, err, want)
		}
	}
}

// A row of a sheet keeps its number, whatever empty rows and lines within cells are above it, and
// days may be counted from 1904.
func TestSheetRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.xlsx")
	f := excelize.NewFile()
	if err := f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: new(true)}); err != nil {
		t.Fatal(err)
	}
	day, err := f.NewStyle(&excelize.Style{CustomNumFmt: new("dd/mm/yyyy")})
	if err != nil {
		t.Fatal(err)
	}
	for row, cells := range map[int][]any{
		2: {"note", "when", "x", "y"}, 4: {"two\nlines", 1, 1.5, "p"},
		7: {"b", 2, 2.5, "q"}, 9: {"c", 3, "oops", "p"}, 10: {"d", 4, 3.5, "q"},
	} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprint("A", row), &cells); err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprint("B", row)
		if err := f.SetCellStyle("Sheet1", at, at, day); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	o := Options{Table: Table{Ignore: []string{"note", "when"}}}
	_, err = Read(t.Context(), path, o)
	if want := path + `:9 column 3 (x) "oops" skip-bad=1`; !facts.Told(err, want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	o.SkipBad = 1
	d, err := Read(t.Context(), path, o)
	if err != nil || !slices.Equal(d.SkippedAt, []int{9}) || fmt.Sprint(d.X) != "[1.5 2.5 3.5]" {
		t.Fatalf("found %+v, %v", d, err)
	}
	_, cells, err := ReadRows(t.Context(), d, Copy{Path: path, Options: o}, []int{1})
	if err != nil || !slices.Equal(cells[1], []string{"b", "1904-01-03", "2.5", "q"}) {
		t.Errorf("the second row is %q, %v", cells[1], err)
	}
	out := filepath.Join(t.TempDir(), "out.xlsx")
	err = CopyTable(t.Context(), out, d, Copy{Path: path, Options: o, Y: []int32{0, -1, 0}},
		WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	copied := must(must(excelize.OpenFile(out)).GetRows("Sheet1"))
	labels := ""
	for _, row := range copied {
		if len(row) > 3 {
			labels += row[3] + " "
		}
	}
	if labels != "y p p " { // without the bad row and the row that is left out
		t.Errorf("the copy has the labels %s", labels)
	}
}
