package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"
)

// printJSON prints one JSON object, indented, a list of numbers on one line.
func printJSON(w io.Writer, v any) error {
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

// mostClasses is the largest matrix that is printed for people.
const mostClasses = 30

// printMatrix prints a square table with the same names at its rows and columns,
// right-aligned; entry (i,j) is cell(i, j).
func printMatrix(w io.Writer, corner string, names []string, cell func(i, j int) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\t", corner)
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", shorten(name))
	}
	fmt.Fprintln(t)
	for i, name := range names {
		fmt.Fprintf(t, "%s\t", shorten(name))
		for j := range names {
			fmt.Fprintf(t, "%s\t", cell(i, j))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// shorten cuts a class name to what a table or a progress line has room for.
func shorten(name string) string {
	const most = 12
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// rows cuts a row-major q×q table into rows that share its memory.
func rows[T any](table []T, q int) [][]T {
	r := make([][]T, q)
	for i := range r {
		r[i] = table[i*q : (i+1)*q : (i+1)*q]
	}
	return r
}
