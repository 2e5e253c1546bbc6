package query

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
)

// leaves writes a table of leaves with ids, texts, two features and, of the first, their tree.
func leaves(t *testing.T, name string, labelled, n int) {
	t.Helper()
	random, text := rand.New(rand.NewPCG(7, 0)), strings.Builder{}
	text.WriteString("id,text,long,wide,tree\n")
	for i := range n {
		k, tree := i%3, ""
		if i < labelled {
			tree = trees[k]
		}
		fmt.Fprintf(&text, "leaf-%d,\"leaf %d, \"\"%d\"\"\",%.3f,%.3f,%s\n", i, i, i*i,
			float64(k)+0.4*random.NormFloat64(), float64(k*k)+0.9*random.NormFloat64(), tree)
	}
	write(t, name, text.String())
}

var trees = []string{"ash", "beech", "cedar"}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ask runs the command, which must succeed, and returns the rows that it prints.
func ask(t *testing.T, args ...string) [][]string {
	t.Helper()
	stdout, _, err := apptest.Run(t, New(Run), append([]string{"--device", "cpu"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRounds: rounds of questions ask nothing twice, name each row rightly, and the same call gives
// the same rows.
func TestRounds(t *testing.T) {
	t.Chdir(t.TempDir())
	leaves(t, "leaves.csv", 6, 106)
	for _, strategy := range []string{"margin", "random"} {
		args := []string{"--data", "leaves.csv", "--id-column", "id", "--show", "text",
			"--label-column", "tree", "--k", "8", "--strategy", strategy}
		seen := map[string]bool{}
		for round := range 4 {
			rows := ask(t, args...)
			if again := ask(t, args...); fmt.Sprint(again) != fmt.Sprint(rows) {
				t.Fatalf("%s, round %d: the same call gives %v, then %v", strategy, round, rows, again)
			}
			if len(rows) != 9 || !slices.Equal(rows[0], []string{"row", "id", "text", "label"}) {
				t.Fatalf("%s, round %d: found %v", strategy, round, rows)
			}
			answers := "label;row;id\n" // as a spreadsheet may write it
			for _, r := range rows[1:] {
				var i, leaf int
				fmt.Sscan(r[0], &i)
				fmt.Sscanf(r[1], "leaf-%d", &leaf)
				if leaf != i-1 || leaf < 6 || seen[r[0]] ||
					!strings.HasPrefix(r[2], fmt.Sprintf("leaf %d,", leaf)) {
					t.Errorf("%s, round %d: found %v, seen %v", strategy, round, r, seen[r[0]])
				}
				seen[r[0]] = true
				label := trees[leaf%3]
				if i%11 == 0 {
					label = "?"
				}
				answers += label + ";" + r[0] + ";" + r[1] + "\n"
			}
			name := fmt.Sprintf("%s-%d.csv", strategy, round)
			write(t, name, answers)
			args = append(args, "--answers", name)
		}
	}
}

// TestFirstLabels: with nothing but names of classes rows are drawn at random; answers name rows by
// number; --write-labelled writes what is known.
func TestFirstLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	var pool strings.Builder
	for i := range 60 {
		fmt.Fprintf(&pool, "0 %d:1 %d:%d\n", 1+i%2, 3+i%7, i%5+1)
	}
	write(t, "pool.svm", pool.String())
	begin := []string{"--data", "pool.svm", "--no-labels", "--classes", "beech,ash"}
	rows := ask(t, append(begin, "--k", "5")...)
	if len(rows) != 6 || !slices.Equal(rows[0], []string{"row", "label"}) {
		t.Fatalf("found %v", rows)
	}
	write(t, "a.csv", "row,label\n1,beech\n2,ash\n7,\n")
	stdout, _, err := apptest.Run(t, New(Run), append(begin, "--device", "cpu", "--answers", "a.csv",
		"--write-labelled", "l.svm", "--json")...)
	var r Report
	if err != nil || json.Unmarshal([]byte(stdout), &r) != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	text, err := os.ReadFile("l.svm")
	if err != nil || r.Labelled != 2 || r.Left != 48 || len(r.Rows) != 10 ||
		strings.Count(string(text), "\n") != 2 {
		t.Errorf("found %+v, labelled %q, %v", r, text, err)
	}
}

// TestSkippedRows: rows have the numbers of the file, wherever it has bad rows.
func TestSkippedRows(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "table.csv", "x,y,note,c\n7\n1,2,b,\n2\n8,4,d,\n1,2,f,ash\n9,5,g,beech\n")
	write(t, "answers.csv", "row,label\n2,ash\n")
	write(t, "request.json", `{"input": {"data": "table.csv", "skip_bad": 2}}`)
	args := []string{"--request", "request.json", "--show", "note", "--label-column", "c"}
	rows := ask(t, args...)
	slices.SortFunc(rows[1:], slices.Compare)
	if fmt.Sprint(rows) != "[[row note label] [2 b ] [4 d ]]" {
		t.Errorf("found %v", rows)
	}
	rows = ask(t, append(args, "--answers", "answers.csv")...)
	if fmt.Sprint(rows) != "[[row note label] [4 d ]]" {
		t.Errorf("with an answer: found %v", rows)
	}
}

func TestRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	leaves(t, "leaves.csv", 6, 36)
	write(t, "bare.csv", "long,wide\n1,1\n2,1\n")
	write(t, "twice.csv", "id,text,long,tree\nw,a,1,ash\nw,a,1,beech\nx,a,1,\nx,b,3,\n")
	begin := []string{"--device", "cpu", "--data", "leaves.csv", "--id-column", "id", "--show", "text",
		"--label-column", "tree"}
	with := func(more ...string) []string { return append(slices.Clone(begin), more...) }
	files := 0
	answers := func(text string) []string {
		files++
		name := fmt.Sprintf("%d.csv", files)
		write(t, name, text)
		return with("--answers", name)
	}
	var usage *app.UsageError
	for _, c := range []struct {
		usage bool
		want  string
		args  []string
	}{
		{true, "--classes", []string{"--data", "bare.csv", "--no-labels"}},
		{false, "only one class", []string{"--data", "bare.csv"}},
		{true, "guess", with("--strategy", "guess")},
		{true, "--classes", []string{"--data", "bare.csv", "--classes", "a"}},
		{true, "--classes", []string{"--data", "bare.csv", "--classes", "a,a"}},
		{false, `"name"`, with("--id-column", "name")},
		{false, `"x", which rows 3 and 4`, append(answers("id,label\nx,ash\n"), "--data", "twice.csv")},
		{false, "2.csv:2: ", answers("id,label\nleaf-0,beech\n")},
		{false, `3.csv:3: found class "elm"`, answers("id,label\nleaf-9,ash\nleaf-8,elm\n")},
		{false, "4.csv:3: ", answers("id,label\nleaf-9,ash\nleaf-9,beech\n")},
		{false, "5.csv:1: ", answers("id,tree\nleaf-9,ash\n")},
		{false, "6.csv:2:", answers("id,label\nleaf-9\n")},
		{false, "7.csv:", answers("id,label\n\"leaf-9,ash\n")},
		{false, "8.csv:1: found no text", answers("")},
		{false, "9.csv:2: found row", answers("row,label\n37,ash\n")},
		{false, "gone.csv", with("--answers", "gone.csv")},
	} {
		_, _, err := apptest.Run(t, New(Run), c.args...)
		if err == nil || errors.As(err, &usage) != c.usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: found %v, wanted %s", c.args[len(c.args)-2:], err, c.want)
		}
	}
}
