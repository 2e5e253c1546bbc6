package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/query"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// leaves writes a table of leaves with ids, texts, two features and their tree, and returns the
// trees.
func leaves(t *testing.T, dir, name string, first, n int) (tree map[string]string) {
	t.Helper()
	random, text := rand.New(rand.NewPCG(7, uint64(first))), strings.Builder{}
	text.WriteString("id,text,long,wide,tree\n")
	tree = map[string]string{}
	for i := first; i < first+n; i++ {
		k, id := i%3, fmt.Sprintf("leaf-%d", i)
		tree[id] = []string{"ash", "beech", "cedar"}[k]
		fmt.Fprintf(&text, "%s,\"leaf %d, \"\"%d\"\"\",%.3f,%.3f,%s\n", id, i, i*i,
			float64(k)+0.4*random.NormFloat64(), float64(k*k)+0.9*random.NormFloat64(), tree[id])
	}
	write(t, dir, name, text.String())
	return tree
}

// fillIn fills in the labels of questions. It passes over every n-th if that is not
// 0.
func fillIn(t *testing.T, questions, out string, tree map[string]string,
	without int) (ids []string) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(read(t, questions))).ReadAll()
	if err != nil || strings.Join(rows[0], " ") != "id text label" {
		t.Fatalf("%s: %v, %v", questions, rows[0], err)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(rows[0])
	for k, row := range rows[1:] {
		if without == 0 || k%without != 0 {
			row[2] = tree[row[0]]
		}
		ids = append(ids, row[0])
		w.Write(row)
	}
	w.Flush()
	write(t, filepath.Dir(out), filepath.Base(out), b.String())
	return ids
}

// TestQuery: a session of some rounds asks nothing twice, learns, and writes what it says it does.
func TestQuery(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 6)
	tree := leaves(t, dir, "pool.csv", 6, 200)
	test := leaves(t, dir, "test.csv", 1000, 300)
	args := []string{"query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show",
		"text",
		"--label-column", "tree", "--k", "8"}
	for _, strategy := range []string{"margin", "bpm"} {
		s := strategy
		stdout, stderr := succeed(t, append(args, "--session", s, "--strategy", strategy)...)
		if stdout != string(read(t, s+"/round-1.csv")) || !facts.Told(stderr, "questions 1 8") {
			t.Errorf("stdout\n%s\nstderr\n%s", stdout, stderr)
		}
		seen := map[string]bool{}
		for round := 1; round <= 4; round++ {
			file := fmt.Sprintf("%s/round-%d.csv", s, round)
			ids := fillIn(t, file, file, tree, 0)
			for _, id := range ids {
				if seen[id] || tree[id] == "" {
					t.Errorf("%s: asks about %s, seen %v", strategy, id, seen[id])
				}
				seen[id] = true
			}
			if len(ids) != 8 {
				t.Errorf("%s: %d questions", strategy, len(ids))
			}
			stdout, _ = succeed(t, "query", "--session", s, "--answers", file, "--json", "--write-labelled",
				s+".csv")
			r := decode[query.Report](t, stdout)
			if r.Round != round+1 || r.Labelled != 6+8*round || r.Left != 200-8*(round+1) ||
				len(r.Questions) != 8 ||
				string(r.Strategy) != strategy || r.Agreement == nil || r.Device == nil {
				t.Errorf("found %+v", r)
			}
			first := r.Questions[0]
			if i := first.Example + 5; first.Shown != fmt.Sprintf("leaf %d, \"%d\"", i, i*i) ||
				first.ID != fmt.Sprint("leaf-", i) {
				t.Errorf("found %+v", first)
			}
		}
		if lines := bytes.Count(read(t, s+"/labels.csv"), []byte("\n")); lines != 33 {
			t.Errorf("labels.csv has %d lines", lines)
		}
		// The model predicts, and what --write-labelled wrote is data to train on.
		succeed(t, "train", "--data", s+".csv", "--model", s+".npz", "--quiet")
		for _, model := range []string{s + ".npz", s + "/model.npz"} {
			stdout, _ = succeed(t, "predict", "--model", model, "--data", "test.csv", "--no-labels",
				"--quiet")
			right := 0
			for k, class := range strings.Fields(stdout) {
				if class == test[fmt.Sprintf("leaf-%d", 1000+k)] {
					right++
				}
			}
			if right < 255 {
				t.Errorf("%s is right about %d of 300", model, right)
			}
		}
	}
}

// TestQueryOpenQuestions: as long as answers are missing the same questions are asked, whatever is
// given twice; what the expert cannot tell is put aside; an answer may be mended.
func TestQueryOpenQuestions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 6)
	tree := leaves(t, dir, "pool.csv", 6, 30)
	args := []string{"query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show",
		"text",
		"--label-column", "tree", "--k", "6", "--session", "s"}
	first, _ := succeed(t, args...)
	if again, _ := succeed(t, "query", "--session", "s"); again != first {
		t.Errorf("found %s, wanted %s", again, first)
	}
	ids := fillIn(t, "s/round-1.csv", "a.csv", tree, 3)
	open, stderr := succeed(t, "query", "--session", "s", "--answers", "a.csv")
	if want := fmt.Sprintf("%s,", ids[3]); strings.Count(open, "\n") != 3 ||
		!strings.Contains(open, want) || !facts.Told(stderr, "answers 4 a.csv 4 2 questions") {
		t.Errorf("stdout\n%s\nstderr\n%s", open, stderr)
	}
	if again, _ := succeed(t, "query", "--session", "s", "--answers", "a.csv"); again != open {
		t.Errorf("found %s, wanted %s", again, open)
	}
	// A spreadsheet writes it otherwise; one answer is mended.
	write(t, dir, "b.csv", fmt.Sprintf("\ufefflabel;note;id\r\n?;no leaf;%s\r\n%s;;%s\r\nash;;%s\r\n",
		ids[0], tree[ids[3]], ids[3], ids[1]))
	mended := "was another one"
	if tree[ids[1]] == "ash" {
		mended = "1 put"
	}
	second, stderr := succeed(t, "query", "--session", "s", "--answers", "b.csv")
	if !facts.Told(stderr, mended) || !facts.Told(stderr, "1 put 0 questions") {
		t.Errorf("stderr\n%s", stderr)
	}
	if !strings.Contains(string(read(t, "s/labels.csv")), ids[0]+",?,1\n") {
		t.Errorf("labels.csv\n%s", read(t, "s/labels.csv"))
	}
	for _, id := range ids {
		if strings.Contains(second, id+",") {
			t.Errorf("asks about %s again\n%s", id, second)
		}
	}
	// To the end, without a file for the questions.
	for range 9 {
		rounds := strings.Count(strings.Join(names(t, "s"), " "), "round-")
		round := fmt.Sprintf("s/round-%d.csv", rounds)
		fillIn(t, round, "a.csv", tree, 0)
		_, stderr = succeed(t, "query", "--session", "s", "--answers", "a.csv")
		if strings.Contains(stderr, "none is left") {
			break
		}
	}
	if !facts.Told(stderr, "none left") || strings.Count(string(read(t, "s/labels.csv")), "\n") != 31 {
		t.Errorf("stderr\n%s", stderr)
	}
	succeed(t, "query", "--session", "s")
}

// TestQueryWithoutHeader: a last column too many in the pool is that of labels.
func TestQueryWithoutHeader(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "few.csv", "1,2,ash\n3,5,beech\n")
	write(t, dir, "pool.csv", "1,2\n3,4\n7,8\n")
	write(t, dir, "known.csv", "1,2,ash\n3,4,beech\n7,8,ash\n")
	bare, _ := succeed(t, "query", "--pool", "pool.csv", "--labelled", "few.csv")
	labelled, _ := succeed(t, "query", "--pool", "known.csv", "--labelled", "few.csv")
	if bare != labelled || strings.Count(bare, "\n") != 4 {
		t.Errorf("found %q and %q", bare, labelled)
	}
}

// TestQueryWithoutLabels: with nothing but names of classes the first questions are random ones;
// LIBSVM files tell texts in another file, and need not have one width.
func TestQueryWithoutLabels(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var pool, texts strings.Builder
	tree := map[string]string{}
	for i := range 60 {
		fmt.Fprintf(&pool, "%d:1 %d:%d\n", 1+i%2, 3+i%7, i%5+1)
		fmt.Fprintf(&texts, "a \"text\", %d\n", i)
		tree[fmt.Sprint(i+1)] = []string{"ash", "beech"}[i%2]
	}
	write(t, dir, "pool.svm", pool.String())
	write(t, dir, "texts.txt", texts.String())
	write(t, dir, "few.svm", "ash 1:1 2:0\nbeech 2:1\n")
	args := []string{"query", "--pool", "pool.svm", "--show-file", "texts.txt", "--k", "5"}
	_, stderr := succeed(t, append(args, "--classes", "beech,ash", "--session", "s")...)
	if !facts.Told(stderr, "random two classes") {
		t.Errorf("stderr\n%s", stderr)
	}
	fillIn(t, "s/round-1.csv", "a.csv", tree, 0)
	stdout, _ := succeed(t, "query", "--session", "s", "--answers", "a.csv", "--json")
	if r := decode[query.Report](t, stdout); r.Labelled != 5 || r.Agreement != nil {
		t.Errorf("found %+v", r)
	}
	stdout, _ = succeed(t, append(args, "--labelled", "few.svm", "--write-labelled", "l.svm", "--out",
		"q.csv")...)
	if stdout != "" || strings.Count(string(read(t, "q.csv")), "\n") != 6 ||
		!strings.Contains(string(read(t, "l.svm")), "beech") {
		t.Errorf("stdout %s, q.csv %s", stdout, read(t, "q.csv"))
	}
}

func TestQueryRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 6)
	leaves(t, dir, "pool.csv", 6, 30)
	leaves(t, dir, "other.csv", 6, 31)
	write(t, dir, "bare.csv", "long\n1\n2\n")
	twice := write(t, dir, "twice.csv", "id,text,long,wide\nx,a,1,2\nx,b,3,4\n")
	begin := []string{"query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show",
		"text",
		"--label-column", "tree"}
	succeed(t, append(begin, "--k", "3", "--session", "s")...)
	rows := strings.Split(string(read(t, "s/round-1.csv")), "\n")
	id, _, _ := strings.Cut(rows[1], ",")
	other := "" // an example of the pool that nobody asked about, as issues --ask may
	for i := 6; other == ""; i++ {
		if name := fmt.Sprintf("leaf-%d", i); !strings.Contains(strings.Join(rows, "\n"), name+",") {
			other = name
		}
	}
	kept := read(t, "s/session.json")
	files := 0
	answers := func(text string) []string {
		files++
		return []string{"query", "--session", "s", "--answers", write(t, dir, fmt.Sprintf("%d-a.csv",
			files), text)}
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{app.ExitUsage, "--pool missing", []string{"query"}},
		{app.ExitUsage, "--labelled missing", []string{"query", "--pool", "pool.csv"}},
		{app.ExitUsage, `--strategy "guess"`, append(begin, "--strategy", "guess")},
		{app.ExitUsage, "--k 0 1", append(begin, "--k", "0")},
		{app.ExitUsage, "--diversity 2 0 1", append(begin, "--diversity", "2")},
		{app.ExitUsage, "--committee 1 2 100", append(begin, "--committee", "1")},
		{app.ExitUsage, `--sampler "dice"`, append(begin, "--sampler", "dice")},
		{app.ExitUsage, "--show --show-file exclude", append(begin, "--show-file", "few.csv")},
		{app.ExitUsage, "--gamma", append(begin, "--kernel", "rbf", "--gamma", "search")},
		{app.ExitUsage, "--answers --session", append(begin, "--answers", "few.csv")},
		{app.ExitUsage, `--classes "a"`, []string{"query", "--pool", "bare.csv", "--classes", "a"}},
		{app.ExitUsage, `--classes "a,a"`, []string{"query", "--pool", "bare.csv", "--classes", "a,a"}},
		{app.ExitFailure, "none/session.json read", []string{"query", "--session", "none", "--answers",
			"few.csv"}},
		{app.ExitFailure, `"name"`, append(begin, "--id", "name")},
		{app.ExitFailure, `twice.csv "x" example 1 2`, append(begin, "--pool", twice)},
		{app.ExitFailure, "bare.csv:1", append(begin[:5:5], "--pool", "bare.csv", "--ignore-columns",
			"id,text")},
		{app.ExitUsage, "--k 4 3 when s", []string{"query", "--session", "s", "--k", "4"}},
		{app.ExitUsage, "--seed 2 given", []string{"query", "--session", "s", "--seed", "2"}},
		{app.ExitFailure, `1-a.csv:2 "leaf-0"`, answers("id,label\nleaf-0,ash\n")},
		{app.ExitFailure, `2-a.csv:3 "elm" "ash" "beech" "cedar"`,
			answers("id,label\n" + id + ",ash\n" + id + ",elm\n")},
		{app.ExitFailure, `"beech" line 2`, answers("id,label\n" + id + ",ash\n" + id + ",beech\n")},
		{app.ExitFailure, `4-a.csv:1 "id" "tree"`, answers("id,tree\n" + id + ",ash\n")},
		{app.ExitFailure, "5-a.csv:2 1 fields 2", answers("id,label\n" + id + "\n")},
		{app.ExitFailure, "6-a.csv:2:14", answers("id,label\n\"" + id + ",ash\n")},
		{app.ExitFailure, "7-a.csv empty", answers("")},
		{app.ExitFailure, "gone.csv", []string{"query", "--session", "s", "--answers", "gone.csv"}},
		{app.ExitFailure, `8-a.csv:2 id "` + other + `" clean --checked --labelled`,
			answers("id,row,given_label,label\n" + other + ",1,elm,ash\n")},
	} {
		fail(t, c.code, c.want, c.args...)
	}
	if !bytes.Equal(read(t, "s/session.json"), kept) {
		t.Errorf("a refused call has changed the session")
	}
	// The hashes of the same data in an earlier version.
	session := decode[map[string]any](t, string(kept))
	write(t, filepath.Join(dir, "s"), "session.json", strings.NewReplacer(
		session["pool_sha256"].(string),
		"75d08a09b2761d778c43ccd41f4658b9d95b17a460a183ab50be68ef7c4f5cfe",
		session["labelled_sha256"].(string),
		"d6d149f3d516f39fe63b20d854de86debdfc92f3b0b4cbaa68f19f30446c4846",
	).Replace(string(kept)))
	succeed(t, "query", "--session", "s")
	// Other data under the same name, and a damaged session.
	write(t, dir, "pool.csv", string(read(t, "other.csv")))
	fail(t, app.ExitFailure, "pool.csv other examples s", "query", "--session", "s")
	write(t, filepath.Join(dir, "s"), "session.json", string(kept[:len(kept)/2]))
	fail(t, app.ExitFailure, "session.json:1", "query", "--session", "s")
	write(t, dir, "file", "")
	fail(t, app.ExitFailure, "folder", append(begin, "--session", "file")...)
}

// folder returns all files below a folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names(t, dir) {
		if !strings.HasSuffix(name, ".tmp") {
			files[name] = string(read(t, filepath.Join(dir, name)))
		}
	}
	return files
}

// TestQueryEverywhere: a session that changes from device to device has the files of one that does
// not, but for the device that the model names.
func TestQueryEverywhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 6)
	tree := leaves(t, dir, "pool.csv", 6, 90)
	var want map[string]string
	devices := devicesHere(t)
	for k := range 2 {
		s, on := fmt.Sprint("s", k), func(round int) string {
			if k == 0 {
				return devices[0]
			}
			return devices[(round+1)%len(devices)]
		}
		succeed(t, "query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show", "text",
			"--label-column",
			"tree", "--session", s, "--strategy", "bpm", "--device", on(0))
		fillIn(t, s+"/round-1.csv", "a.csv", tree, 0)
		succeed(t, "query", "--session", s, "--answers", "a.csv", "--device", on(1))
		got := folder(t, s)
		if delete(got, "model.npz"); want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("found %q, wanted %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}
