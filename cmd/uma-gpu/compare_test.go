package main

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/compare"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/cv"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// compare ranks ways to train by the accuracy on right labels, which it does not see, and tells
// the command of the best; what it says of one is what cv says.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := smallNoisy(t, dir)
	args := []string{"compare", "--data", noisy, "--confusion", matrix, "--folds", "3", "--seed", "4",
		"--try", "--learner {classmean|softmax --max-steps 40}", "--try",
		"--max-steps 40 --confusion {none|" + matrix + "}",
		"--try", "--max-steps 40 --kernel rbf --components 900"}
	stdout, stderr := succeed(t, append(args, "--json")...)
	r := decode[compare.Report](t, stdout)
	if len(r.Tried) != 4 || r.Examples != 500 || r.Folds != 3 || r.JudgedBy != matrix {
		t.Fatalf("found %+v", r)
	}
	if len(r.Failed) != 1 || !strings.HasSuffix(r.Failed[0].Flags, "900") ||
		!facts.Told(stderr, "warning --max-steps 40") || !facts.Told(r.Failed[0].Error, "fold 1 3") {
		t.Errorf("failed: %+v\n%s", r.Failed, stderr)
	}
	of := map[string]compare.Tried{}
	for k, one := range r.Tried {
		of[one.Flags] = one
		if (one.Behind == 0) != (one.BehindError == 0) && k > 1 || one.Behind < 0 ||
			one.NoisyLogLoss == nil ||
			math.Abs(one.Behind-(r.Tried[0].Accuracy.Value-one.Accuracy.Value)) > 1e-12 {
			t.Errorf("found %+v", one)
		}
	}
	blind, same := of["--max-steps 40 --confusion none"], of["--max-steps 40 --confusion "+matrix]
	soft := of["--learner softmax --max-steps 40"]
	if soft.Accuracy != same.Accuracy || blind.Behind < 0.1 || blind.Behind < 2*blind.BehindError ||
		*blind.NoisyLogLoss < *soft.NoisyLogLoss {
		t.Errorf("found %+v, %+v and %+v", blind, same, soft)
	}
	stdout, _ = succeed(t, "cv", "--data", noisy, "--confusion", matrix, "--folds", "3", "--seed", "4",
		"--max-steps", "40", "--json")
	if c := decode[cv.Report](t, stdout); c.Judgement.Corrected.Accuracy != soft.Accuracy ||
		*c.CorrectedLogLoss != *soft.NoisyLogLoss {
		t.Errorf("found %+v, of cv %+v", soft, c.Judgement.Corrected.Accuracy)
	}

	before := runtime.GOMAXPROCS(3)
	text, _ := succeed(t, args...)
	runtime.GOMAXPROCS(before)
	rows := strings.Split(text, "\n")
	for k, one := range r.Tried {
		if !strings.HasPrefix(rows[k+1], judgement.EstimateText(&one.Accuracy)+"  ") ||
			!strings.HasSuffix(rows[k+1], "  "+one.Flags) {
			t.Errorf("found %q, wanted %+v", rows[k+1], one)
		}
	}
	// The best way is a command that works.
	_, best, found := strings.Cut(text, "\nthe best: uma-gpu ")
	if !found || !strings.Contains(best, matrix) {
		t.Fatalf("found\n%s", text)
	}
	words := strings.Fields(best)
	words[len(words)-1] = filepath.Join(dir, "m.npz")
	succeed(t, words...)
}

// Of a way that estimates C the table tells how to.
func TestCompareEstimates(t *testing.T) {
	noisy, matrix := smallNoisy(t, t.TempDir())
	text, _ := succeed(t, "compare", "--data", noisy, "--confusion", matrix, "--folds", "2", "--quiet",
		"--try", "--max-steps 400 --confusion {confident-joint|none}")
	want := "\nfirst: uma-gpu confusion estimate --data " + noisy +
		" --method confident-joint --out estimate.csv\nthe best: uma-gpu train --data " + noisy +
		" --max-steps 400 --confusion estimate.csv --model m.npz\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("found\n%s\nwanted at its end%s", text, want)
	}
}

// The command at the end has the flags by which compare read the data, and works when pasted.
func TestCompareCommandReads(t *testing.T) {
	dir := t.TempDir()
	noisy, _ := smallNoisy(t, dir)
	var table strings.Builder
	for _, line := range strings.Fields(string(read(t, noisy))) {
		fields := strings.Split(line, ",")
		last := len(fields) - 1
		fmt.Fprintf(&table, "%s;it's;%s\n", fields[last], strings.Join(fields[:last], ";"))
	}
	data := write(t, dir, "a table.csv", table.String())
	text, _ := succeed(t, "compare", "--data", data, "--label-column", "1", "--ignore-columns", "2",
		"--separator", ";", "--folds", "2", "--try", "--learner perceptron --max-steps 1")
	_, best, found := strings.Cut(text, "\nthe best: uma-gpu train ")
	want := "--data '" + data + "' --label-column 1 --ignore-columns 2 --separator ';' --learner "
	if !found || !strings.HasPrefix(best, want) {
		t.Fatalf("found\n%s\nwanted %s", text, want)
	}
	best = strings.Replace(best, "'"+data+"'", "DATA", 1)
	words := strings.Fields(strings.ReplaceAll(best, "'", ""))
	words[1], words[len(words)-1] = data, filepath.Join(dir, "m.npz")
	succeed(t, append([]string{"train"}, words...)...)
}

// Accuracies above 1 are unknown, and do not rank.
func TestCompareCannotBe(t *testing.T) {
	var c strings.Builder
	for p := range 10 { // far noisier than the labels are
		for q := range 10 {
			v := "0.045"
			if p == q {
				v = "0.595"
			}
			c.WriteString(strings.Repeat(",", min(q, 1)) + v)
		}
		c.WriteString("\n")
	}
	right := filepath.Join(t.TempDir(), "right.csv")
	succeed(t, "split", "--data", digits, "--counts", "600", "--out", right)
	text, stderr := succeed(t, "compare", "--data", right, "--folds", "2", "--confusion",
		write(t, t.TempDir(), "C.csv", c.String()), "--try", "--max-steps {1|30}")
	if !strings.Contains(text, "\nunknown ") || !facts.Told(stderr, "cannot be") {
		t.Errorf("found\n%s\n%s", text, stderr)
	}
}

// Without --try every learner is compared, and without C by the labels as they are.
func TestCompareLearners(t *testing.T) {
	noisy, _ := smallNoisy(t, t.TempDir())
	stdout, stderr := succeed(t, "compare", "--data", noisy, "--folds", "2", "--json")
	r := decode[compare.Report](t, stdout)
	if len(r.Tried) != len(catalog.All()) || r.JudgedBy != "" || !facts.Told(stderr, "labels right") {
		t.Errorf("found %+v\n%s", r, stderr)
	}
}

func TestCompareUsage(t *testing.T) {
	for _, c := range []struct {
		fragment string
		args     []string
	}{
		{`--try "--l2 {1"`, []string{"--try", "--l2 {1"}},
		{`--try "--learner x" --learner "x"`, []string{"--try", "--learner x"}},
		{"--data --help", []string{"--try", "--data x"}},
		{"--seed", []string{"--try", "--seed 3"}},
		{"--max-steps -1 0", []string{"--try", "--max-steps -1"}},
		{"--doubt", []string{"--try", "--doubt auto"}},
		{"--confusion-axes --confusion", []string{"--try", "--confusion-axes true-rows"}},
		{`"softmax"`, []string{"--try", "softmax"}},
		{"--folds 1 2 100", []string{"--folds", "1"}},
	} {
		fail(t, app.ExitUsage, c.fragment, append([]string{"compare", "--data", "d.csv"}, c.args...)...)
	}
	fail(t, app.ExitUsage, "--data missing", "compare")
}
