package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// table turns the lines of estimators into three tables: mean absolute errors per entry, and test
// errors of softmax and of UMA. Means over the seeds; the last line of a table of test errors says
// in how many cases one is within a point of that with the true C.
func table(w io.Writer, r io.Reader) error {
	const off, bySoftmax, byUMA = 0, 1, 2
	type cell struct {
		sums [3]float64
		n    float64
	}
	var cases, methods []string
	cells, chosen := map[[2]string]*cell{}, map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v result
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return err
		}
		name := v.Set + ", " + v.Noise
		if !slices.Contains(cases, name) {
			cases = append(cases, name)
		}
		if !slices.Contains(methods, v.Method) {
			methods = append(methods, v.Method)
		}
		at := [2]string{name, v.Method}
		if cells[at] == nil {
			cells[at] = &cell{}
		}
		for k, x := range [...]float64{off: v.Off, bySoftmax: v.Error, byUMA: v.UMAError} {
			cells[at].sums[k] += x
		}
		cells[at].n++
		if v.Candidates != nil {
			chosen[name] = v.Chosen
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for what, title := range [...]string{off: "mean absolute error per entry",
		bySoftmax: "test error, softmax", byUMA: "test error, UMA"} {
		near, of := make([]int, len(methods)), make([]int, len(methods))
		fmt.Fprintf(w, "| %s ", title)
		rule := "|---"
		for _, m := range methods {
			fmt.Fprintf(w, "| %s ", m)
			rule += "|--:"
		}
		fmt.Fprintf(w, "| auto chose |\n%s|---|\n", rule)
		for _, name := range cases {
			fmt.Fprintf(w, "| %s ", name)
			for k, m := range methods {
				c := cells[[2]string{name, m}]
				if c == nil {
					fmt.Fprint(w, "| ")
					continue
				}
				of[k]++
				v := c.sums[what] / c.n
				if truth := cells[[2]string{name, "true C"}]; truth != nil && v <= truth.sums[what]/truth.n+0.01 {
					near[k]++
				}
				fmt.Fprintf(w, "| %.4f ", v)
			}
			fmt.Fprintf(w, "| %s |\n", chosen[name])
		}
		if what != off {
			fmt.Fprint(w, "| within a point of the true C ")
			for k := range methods {
				fmt.Fprintf(w, "| %d/%d ", near[k], of[k])
			}
			fmt.Fprintln(w, "| |")
		}
		fmt.Fprintln(w)
	}
	return nil
}
