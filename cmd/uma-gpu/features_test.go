package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// shuffled are 90 examples of the features a, b and c; only b tells the class,
// and an id that is no feature.
type shuffled struct {
	C     float32 `parquet:"c"`
	ID    string  `parquet:"id"`
	Label string  `parquet:"label"`
	A     float32 `parquet:"a"`
	B     float32 `parquet:"b"`
}

func shuffledRows() []shuffled {
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([]shuffled, 90)
	for i := range rows {
		q := i % 3
		rows[i] = shuffled{
			A: float32(rng.IntN(9)), B: float32(10*q + rng.IntN(3)), C: float32(rng.IntN(9)),
			ID: fmt.Sprintf("id %d", i), Label: []string{"x", "y", "z"}[q],
		}
	}
	return rows
}

// table writes rows as text, the fields in the order of the names.
func (r shuffled) text(names ...string) string {
	var fields []string
	for _, name := range names {
		fields = append(fields, map[string]string{
			"a": fmt.Sprint(r.A), "b": fmt.Sprint(r.B), "c": fmt.Sprint(r.C), "id": r.ID,
			"label": r.Label}[name])
	}
	return strings.Join(fields, ",") + "\n"
}

// csvOf writes a CSV of these columns.
func csvOf(t *testing.T, dir, name string, header bool, columns ...string) string {
	t.Helper()
	var b strings.Builder
	if header {
		b.WriteString(strings.Join(columns, ",") + "\n")
	}
	for _, r := range shuffledRows() {
		b.WriteString(r.text(columns...))
	}
	return write(t, dir, name, b.String())
}

// Features are matched by name in every format that has names: the columns of what is
// judged may stand in any order, among others.
func TestFeaturesAreMatchedByName(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	train := csvOf(t, dir, "train.csv", true, "a", "b", "c", "label")
	succeed(t, "train", "--data", train, "--model", path("m.npz"))
	succeed(t, "kpca", "fit", "--data", train, "--basis", path("B.npz"), "--components", "5")
	want, _ := succeed(t, "predict", "--model", path("m.npz"), "--data", train)
	succeed(t, "kpca", "transform", "--basis", path("B.npz"), "--data", train, "--out",
		path("want.npz"))

	csvOf(t, dir, "shuffled.csv", true, "c", "id", "label", "a", "b")
	csvOf(t, dir, "order.csv", true, "c", "a", "b", "label")
	var raw bytes.Buffer
	if err := parquet.Write(&raw, shuffledRows()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("shuffled.parquet"), raw.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	succeed(t, "convert", "--data", path("order.csv"), "--out", path("order.umab"))
	succeed(t, "convert", "--data", path("order.csv"), "--storage", "sparse", "--out",
		path("sparse.umab.gz"))

	label := []string{"--label-column", "label"}
	for _, c := range []struct {
		file  string
		more  []string
		extra string // columns that are noted as ignored
	}{
		{"order.csv", nil, ""},
		{"order.umab", nil, ""},
		{"sparse.umab.gz", nil, ""},
		{"shuffled.csv", label, `"id"`},
		{"shuffled.csv", append(label, "--ignore-columns", "id"), ""},
		{"shuffled.parquet", label, `"id"`},
	} {
		run := func(command string, more ...string) (stdout, stderr string) {
			args := append(strings.Fields(command), "--data", path(c.file))
			return succeed(t, append(append(args, c.more...), more...)...)
		}
		note := path(c.file) + ": ignored are columns that the model does not know: " + c.extra
		got, stderr := run("predict", "--model", path("m.npz"))
		if got != want || strings.Contains(stderr, note) != (c.extra != "") || strings.Contains(stderr,
			"position") {
			t.Errorf("%s %q: other predictions, or in\n%s the note %q", c.file, c.more, stderr, note)
		}
		if report, _ := run("eval", "--model", path("m.npz"), "--json"); decode[eval.Report](t,
			report).ErrorRate != 0 {
			t.Errorf("%s %q: the error is not 0:\n%s", c.file, c.more, report)
		}
		run("kpca transform", "--basis", path("B.npz"), "--out", path("got.npz"))
		if !bytes.Equal(read(t, path("got.npz")), read(t, path("want.npz"))) {
			t.Errorf("%s %q: other components", c.file, c.more)
		}
	}
	// the label is one more column that is no feature
	for _, file := range []string{"order.csv", "shuffled.csv"} {
		if got, _ := succeed(t, "predict", "--no-labels", "--model", path("m.npz"), "--data",
			path(file)); got != want {
			t.Errorf("%s without labels: other predictions", file)
		}
	}
}

// What is not there is named; position counts where a name is missing, or where that is
// asked for, and is mentioned.
func TestFeaturesThatDoNotMatch(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	train := csvOf(t, dir, "train.csv", true, "a", "b", "c", "label")
	bare := csvOf(t, dir, "bare.csv", false, "a", "b", "c", "label")
	named, unnamed := path("named.npz"), path("unnamed.npz")
	succeed(t, "train", "--data", train, "--model", named)
	succeed(t, "train", "--data", bare, "--model", unnamed)
	want, stderr := succeed(t, "predict", "--model", named, "--data", train)
	if strings.Contains(stderr, "position") || strings.Contains(stderr, "ignored") {
		t.Errorf("a note about features that agree:\n%s", stderr)
	}
	renamed := write(t, dir, "renamed.csv", strings.Replace(string(read(t, train)), "a,b,c", "a,B,C",
		1))
	twice := write(t, dir, "twice.csv", strings.Replace(string(read(t, train)), "a,b,c", "b,a,b", 1))
	twiceModel := path("twice.npz")
	succeed(t, "train", "--data", twice, "--model", twiceModel)
	succeed(t, "convert", "--data", train, "--normalize", "l2", "--out", path("prepared.umab"))
	succeed(t, "convert", "--data", csvOf(t, dir, "order.csv", true, "c", "a", "b", "label"),
		"--normalize", "l2", "--out", path("other.umab"))
	succeed(t, "train", "--data", path("prepared.umab"), "--model", path("l2.npz"))
	for _, c := range []struct{ model, data, fragment string }{
		{named, renamed, `renamed.csv:1 "a" "B" "C" "b" "c" 2 3 --match-features position`},
		{named, twice, `twice.csv:1 "b"`},
		{twiceModel, train, `train.csv:1 "b"`},
		{named, csvOf(t, dir, "last.csv", true, "label", "a", "b", "c"), `"c" 1 3 --match-features position column 4 c --label-column`},
		{path("l2.npz"), path("other.umab"), `other.umab "c" "a" "b" "a" "b" "c"`},
	} {
		fail(t, app.ExitFailure, c.fragment, "eval", "--model", c.model, "--data", c.data)
	}
	succeed(t, "convert", "--data", bare, "--out", path("bare.svm"))
	succeed(t, "convert", "--data", bare, "--out", path("bare.npz"))
	for _, c := range []struct {
		model, data, note string
		more              []string
	}{
		{named, bare, `bare.csv "a" "b" "c"`, nil},
		{named, path("bare.svm"), "bare.svm features names", nil},
		{named, path("bare.npz"), "bare.npz features names", nil},
		{unnamed, train, "train.csv features position", nil},
		{named, renamed, "renamed.csv features position", []string{"--match-features", "position"}},
	} {
		got, stderr := succeed(t, append([]string{"predict", "--model", c.model, "--data", c.data},
			c.more...)...)
		if got != want || !facts.Told(stderr, c.note) {
			t.Errorf("%s: other predictions, or in\n%s no note %q", c.data, stderr, c.note)
		}
	}
	// equal lists match
	if got, _ := succeed(t, "predict", "--model", twiceModel, "--data", twice); got != want {
		t.Error("names that occur twice, in the same order: other predictions")
	}
	fail(t, app.ExitUsage, `--match-features "x"`, "eval", "--model", named, "--data", train,
		"--match-features", "x")
}

// What looks like a mistake in the data is a warning, which --quiet does not silence,
// and stands in the description.
func TestWarningsOfData(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i, r := range shuffledRows() {
		fmt.Fprintf(&text, "%d,%s", i, r.text("a", "b", "label"))
	}
	data := write(t, dir, "data.csv", text.String())
	const want = "data.csv column 1 --ignore-columns 1"
	m := filepath.Join(dir, "m.npz")
	if _, stderr := succeed(t, "train", "--quiet", "--data", data, "--model", m); !facts.Told(stderr,
		want) || !strings.HasPrefix(stderr, "warning: ") {
		t.Errorf("stderr is\n%s", stderr)
	}
	if _, stderr := succeed(t, "info", "--data", data); !facts.Told(stderr, want) {
		t.Errorf("no warning in\n%s", stderr)
	}
	stdout, _ := succeed(t, "info", "--data", data, "--json")
	if i := decode[dataset.Info](t, stdout); len(i.Warnings) != 1 || !facts.Told(i.Warnings[0], want) {
		t.Errorf("warnings %q", i.Warnings)
	}
	if _, stderr := succeed(t, "train", "--quiet", "--data", data, "--model", m, "--ignore-columns",
		"1"); stderr != "" {
		t.Errorf("without the column stderr is\n%s", stderr)
	}
	if _, stderr := succeed(t, "eval", "--quiet", "--data", data, "--model", m, "--ignore-columns",
		"1"); stderr != "" {
		t.Errorf("of eval stderr is\n%s", stderr)
	}
}
