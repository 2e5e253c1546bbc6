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

// shop is a table as pandas writes one, of n examples: an index, a category, a truth, a number
// that is missing now and then, and a label that colour and member tell.
func shop(n int) string {
	var b strings.Builder
	b.WriteString(",colour,member,age,class\n")
	for i := range n {
		colour, member, age := []string{"red", "blue", "green"}[i%3], []string{"True", "False"}[i/3%2],
			fmt.Sprint(20+i%17)
		if i%7 == 0 {
			age = ""
		}
		bought := "no"
		if i%3 == 0 || i/3%2 == 1 {
			bought = "yes"
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s\n", i, colour, member, age, bought)
	}
	return b.String()
}

// A table of more than numbers goes through the commands.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "shop.csv", shop(84))
	stdout, stderr := succeed(t, "info", "--data", data)
	for _, want := range []string{"missing values     12 in column 4 (age)", "colour  category  3",
		"member  number    1", "column 1 has no name and numbers the examples; it is left out"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s%s", want, stdout, stderr)
		}
	}
	stdout, _ = succeed(t, "info", "--data", data, "--json")
	if i := decode[dataset.Info](t, stdout); len(i.Columns) != 3 || len(i.Missing) != 1 ||
		i.Missing[0].Values != 12 {
		t.Errorf("info --json: %+v", i)
	}
	m := filepath.Join(dir, "m.npz")
	fail(t, app.ExitFailure, "missing --missing mean", "train", "--data", data, "--model", m,
		"--missing", "error")
	_, stderr = succeed(t, "train", "--data", data, "--model", m)
	columns := "columns 2 numbers 1 category 6 features missing 12 column 4 age"
	if !facts.Told(stderr, columns) {
		t.Errorf("no %q in %s", columns, stderr)
	}
	stdout, _ = succeed(t, "eval", "--model", m, "--data", data, "--json")
	if r := decode[eval.Report](t, stdout); r.ErrorRate > 0.35 {
		t.Errorf("error rate %v", r.ErrorRate)
	}
	want, _ := succeed(t, "predict", "--model", m, "--data", data)

	// The model reads the table from other formats of itself, and from its features.
	binary, svm := filepath.Join(dir, "b.umab"), filepath.Join(dir, "f.svm")
	for _, out := range []string{binary, svm, filepath.Join(dir, "f.csv")} {
		succeed(t, "convert", "--data", data, "--missing", "indicator", "--out", out)
		if got, _ := succeed(t, "predict", "--model", m, "--data", out); got != want {
			t.Errorf("%s: another prediction", out)
		}
	}
	some, same := filepath.Join(dir, "some.csv"), filepath.Join(dir, "same.svm")
	few := write(t, dir, "few.csv", "age,member,colour\n,no,red\n")
	succeed(t, "convert", "--data", few, "--no-labels", "--encoding", m, "--out", some)
	const features = "colour=blue,colour=green,colour=red,member,age,\"age (missing)\"\n"
	if got := string(read(t, some)); got != features+"0,0,1,0,28,1\n" {
		t.Errorf("convert --encoding wrote %q", got)
	}
	succeed(t, "convert", "--data", data, "--encoding", m, "--out", same)
	if string(read(t, same)) != string(read(t, svm)) {
		t.Error("convert --encoding writes the training data otherwise")
	}
	// What becomes of columns is left to the model, whatever is said beside it.
	_, stderr = succeed(t, "convert", "--data", data, "--encoding", m, "--missing", "mean", "--out",
		same)
	if string(read(t, same)) != string(read(t, svm)) || !facts.Told(stderr, "--missing model") {
		t.Errorf("convert --encoding --missing mean: %s", stderr)
	}

	// A binary file knows what its features were made of.
	again := filepath.Join(dir, "again.npz")
	succeed(t, "train", "--data", binary, "--model", again)
	if got, _ := succeed(t, "predict", "--model", again, "--data", data); got != want {
		t.Error("a model of the binary file predicts otherwise")
	}
	if string(read(t, again)) != string(read(t, m)) {
		t.Error("a model of the binary file is another one")
	}

	_, stderr = succeed(t, "predict", "--model", m, "--no-labels", "--data",
		write(t, dir, "new.csv", "member,age,colour\nyes,30,teal\nno,,red\n"))
	warning := "warning " + filepath.Join(dir, "new.csv") + ` column 3 colour "teal" line 2 1 examples`
	if !facts.Told(stderr, warning) {
		t.Errorf("no %q in %s", warning, stderr)
	}
	fail(t, app.ExitFailure, `new.csv:2:8 column 3 colour "teal" 3 levels`, "predict", "--model", m,
		"--no-labels", "--data", filepath.Join(dir, "new.csv"), "--unseen", "error")
	if got, _ := succeed(t, "predict", "--model", m, "--data", data, "--missing",
		"mean"); got != want {
		t.Error("predict --missing mean predicts otherwise")
	}
	fail(t, app.ExitUsage, `--missing "median"`, "train", "--data", data, "--model", m, "--missing",
		"median")
	fail(t, app.ExitUsage, "--levels 0", "train", "--data", data, "--model", m, "--levels", "0")
	_, stderr = succeed(t, "train", "--data", data, "--model", again, "--from", m, "--missing",
		"indicator")
	if !facts.Told(stderr, "6 features") {
		t.Errorf("--from: %s", stderr)
	}
	basis, z := filepath.Join(dir, "basis.npz"), filepath.Join(dir, "z.npy")
	succeed(t, "kpca", "fit", "--data", data, "--missing", "mean", "--kernel", "rbf", "--components",
		"2", "--basis", basis)
	succeed(t, "kpca", "transform", "--basis", basis, "--data", data, "--no-labels",
		"--ignore-columns", "class", "--out", z)
}
