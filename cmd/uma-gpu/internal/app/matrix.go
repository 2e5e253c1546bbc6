package app

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Rows cuts a row-major q×q table into rows that share its memory.
func Rows[T any](table []T, q int) [][]T { return slices.Collect(slices.Chunk(table, max(q, 1))) }

// MostClasses is the largest matrix that is printed for people.
const MostClasses = 30

// PrintMatrix prints a square table with the same names at its rows and columns, right-aligned;
// entry (i,j) is cell(i, j).
func PrintMatrix(w io.Writer, names []string, cell func(i, j int) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", Shorten(name))
	}
	for i, name := range names {
		fmt.Fprintf(t, "\n%s\t", Shorten(name))
		for j := range names {
			fmt.Fprintf(t, "%s\t", cell(i, j))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// PrintEstimated prints a matrix with the standard errors of its entries; nil for none.
func PrintEstimated(w io.Writer, names []string, p, errors [][]float64) error {
	return PrintMatrix(w, names, func(i, j int) string {
		if errors == nil {
			return fmt.Sprintf("%.3f", p[i][j])
		}
		return fmt.Sprintf("%.3f±%.3f", p[i][j], errors[i][j])
	})
}

// Annotator is the estimated quality of an annotator, part of what --json prints.
type Annotator struct {
	Name      string      `json:"name"`
	Labels    int         `json:"labels"`
	Right     float64     `json:"right"` // the mean of the diagonal
	Confusion [][]float64 `json:"confusion"`
	Error     [][]float64 `json:"standard_error,omitempty"` // nil if it is not known
}

// PrintAnnotators prints the best annotators and the worst, the best first.
func PrintAnnotators(w io.Writer, list []Annotator) error {
	const most = 5 // of the best, and of the worst
	list = slices.SortedStableFunc(slices.Values(list), func(a, b Annotator) int {
		return cmp.Compare(b.Right, a.Right)
	})
	fmt.Fprintln(w, "\nannotators, by how often each is right if all classes are as frequent")
	return Table(w, func(row Row) {
		for k, a := range list {
			if k < most || k >= len(list)-most {
				row("%s\t%.1f %%\t%d labels", a.Name, 100*a.Right, a.Labels)
			} else if k == most {
				row("… %d more", len(list)-2*most)
			}
		}
	})
}
