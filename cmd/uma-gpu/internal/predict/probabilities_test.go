package predict_test

import (
	"encoding/csv"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/calibrate"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// untempered is a model of the classes cat and dog that has no temperature.
const untempered = "../../testdata/notemperature.npz"

// Three formats have the same numbers; the rows of probabilities sum to 1, and scores rank
// the classes as probabilities do.
func TestPredictTables(t *testing.T) {
	dir := t.TempDir()
	m, data := filepath.Join(dir, "m.npz"), clitest.Synthetic(t, dir)
	clitest.Succeed(t, "train", "--data", data, "--model", m)
	plain, _ := clitest.Succeed(t, "predict", "--model", m, "--data", data)
	classes := strings.Fields(plain)
	for _, what := range []string{"probabilities", "scores"} {
		args := []string{"predict", "--model", m, "--data", data, "--" + what}
		text, _ := clitest.Succeed(t, args...)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 301 || strings.Join(rows[0], ",") != "example,0,1,2" {
			t.Fatalf("%s: %d rows, header %q, %v", what, len(rows), rows[0], err)
		}
		clitest.Succeed(t, append(args, "--out", filepath.Join(dir, "p.npy"))...)
		file := clitest.Read(t, filepath.Join(dir, "p.npy"))
		numbers := make([]float32, 900)
		header := npyfile.Header("<f4", 300, 3)
		if string(file[:len(header)]) != string(header) {
			t.Fatalf("header %q", file[:len(header)])
		}
		if err := npyfile.Read(strings.NewReader(string(file[len(header):])), numbers); err != nil {
			t.Fatal(err)
		}
		for i, class := range classes {
			p := numbers[3*i : 3*i+3]
			if top := slices.Index(p, slices.Max(p)); strconv.Itoa(top) != class {
				t.Errorf("%s, example %d: %v, predicted %s", what, i+1, p, class)
			}
			if sum := float64(p[0]) + float64(p[1]) + float64(p[2]); what == "probabilities" &&
				!(math.Abs(sum-1) < 1e-6) {
				t.Errorf("example %d: %v", i+1, p)
			}
			for k, v := range p {
				if rows[i+1][k+1] != strconv.FormatFloat(float64(v), 'g', -1, 32) {
					t.Errorf("example %d, class %d: %v, %s", i+1, k, v, rows[i+1])
				}
			}
			if rows[i+1][0] != strconv.Itoa(i+1) {
				t.Errorf("example %d: %s", i+1, rows[i+1])
			}
		}
	}
}

// A class may have any name.
func TestPredictTablesQuoteNames(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "names.csv",
		"1,\"<=50K, \"\"net\"\"\"\n2,\"<=50K, \"\"net\"\"\"\n-1,é\n-2,é\n")
	m := filepath.Join(dir, "m.npz")
	clitest.Succeed(t, "train", "--data", data, "--model", m)
	text, _ := clitest.Succeed(t, "predict", "--model", m, "--data", data, "--probabilities")
	if !strings.HasPrefix(text, "example,\"<=50K, \"\"net\"\"\",é\n1,") {
		t.Errorf("found %s", text)
	}
}

// calibrate finds a temperature on noisy labels by which the probabilities are right on
// clean ones, where the one of the training examples promises too much.
func TestCalibrate(t *testing.T) {
	dir := clitest.NoisyParts(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	train := []string{"train", "--data", file("train.csv"), "--confusion", file("C.csv"), "--learner",
		"uma", "--step", "pair", "--weights", "best", "--max-steps", "300", "--model"}
	clitest.Succeed(t, append(train, file("m.npz"))...)
	stdout, stderr := clitest.Succeed(t, "calibrate", "--model", file("m.npz"), "--data",
		file("held.csv"),
		"--confusion", file("C.csv"), "--out", file("held.npz"), "--json")
	r := clitest.Decode[calibrate.Report](t, stdout)
	m, held := clitest.Load(t, file("m.npz")), clitest.Load(t, file("held.npz"))
	if r.Temperature != held.Meta.Temperature || *r.Before != m.Meta.Temperature ||
		r.Model != file("held.npz") || r.Examples != 449 || strings.Contains(stderr, "identity") {
		t.Errorf("found %+v\n%s", r, stderr)
	}
	if !slices.Equal(m.W, held.W) {
		t.Error("the weights are others")
	}
	evaluate := func(model string) eval.Report {
		stdout, _ := clitest.Succeed(t, "eval", "--model", file(model), "--data", file("test.csv"),
			"--json")
		return clitest.Decode[eval.Report](t, stdout)
	}
	own, better := evaluate("m.npz"), evaluate("held.npz")
	t.Logf("own examples %+v, held out %+v", *own.Probabilities, *better.Probabilities)
	if !(better.CalibrationError < own.CalibrationError && better.LogLoss < own.LogLoss &&
		better.BrierScore < own.BrierScore) || better.ErrorRate != own.ErrorRate {
		t.Errorf("found %+v, wanted better than %+v", better.Probabilities, own.Probabilities)
	}
	stdout, _ = clitest.Succeed(t, "calibrate", "--model", file("held.npz"), "--data",
		file("test.csv"),
		"--out", file("right.npz"))
	if !strings.Contains(stdout, "temperature  0.00") || !strings.Contains(stdout, "(before: 0.00") {
		t.Errorf("found %s", stdout)
	}
}

// A model without a temperature says so when it is asked for probabilities, and how to get
// one; all else it does as before.
func TestNoTemperature(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "pets.csv",
		"weight,height,kind\n2,30,cat\n9,60,dog\n3,25,cat\n25,65,dog\n")
	noise := clitest.Write(t, dir, "C.csv", "0.8,0.1\n0.2,0.9\n")
	const advice = "temperature calibrate"
	clitest.Fail(t, app.ExitFailure, untempered+": "+advice, "predict", "--model", untempered,
		"--data", data,
		"--probabilities")
	stdout, stderr := clitest.Succeed(t, "eval", "--model", untempered, "--data", data, "--confusion",
		noise)
	if !strings.Contains(stdout, "corrected accuracy") || strings.Contains(stdout, "log-loss") ||
		!facts.Told(stderr, advice) {
		t.Errorf("found\n%s%s", stdout, stderr)
	}
	stdout, stderr = clitest.Succeed(t, "eval", "--model", untempered, "--data", data)
	if strings.Contains(stdout, "log-loss") || !facts.Told(stderr, advice) {
		t.Errorf("found\n%s%s", stdout, stderr)
	}
	stdout, _ = clitest.Succeed(t, "eval", "--model", untempered, "--data", data, "--json")
	if strings.Contains(stdout, "log_loss") {
		t.Errorf("found\n%s", stdout)
	}
	clitest.Succeed(t, "predict", "--model", untempered, "--data", data, "--scores")
	out := filepath.Join(dir, "m.npz")
	stdout, stderr = clitest.Succeed(t, "calibrate", "--model", untempered, "--data", data, "--out",
		out)
	if !strings.Contains(stdout, "(before: none)") ||
		!facts.Told(stderr, "no --confusion labels right") {
		t.Errorf("found\n%s%s", stdout, stderr)
	}
	clitest.Succeed(t, "predict", "--model", out, "--data", data, "--probabilities")
	same := clitest.Write(t, dir, "same.csv", "weight,height,kind\n2,30,cat\n2,30,dog\n")
	clitest.Fail(t, app.ExitFailure, "same.csv temperature labels", "calibrate", "--model", untempered,
		"--data", same, "--out", out)
}

func TestProbabilityUsage(t *testing.T) {
	predict := []string{"predict", "--model", "m.npz", "--data", "d.csv"}
	for _, c := range []struct {
		args     []string
		fragment string
	}{
		{append(predict, "--probabilities", "--scores"), "--probabilities --scores combined"},
		{append(predict, "--out", "p.npy"), "p.npy --probabilities --scores"},
		{append(predict, "--probabilities", "--out", "p.csv.gz"), "--out p.csv.gz"},
		{[]string{"calibrate", "--model", "m.npz", "--data", "d.csv"}, "--out missing --help"},
		{[]string{"calibrate", "--model", "m.npz", "--data", "d.csv", "--out", "o.npz",
			"--confusion-axes", "true-rows"}, "--confusion-axes --confusion"},
		{[]string{"eval", "--model", "m.npz", "--data", "d.csv", "--confusion-axes", "true-rows"},
			"--confusion-axes --confusion"},
	} {
		clitest.Fail(t, app.ExitUsage, c.fragment, c.args...)
	}
}
