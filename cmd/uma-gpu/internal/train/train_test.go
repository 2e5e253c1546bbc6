package train_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

func TestTrain(t *testing.T) {
	dir := t.TempDir()
	data, c := clitest.Noisy(t, dir, clitest.Digits)
	path := filepath.Join(dir, "m.npz")
	stdout, stderr := clitest.Succeed(t, "train", "--data", data, "--confusion", c, "--model", path,
		"--learner", "uma", "--max-steps", "40", "--seed", "7", "--json")
	for _, want := range []string{
		"data " + data + " 1797 examples × 64 features 10",
		"confusion condition 5",
		"device cpu Go",
	} {
		if !facts.Told(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	r := clitest.Decode[train.Report](t, stdout)
	if r.Steps != 40 || r.Stop != "max-steps" || r.Examples != 1797 || r.Features != 64 ||
		r.Condition != 5 ||
		r.Device.ID != "cpu" || r.Model != path || strings.Join(r.Classes,
		"") != "0123456789" {
		t.Errorf("found %+v", r)
	}
	if r.EstimatedError < 0.01 || r.EstimatedError > 0.3 {
		t.Errorf("estimated error %v", r.EstimatedError)
	}
	if s := r.Seconds; !(s.Total > 0) || s.Read+s.Prepare+s.Open+s.Upload+s.Train > s.Total {
		t.Errorf("seconds %+v", s)
	}

	m := clitest.Load(t, path)
	want := model.Meta{
		FormatVersion: model.FormatVersion,
		Provenance: model.Provenance{ToolVersion: app.Version, ContractVersion: 1, Learner: "uma",
			Seed: 7, Weights: string(learners.BestAverage), MaxSteps: 40, Parameters: json.RawMessage(
				`{"step":"all","select":"error","alpha":0,"alpha_unit":"weights","tol":1e-9,"doubt":1}`),
			DataSHA256: m.Meta.DataSHA256, Steps: 40, Stop: "max-steps",
			Device: engine.Device{Kind: "cpu", Name: r.Device.Name}},
		Classes: r.Classes, Features: model.Features{Count: 64}, Preparation: m.Meta.Preparation,
		Condition: 5, EstimatedError: &r.EstimatedError, Temperature: m.Meta.Temperature,
	}
	if got, want := marshal(t, m.Meta), marshal(t, want); got != want {
		t.Errorf("metadata\n%s\nwant\n%s", got, want)
	}
	if !(m.Meta.Temperature > 0) {
		t.Errorf("temperature %v", m.Meta.Temperature)
	}
	if len(m.Meta.DataSHA256) != 64 || m.Meta.Preparation.Steps.String() != dataset.DefaultSteps {
		t.Errorf("metadata %+v", m.Meta)
	}
	if m.Q != 10 || m.D != 65 || m.Confusion[10] != 0.4 || m.Confusion[0] != 0.6 {
		t.Errorf("shape %d×%d, C[0][0] = %v, C[1][0] = %v", m.Q, m.D, m.Confusion[0], m.Confusion[10])
	}
}

// train --json has what it warns of, with codes for programs; an empty list where there is
// nothing.
func TestTrainTellsDoubts(t *testing.T) {
	dir := t.TempDir()
	data, c := clitest.Noisy(t, dir, clitest.Digits)
	file := func(name string) string { return filepath.Join(dir, name) }
	much := file("much.csv")
	clitest.Succeed(t, "confusion", "inject", "--data", clitest.Digits, "--pairwise", "0.49", "--out",
		file("unused.csv"), "--write-confusion", much)
	args := []string{"train", "--data", data, "--model", file("m.npz"), "--max-steps", "60", "--l2",
		"0.001", "--json"}
	stdout, stderr := clitest.Succeed(t, append(args, "--confusion", c)...)
	if !strings.Contains(stdout, `"doubts": []`) || strings.Contains(stderr, "warning: ") {
		t.Errorf("of the right matrix: %s\n%s", stdout, stderr)
	}
	stdout, stderr = clitest.Succeed(t, append(args, "--confusion", much)...)
	r := clitest.Decode[train.Report](t, stdout)
	if len(r.Doubts) != 2 || r.Doubts[0].Code != judge.NegativeError ||
		r.Doubts[1].Code != judge.UnexplainedLabels {
		t.Fatalf("found %+v", r.Doubts)
	}
	for _, d := range r.Doubts {
		if !facts.Told(stderr, "warning "+d.Finding+" "+d.Advice) {
			t.Errorf("stderr lacks %+v:\n%s", d, stderr)
		}
	}
}

// A matrix that is turned ends the training with an error and no model, unless it is trusted.
func TestTrainRefusesATurnedMatrix(t *testing.T) {
	dir := t.TempDir()
	data, c := clitest.Noisy(t, dir, clitest.Digits)
	model := filepath.Join(dir, "m.npz")
	table, err := os.ReadFile(c)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(table)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), ","))
	}
	turned := "noisy\\true"
	for i := range rows {
		for j := range rows {
			if i+j > 0 {
				turned += "," + rows[j][i]
			}
		}
		turned = strings.ReplaceAll(turned+"\n", "\n,", "\n")
	}
	file := filepath.Join(dir, "turned.csv")
	if err := os.WriteFile(file, []byte(turned), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "--data", data, "--model", model, "--max-steps", "60", "--l2", "0.001",
		"--confusion", file}
	clitest.Fail(t, 1, "--trust-confusion", args...)
	if _, err := os.Stat(model); err == nil {
		t.Error("a model was written")
	}
	clitest.Succeed(t, append(args, "--trust-confusion")...)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTrainForPeople(t *testing.T) {
	dir := t.TempDir()
	data, m := clitest.Synthetic(t, dir), filepath.Join(dir, "m.npz")
	args := []string{"train", "--data", data, "--learner", "uma", "--model", m, "--max-steps", "5"}
	stdout, stderr := clitest.Succeed(t, args...)
	for _, want := range []string{"model", m, "steps", "5 (max-steps)", "training error", "seconds"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if !facts.Told(stderr, "confusion matrix none identity") || strings.Contains(stderr, "step") {
		t.Errorf("stderr %s", stderr)
	}
	if _, stderr = clitest.Succeed(t, append(args, "--quiet")...); stderr != "" {
		t.Errorf("--quiet says %q", stderr)
	}
	_, stderr = clitest.Succeed(t, append(args, "--verbose")...)
	if n := strings.Count(stderr, "\nstep "); n != 5 || !facts.Told(stderr, `step 1 "0"`) {
		t.Errorf("--verbose shows %d steps, want 5:\n%s", n, stderr)
	}
}

func TestTrainTransposedConfusion(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Synthetic(t, dir)
	columns := clitest.Write(t, dir, "columns.csv",
		"noisy\\true,0,1,2\n0,0.7,0.1,0\n1,0.3,0.8,0\n2,0,0.1,1\n")
	trueRows := clitest.Write(t, dir, "rows.csv",
		"true\\noisy,0,1,2\n0,0.7,0.3,0\n1,0.1,0.8,0.1\n2,0,0,1\n")
	bare := clitest.Write(t, dir, "bare.txt", "0.7,0.3,0\n0.1,0.8,0.1\n0,0,1\n")
	a, b := filepath.Join(dir, "a.npz"), filepath.Join(dir, "b.npz")
	clitest.Succeed(t, "train", "--data", data, "--confusion", columns, "--model", a, "--max-steps",
		"9")
	for _, c := range []string{trueRows, bare} {
		clitest.Succeed(t, "train", "--data", data, "--confusion", c, "--confusion-axes", "true-rows",
			"--model",
			b, "--max-steps", "9")
		if !bytes.Equal(clitest.Read(t, a), clitest.Read(t, b)) {
			t.Errorf("%s gives another model", c)
		}
	}
	clitest.Fail(t, app.ExitFailure, "bare.txt column true class", "train", "--data", data,
		"--confusion",
		bare, "--model", b)
	clitest.Fail(t, app.ExitFailure, "confusion-axes=true-rows", "train", "--data", data,
		"--confusion",
		bare, "--model", b)
}

func TestTrainStops(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m.npz")
	separable := clitest.Write(t, dir, "two.csv", "1,0,a\n2,0.5,a\n-1,0,b\n-2,1,b\n")
	stdout, _ := clitest.Succeed(t, "train", "--data", separable, "--model", m, "--json")
	if r := clitest.Decode[train.Report](t, stdout); r.Stop != "converged" || r.EstimatedError != 0 ||
		r.Steps == 0 {
		t.Errorf("separable classes: %+v", r)
	}
	stdout, _ = clitest.Succeed(t, "train", "--data", separable, "--model", m, "--max-steps", "0",
		"--json")
	if r := clitest.Decode[train.Report](t, stdout); r.Stop != "max-steps" || r.Steps != 0 {
		t.Errorf("no steps: %+v", r)
	}
	stdout, _ = clitest.Succeed(t, "train", "--data", separable, "--model", m, "--learner", "uma",
		"--tol",
		"10", "--json")
	if r := clitest.Decode[train.Report](t, stdout); r.Stop != "converged" || r.Steps != 0 {
		t.Errorf("large tolerance: %+v", r)
	}
}

func TestTrainInterrupted(t *testing.T) {
	dir := t.TempDir()
	data, c := clitest.Noisy(t, dir, clitest.Digits)
	path, want := filepath.Join(dir, "m.npz"), filepath.Join(dir, "want.npz")
	args := []string{"train", "--data", data, "--confusion", c, "--weights", "last", "--json",
		"--model"}
	code, stdout, stderr := clitest.Interrupt(t, "step 6:", append(args, path, "--verbose")...)
	if code != app.ExitInterrupted || !facts.Told(stderr, "uma-gpu 6 steps "+path) {
		t.Errorf("exit code %d, stderr\n%s", code, stderr)
	}
	if r := clitest.Decode[train.Report](t, stdout); r.Stop != "interrupted" || r.Steps != 6 {
		t.Errorf("found %+v", r)
	}
	m := clitest.Load(t, path)
	if m.Meta.Stop != "interrupted" || m.Meta.Steps != 6 {
		t.Errorf("metadata %+v", m.Meta)
	}
	clitest.Succeed(t, append(args, want, "--max-steps", "6")...)
	if !bytes.Equal(clitest.Member(t, path, "W.npy"), clitest.Member(t, want, "W.npy")) {
		t.Error("the weights are not those of 6 whole steps")
	}
}

// with is a command line with more at its end.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }
