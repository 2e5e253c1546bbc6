package issues_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/issues"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// --ask lists the rows whose class is the least sure, once of equal ones, with their ids and the
// numbers of their rows in the file, where skipped rows count.
func TestAsk(t *testing.T) {
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
		if i%9 == 4 {
			kind = map[string]string{"small": "large", "large": "small"}[kind]
		}
		fmt.Fprintf(&data, "w%d,%.4f,%s\n", i+1, size, kind)
		if i == 0 {
			data.WriteString("bad,1,small,more\n")
		}
		fmt.Fprintf(&p, "w%d,%.4f,%.4f\n", i+1, 1-(float64(i%12)+.5)/12, (float64(i%12)+.5)/12)
	}
	out := filepath.Join(dir, "ask.csv")
	args := []string{"--data", write(t, filepath.Join(dir, "d.csv"), data.String()), "--label", "kind",
		"--id-column", "who", "--skip-bad", "--quiet"}
	run := func(more ...string) (err error) {
		_, _, err = apptest.Run(t, issues.New(issues.Run), append(args, more...)...)
		return err
	}
	if err := run("--probabilities", write(t, filepath.Join(dir, "p.csv"), p.String()), "--ask", "5",
		"--out", out); err != nil {
		t.Fatal(err)
	}
	rows := readCSV(t, out)
	if len(rows) != 6 || strings.Join(rows[0], " ") !=
		"id row given_label suggested_label suggested_probability label" {
		t.Fatalf("got %q", rows)
	}
	asked, last := map[string]bool{}, 0.0
	for k, row := range rows[1:] {
		var i int
		fmt.Sscanf(row[0], "w%d", &i)
		sure, err := strconv.ParseFloat(row[4], 64)
		if err != nil || sure < last || sure > 0.7 || row[1] != fmt.Sprint(i+1) || row[5] != "" ||
			i%9 != 5 { // all other labels are as the probabilities say
			t.Errorf("line %d: got %q", k+2, row)
		}
		asked[row[0]], last = true, sure
	}
	if asked["w6"] && asked["w18"] {
		t.Error("of equal rows both are listed")
	}
	// The ranked rows are numbered alike.
	ranked := filepath.Join(dir, "issues.csv")
	if err := run("--probabilities", filepath.Join(dir, "p.csv"), "--out", ranked); err != nil {
		t.Fatal(err)
	}
	all := readCSV(t, ranked)
	if len(all) != 121 {
		t.Fatalf("%d lines", len(all))
	}
	for _, row := range all[1:] {
		var i int
		fmt.Sscanf(row[1], "w%d", &i)
		if i > 1 {
			i++ // behind the skipped row
		}
		if row[0] != fmt.Sprint(i) || row[7] != "0" && row[7] != "7" {
			t.Errorf("got %q, want row %d, a duplicate of none or of row 7", row, i)
		}
	}
	for _, bad := range [][]string{{"--ask", "5"}, {"--ask", "0", "--out", "x"}} {
		if err := run(bad...); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}
