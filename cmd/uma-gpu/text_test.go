package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// talks is a table with a text that tells the class of all but some examples, and a number that
// tells it of those.
func talks(n int) string {
	var b strings.Builder
	b.WriteString("item,said,stars,class\n")
	for i := range n {
		class, stars := []string{"praise", "blame"}[i%2], 5-4*(i%2)
		said := []string{"a very good book, %d", `very bad; I'd say "worst" of %d`}[i%2]
		if i%8 > 5 {
			said = "number %d"
		}
		fmt.Fprintf(&b, "t%d,\"%s\",%d,%s\n", i, strings.ReplaceAll(fmt.Sprintf(said, i%5), `"`, `""`),
			100*stars, class)
	}
	return b.String()
}

// Free text goes through the commands.
func TestText(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "talks.csv", talks(80)), filepath.Join(dir, "m.npz")
	how := []string{"--id-column", "item", "--text", "said"}
	stdout, _ := succeed(t, append([]string{"info", "--data", data, "--json"}, how...)...)
	if i := decode[dataset.Info](t, stdout); i.Storage != "sparse" || len(i.Columns) != 2 ||
		i.Columns[0].Kind != "text" || i.Columns[0].Levels != i.Columns[0].Features ||
		i.Columns[0].Features < 10 {
		t.Errorf("info: %+v", i)
	}
	_, stderr := succeed(t, append([]string{"train", "--data", data, "--model", m}, how...)...)
	if !facts.Told(stderr, "columns 1 number 1 text") {
		t.Error(stderr)
	}
	stdout, _ = succeed(t, "inspect", "--model", m, "--json")
	for _, want := range []string{`said=worst`, "maxabs,l2"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in %s", want, stdout)
		}
	}
	stdout, _ = succeed(t, "eval", "--model", m, "--data", data, "--id-column", "item", "--json")
	if r := decode[eval.Report](t, stdout); r.ErrorRate > 0 {
		t.Errorf("error rate %v", r.ErrorRate)
	}
	all, _ := succeed(t, "predict", "--model", m, "--data", data, "--scores")
	few := write(t, dir, "few.csv", "stars,said\n500,\"A very GOOD book: 0\"\n100,unheard\n")
	got, stderr := succeed(t, "predict", "--model", m, "--data", few, "--no-labels", "--scores")
	if first := strings.Split(all, "\n")[1]; !strings.HasPrefix(got,
		"example,blame,praise\n"+first+"\n") {
		t.Errorf("scores %q, wanted those of %q first", got, first)
	}
	if !facts.Told(stderr, "column 2 said 1 2 examples") {
		t.Error(stderr)
	}

	// Features travel; other programs read them, and models of them.
	svm, binary := filepath.Join(dir, "f.svm"), filepath.Join(dir, "f.umab")
	for _, out := range []string{svm, binary} {
		succeed(t, "convert", "--data", data, "--ignore-columns", "item", "--encoding", m, "--out", out)
		if again, _ := succeed(t, "predict", "--model", m, "--data", out, "--scores"); again != all {
			t.Errorf("%s: other scores", out)
		}
	}
	_, stderr = succeed(t, "export", "--model", m, "--out", filepath.Join(dir, "m.onnx"))
	if !facts.Told(stderr, "convert --encoding") {
		t.Error(stderr)
	}
	again := []string{"train", "--data", data, "--model", m + "2", "--from", m, "--text-min-df", "3"}
	succeed(t, append(again, how...)...)

	fail(t, app.ExitUsage, "--text-features --text", "train", "--data", data, "--model", m,
		"--text-features", "9")
	fail(t, app.ExitUsage, "--text-ngrams 9 1 5", append([]string{"info", "--data", data,
		"--text-ngrams", "9"}, how...)...)
	// The model knows which column is the text.
	_, stderr = succeed(t, "predict", "--data", data, "--model", m, "--text", "said")
	if !facts.Told(stderr, "--text model") {
		t.Errorf("predict --text: %s", stderr)
	}
	// The commonest levels are features, and a note says how many are not.
	_, stderr = succeed(t, "train", "--data",
		write(t, dir, "long.csv", strings.ReplaceAll(talks(80), "number", "")+strings.Repeat(
			"x,y,1,blame\n", 2)), "--model", m, "--id-column", "item", "--levels", "3")
	if !facts.Told(stderr, "column 2 said 13 16 levels rare") {
		t.Errorf("train --levels 3: %s", stderr)
	}
}
