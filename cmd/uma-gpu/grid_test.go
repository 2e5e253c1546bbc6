package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/compare"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A grid ranks all combinations of its parameters, each with the numbers that it has alone, writes
// the table and the picture, and saves the model that train makes by the command that is named.
func TestCompareGrid(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := smallNoisy(t, dir)
	best, table := filepath.Join(dir, "best.npz"), filepath.Join(dir, "table.csv")
	picture := filepath.Join(dir, "grid.svg")
	judge := []string{"compare", "--data", noisy, "--confusion", matrix, "--folds", "2", "--seed", "4",
		"--quiet"}
	args := append(slices.Clone(judge), "--try", "--learner {pa1|copa} --epochs 2", "--grid",
		"aggressiveness=0.01..1:log3", "--grid", "no-average=true|false", "--seeds", "2", "--out", table,
		"--picture", picture, "--model", best)
	stdout, _ := succeed(t, append(args, "--json")...)
	r := decode[compare.Report](t, stdout)
	if len(r.Tried) != 12 || r.Seeds != 2 || len(r.Failed) != 0 {
		t.Fatalf("found %+v", r)
	}
	rows, err := csv.NewReader(strings.NewReader(string(read(t, table)))).ReadAll()
	const header = "flags aggressiveness no-average accuracy low high behind behind_error " +
		"noisy_log_loss error"
	if err != nil || len(rows) != 13 || strings.Join(rows[0], " ") != header {
		t.Fatalf("found %q, %v", rows, err)
	}
	seen := map[string]bool{}
	for k, one := range r.Tried {
		seen[one.Flags] = true
		row, a := rows[k+1], one.Accuracy
		if row[0] != one.Flags || !strings.Contains(one.Flags,
			" --aggressiveness="+row[1]+" --no-average="+row[2]) ||
			row[3] != fmt.Sprint(a.Value) || row[6] != fmt.Sprint(one.Behind) ||
			row[8] != fmt.Sprint(*one.NoisyLogLoss) {
			t.Errorf("row %d is %q, wanted %+v", k+1, row, one)
		}
	}
	if !seen["--learner pa1 --epochs 2 --aggressiveness=0.1 --no-average=true"] || len(seen) != 12 {
		t.Errorf("found %v", seen)
	}

	drawn := string(read(t, picture))
	for _, want := range []string{">aggressiveness<", ">corrected accuracy<", ">0.1<",
		">--learner pa1 --epochs 2 --no-average=true<",
		">--learner copa --epochs 2 --no-average=false<"} {
		if strings.Count(drawn, want) != 1 {
			t.Errorf("the picture has %q %d times, wanted once", want, strings.Count(drawn, want))
		}
	}

	// Alone, each seed by itself.
	one := r.Tried[5]
	var accuracy, loss float64
	for _, seed := range []string{"4", "5"} {
		stdout, _ := succeed(t, append(slices.Clone(judge), "--seed", seed, "--try", one.Flags,
			"--json")...)
		alone := decode[compare.Report](t, stdout).Tried[0]
		accuracy, loss = accuracy+alone.Accuracy.Value/2, loss+*alone.NoisyLogLoss/2
	}
	if accuracy != one.Accuracy.Value || loss != *one.NoisyLogLoss {
		t.Errorf("%s has accuracy %v and loss %v, alone %v and %v", one.Flags, one.Accuracy.Value,
			*one.NoisyLogLoss, accuracy, loss)
	}

	text, _ := succeed(t, args...)
	_, command, found := strings.Cut(text, "\nthe best: uma-gpu ")
	words := strings.Fields(command)
	if !found || words[len(words)-1] != best || !strings.Contains(command, " --seed 4 ") {
		t.Fatalf("found\n%s", text)
	}
	again := filepath.Join(dir, "again.npz")
	words[len(words)-1] = again
	succeed(t, words...)
	if what := differ(t, best, again); what != "" {
		t.Errorf("the model saved and that of %s differ in %s", command, what)
	}
}

// Without --try a grid is for the learners that have all its parameters; a way that fails does not
// take those with it that learn beside it.
func TestCompareGridFailures(t *testing.T) {
	// whose squares float32 holds but once
	rows := strings.Repeat("-1,0,a\n", 18) + strings.Repeat("0,1.2e19,b\n", 2)
	data := write(t, t.TempDir(), "d.csv", rows)
	args := []string{"compare", "--data", data, "--folds", "2", "--json", "--quiet", "--grid",
		"class-weights=equal|balanced"}
	stdout, _ := succeed(t, append(args, "--try",
		"--normalize none --learner perceptron --epochs 3")...)
	r := decode[compare.Report](t, stdout)
	if len(r.Tried) != 1 || len(r.Failed) != 1 || !strings.HasSuffix(r.Tried[0].Flags, "equal") ||
		!strings.HasSuffix(r.Failed[0].Flags, "balanced") || !facts.Told(r.Failed[0].Error, "float32") {
		t.Errorf("found %+v", r)
	}
	stdout, _ = succeed(t, append(args, "--grid", "aggressiveness=1")...)
	// pa1 and pa2: copa weighs by itself
	if r := decode[compare.Report](t, stdout); len(r.Tried) != 4 || r.Seeds != 1 {
		t.Errorf("found %+v", r)
	}
}

func TestCompareGridUsage(t *testing.T) {
	for _, c := range []struct {
		fragment string
		args     []string
	}{
		{`--grid "aggressiveness" NAME=VALUES`, []string{"--grid", "aggressiveness"}},
		{"--grid names twice", []string{"--grid", "a=1", "--grid", "--a=2"}},
		{"--grid l2", []string{"--grid", "aggressiveness=1", "--grid", "l2=1"}},
		{`"0..1:log3" 0`, []string{"--grid", "aggressiveness=0..1:log3"}},
		{`--picture "p.gif"`, []string{"--picture", "p.gif"}},
		{"--picture", []string{"--picture", "p.svg"}},
		{"--picture", []string{"--picture", "p.svg", "--try", "--learner perceptron", "--grid",
			"multiclass=max|ovr"}},
		{"--seeds 0 1 1000", []string{"--seeds", "0"}},
	} {
		fail(t, app.ExitUsage, c.fragment, append([]string{"compare", "--data", "d.csv"}, c.args...)...)
	}
}
