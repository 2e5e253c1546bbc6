package estimate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/estimate"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// estimated runs confusion estimate --json.
func estimated(t *testing.T, args ...string) (r estimate.Report, stderr string) {
	t.Helper()
	stdout, stderr := clitest.Succeed(t, append([]string{"confusion", "estimate", "--json"},
		args...)...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if r.Assumes == "" || r.Method == "" {
		t.Errorf("%v: no method, or nothing about what it assumes: %s", args, stdout)
	}
	return r, stderr
}

// matrixIn returns the confusion matrix in a file.
func matrixIn(t *testing.T, path string, classes []string) *confusion.Matrix {
	t.Helper()
	table, err := confusion.ReadTable(path, confusion.ReadOptions{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A table becomes a matrix that train takes, and what told its axes is said.
func TestEstimateTable(t *testing.T) {
	dir := t.TempDir()
	table := clitest.Write(t, dir, "crosstab.csv",
		"true,cat,dog\ncat,900,100\ndog,300,1700\n")
	out := filepath.Join(dir, "C.csv")
	r, stderr := estimated(t, "--table", table, "--out", out)
	if !facts.Told(stderr, "2 classes true-rows") {
		t.Errorf("stderr %s", stderr)
	}
	m := matrixIn(t, out, []string{"cat", "dog"})
	for k, want := range []float64{.9, .15, .1, .85} {
		if got := m.P[k]; math.Abs(got-want) > 0.02 || got != r.Confusion[k/2][k%2] {
			t.Errorf("entry %d is %v, wanted about %v, and as printed, %v", k, got, want,
				r.Confusion[k/2][k%2])
		}
	}
	if e := r.Error[0][0]; !(e > 0.008 && e < 0.02) {
		t.Errorf("standard error %v of a share of 1000 examples", e)
	}
	shares := clitest.Write(t, dir, "shares.csv", "0.9,0.15\n0.1,0.85\n")
	if r, _ := estimated(t, "--table", shares); r.Error != nil || r.Confusion[0][1] != .15 {
		t.Errorf("shares: %+v", r)
	}
	text, _ := clitest.Succeed(t, "confusion", "estimate", "--table", table)
	for _, want := range []string{"P(noisy = row | true = column), ± standard error",
		"assumes that the examples"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	bare := clitest.Write(t, dir, "bare.csv", "9,1\n2,8\n")
	clitest.Fail(t, app.ExitFailure, "confusion-axes=true-rows", "confusion", "estimate", "--table",
		bare)
	if r, _ := estimated(t, "--table", bare, "--confusion-axes", "true-rows"); r.Confusion[1][0] > .2 {
		t.Errorf("%+v", r)
	}
}

// From noisy labels, with and without known classes, and from probabilities that another program
// has found.
func TestEstimateData(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	few := path("few.csv")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", "300", "--out", few)
	clitest.Succeed(t, "confusion", "inject", "--data", few, "--pairwise", "0.3", "--out",
		path("noisy.csv"),
		"--write-confusion", path("truth.csv"))
	d, err := file.Read(t.Context(), path("noisy.csv"), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	right, err := file.Read(t.Context(), few, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth := matrixIn(t, path("truth.csv"), d.Classes)
	off := func(r estimate.Report) (sum float64) {
		for k, v := range truth.P {
			sum += math.Abs(v-r.Confusion[k/10][k%10]) / 100
		}
		return sum
	}
	r, _ := estimated(t, "--data", path("noisy.csv"))
	alone := off(r)
	if !(alone < 0.04) {
		t.Errorf("alone it is %v off", alone)
	}
	var clean strings.Builder
	clean.WriteString("index,label\n")
	for i := range 60 {
		fmt.Fprintf(&clean, "%d,%s\n", 5*i, right.Classes[right.Y[5*i]])
	}
	checked := clitest.Write(t, dir, "checked.csv", clean.String())
	r, _ = estimated(t, "--data", path("noisy.csv"), "--clean", checked, "--out", path("C.csv"))
	if !(off(r) < 0.04) || len(r.Hypotheses) < 4 {
		t.Errorf("auto is %v off: %s, %+v", off(r), r.Method, r.Hypotheses)
	}
	clitest.Succeed(t, "train", "--data", path("noisy.csv"), "--confusion", path("C.csv"), "--model",
		path("m.npz"),
		"--max-steps", "5")

	p := make([]float64, 0, d.N*10)
	for i := range d.N {
		for k := range 10 {
			p = append(p, truth.P[k*10+int(right.Y[i])])
		}
	}
	probabilities := path("p.npy")
	file, err := os.Create(probabilities)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(npyfile.Header("<f8", d.N, 10))
	if err == nil {
		err = npyfile.Write(file, p)
	}
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	r, _ = estimated(t, "--data", path("noisy.csv"), "--probabilities", probabilities, "--method",
		"confident-joint")
	if !(off(r) < 0.03) {
		t.Errorf("the confident joint of given probabilities is %v off", off(r))
	}
	estimated(t, "--data", path("noisy.csv"), "--probabilities", probabilities, "--clean", checked)
}

// What --json prints of annotators labels new votes.
func TestEstimateMatrices(t *testing.T) {
	dir := t.TempDir()
	var votes strings.Builder
	votes.WriteString("row,worker,label\n")
	for i := range 60 {
		class := i % 2
		fmt.Fprintf(&votes, "%d,ann,%d\n%d,bob,%d\n%d,eve,%d\n", i, class, i, class, i, i/7%2)
	}
	path := clitest.Write(t, dir, "votes.csv", votes.String())
	printed, _ := clitest.Succeed(t, "confusion", "estimate", "--annotators", path, "--json")
	saved := clitest.Write(t, dir, "crowd.json", printed)
	fresh := clitest.Write(t, dir, "fresh.csv",
		"row,worker,label\n0,bob,1\n0,eve,0\n1,bob,0\n1,new,0\n")
	out := filepath.Join(dir, "out.csv")
	r, _ := estimated(t, "--annotators", fresh, "--matrices", saved, "--write-labels", out)
	text, err := os.ReadFile(out)
	if err != nil || !strings.HasPrefix(r.Method, "given") || !strings.Contains(string(text),
		"\n0,1,") || !strings.Contains(string(text), "\n1,0,") {
		t.Errorf("%v, %s: %s", err, r.Method, text)
	}
	clitest.Fail(t, app.ExitUsage, "--matrices --method", "confusion", "estimate", "--annotators",
		fresh, "--matrices", saved, "--method", "majority")
	other := clitest.Write(t, dir, "other.csv", "row,worker,label\n0,bob,x\n1,bob,y\n")
	clitest.Fail(t, app.ExitFailure, `class "x"`, "confusion", "estimate", "--annotators", other,
		"--matrices", saved)
}

func TestEstimateUsage(t *testing.T) {
	dir := t.TempDir()
	table := clitest.Write(t, dir, "t.csv", "true,a,b\na,5,1\nb,2,9\n")
	for want, args := range map[string][]string{
		"sources":                      {},
		`"table" "data"`:               {"--table", table, "--data", clitest.Digits},
		`"annotators" "clean"`:         {"--annotators", table, "--clean", table},
		`--method "auto" clean counts`: {"--table", table, "--method", "auto"},
		`--method "best" auto data`:    {"--data", clitest.Digits, "--method", "best"},
		"--confusion-axes --table":     {"--data", clitest.Digits, "--confusion-axes", "true-rows"},
		"--trust --annotators":         {"--data", clitest.Digits, "--trust", "anna"},
		"--folds 1 2 100":              {"--data", clitest.Digits, "--folds", "1"},
	} {
		clitest.Fail(t, app.ExitUsage, want, append([]string{"confusion", "estimate"}, args...)...)
	}
}
