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

// leaves writes a table of leaves with ids, texts, two features and their tree.
func leaves(t *testing.T, name string, first, n int) {
	t.Helper()
	random, text := rand.New(rand.NewPCG(7, uint64(first))), strings.Builder{}
	text.WriteString("id,text,long,wide,tree\n")
	for i := first; i < first+n; i++ {
		k := i % 3
		fmt.Fprintf(&text, "leaf-%d,\"leaf %d, \"\"%d\"\"\",%.3f,%.3f,%s\n", i, i, i*i,
			float64(k)+0.4*random.NormFloat64(), float64(k*k)+0.9*random.NormFloat64(), trees[k])
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
	leaves(t, "few.csv", 0, 6)
	leaves(t, "pool.csv", 6, 100)
	for _, strategy := range []string{"margin", "bpm"} {
		args := []string{"--pool", "pool.csv", "--labelled", "few.csv", "--id-column", "id", "--show",
			"text", "--label-column", "tree", "--k", "8", "--strategy", strategy}
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
				if leaf != i+5 || !strings.HasPrefix(r[2], fmt.Sprintf("leaf %d,", leaf)) || seen[r[0]] {
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
// number; --write-labelled writes what is known; the files of LIBSVM need not have one width.
func TestFirstLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	var pool strings.Builder
	for i := range 60 {
		fmt.Fprintf(&pool, "%d:1 %d:%d\n", 1+i%2, 3+i%7, i%5+1)
	}
	write(t, "pool.svm", pool.String())
	write(t, "few.svm", "ash 1:1 2:0\nbeech 2:1\n")
	rows := ask(t, "--pool", "pool.svm", "--classes", "beech,ash", "--k", "5")
	if len(rows) != 6 || !slices.Equal(rows[0], []string{"row", "label"}) {
		t.Fatalf("found %v", rows)
	}
	write(t, "a.csv", "row,label\n1,beech\n2,ash\n7,\n")
	stdout, _, err := apptest.Run(t, New(Run), "--device", "cpu", "--pool", "pool.svm", "--labelled",
		"few.svm", "--answers", "a.csv", "--write-labelled", "l.svm", "--json")
	var r Report
	if err != nil || json.Unmarshal([]byte(stdout), &r) != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	text, err := os.ReadFile("l.svm")
	if err != nil || r.Labelled != 4 || r.Left != 48 || len(r.Rows) != 10 ||
		strings.Count(string(text), "\n") != 4 {
		t.Errorf("found %+v, labelled %q, %v", r, text, err)
	}
}

// TestLastColumn: a last column too many in the pool is its label.
func TestLastColumn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "few.csv", "1,2,ash\n3,5,beech\n")
	write(t, "pool.csv", "1,2\n3,4\n7,8\n")
	write(t, "known.csv", "1,2,ash\n3,4,beech\n7,8,ash\n")
	bare := ask(t, "--pool", "pool.csv", "--labelled", "few.csv")
	labelled := ask(t, "--pool", "known.csv", "--labelled", "few.csv")
	if fmt.Sprint(bare) != fmt.Sprint(labelled) || len(bare) != 4 {
		t.Errorf("found %q and %q", bare, labelled)
	}
}

// TestSkippedRows: rows have the numbers of the file, wherever it has bad rows.
func TestSkippedRows(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "few.csv", "x,y,c\n1,2,ash\n9,5,beech\n")
	write(t, "pool.csv", "x,y,note\n?,1,a\n1,2,b\n2,?,c\n8,4,d\n?,?,e\n")
	write(t, "answers.csv", "row,label\n2,ash\n")
	args := []string{"--pool", "pool.csv", "--labelled", "few.csv", "--show", "note", "--skip-bad",
		"--label-column", "c"}
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
	leaves(t, "few.csv", 0, 6)
	leaves(t, "pool.csv", 6, 30)
	write(t, "bare.csv", "long\n1\n2\n")
	write(t, "twice.csv", "id,text,long,wide\nx,a,1,2\nx,b,3,4\n")
	begin := []string{"--device", "cpu", "--pool", "pool.csv", "--labelled", "few.csv", "--id-column",
		"id", "--show", "text", "--label-column", "tree"}
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
		{true, "--labelled", []string{"--pool", "pool.csv"}},
		{true, "guess", with("--strategy", "guess")},
		{true, "--diversity", with("--diversity", "2")},
		{true, "--classes", []string{"--pool", "bare.csv", "--classes", "a"}},
		{true, "--classes", []string{"--pool", "bare.csv", "--classes", "a,a"}},
		{false, `"name"`, with("--id-column", "name")},
		{false, `"x" in rows 1 and 2`, with("--pool", "twice.csv")},
		{false, "1.csv:2: ", answers("id,label\nleaf-0,ash\n")},
		{false, `2.csv:3: found the label "elm"`, answers("id,label\nleaf-9,ash\nleaf-8,elm\n")},
		{false, "3.csv:3: ", answers("id,label\nleaf-9,ash\nleaf-9,beech\n")},
		{false, "4.csv:1: ", answers("id,tree\nleaf-9,ash\n")},
		{false, "5.csv:2: ", answers("id,label\nleaf-9\n")},
		{false, "6.csv:", answers("id,label\n\"leaf-9,ash\n")},
		{false, "7.csv: found an empty file", answers("")},
		{false, "8.csv:2: found row", answers("row,label\n31,ash\n")},
		{false, "gone.csv", with("--answers", "gone.csv")},
	} {
		_, _, err := apptest.Run(t, New(Run), c.args...)
		if err == nil || errors.As(err, &usage) != c.usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: found %v, wanted %s", c.args[len(c.args)-2:], err, c.want)
		}
	}
}
