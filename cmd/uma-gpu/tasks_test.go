package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// answer has somebody give each task of a file the label that it suggests.
func answer(t *testing.T, path, tool string) string {
	t.Helper()
	text := string(read(t, path))
	if tool == "argilla" {
		return regexp.MustCompile(`"value":"(\w+)"(.*)"responses":{}`).ReplaceAllString(text,
			`"value":"$1"$2"responses":{"label":[{"value":"$1","user_id":"ann"}]}`)
	}
	return regexp.MustCompile(`"predictions":(.*"choices":\["(\w+)"\].*)}(,?)\n`).ReplaceAllString(text,
		`"annotations":[{"completed_by":1,"result":[{"type":"choices","from_name":"label","value":`+
			`{"choices":["$2"]}}]}],"predictions":$1}$3`+"\n")
}

// issues --ask writes the rows whose class is the least sure, once of equal ones, as a table and as
// tasks. Once answered, the table and the tasks are checked rows, and tasks are annotations.
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
	want, _ := succeed(t, append(estimate, write(t, dir, "filled.csv", filled.String()))...)
	for _, tool := range []string{"label-studio", "argilla"} {
		tasks := path(tool + ".json")
		succeed(t, append(with(issues, tasks), "--to", tool)...)
		answered := write(t, dir, "answered-"+tool+".json", answer(t, tasks, tool))
		if got, _ := succeed(t, append(estimate, answered)...); got != want {
			t.Errorf("%s: got %s, want %s", tool, got, want)
		}
		consensus := path(tool + ".csv")
		_, stderr := succeed(t, "confusion", "estimate", "--annotators", answered, "--method",
			"majority", "--write-labels", consensus)
		for _, row := range rows[1:] {
			if !strings.Contains(string(read(t, consensus)), row[0]+","+row[6]+",") {
				t.Errorf("%s: got %s, want %s", tool, read(t, consensus), row)
			}
		}
		if !facts.Told(stderr, "5 labels 1 annotators") {
			t.Errorf("%s: got %s", tool, stderr)
		}
	}
	for _, c := range [][]string{{"--out", "--ask", "5"}, {"--ask", "--to", "argilla"},
		{"--ask", "--show", "note"}, {"--ask 0", "--ask", "0", "--out", "x"},
		{`--to "doccano"`, "--ask", "1", "--out", "x", "--to", "doccano"}} {
		fail(t, app.ExitUsage, c[0], append([]string{"issues", "--data", table}, c[1:]...)...)
	}
}

// Exports of annotation tools are labels of annotators, found by their content; what is no label is
// left out, and said. Faults have their line.
func TestExportsOfAnnotationTools(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "d.csv", "who,x,y\na,1,pos\nb,2,neg\nc,3,pos\n")
	tasks := `[
{"id":31,"data":{"who":"a"},"annotations":[{"completed_by":1,"result":[{"type":"choices","from_name":"l",
 "value":{"choices":["pos"]}}]},{"completed_by":2,"was_cancelled":true,"result":[]}]},
{"id":32,"data":{"who":"b"},"annotations":[{"completed_by":1,"result":[{"type":"choices","from_name":"l",
 "value":{"choices":["neg"]}}]},{"completed_by":2,"result":[{"type":"choices","from_name":"l",
 "value":{"choices":["pos"]}}]}]}
]`
	train := []string{"train", "--data", data, "--id-column", "who", "--max-steps", "2", "--model",
		filepath.Join(dir, "m.npz"), "--annotators"}
	_, stderr := succeed(t, append(train, write(t, dir, "t.json", tasks))...)
	for _, want := range []string{"1 of 3 no label", "left out 1 skipped annotations",
		"3 labels 2 annotators 2 classes"} {
		if !facts.Told(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	for want, text := range map[string]string{
		`t.json:4 who "z"`:         strings.Replace(tasks, `"who":"b"`, `"who":"z"`, 1),
		"t.json:6 whole":           tasks[:len(tasks)-30],
		"t.json:2 completed_by":    strings.Replace(tasks, `"completed_by":1,`, "", 1),
		"t.json:1 worker label":    "[]",
		"t.json:2 neither data":    strings.Replace(tasks, `"data":{"who":"a"},`, "", 1),
		"t.json:1 questions":       strings.Replace(tasks, `"from_name":"l"`, `"from_name":"k"`, 1),
		"t.json:7 JSON behind end": tasks + "]",
	} {
		fail(t, 1, want, append(train, write(t, dir, "t.json", text))...)
	}
}

// query writes its questions as tasks, with what its model predicts, and takes answered tasks.
func TestQueryByTasks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 9)
	leaves(t, dir, "pool.csv", 9, 60)
	args := []string{"query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show",
		"text", "--label-column", "tree", "--k", "4", "--session"}
	for _, tool := range []string{"label-studio", "argilla"} {
		stdout, _ := succeed(t, with(args, tool, "--to", tool)...)
		if stdout != string(read(t, tool+"/round-1.json")) || strings.Count(stdout, "leaf-") != 4 ||
			strings.Count(stdout, `"uma-gpu `+app.Version+`"`) != 4 {
			t.Errorf("%s: got %s", tool, stdout)
		}
		write(t, dir, "answers.json", answer(t, tool+"/round-1.json", tool))
		_, stderr := succeed(t, "query", "--session", tool, "--answers", "answers.json")
		if !facts.Told(stderr, "answers 4 4 new") {
			t.Errorf("%s: got %s", tool, stderr)
		}
		fail(t, 1, "cut.json:5", "query", "--session", tool, "--answers",
			write(t, dir, "cut.json", string(read(t, "answers.json"))[:len(read(t, "answers.json"))-9]))
	}
}
