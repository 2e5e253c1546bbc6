package issues_test

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// Rows have the numbers of the file, where skipped rows and rows without a label count, and name
// the first row that is equal.
func TestRowNumbers(t *testing.T) {
	dir := t.TempDir()
	var data, p strings.Builder
	data.WriteString("who,size,kind\n")
	p.WriteString("who,small,large\n")
	for i := range 120 {
		size, kind := float64(i%12)/4+float64(i)/1e4, "small"
		if i == 17 {
			size -= 12 / 1e4 // as of row 6
		}
		if i%12 >= 6 {
			kind = "large"
		}
		if i == 60 {
			kind = ""
		}
		fmt.Fprintf(&data, "w%d,%.4f,%s\n", i+1, size, kind)
		if i == 0 {
			data.WriteString("bad,1,small,more\n")
		}
		fmt.Fprintf(&p, "w%d,%.4f,%.4f\n", i+1, 1-(float64(i%12)+.5)/12, (float64(i%12)+.5)/12)
	}
	out := filepath.Join(dir, "issues.csv")
	clitest.Succeed(t, "issues", "--data", clitest.Write(t, dir, "d.csv", data.String()), "--label",
		"kind", "--id-column", "who", "--request",
		clitest.Write(t, dir, "request.json", `{"input": {"skip_bad": 1}}`), "--probabilities",
		clitest.Write(t, dir, "p.csv", p.String()), "--out", out)
	rows, err := csv.NewReader(strings.NewReader(string(clitest.Read(t, out)))).ReadAll()
	if err != nil || len(rows) != 122 {
		t.Fatalf("%d lines, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		var i int
		if row[0] == "2" && strings.Join(row[1:], "") == "" {
			continue // the skipped row
		}
		if row[0] == "62" && row[1] == "w61" && strings.Join(row[2:], "") == "" {
			continue // the row without a label
		}
		fmt.Sscanf(row[1], "w%d", &i)
		if i > 1 {
			i++ // behind the skipped row
		}
		if row[0] != fmt.Sprint(i) || row[7] != "0" && row[7] != "7" {
			t.Errorf("got %q, want row %d, a duplicate of none or of row 7", row, i)
		}
	}
}
