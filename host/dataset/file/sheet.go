package file

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// sheet is a sheet of an Excel file, which is read as a CSV.
type sheet struct {
	file  *excelize.File
	name  string
	width int          // columns
	text  []byte       // CSV
	rows  []int        // the sheet's row number, from 1, of each CSV line
	days  map[int]bool // whether cells of a style are dates or times
	base  bool         // days are counted from 1904
}

// isSheet says that the file is a workbook of Excel, by the first name in the zip.
func isSheet(head []byte) bool {
	const name = 30 // where it begins
	if !isZip(head) || len(head) < name {
		return false
	}
	for _, first := range []string{"[Content_Types].xml", "_rels/", "docProps/", "xl/"} {
		if bytes.HasPrefix(head[name:], []byte(first)) {
			return true
		}
	}
	return false
}

// SplitSheet cuts the name of a sheet from a path such as table.xlsx#Sheet1, unless there is a file
// of that name.
func SplitSheet(path string) (file, sheet string) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 || FormatOfName(path[:at]) != "xlsx" {
		return path, ""
	}
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// choose returns the sheet of that name, or the one visible sheet that has cells.
func (t *sheet) choose(name string) (string, error) {
	var full []string
	for _, sheet := range t.file.GetSheetList() {
		if sheet == name {
			return name, nil
		}
		visible, err := t.file.GetSheetVisible(sheet)
		if err != nil {
			return "", err
		}
		rows, err := t.file.Rows(sheet)
		if err != nil {
			return "", err
		}
		if visible && rows.Next() {
			full = append(full, sheet)
		}
		rows.Close() // only read
	}
	switch {
	case name != "":
		return "", fmt.Errorf("found the sheets %s, wanted %s", quote.List(t.file.GetSheetList()),
			quote.Text(name))
	case len(full) == 1:
		return full[0], nil
	case full == nil:
		return "", fmt.Errorf("found no visible sheet with cells, wanted a table")
	}
	return "", fmt.Errorf("found the sheets %s, wanted one; name it behind the path, as in "+
		"table.xlsx#%s", quote.List(full), full[0])
}

// openSheet has s give a sheet of a workbook as a CSV: cells as they are stored, and dates as
// 2006-01-02.
func (s *source) openSheet() error {
	whole, err := io.ReadAll(io.LimitReader(s.r, s.limits.whole))
	if err != nil {
		return s.readFault(err)
	}
	_, name := SplitSheet(s.path)
	t, err := readSheet(whole, name, s.limits.whole)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.show(t)
	return nil
}

// readSheet returns the sheet of that name in a workbook, which unpacks to at most so many bytes.
func readSheet(whole []byte, name string, most int64) (t *sheet, err error) {
	defer recovered("Excel", &err)
	archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		return nil, fmt.Errorf("cannot read the Excel file: %w; fetch it again", err)
	}
	var unpacked int64
	for _, f := range archive.File {
		unpacked = memory.Sum(unpacked, int64(min(f.UncompressedSize64, math.MaxInt64)))
	}
	const times = 8 // what the library makes of texts and styles
	if err := memory.Check(memory.Product(int(unpacked), times),
		fmt.Sprintf("an Excel file of %d bytes, unpacked,", unpacked)); err != nil {
		return nil, err
	}
	// All in memory, since a limit below the other has the library leave temporary files.
	f, err := excelize.OpenReader(bytes.NewReader(whole),
		excelize.Options{UnzipSizeLimit: most, UnzipXMLSizeLimit: most})
	if err == nil {
		err = checkSheets(f)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the Excel file: %w", err)
	}
	t = &sheet{file: f, days: map[int]bool{}}
	if p, err := f.GetWorkbookProps(); err == nil && p.Date1904 != nil {
		t.base = *p.Date1904
	}
	if t.name, err = t.choose(name); err != nil {
		return nil, err
	}
	if t.text, err = t.csv(); err != nil {
		return nil, fmt.Errorf("sheet %q: %w", t.name, err)
	}
	return t, nil
}

// checkSheets refuses a workbook if one of its sheets needs more memory than is available. The
// library allocates a struct for every cell up to the last one of its row, and for every row up to
// the last one.
func checkSheets(f *excelize.File) (err error) {
	f.Pkg.Range(func(name, content any) bool {
		text, is := content.([]byte)
		if !is || !strings.HasPrefix(name.(string), "xl/worksheets/") {
			return true
		}
		var rows, cells int
		if rows, cells, err = sheetSize(text); err == nil {
			const row, cell = 512, 1024 // bytes, with what is not yet collected
			err = memory.Check(memory.Sum(memory.Product(rows, row), memory.Product(cells, cell)),
				fmt.Sprintf("a sheet of %d rows with %d cells", rows, cells))
		}
		if err != nil {
			err = fmt.Errorf("%w; save the sheet as CSV", err)
		}
		return err == nil
	})
	return err
}

// sheetSize counts the rows of a worksheet up to its last, and its cells, each up to the last of
// its row.
func sheetSize(text []byte) (rows, cells int, err error) {
	width := 0 // of the row
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.RawToken()
		if err == io.EOF {
			return rows, cells + width, nil
		}
		start, is := token.(xml.StartElement)
		switch {
		case err != nil:
			return 0, 0, err
		case is && start.Name.Local == "row":
			cells += width
			rows, width = rows+1, 0
		case is && start.Name.Local == "c":
			width++
		}
		for _, a := range start.Attr {
			switch {
			case !is || a.Name.Local != "r":
			case start.Name.Local == "row":
				n, _ := strconv.Atoi(a.Value) // the library's error is better
				rows = max(rows, n)
			case start.Name.Local == "c":
				if column, _, err := excelize.CellNameToCoordinates(a.Value); err == nil {
					width = max(width, column)
				}
			}
		}
	}
}

// show has s give the text of a sheet.
func (s *source) show(t *sheet) {
	s.sheet, s.r = t, bufio.NewReaderSize(bytes.NewReader(t.text), s.limits.buffer)
}

// csv returns the cells as a CSV whose records have equally many fields, without empty rows.
func (t *sheet) csv() ([]byte, error) {
	rows, err := t.cells()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		t.width = max(t.width, len(row))
	}
	if err := memory.Check(memory.Product(len(rows), t.width, 4),
		fmt.Sprintf("a table of %d×%d cells", len(rows), t.width)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, row := range rows {
		if strings.Join(row, "") == "" {
			continue
		}
		before := b.Len()
		w.Write(append(row, make([]string, t.width-len(row))...)) // keeps its first error
		w.Flush()
		for range bytes.Count(b.Bytes()[before:], []byte("\n")) {
			t.rows = append(t.rows, i+1)
		}
	}
	return b.Bytes(), w.Error()
}

// cells returns the texts of all rows.
func (t *sheet) cells() (rows [][]string, err error) {
	raw, err := t.file.Rows(t.name)
	if err != nil {
		return nil, err
	}
	defer raw.Close() // only read
	for raw.Next() {
		row, err := raw.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		for j, text := range row {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				if row[j], err = t.number(j+1, len(rows), text, v); err != nil {
					return nil, err
				}
			}
		}
	}
	return rows, raw.Error()
}

// number returns the text of a cell that holds v: a date, a truth, or the number as it is stored.
func (t *sheet) number(column, row int, stored string, v float64) (string, error) {
	at, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return "", err
	}
	style, err := t.file.GetCellStyle(t.name, at)
	if err != nil {
		return "", err
	}
	days, known := t.days[style]
	if !known {
		s, err := t.file.GetStyle(style)
		if err != nil {
			return "", err
		}
		days = isDays(s)
		t.days[style] = days
	}
	if !days {
		if kind, err := t.file.GetCellType(t.name, at); kind == excelize.CellTypeBool || err != nil {
			return map[string]string{"0": "FALSE", "1": "TRUE"}[stored], err
		}
		return stored, nil
	}
	when, err := excelize.ExcelDateToTime(v, t.base)
	switch when = when.Round(time.Millisecond); {
	case err != nil:
		return "", fmt.Errorf("cell %s: %w", at, err)
	case v >= 0 && v < 1:
		return when.Format(time.TimeOnly), nil
	case v == math.Floor(v):
		return when.Format(time.DateOnly), nil
	}
	return when.Format("2006-01-02 15:04:05.999"), nil
}

// isDays says that a style shows a number of days as a date or time.
func isDays(s *excelize.Style) bool {
	if s.CustomNumFmt != nil {
		quoted, bracket := false, false
		for _, c := range *s.CustomNumFmt {
			switch {
			case c == '"':
				quoted = !quoted
			case c == '[' || c == ']':
				bracket = c == '['
			case !quoted && !bracket && strings.ContainsRune("yYmMdDhH", c):
				return true
			}
		}
		return false
	}
	n := s.NumFmt
	return n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 45 && n <= 47 || n >= 50 && n <= 58
}

// set changes the cell of a column and a row, both from 1. A number stays one.
func (t *sheet) set(column, row int, text string) (err error) {
	defer recovered("Excel", &err)
	at, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return err
	}
	kind, err := t.file.GetCellType(t.name, at)
	if err != nil {
		return err
	}
	number, bad := strconv.ParseFloat(text, 64)
	switch {
	case kind == excelize.CellTypeBool && (text == "TRUE" || text == "FALSE"):
		return t.file.SetCellBool(t.name, at, text == "TRUE")
	case (kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber) && bad == nil:
		return t.file.SetCellFloat(t.name, at, number, -1, 64)
	}
	return t.file.SetCellStr(t.name, at, text)
}

// write writes the workbook without some rows, from 1 and in increasing order.
func (t *sheet) write(w io.Writer, without []int) (err error) {
	defer recovered("Excel", &err)
	for _, row := range slices.Backward(without) {
		if err := t.file.RemoveRow(t.name, row); err != nil {
			return err
		}
	}
	return t.file.Write(w)
}
