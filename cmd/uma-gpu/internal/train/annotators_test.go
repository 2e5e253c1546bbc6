package train_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/inspect"
)

// annotated writes the first examples of the clitest.Digits with right labels, and what annotators
// make of them: two that are right for nine of ten, and one who takes each class for the next.
func annotated(t *testing.T, dir string, n int) (data, table string) {
	t.Helper()
	data = filepath.Join(dir, "few.csv")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", fmt.Sprint(n), "--out", data)
	var text strings.Builder
	text.WriteString("worker,index,label\n")
	for i, line := range strings.Fields(string(clitest.Read(t, data))) {
		label := int(line[len(line)-1] - '0')
		for k, name := range []string{"ann", "bob"} {
			given := label
			if (i+k)%10 == 0 {
				given = (label + 5 + k) % 10
			}
			fmt.Fprintf(&text, "%s,%d,%d\n", name, i, given)
		}
		fmt.Fprintf(&text, "eve,%d,%d\n", i, (label+1)%10)
	}
	return data, clitest.Write(t, dir, "table.csv", text.String())
}

func TestTrainByAnnotators(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) + ".npz" }
	data, table := annotated(t, dir, 400)
	train := []string{"train", "--data", data, "--annotators", table, "--learner", "softmax",
		"--folds", "3"}
	clitest.Succeed(t, with(train, "--model", path("m"), "--checkpoint", path("kept"), "--every",
		"150")...)
	m := clitest.Load(t, path("m"))
	if m.Confusion != nil || m.Learned == nil || len(m.Meta.Annotators) != 3 ||
		m.Meta.Annotators[2].Name != "eve" {
		t.Fatalf("the model has %+v", m.Learned)
	}
	for k := range 10 {
		if p := m.Learned.Matrices[2*100+(k+1)%10*10+k]; p < 0.8 {
			t.Errorf("eve takes class %d for the next with probability %.2f, wanted about 1", k, p)
		}
	}
	// The text in the label column does not matter; nor does the order of the table.
	var other, lines []string
	for _, line := range strings.Fields(string(clitest.Read(t, data))) {
		other = append(other, line[:len(line)-1]+"7")
	}
	lines = strings.Fields(string(clitest.Read(t, table)))
	for a, b := 1, len(lines)-1; a < b; a, b = a+1, b-1 {
		lines[a], lines[b] = lines[b], lines[a]
	}
	sevens := clitest.Write(t, dir, "sevens.csv", strings.Join(other, "\n"))
	turned := clitest.Write(t, dir, "turned.csv", strings.Join(lines, "\n"))
	clitest.Succeed(t, with(train, "--data", sevens, "--annotators", turned, "--model",
		path("same"))...)
	if what := clitest.Differ(t, path("same"), path("m")); what != "" {
		t.Errorf("other labels in the data and another order of the table change the model: %s", what)
	}
	clitest.Succeed(t, clitest.Resumed(with(train, "--model", path("resumed")), path("kept"))...)
	if what := clitest.Differ(t, path("resumed"), path("m")); what != "" {
		t.Errorf("resumed: %s", what)
	}
	less := clitest.Write(t, dir, "less.csv", strings.Join(lines[:len(lines)-1], "\n"))
	clitest.Fail(t, 1, "annotations", clitest.Resumed(with(train, "--annotators", less, "--model",
		path("x")), path("kept"))...)

	out, _ := clitest.Succeed(t, "inspect", "--model", path("m"))
	for _, want := range []string{"learned: P(vote of the annotators", "±", "ann  ", "bob  ", "eve  ",
		"400 labels"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect prints %q, wanted %q in it", out, want)
		}
	}
	out, _ = clitest.Succeed(t, "inspect", "--json", "--model", path("m"))
	if report := clitest.Decode[inspect.Inspection](t, out); len(report.Annotators) != 3 ||
		report.Annotators[2].Name != "eve" || report.Given != nil {
		t.Errorf("inspect --json: %+v", report)
	}
}

// A weight of 2 is the example and its votes twice, by annotators too.
func TestAnnotatorsOfWeightedExamples(t *testing.T) {
	dir := t.TempDir()
	var weights, once, votes, twice, both strings.Builder
	votes.WriteString("ann,bob,eve\n")
	both.WriteString("ann,bob,eve\n")
	for i := range 40 {
		example := fmt.Sprintf("%d,%d,0\n", i%2*3+i%5, i%7-i%2*4)
		vote := fmt.Sprintf("%d,%d,%d\n", i%2, (i+i/9)%2, (i+i/4)%2)
		once.WriteString(example)
		votes.WriteString(vote)
		twice.WriteString(strings.Repeat(example, 1+i%3))
		both.WriteString(strings.Repeat(vote, 1+i%3))
		fmt.Fprintln(&weights, 1+i%3)
	}
	weighted, repeated := filepath.Join(dir, "w.npz"), filepath.Join(dir, "r.npz")
	clitest.Succeed(t, "train", "--data", clitest.Write(t, dir, "once.csv", once.String()), "--model",
		weighted, "--annotators", clitest.Write(t, dir, "votes.csv", votes.String()), "--row-weights",
		clitest.Write(t, dir, "weights.txt", weights.String()))
	clitest.Succeed(t, "train", "--data", clitest.Write(t, dir, "twice.csv", twice.String()),
		"--model", repeated, "--annotators", clitest.Write(t, dir, "both.csv", both.String()))
	if a, b := clitest.Load(t, weighted), clitest.Load(t, repeated); !slices.Equal(a.W, b.W) {
		t.Errorf("the weights are %v, and %v of repeated examples", a.W, b.W)
	}
}

// An estimated matrix is in the model, which is the one of clean; nothing else may choose a model.
func TestConfusionEstimate(t *testing.T) {
	dir := t.TempDir()
	few, m := filepath.Join(dir, "few.csv"), filepath.Join(dir, "m.npz")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", "200", "--out", few)
	data, _ := clitest.Noisy(t, dir, few)
	train := []string{"train", "--data", data, "--model", m}
	said, _ := clitest.Succeed(t, with(train, "--confusion", "estimate")...)
	if !strings.Contains(said, "wrong labels") || !strings.Contains(said, "evidence") {
		t.Errorf("train prints %q", said)
	}
	clitest.Succeed(t, "clean", data, "--dir", dir, "--json")
	if !bytes.Equal(clitest.Read(t, m), clitest.Read(t, filepath.Join(dir, "model.npz"))) {
		t.Error("train and clean learn different models")
	}
	if out, _ := clitest.Succeed(t, "inspect", "--model", m); !strings.Contains(out, "P(noisy") {
		t.Errorf("inspect prints %q", out)
	}
	for _, flags := range [][]string{{"--learner", "uma"}, {"--checkpoint", m},
		{"--confusion-axes", "true-rows"}} {
		clitest.Fail(t, 2, flags[0], with(train, append(flags, "--confusion", "estimate")...)...)
	}
	clitest.Succeed(t, with(train, "--max-steps", "1")...)
	if out, _ := clitest.Succeed(t, "inspect", "--model", m); !strings.Contains(out,
		"labels were trusted") {
		t.Errorf("inspect prints %q", out)
	}
}

func TestAnnotatorsRefuses(t *testing.T) {
	dir := t.TempDir()
	data, table := annotated(t, dir, 60)
	model := filepath.Join(dir, "m")
	train := []string{"train", "--data", data, "--learner", "softmax", "--model", model}
	beyond := clitest.Write(t, dir, "beyond.csv", "index,worker,label\n0,a,1\n60,a,2\n")
	short := clitest.Write(t, dir, "short.csv", "item,worker,label\n1,a,1\n1,b,2\n")
	for want, flags := range map[string][]string{
		"--no-labels --annotators":        {"--no-labels"},
		"exclude each other":              {"--annotators", table, "--confusion", table},
		"uma labels --annotators":         {"--annotators", table, "--learner", "uma"},
		"correction none":                 {"--annotators", table, "--correction", "none"},
		"beyond.csv:3 index":              {"--annotators", beyond},
		"short.csv:2 column item ids row": {"--annotators", short},
		"--trust --annotators":            {"--trust", "ann"},
		`"zoe"`:                           {"--annotators", table, "--trust", "ann,zoe"},
		"labels both right":               {"--annotators", table, "--trust", "ann,eve"},
	} {
		code := 1
		if strings.Contains(want, "--") || strings.Contains(want, "exclude") {
			code = 2
		}
		clitest.Fail(t, code, want, with(train, flags...)...)
	}
}
