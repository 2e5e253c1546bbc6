package file

import (
	"bufio"
	"bytes"
	"encoding/csv"
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
	rows  map[int]int  // where lines of the CSV begin: rows of the sheet, from 1
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
	t, err := readSheet(whole, name, min(s.limits.whole, memory.Available()/3))
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.show(t)
	return nil
}

// readSheet returns the sheet of that name in a workbook, which unpacks to at most so many bytes.
func readSheet(whole []byte, name string, most int64) (t *sheet, err error) {
	defer recovered("Excel", &err)
	f, err := excelize.OpenReader(bytes.NewReader(whole), excelize.Options{UnzipSizeLimit: most})
	if err != nil {
		return nil, fmt.Errorf("cannot read the Excel file: %w", err)
	}
	t = &sheet{file: f, rows: map[int]int{}, days: map[int]bool{}}
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

// show has s give the text of a sheet.
func (s *source) show(t *sheet) {
	s.sheet, s.r = t, bufio.NewReaderSize(bytes.NewReader(t.text), s.limits.buffer)
}

// csv returns the cells as a CSV. Empty rows become empty lines, and others have equally many
// fields.
func (t *sheet) csv() ([]byte, error) {
	rows, err := t.cells()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		t.width = max(t.width, len(row))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := 1
	for i, row := range rows {
		if t.rows[line] = i + 1; strings.Join(row, "") == "" {
			b.WriteByte('\n')
			line++
			continue
		}
		before := b.Len()
		w.Write(append(row, make([]string, t.width-len(row))...)) // keeps its first error
		w.Flush()
		line += bytes.Count(b.Bytes()[before:], []byte("\n"))
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

// set changes the cell of a column, from 1, in the row that begins at a line of the CSV. A number
// stays one.
func (t *sheet) set(column, line int, text string) (err error) {
	defer recovered("Excel", &err)
	at, err := excelize.CoordinatesToCellName(column, t.rows[line])
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

// write writes the workbook without the rows that begin at some lines of the CSV, in increasing
// order.
func (t *sheet) write(w io.Writer, without []int) (err error) {
	defer recovered("Excel", &err)
	for _, line := range slices.Backward(without) {
		if err := t.file.RemoveRow(t.name, t.rows[line]); err != nil {
			return err
		}
	}
	return t.file.Write(w)
}
