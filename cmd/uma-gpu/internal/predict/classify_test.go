package predict_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// fourPoints trains a model that knows a from b, and returns its path.
func fourPoints(t *testing.T, dir string) string {
	t.Helper()
	data := clitest.Write(t, dir, "train.csv", "1,0,a\n2,0.5,a\n-1,0,b\n-2,1,b\n")
	m := filepath.Join(dir, "m.npz")
	clitest.Succeed(t, "train", "--data", data, "--model", m)
	return m
}

func TestPredict(t *testing.T) {
	dir := t.TempDir()
	m := fourPoints(t, dir)
	labelled := clitest.Write(t, dir, "labelled.csv", "5,0,b\n-5,0,b\n3,1,a\n")
	bare := clitest.Write(t, dir, "bare.csv", "5,0\n-5,0\n3,1\n")
	libsvm := clitest.Write(t, dir, "l.svm", "b 1:5\nb 1:-5\na 1:3 2:1\n")
	const want = "a\nb\na\n"
	for _, args := range [][]string{{labelled}, {bare, "--no-labels"}, {libsvm}, {libsvm,
		"--no-labels"}} {
		args = append([]string{"predict", "--model", m, "--data"}, args...)
		if got, _ := clitest.Succeed(t, args...); got != want {
			t.Errorf("%s: found %q, want %q", args, got, want)
		}
		out := filepath.Join(dir, "out.txt")
		stdout, _ := clitest.Succeed(t, append(args, "--out", out)...)
		if got := string(clitest.Read(t, out)); got != want || stdout != "" {
			t.Errorf("%s: found %q in the file, want %q; %q on stdout", args, got, want, stdout)
		}
	}
	// The model knows its features, so a table without labels needs no flag.
	if got, _ := clitest.Succeed(t, "predict", "--model", m, "--data", bare); got != want {
		t.Errorf("without --no-labels: found %q, want %q", got, want)
	}
}

func TestEval(t *testing.T) {
	dir := t.TempDir()
	m := fourPoints(t, dir)
	test := clitest.Write(t, dir, "test.csv", "5,0,b\n-5,0,b\n3,1,a\n4,0.5,a\n")
	stdout, _ := clitest.Succeed(t, "eval", "--model", m, "--data", test, "--json")
	r := clitest.Decode[eval.Report](t, stdout)
	if r.Examples != 4 || r.ErrorRate != 0.25 || strings.Join(r.Classes, " ") != "a b" ||
		r.Device.ID != "cpu" || r.Model != m {
		t.Errorf("found %+v", r)
	}
	// Ĉ without its diagonal has one entry, 1/2.
	if r.ConfusionRate < 0.3535 || r.ConfusionRate > 0.3536 || r.OperatorNorm != 0.5 {
		t.Errorf("confusion rate %v, operator norm %v", r.ConfusionRate, r.OperatorNorm)
	}
	if p := r.PerClass; len(p) != 2 || p[0].Class != "a" || *p[0].Recall != 1 || *p[1].Recall != 0.5 ||
		*p[1].Precision != 1 {
		t.Errorf("per class %+v", p)
	}
	if c := r.Confusion; c[0][0] != 2 || c[0][1] != 1 || c[1][0] != 0 || c[1][1] != 1 {
		t.Errorf("confusion %v", c)
	}
	for _, name := range []string{"examples", "error_rate", "confusion_rate", "operator_norm",
		"per_class", "recall", "precision", "confusion", "classes"} {
		if !strings.Contains(stdout, `"`+name+`":`) {
			t.Errorf("no %s in\n%s", name, stdout)
		}
	}
	if !strings.Contains(stdout, "[2, 1]") {
		t.Errorf("rows of the matrix are not on one line:\n%s", stdout)
	}

	stdout, _ = clitest.Succeed(t, "eval", "--model", m, "--data", test, "--tables")
	for _, want := range []string{"error rate         0.2500", "confusion rate     0.3536",
		"b      2         0.5000  1.0000", "confusion matrix, examples", "  a  2  1\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	one := clitest.Write(t, dir, "one.csv", "5,0,a\n") // a class may be missing
	stdout, _ = clitest.Succeed(t, "eval", "--model", m, "--data", one, "--json")
	if r := clitest.Decode[eval.Report](t, stdout); r.PerClass[1].Recall != nil || r.ErrorRate != 0 {
		t.Errorf("found %+v", r)
	}
}

func TestClassifyBadInput(t *testing.T) {
	dir := t.TempDir()
	m := fourPoints(t, dir)
	broken := clitest.Write(t, dir, "broken.npz", string(bytes.Repeat([]byte("x"), 100)))
	for _, c := range []struct{ model, data, fragment string }{
		{filepath.Join(dir, "none.npz"), "1,2,a\n", filepath.Join(dir, "none.npz")},
		{broken, "1,2,a\n", broken},
		{m, "1,2,3,a\n", "test.csv:1"},
		{m, "1,a\n", "test.csv:1"},
		{m, "1,2,a\n1,2,c\n", `test.csv:2:5 column 3 "c" 2 "a" "b"`},
		{m, "1,nan,a\n", "test.csv:1:3"},
		{m, "", "test.csv example"},
	} {
		data := clitest.Write(t, dir, "test.csv", c.data)
		clitest.Fail(t, app.ExitFailure, c.fragment, "eval", "--model", c.model, "--data", data)
		out := filepath.Join(dir, "out.txt")
		fragment := c.fragment
		if c.data == "1,a\n" { // which has two columns, as the model has features
			fragment = `test.csv:1:3 column 2 "a"`
		}
		clitest.Fail(t, app.ExitFailure, fragment, "predict", "--model", c.model, "--data", data, "--out",
			out)
	}
	for _, name := range clitest.Names(t, dir) {
		if name == "out.txt" || strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s was left", name)
		}
	}
}

// The preparation of the training data is applied to others, not fitted again.
func TestEvalUsesTheModelsPreparation(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "train.csv", "101,0,a\n102,0.5,a\n99,0,b\n98,1,b\n")
	test := clitest.Write(t, dir, "test.csv", "101,0,a\n103,0,a\n")
	m := filepath.Join(dir, "m.npz")
	clitest.Succeed(t, "train", "--data", data, "--model", m)
	stdout, _ := clitest.Succeed(t, "eval", "--model", m, "--data", test, "--json")
	if r := clitest.Decode[eval.Report](t, stdout); r.ErrorRate != 0 {
		t.Errorf("error rate %v, want 0", r.ErrorRate)
	}
}
