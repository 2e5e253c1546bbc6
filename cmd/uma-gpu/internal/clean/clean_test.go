package clean

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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
	out, err := run(t, "--label", "kind", "--id-column", "name", "--ignore-columns", "note", "--show",
		"colour", path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out, "\n"); lines > 12 {
		t.Errorf("printed %d lines, want at most 12:\n%s", lines, out)
	}
	if !strings.Contains(out, "\ncheck next    row-") {
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
	for name, want := range map[string]string{"report.html": "<td class=\"text\">red</td>",
		"review.html": `"values":["row-`} {
		page, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Contains(page, []byte(want)) {
			t.Errorf("%s has no %s: %v", name, want, err)
		}
	}
	if why := rows[1+slices.IndexFunc(rows[1:], func(row []string) bool {
		return row[3] == "True"
	})][8]; !strings.Contains(why, "is likelier than") {
		t.Errorf("the reason is %q", why)
	}
}

// A cleaned Excel file is one, with corrected labels.
func TestCleanSheet(t *testing.T) {
	path, right := writeTable(t, 0.3)
	f := excelize.NewFile()
	for i, row := range readCSV(t, path) {
		if err := f.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	path = strings.TrimSuffix(path, ".csv") + ".xlsx"
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "--label", "kind", "--id-column", "name", path); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenFile(filepath.Join(strings.TrimSuffix(path, ".xlsx")+".clean",
		"cleaned.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := f.GetRows("Sheet1")
	if err != nil || len(rows) != 601 {
		t.Fatalf("%d rows, %v, want 601", len(rows), err)
	}
	good := lists.Count(lists.UpTo[int](600), func(i int) bool { return rows[i+1][3] == right[i] })
	if good < 560 {
		t.Errorf("%d of 600 labels are right after cleaning", good)
	}
}

// The terminal, the JSON and the report say the same of labels that are right, or wrong, of a class
// that labels do not identify, and of features that tell nothing; eight rows are too few.
func TestOneStory(t *testing.T) {
	var random *rand.Rand // anew for each
	for name, of := range map[string]struct {
		rows  int
		apart float64         // of the classes
		label func(k int) int // of a class
		shown bool
		want  string // on the terminal
	}{
		"right":   {300, 4, func(k int) int { return k }, false, "none beyond"},
		"wrong":   {300, 4, func(k int) int { return (k + random.IntN(10)/7) % 3 }, true, "show that"},
		"nothing": {300, 0, func(k int) int { return k }, false, "none beyond"},
		"unknown": {400, 3, func(k int) int { return k - k/2*random.IntN(2)*2 }, false, "check 20 rows"},
		"few":     {8, 4, func(k int) int { return k }, false, "too few rows"},
	} {
		t.Run(name, func(t *testing.T) {
			random = rand.New(rand.NewPCG(5, 6))
			var b strings.Builder
			b.WriteString("a,b,kind\n")
			for i := range of.rows {
				k := i % 3
				fmt.Fprintf(&b, "%.3f,%.3f,k%d\n", of.apart*float64(k%2)+random.NormFloat64(),
					of.apart*float64(k/2)+random.NormFloat64(), of.label(k))
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "t.csv")
			if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, "--dir", dir, path)
			if of.rows < 10 {
				if err == nil || !strings.Contains(err.Error(), of.want) {
					t.Errorf("got %v, want %q", err, of.want)
				}
				return
			}
			text, err2 := run(t, "--dir", dir, "--json", path)
			if err != nil || err2 != nil || !strings.Contains(out, of.want) {
				t.Fatalf("%v, %v, want %q in\n%s", err, err2, of.want, out)
			}
			var told Report
			var page report.Report
			file, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			for to, from := range map[any][]byte{&told: []byte(text), &page: file} {
				if err := json.Unmarshal(from, to); err != nil {
					t.Fatal(err)
				}
			}
			c := page.Cleaned
			if name != "unknown" && told.Shown != of.shown || c.Evidence != told.Evidence ||
				!reflect.DeepEqual(c.Wrong, report.Share(told.WrongShare)) ||
				!reflect.DeepEqual(c.Error, report.Share(told.Error)) || c.Corrected != told.Corrected ||
				!slices.Equal(c.NotIdentified, told.NotIdentified) ||
				fmt.Sprint(c.ToIdentify) != fmt.Sprint(told.Identify) {
				t.Errorf("the JSON says %+v, the report %+v", told.CleanResult, c)
			}
			rows := strings.Trim(fmt.Sprint(told.Identify), "[]")
			if n := len(told.Identify); name == "unknown" && n != 20 || name == "right" && n > 0 {
				t.Errorf("%q are not identified, check %q", told.NotIdentified, rows)
			}
			for _, want := range []string{told.Evidence, c.Wrong.Percent(), c.Right().Percent(), rows} {
				if !strings.Contains(out, want) || !strings.Contains(strings.Join(page.Verdict.Evidence, "")+
					page.Verdict.Text+page.Verdict.Numbers[0].Note, want) {
					t.Errorf("no %q in\n%s\nor %+v", want, out, page.Verdict)
				}
			}
			if s := c.Wrong; c.Error.Value < 0 || s.Low != nil && (*s.Low <= 0 && *s.High >= 1 ||
				*s.Low > s.Value || *s.High < s.Value) {
				t.Errorf("an error below 0, or an interval of all or of other shares: %+v", c)
			}
		})
	}
}

// Wrong usage writes nothing.
func TestCleanUsage(t *testing.T) {
	path, _ := writeTable(t, 0)
	for _, args := range [][]string{{}, {path, path},
		{"--show", "none", "--label", "kind", path}, {"--label", "nothing", path},
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
		// rows.csv with more right labels is such a table
		rows := readCSV(t, filepath.Join(folder, "rows.csv"))
		for i := range 45 {
			at, want := len(rows[0])-1, ""
			if i < 40 {
				want = right[i]
			}
			if rows[i+1][at] != want {
				t.Fatalf("row %d: got %q, want %q at the end", i+1, rows[i+1], want)
			}
			rows[i+1][at] = right[i]
		}
		var edited bytes.Buffer
		if err := csv.NewWriter(&edited).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(checked, edited.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := run(t, "--label", "kind", "--id-column", "name", "--ignore-columns", "note",
			"--checked", checked, "--dir", folder, path)
		if err != nil || !strings.Contains(out, "45 checked") {
			t.Errorf("%s: an edited rows.csv: %v\n%s", key, err, out)
		}
	}
}

// Rows that are skipped, the first, one in the middle and the last, and rows without a label shift
// nothing: each output has a line for each row of the input, and numbers are the input's.
func TestCleanKeepsRowNumbers(t *testing.T) {
	path, right := writeTable(t, 0.3)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines[301] = strings.Replace(lines[301], ",k", ",k9,k", 1) // one field more
	unlabelled := regexp.MustCompile(`,k\d,`)
	for _, row := range []int{40, 599} {
		lines[row] = unlabelled.ReplaceAllString(lines[row], ",,")
	}
	bad := "bad,1,red,k0,note,and more"
	lines = append(append([]string{lines[0], lines[1], bad}, lines[2:]...), bad)
	right = append(append([]string{right[0], ""}, right[1:]...), "")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	skipped := map[int]bool{2: true, 302: true, 602: true} // rows from 1
	without := map[int]bool{41: true, 600: true}           // a label
	checked := "row,label\n"
	for row := 1; row < 80; row++ {
		if !without[row] {
			checked += fmt.Sprintf("%d,%s\n", row, right[row-1])
		}
	}
	marked := filepath.Join(filepath.Dir(path), "checked.csv")
	if err := os.WriteFile(marked, []byte(checked), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"--label", "kind", "--id-column", "name", "--ignore-columns", "note",
		"--skip-bad", "3", "--checked", marked, path}
	if _, err := run(t, args...); err != nil {
		t.Fatal(err)
	}
	folder := strings.TrimSuffix(path, ".csv") + ".clean"
	rows, cleaned := readCSV(t, filepath.Join(folder, "rows.csv")), strings.Split(string(must(
		os.ReadFile(filepath.Join(folder, "cleaned.csv")))), "\n")
	if len(rows) != 603 || len(cleaned) != 604 {
		t.Fatalf("rows.csv has %d lines and cleaned.csv %d, want 603", len(rows), len(cleaned)-1)
	}
	good := 0
	for row := 1; row <= 602; row++ {
		got, id := rows[row], strings.SplitN(lines[row], ",", 2)[0]
		if got[1] != fmt.Sprint(row) {
			t.Fatalf("line %d of rows.csv: got row %s, want %d", row+1, got[1], row)
		}
		if !strings.HasPrefix(cleaned[row], id+",") {
			t.Fatalf("line %d of cleaned.csv: got %q, want %s", row+1, cleaned[row], id)
		}
		if without[row] && (got[2] != "" || got[5] == "" || cleaned[row] != lines[row]) {
			t.Errorf("row %d without a label: got %q and %q", row, got, cleaned[row])
		}
		if skipped[row] {
			if strings.Join(got[2:], "") != "" || got[0] != "" || cleaned[row] != lines[row] {
				t.Errorf("skipped row %d: got %q and %q", row, got, cleaned[row])
			}
			continue
		}
		if got[0] != id {
			t.Fatalf("row %d: got id %s, want %s", row, got[0], id)
		}
		label := strings.Split(cleaned[row], ",")[3]
		if row < 80 && !without[row] && label != right[row-1] {
			t.Errorf("row %d: got label %s, want %s as checked", row, label, right[row-1])
		}
		if label == right[row-1] {
			good++
		}
	}
	if good < 560 {
		t.Errorf("%d of 597 labels are right after cleaning", good)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
