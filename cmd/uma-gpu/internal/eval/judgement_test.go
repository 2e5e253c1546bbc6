package eval_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// By noisy labels alone eval --confusion tells the accuracy on the same examples with right
// labels; of a matrix that is not theirs it says so.
func TestEvalCorrects(t *testing.T) {
	dir := clitest.NoisyParts(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	m := file("m.npz")
	clitest.Succeed(t, "train", "--data", file("train.csv"), "--confusion", file("C.csv"), "--model",
		m,
		"--max-steps", "40")
	eval := func(data string, args ...string) (eval.Report, string) {
		stdout, stderr := clitest.Succeed(t, append([]string{"eval", "--quiet", "--json", "--model", m,
			"--data",
			file(data)}, args...)...)
		return clitest.Decode[eval.Report](t, stdout), stderr
	}
	right, _ := eval("righttoo.csv")
	if right.Corrected != nil {
		t.Errorf("found %+v", right.Corrected)
	}
	noisy, stderr := eval("held.csv", "--confusion", file("C.csv"))
	c := noisy.Corrected
	if a := c.Accuracy; a.Low > 1-right.ErrorRate || a.High < 1-right.ErrorRate ||
		a.High-a.Low > 0.18 || stderr != "" {
		t.Errorf("found %+v, wanted %v within\n%s", a, 1-right.ErrorRate, stderr)
	}
	inside := 0
	for k, class := range right.PerClass {
		if r := c.PerClass[k].Recall; r.Low <= *class.Recall && *class.Recall <= r.High {
			inside++
		}
	}
	if inside < 8 || math.Abs(*c.MacroF1-right.MacroF1) > 0.1 || noisy.ErrorRate < 0.3 {
		t.Errorf("%d of 10 recalls are inside; macro F1 %v and %v", inside, *c.MacroF1, right.MacroF1)
	}
	text, _ := clitest.Succeed(t, "eval", "--model", m, "--data", file("held.csv"), "--confusion",
		file("C.csv"), "--tables")
	for _, want := range []string{"\nmacro F1            0.", "\ncorrected accuracy  0.", " to 0.",
		"\nkappa               0.",
		"\nestimated confusion matrix, examples: column = true class, row = predicted; estimates be"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, shares, _ := strings.Cut(text, "On right labels")
	shares, _, _ = strings.Cut(shares, "estimated confusion")
	for _, word := range strings.Fields(shares) {
		v, err := strconv.ParseFloat(strings.Trim(word, "()"), 64)
		if err == nil && strings.Contains(word, ".") && v > 1 {
			t.Errorf("a score of %v in\n%s", v, shares)
		}
	}

	// An estimated matrix says how uncertain it is, and the interval has that in it.
	few, pairs := file("estimate.csv"), []string{"noisy,true\n"}
	for i := range 300 {
		pairs = append(pairs, fmt.Sprintf("%d,%d\n", (i%10+i/10*2/5%2)%10, i%10))
	}
	clitest.Succeed(t, "confusion", "estimate", "--clean", clitest.Write(t, dir, "pairs.csv",
		strings.Join(pairs, "")),
		"--out", few)
	known, _ := eval("held.csv", "--confusion", clitest.Write(t, dir, "known.csv",
		strings.Split(string(clitest.Read(t, few)), "\nstandard error,")[0]+"\n"))
	estimated, _ := eval("held.csv", "--confusion", few)
	a, b := estimated.Corrected.Accuracy, known.Corrected.Accuracy
	if wider := (a.High - a.Low) / (b.High - b.Low); a.Value != b.Value || wider < 1.05 || wider > 3 {
		t.Errorf("found %+v with an estimated matrix, %+v with the same if it is known", a, b)
	}

	// More noise than there is: right labels are no labels with 49 % noise.
	much := file("much.csv")
	clitest.Succeed(t, "confusion", "inject", "--data", file("righttoo.csv"), "--pairwise", "0.45",
		"--out",
		file("unused.csv"), "--write-confusion", much)
	wrong, stderr := eval("righttoo.csv", "--confusion", much)
	if len(wrong.Warnings) != 1 || !facts.Told(stderr, "labels noisy") {
		t.Errorf("found %+v %q\n%s", wrong.Corrected.Accuracy, wrong.Warnings, stderr)
	}
	even := clitest.Write(t, dir, "even.csv", strings.Repeat(strings.Repeat("0.1,", 9)+"0.1\n", 10))
	if wrong, stderr = eval("held.csv", "--confusion", even); wrong.Corrected != nil ||
		wrong.CorrectedLogLoss == nil || !facts.Told(stderr, "corrected accuracy confusion inverted") {
		t.Errorf("found %+v\n%s", wrong.Corrected, stderr)
	}
}

// An estimated share is printed as far as it can be.
func TestEstimatesThatCannotBe(t *testing.T) {
	for want, e := range map[string]*metric.Estimate{
		"-":                         nil,
		"unknown":                   {Value: 1.2275, Low: 1.1, High: 1.35},
		"0.9803 (0.9397 to 1.0000)": {Value: 0.9803, Low: 0.9397, High: 1.019},
		"1.0000 (0.9000 to 1.0000)": {Value: 1.02, Low: 0.9, High: 1.14},
		"0.0000 (0.0000 to 0.1000)": {Value: -0.92, Low: -2, High: 0.1},
	} {
		if got := app.EstimateText(e); got != want {
			t.Errorf("%+v: got %s, want %s", e, got, want)
		}
	}
}
