package clean

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// writeTable writes a table with ids, a hole, and cells with a comma and a word. The share wrong of
// its labels is wrong. It returns the path of the table and the right labels.
func writeTable(t *testing.T, wrong float64) (path string, right []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 3))
	var b strings.Builder
	b.WriteString("name,size,colour,kind,note\n")
	for i := range 600 {
		k := rng.IntN(3)
		size := fmt.Sprintf("%.3f", float64(k*3)+rng.NormFloat64()/2)
		colour := []string{"red", "blue"}[k%2]
		if i == 7 {
			size = ""
		}
		y := k
		if rng.Float64() < wrong {
			y = (k + 1) % 3
		}
		right = append(right, fmt.Sprint("k", k))
		fmt.Fprintf(&b, "row-%d,%s,%s,k%d,\"a, b\"\n", i, size, colour, y)
	}
	path = filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, right
}

func run(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	out, _, err = apptest.Run(t, New(Run), append([]string{"--device", "cpu", "--quiet"}, args...)...)
	return out, err
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

// The folder has a row for each row of the table, in its order, the table with mended labels and
// all other cells as they were, and a model that reads.
func TestFilesOfClean(t *testing.T) {
	path, right := writeTable(t, 0.3)
	out, err := run(t, "--label", "kind", "--id-column", "name", "--ignore-columns", "note", path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out, "\n"); lines > 12 {
		t.Errorf("printed %d lines, want at most 12:\n%s", lines, out)
	}
	if !strings.Contains(out, "\ncheck next     row-") {
		t.Errorf("names no row to check by its id:\n%s", out)
	}
	folder := strings.TrimSuffix(path, ".csv") + ".clean"
	before, after := readCSV(t, path), readCSV(t, filepath.Join(folder, "cleaned.csv"))
	rows := readCSV(t, filepath.Join(folder, "rows.csv"))
	if len(before) != len(after) || len(before) != len(rows) {
		t.Fatalf("got %d and %d lines, want %d", len(after), len(rows), len(before))
	}
	good := 0
	for i := range before {
		if rows[i][0] != before[i][0] {
			t.Fatalf("line %d: got id %q, want %q", i+1, rows[i][0], before[i][0])
		}
		for j := range before[i] {
			if j != 3 && before[i][j] != after[i][j] {
				t.Fatalf("line %d: got cell %q, want %q", i+1, after[i][j], before[i][j])
			}
		}
		if i > 0 && after[i][3] == right[i-1] {
			good++
		}
	}
	if good < 560 {
		t.Errorf("%d of 600 labels are right after cleaning", good)
	}
	if _, err := model.Load(filepath.Join(folder, "model.npz")); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("report.html: %v", err)
	}
}

// Wrong usage writes nothing.
func TestCleanUsage(t *testing.T) {
	path, _ := writeTable(t, 0)
	for _, args := range [][]string{{}, {path, path}, {"--label", "nothing", path},
		{"--checked", filepath.Join(filepath.Dir(path), "none.csv"), "--label", "kind", path}} {
		if _, err := run(t, args...); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.clean", "*"))
	if err != nil || files != nil {
		t.Errorf("found %q, want nothing (%v)", files, err)
	}
}

// Checked rows are named by their id, or by their number from 1, and keep their right label.
func TestCheckedRowsByIDAndNumber(t *testing.T) {
	path, right := writeTable(t, 0.3)
	for _, key := range []string{"name", "row"} {
		var b strings.Builder
		b.WriteString(key + ",label\n")
		for i := range 40 {
			name := fmt.Sprintf("row-%d", i)
			if key == "row" {
				name = fmt.Sprint(i + 1)
			}
			b.WriteString(name + "," + right[i] + "\n")
		}
		checked := filepath.Join(filepath.Dir(path), key+".csv")
		if err := os.WriteFile(checked, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(filepath.Dir(path), key)
		if _, err := run(t, "--label", "kind", "--id-column", "name", "--ignore-columns", "note",
			"--checked", checked, "--dir", folder, path); err != nil {
			t.Fatal(err)
		}
		for i, row := range readCSV(t, filepath.Join(folder, "cleaned.csv"))[1:41] {
			if row[3] != right[i] {
				t.Fatalf("%s: row %d: got label %s, want %s as checked", key, i+1, row[3], right[i])
			}
		}
	}
}
