package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

// PrintJSON prints one JSON object, indented, a list of numbers on one line.
func PrintJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err := w.Write(numberList.ReplaceAllFunc(text.Bytes(), func(list []byte) []byte {
		return fmt.Appendf(nil, "[%s]", bytes.Join(bytes.Fields(list[1:len(list)-1]), []byte(" ")))
	}))
	return err
}

// numberList is a list over several lines without strings, lists and objects in
// it. No string of JSON looks so: a line break in it would be written \n.
var numberList = regexp.MustCompile(`\[\n[^\[\]{}"]*\n *\]`)

// MostClasses is the largest matrix that is printed for people.
const MostClasses = 30

// PrintMatrix prints a square table with the same names at its rows and columns,
// right-aligned; entry (i,j) is cell(i, j).
func PrintMatrix(w io.Writer, corner string, names []string, cell func(i, j int) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\t", corner)
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", Shorten(name))
	}
	fmt.Fprintln(t)
	for i, name := range names {
		fmt.Fprintf(t, "%s\t", Shorten(name))
		for j := range names {
			fmt.Fprintf(t, "%s\t", cell(i, j))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// Shorten cuts a class name to what a table or a progress line has room for.
func Shorten(name string) string {
	const most = 12
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// Rows cuts a row-major q×q table into rows that share its memory.
func Rows[T any](table []T, q int) [][]T {
	r := make([][]T, q)
	for i := range r {
		r[i] = table[i*q : (i+1)*q : (i+1)*q]
	}
	return r
}

// shortFloat prints a value as shortly as it can be read back.
func FloatText(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// smallBytesText prints a number of bytes in the unit that suits it.
func BytesText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v, k := float64(n), 0
	for v >= 1024 && k < len(units)-1 {
		v, k = v/1024, k+1
	}
	if k == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + units[k]
}
