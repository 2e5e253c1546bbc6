package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/kernelmean"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/meanmodel"
)

// TestTrainKernelMean: the mean classifier with a kernel function; every example is a
// landmark.
func TestTrainKernelMean(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--data", data, "--model", model, "--learner", "kernelmean"}
	succeed(t, append(train, "--kernel", "rbf", "--gamma", "search", "--balanced")...)
	stdout, _ := succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[eval.Report](t, stdout).ErrorRate; rate > 0.03 {
		t.Errorf("error rate %v", rate)
	}
	stdout, _ = succeed(t, append(train, "--kernel", "rbf", "--dry-run")...)
	if !strings.Contains(stdout, "2 means of 300 atoms") {
		t.Errorf("dry run: %s", stdout)
	}
	succeed(t, train...)
	if _, said := succeed(t, append(train, "--kernel", "rbf", "--gamma", "mean", "--atoms",
		"50")...); !facts.Told(said, "means are") || !facts.Told(said, "means 2 classes") {
		t.Errorf("said %s", said)
	}
	succeed(t, "train", "--data", data, "--model", model, "--kernel", "rbf", "--gamma", "mean",
		"--components", "20")
	stdout, _ = succeed(t, "eval", "--model", model, "--data", test, "--json")
	if rate := decode[eval.Report](t, stdout).ErrorRate; rate > 0.05 {
		t.Errorf("softmax, gamma of the means: error rate %v", rate)
	}
	fail(t, app.ExitFailure, "components none", append(train, "--kernel", "rbf", "--components",
		"5")...)
	fail(t, app.ExitUsage, `--atoms "none"`, append(train, "--atoms", "none")...)
}

func TestKernelMeanTable(t *testing.T) {
	text, _ := succeed(t, "kernelmean", "table")
	for _, want := range []string{"linear ", "is 2 everywhere", "is 2 up to |v| = 1, then goes to 5"} {
		if !strings.Contains(text, want) {
			t.Errorf("found %q in\n%s", want, text)
		}
	}
	stdout, _ := succeed(t, "kernelmean", "table", "--json")
	immune := 0
	for _, r := range decode[[]kernelmean.LossReport](t, stdout) {
		if r.Immune && r.Convex {
			immune++
		}
	}
	if immune != 1 {
		t.Errorf("%d convex losses are immune, wanted the linear one", immune)
	}
	fail(t, app.ExitUsage, "command missing", "kernelmean")
}

// TestCombineModels: the models of two halves are that of the whole.
func TestCombineModels(t *testing.T) {
	dir := t.TempDir()
	data := ringsFile(t, dir, "train.csv", 1)
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "split", "--data", data, "--fractions", "0.3,0.7", "--out", at("a.csv"), "--out",
		at("b.csv"))
	for _, name := range []string{"train", "a", "b"} {
		succeed(t, "train", "--data", at(name+".csv"), "--model", at(name+".npz"), "--learner",
			"kernelmean", "--kernel", "rbf", "--gamma", "2", "--normalize", "none")
	}
	_, said := succeed(t, "kernelmean", "combine", "--model", at("a.npz"), "--model", at("b.npz"),
		"--out", at("all.npz"))
	if !facts.Told(said, "300 atoms 300 examples") {
		t.Errorf("said %s", said)
	}
	var predicted [2]string
	for k, name := range []string{"train", "all"} {
		predicted[k], _ = succeed(t, "predict", "--model", at(name+".npz"), "--data", data)
	}
	if predicted[0] != predicted[1] || predicted[0] == "" {
		t.Error("the parts predict otherwise than the whole")
	}
	fail(t, app.ExitUsage, "--model missing", "kernelmean", "combine", "--out", at("x.npz"))
	fail(t, app.ExitUsage, "--out --model", "kernelmean", "combine", "--model", at("a.npz"), "--out",
		at("a.npz"))
	succeed(t, "train", "--data", at("b.csv"), "--model", at("b.npz"), "--learner", "kernelmean",
		"--kernel", "rbf", "--gamma", "1", "--normalize", "none")
	fail(t, app.ExitFailure, "2 --gamma", "kernelmean", "combine", "--model", at("a.npz"), "--model",
		at("b.npz"), "--out", at("all.npz"))
}

// TestMeanIsBalanced: by default the largest class has no head start.
func TestMeanIsBalanced(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 120 { // two classes beside each other, one of them five times as large
		class, at := "large", float64(i%10)/10
		if i%6 == 0 {
			class, at = "small", at+1
		}
		fmt.Fprintf(&text, "%g,%d,%s\n", at, i%3, class)
	}
	data := write(t, dir, "d.csv", text.String())
	errs := map[string]float64{}
	for _, flag := range []string{"", "--balanced", "--balanced=false"} {
		model := filepath.Join(dir, "m.npz")
		args := []string{"train", "--data", data, "--model", model, "--learner", "kernelmean", "--kernel",
			"rbf", "--gamma", "1"}
		if flag != "" {
			args = append(args, flag)
		}
		succeed(t, args...)
		stdout, _ := succeed(t, "eval", "--model", model, "--data", data, "--json")
		errs[flag] = decode[eval.Report](t, stdout).ErrorRate
	}
	if errs[""] != errs["--balanced"] || errs[""] >= errs["--balanced=false"] {
		t.Errorf("error rates %v", errs)
	}
}

// TestMargin: a model stands more where more may be lost, and no less where it is asked of its own
// predictions.
func TestMargin(t *testing.T) {
	dir := t.TempDir()
	data := ringsFile(t, dir, "train.csv", 1)
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--data", data, "--model", model, "--kernel", "rbf", "--gamma", "2"}
	succeed(t, append(train, "--learner", "kernelmean", "--balanced=false")...)
	margin := []string{"kernelmean", "margin", "--model", model, "--data", data}
	stdout, _ := succeed(t, append(margin, "--json")...)
	r := decode[[]meanmodel.Margin](t, stdout)
	for k, m := range r {
		if m.Share != meanmodel.MarginShares[k] || !(m.Error > 0) || m.Labels != m.Error ||
			m.Landmarks < 1 ||
			k > 0 && (m.Error < r[k-1].Error || m.Noise < r[k-1].Noise || m.Landmarks > r[k-1].Landmarks) {
			t.Errorf("%d: %+v behind %+v", k, m, r[max(0, k-1)])
		}
	}
	if len(r) != len(meanmodel.MarginShares) || r[len(r)-1].Labels == 0 {
		t.Errorf("found %+v", r)
	}
	text, _ := succeed(t, append(margin, "--landmarks", "2", "--ignore-columns", "last",
		"--no-labels")...)
	if !strings.Contains(text, "more than 2") || !strings.Contains(text, "of other classes than now") {
		t.Errorf("printed %s", text)
	}
	succeed(t, append(train, "--components", "20")...)
	if text, _ = succeed(t, margin...); strings.Contains(text, "labels") || !strings.Contains(text,
		"landmarks") {
		t.Errorf("of another learner: %s", text)
	}
	succeed(t, train[:5]...)
	fail(t, app.ExitFailure, "linear features", margin...)
	fail(t, app.ExitUsage, "--landmarks 0", append(margin, "--landmarks", "0")...)

	// Classes of the same examples: weights cancel in what tells them apart.
	same := write(t, dir, "same.csv", strings.Repeat("1,2,a\n1,2,b\n", 10))
	succeed(t, "train", "--data", same, "--model", model, "--learner", "kernelmean", "--kernel", "rbf",
		"--gamma", "1")
	text, _ = succeed(t, "kernelmean", "margin", "--model", model, "--data", same)
	if !strings.Contains(text, "no margin") {
		t.Errorf("of equal scores: %s", text)
	}
}

// TestAtomsCommand: atoms are different examples whose weights sum to 1, few are near, and a dry
// run chooses none.
func TestAtomsCommand(t *testing.T) {
	dir := t.TempDir()
	data, out := ringsFile(t, dir, "train.csv", 1), filepath.Join(dir, "atoms.csv")
	atoms := []string{"kernelmean", "atoms", "--data", data, "--out", out}
	text, _ := succeed(t, append(atoms, "--atoms", "50", "--dry-run")...)
	_, err := os.Stat(out)
	if err == nil || !strings.Contains(text, "at most, about") || strings.Contains(text, "error") {
		t.Errorf("%v, printed %s", err, text)
	}
	far := map[string]float64{}
	for _, choice := range []string{"herding", "clusters", "uniform"} {
		stdout, _ := succeed(t, append(atoms, "--atoms", "50", "--atom-choice", choice, "--json")...)
		far[choice] = decode[kernelmean.AtomsReport](t, stdout).Error
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(rows) > 51 || len(rows) < 40 || rows[0][0] != "example" {
			t.Fatalf("%s: %d rows, %v", choice, len(rows), err)
		}
		sum, last := 0.0, 0
		for _, row := range rows[1:] {
			i, errI := strconv.Atoi(row[0])
			w, errW := strconv.ParseFloat(row[1], 64)
			if errI != nil || errW != nil || i <= last || i > 300 {
				t.Fatalf("%s: row %v behind example %d", choice, row, last)
			}
			sum, last = sum+w, i
		}
		if sum < 0.9999 || sum > 1.0001 {
			t.Errorf("%s: weights sum to %v", choice, sum)
		}
	}
	if 2*far["herding"] > far["uniform"] {
		t.Errorf("errors %v", far)
	}
	stdout, _ := succeed(t, append(atoms, "--atom-error", "0.05", "--atom-weights", "optimal",
		"--json")...)
	if r := decode[kernelmean.AtomsReport](t, stdout); r.Error > 0.05 || r.Atoms > 100 {
		t.Errorf("within 0.05: %+v", r)
	}
	fail(t, app.ExitUsage, "--atoms --atom-error", atoms...)
	fail(t, app.ExitUsage, "--atoms --atom-error", append(atoms, "--atoms", "5", "--atom-error",
		"1")...)
	fail(t, app.ExitFailure, "1 300", append(atoms, "--atoms", "301")...)
}
