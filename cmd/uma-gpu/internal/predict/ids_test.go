package predict_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/issues"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// tableOfIDs writes a table of n examples with names, in the format that its own says, and returns
// them.
func tableOfIDs(t *testing.T, dir, name string, n int) (path string, ids []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(map[string]string{
		".csv": "x,who,y,class\n", ".tsv": "x\twho\ty\tclass\n",
	}[filepath.Ext(name)])
	type row struct {
		X     float64 `parquet:"x"`
		Who   string  `parquet:"who"`
		Y     float64 `parquet:"y"`
		Class string  `parquet:"class"`
	}
	var rows []row
	for i := range n {
		class := []string{"a", "b"}[i%2]
		if i%10 == 3 {
			class = "a" // a wrong one
		}
		r := row{float64(1 - 2*(i%2)), fmt.Sprintf("<item %c%d>", 'a'+i%26, i), float64(i%7) / 8, class}
		rows, ids = append(rows, r), append(ids, r.Who)
		switch filepath.Ext(name) {
		case ".csv":
			fmt.Fprintf(&text, "%v,%s,%v,%s\n", r.X, r.Who, r.Y, r.Class)
		case ".tsv":
			fmt.Fprintf(&text, "%v\t%s\t%v\t%s\n", r.X, r.Who, r.Y, r.Class)
		}
	}
	if filepath.Ext(name) == ".parquet" {
		var b bytes.Buffer
		if err := parquet.Write(&b, rows); err != nil {
			t.Fatal(err)
		}
		return clitest.Write(t, dir, name, b.String()), ids
	}
	return clitest.Write(t, dir, name, text.String()), ids
}

// Names of examples are no features, and stand beside what is written about the examples.
func TestIDs(t *testing.T) {
	dir := t.TempDir()
	m, out := filepath.Join(dir, "m.npz"), filepath.Join(dir, "out")
	var predicted, first string
	for k, name := range []string{"d.csv", "d.tsv", "d.parquet"} {
		data, ids := tableOfIDs(t, dir, name, 40)
		clitest.Succeed(t, "train", "--data", data, "--id-column", "who", "--model", m)
		got, _ := clitest.Succeed(t, "predict", "--model", m, "--data", data, "--id-column", "who")
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if len(lines) != 41 || lines[0] != "who,class" {
			t.Fatalf("%s: predicted %q", name, got)
		}
		for i, id := range ids {
			if want := id + "," + []string{"a", "b"}[i%2]; lines[i+1] != want {
				t.Errorf("%s: predicted %q, wanted %q", name, lines[i+1], want)
			}
		}
		table, _ := clitest.Succeed(t, "predict", "--model", m, "--data", data, "--id-column", "who",
			"--scores")
		if !strings.HasPrefix(table, "who,a,b\n<item a0>,") {
			t.Errorf("%s: scores %.60q", name, table)
		}
		clitest.Succeed(t, "issues", "--data", data, "--id-column", "who", "--out", out+".csv")
		list := string(clitest.Read(t, out+".csv"))
		if k == 0 {
			predicted, first = got, list
			stdout, _ := clitest.Succeed(t, "issues", "--data", data, "--id", "who", "--json")
			if r := clitest.Decode[issues.Report](t, stdout); len(r.Rows) == 0 ||
				*r.Rows[0].ID != ids[r.Rows[0].Example-1] {
				t.Errorf("issues --json: %+v", r.Rows)
			}
		}
		if got != predicted || list != first || !strings.HasPrefix(list, "example,id,is_label_issue,") {
			t.Errorf("%s: other predictions or issues than of a CSV", name)
		}
	}

	// What CSV files are made of it keeps the column where it is.
	data, ids := tableOfIDs(t, dir, "d.csv", 40)
	for _, args := range [][]string{
		{"convert", "--data", data, "--out", out + ".csv"},
		{"confusion", "inject", "--data", data, "--pairwise", "0", "--out", out + ".csv"},
	} {
		clitest.Succeed(t, append(args, "--id-column", "who")...)
		got := strings.Split(string(clitest.Read(t, out+".csv")), "\n")
		if len(got) != 42 || got[0] != "x,who,y,class" || !strings.HasPrefix(got[1], `1,<item a0>,0,`) {
			t.Errorf("%s wrote %q", args, got[:2])
		}
	}
	clitest.Succeed(t, "split", "--data", data, "--id-column", "who", "--counts", "30,10", "--out",
		out+".1.csv", "--out", out+".2.csv")
	for _, id := range ids {
		in := strings.Contains(string(clitest.Read(t, out+".1.csv")),
			id) != strings.Contains(string(clitest.Read(t,
			out+".2.csv")), id)
		if !in {
			t.Errorf("split lost %q or has it twice", id)
		}
	}
	_, stderr := clitest.Succeed(t, "convert", "--data", data, "--id-column", "who", "--out",
		out+".svm")
	if !facts.Told(stderr, out+".svm ids libsvm") {
		t.Error(stderr)
	}

	// A format without columns, a column that is not there or is the label, names that come twice.
	clitest.Fail(t, app.ExitFailure, "out.svm libsvm", "train", "--data", out+".svm", "--id-column",
		"who",
		"--model", m)
	clitest.Fail(t, app.ExitFailure, `d.csv:1 "x" "who" "y" "class" "whom"`, "train", "--data", data,
		"--id-column", "whom", "--model", m)
	clitest.Fail(t, app.ExitFailure, `label "class" ids`, "train", "--data", data, "--id-column",
		"class",
		"--label-column", "class", "--model", m)
	clitest.Fail(t, app.ExitUsage, "--id-column", "predict", "--model", m, "--data", data,
		"--id-column",
		"who", "--scores", "--out", out+".npy")
	last := clitest.Write(t, dir, "last.csv", "x,class,who\n1,a,p\n2,b,q\n3,a,p\n")
	_, stderr = clitest.Succeed(t, "info", "--data", last, "--id-column", "who")
	if !facts.Told(stderr, `1 examples "p" 1 3`) {
		t.Error(stderr)
	}
	clitest.Succeed(t, "train", "--data", data, "--id-column", "who", "--model", m, "--learner", "pa1",
		"--normalize", "bias,l2")
}

// A table of checked labels has the names of the data's own columns: its ids, and its labels.
func TestCheckedByNamesOfTheData(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "c%d,%d,%d,%c\n", i, i%2*10+i%3, i%5, 'a'+i%2)
	}
	data := clitest.Write(t, dir, "d.csv", "customer,x,y,segment\n"+rows.String())
	checked := clitest.Write(t, dir, "checked.csv", "customer,segment\nc7,b\nc4,a\n")
	args := []string{"confusion", "estimate", "--data", data, "--clean", checked, "--method", "clean",
		"--json"}
	text, _ := clitest.Succeed(t, append(args, "--id-column", "customer")...)
	if !strings.Contains(text, "confusion") {
		t.Errorf("printed %s", text)
	}
	clitest.Fail(t, app.ExitFailure, "checked.csv:1 id-column=NAME", args...)
}
