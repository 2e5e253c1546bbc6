package cv_test

import (
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/cv"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// cv tells by noisy labels how often models are right on examples that they have not seen.
func TestCrossValidate(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := clitest.SmallNoisy(t, dir)
	args := []string{"cv", "--data", noisy, "--confusion", matrix, "--folds", "4", "--max-steps", "60"}
	text, stderr := clitest.Succeed(t, append(args, "--tables")...)
	for _, want := range []string{"learner softmax, 4 folds", "\nexamples            500\n",
		"\ncorrected log-loss  ", "95 % intervals"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !facts.Told(stderr, "4 folds") {
		t.Errorf("stderr\n%s", stderr)
	}
	stdout, _ := clitest.Succeed(t, append(args, "--json")...)
	r := clitest.Decode[cv.Report](t, stdout)
	if r.Learner != "softmax" || r.Folds != 4 || r.Examples != 500 {
		t.Fatalf("found %+v", r)
	}
	if c := r.Corrected.Accuracy; c.High-c.Low > 0.2 || c.Value < 0.75 {
		t.Errorf("accuracy %+v", c)
	}

	// One processor or all: the same bytes.
	before := runtime.GOMAXPROCS(3)
	again, _ := clitest.Succeed(t, append(args, "--json")...)
	runtime.GOMAXPROCS(before)
	if again != stdout {
		t.Errorf("found\n%s\nbefore\n%s", again, stdout)
	}
}

// cv prints few lines, one accuracy with one interval, and no tables unless asked.
func TestCVIsShort(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := clitest.SmallNoisy(t, dir)
	args := []string{"cv", "--data", noisy, "--folds", "2", "--max-steps", "5"}
	for _, more := range [][]string{nil, {"--confusion", matrix}} {
		text, _ := clitest.Succeed(t, append(args, more...)...)
		if n := strings.Count(text, "\n"); n > 14 || strings.Count(text, "\n\n") > 0 {
			t.Errorf("found %d lines, want at most 14 and no table:\n%s", n, text)
		}
		want := 0
		if more != nil {
			want = 1
		}
		if strings.Count(text, "\ncorrected accuracy ") != want {
			t.Errorf("found no corrected accuracy, or several:\n%s", text)
		}
	}
}

// train --hold-out learns from a part and judges by the rest, as split, train and eval do one
// after the other.
func TestTrainValidates(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	noisy, matrix := clitest.SmallNoisy(t, dir)
	args := []string{"--confusion", matrix, "--max-steps", "30", "--seed", "5", "--json"}
	stdout, stderr := clitest.Succeed(t, append([]string{"train", "--data", noisy, "--model",
		file("m.npz"),
		"--hold-out", "0.2"}, args...)...)
	r := clitest.Decode[train.Report](t, stdout)
	if r.Examples != 400 || r.Validation == nil || !facts.Told(stderr, "400 examples 100") {
		t.Fatalf("found %+v\n%s", r, stderr)
	}
	clitest.Succeed(t, "split", "--data", noisy, "--fractions", "0.8,0.2", "--seed", "5", "--out",
		file("fit.csv"), "--out", file("held.csv"))
	clitest.Succeed(t, append([]string{"train", "--data", file("fit.csv"), "--model",
		file("same.npz")},
		args...)...)
	if d := clitest.Differ(t, file("m.npz"), file("same.npz")); d != "" {
		t.Errorf("the models differ in %s", d)
	}
	stdout, _ = clitest.Succeed(t, "eval", "--model", file("same.npz"), "--data", file("held.csv"),
		"--confusion", matrix, "--json")
	if judged := clitest.Decode[eval.Report](t, stdout).Judgement; !reflect.DeepEqual(judged,
		*r.Validation) {
		t.Errorf("found %+v, wanted %+v", r.Validation, judged)
	}
	text, _ := clitest.Succeed(t, "train", "--data", noisy, "--model", file("m.npz"), "--hold-out",
		"0.2",
		"--max-steps", "5", "--tables")
	if !strings.Contains(text,
		"\nOn the examples held out, which were not learned from:\n\nexamples           100\n") {
		t.Errorf("found\n%s", text)
	}
	// Prepared examples are divided too.
	clitest.Succeed(t, "convert", "--data", noisy, "--normalize", "auto", "--out",
		file("prepared.npz"))
	stdout, _ = clitest.Succeed(t, append([]string{"train", "--data", file("prepared.npz"), "--model",
		file("p.npz"), "--hold-out", "0.5"}, args...)...)
	if r := clitest.Decode[train.Report](t, stdout); r.Validation.Examples != 250 ||
		r.Validation.ErrorRate > 0.7 {
		t.Errorf("found %+v", r.Validation)
	}
	train := []string{"train", "--data", noisy, "--model", file("m.npz"), "--hold-out"}
	clitest.Fail(t, app.ExitUsage, "--hold-out 1 0 1", append(train, "1")...)
	clitest.Fail(t, app.ExitUsage, "--hold-out --annotators exclude",
		append(train, "0.5", "--annotators", "a.csv")...)
	clitest.Fail(t, app.ExitFailure, "noisy.csv train 2 2 0", append(train, "0.0001")...)
}

// cv --try ranks configurations by their loss on the same parts: a training that knows the noise is
// ahead of one that takes labels to be right, one whose flags are wrong is told before data are
// read, and one that fails is listed. Flags of --try are added to cv's.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := clitest.SmallNoisy(t, dir)
	args := []string{"cv", "--data", noisy, "--confusion", matrix, "--folds", "3", "--max-steps", "40",
		"--try", "--confusion none", "--try", "--l2 0.01", "--try", "--l2=0.01 --max-steps 30"}
	stdout, _ := clitest.Succeed(t, append(args, "--json", "--try",
		"--kernel rbf --components 5000")...)
	r := clitest.Decode[cv.Report](t, stdout).Compared
	if len(r) != 4 || r[3].Failed == "" {
		t.Fatalf("found %+v", r)
	}
	if last := r[2]; last.Name != "--confusion none" || !(last.Behind > 2*last.BehindError) ||
		last.LogLoss == nil || math.Abs(*last.LogLoss-*r[0].LogLoss-last.Behind) > 1e-9 {
		t.Errorf("the training without the noise: %+v, wanted the last", last)
	}
	text, _ := clitest.Succeed(t, args...)
	for _, want := range []string{"corrected log-loss  behind", "--confusion none", "  -  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	alone, _ := clitest.Succeed(t, "cv", "--data", noisy, "--confusion", matrix, "--folds", "3",
		"--max-steps", "40", "--l2", "0.01", "--json")
	whole := clitest.Decode[cv.Report](t, alone)
	at := slices.IndexFunc(r, func(c umagpu.Compared) bool { return c.Name == "--l2 0.01" })
	if a := r[at].Accuracy; *a != whole.Corrected.Accuracy {
		t.Errorf("accuracy %v, and %v of cv without --try", *a, whole.Corrected.Accuracy)
	}
	stdout, _ = clitest.Succeed(t, "cv", "--data", noisy, "--learner", "classmean", "--folds", "3",
		"--normalize", "l2", "--try", "--weights last", "--try", "--learner uma", "--json")
	for k, want := range []string{"classmean", "uma"} {
		c := clitest.Decode[cv.Report](t, stdout).Request.Request.Compare[k]
		if c.Learner != want || c.Normalize != "l2" {
			t.Errorf("--try %q has %+v, wanted cv's flags and its own", c.Name, c.Settings)
		}
	}
	for _, flags := range []string{"--learner nobody", "--l2 x", "--cost 3", "--seed 3", "rbf",
		"--folds 3"} {
		clitest.Fail(t, app.ExitUsage, "--try", "cv", "--data", "d.csv", "--try", flags)
	}
	clitest.Fail(t, app.ExitUsage, "--tables", "cv", "--data", noisy, "--try", "--l2 1", "--tables")
}
