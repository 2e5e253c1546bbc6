package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// issues --ask writes the rows whose class is the least sure, once of equal ones. Once answered,
// they are checked rows.
func TestAskAgain(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var data strings.Builder
	data.WriteString("who,size,note,kind\n")
	for i := range 120 {
		size, kind := float64(i%12)/4+float64(i)/1e4, "small"
		if i == 17 {
			size -= 12 / 1e4 // as of row 6
		}
		if i%12 >= 6 {
			kind = "large"
		}
		if i%9 == 4 {
			kind = map[string]string{"small": "large", "large": "small"}[kind]
		}
		fmt.Fprintf(&data, "w%d,%.4f,\"note %d, <b>\",%s\n", i+1, size, i+1, kind)
	}
	table := write(t, dir, "d.csv", data.String())
	issues := []string{"issues", "--data", table, "--label", "kind", "--id-column", "who", "--quiet",
		"--probabilities"}
	var p strings.Builder
	p.WriteString("who,small,large\n")
	for i := range 120 {
		fmt.Fprintf(&p, "w%d,%.4f,%.4f\n", i+1, 1-(float64(i%12)+.5)/12, (float64(i%12)+.5)/12)
	}
	issues = append(issues, write(t, dir, "p.csv", p.String()), "--show", "note", "--ask", "5",
		"--out")
	succeed(t, with(issues, path("ask.csv"))...)
	rows, err := csv.NewReader(strings.NewReader(string(read(t, path("ask.csv"))))).ReadAll()
	if err != nil || len(rows) != 6 || strings.Join(rows[0], " ") !=
		"id row note given_label suggested_label suggested_probability label" {
		t.Fatalf("got %q, %v", rows, err)
	}
	asked, last := map[string]bool{}, 0.0
	for k, row := range rows {
		if k == 0 {
			continue
		}
		var i int
		fmt.Sscanf(row[0], "w%d", &i)
		sure, err := strconv.ParseFloat(row[5], 64)
		if err != nil || sure < last || sure > 0.7 || row[1] != fmt.Sprint(i) ||
			row[2] != fmt.Sprintf("note %d, <b>", i) ||
			i%9 != 5 { // all other labels are as the probabilities say
			t.Errorf("line %d: got %q", k+1, row)
		}
		asked[row[0]], last = true, sure
		rows[k][6] = row[4]
	}
	if asked["w6"] && asked["w18"] {
		t.Error("of equal rows both are asked for")
	}
	var filled strings.Builder
	csv.NewWriter(&filled).WriteAll(rows)
	estimate := []string{"confusion", "estimate", "--data", table, "--label", "kind", "--id-column",
		"who", "--ignore-columns", "note", "--method", "clean", "--json", "--clean"}
	succeed(t, append(estimate, write(t, dir, "filled.csv", filled.String()))...)
	for _, c := range [][]string{{"--out", "--ask", "5"}, {"--ask", "--show", "note"},
		{"--ask 0", "--ask", "0", "--out", "x"}} {
		fail(t, app.ExitUsage, c[0], append([]string{"issues", "--data", table}, c[1:]...)...)
	}
}
