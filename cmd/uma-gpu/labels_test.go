package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// blobs has examples of three classes around corners of a cube, and writes tables of them.
type blobs struct {
	dir   string
	x     []string
	class []int
}

func newBlobs(t *testing.T, n int) *blobs {
	b := &blobs{dir: t.TempDir()}
	rng := rand.New(rand.NewPCG(31, 4))
	for i := range n {
		k := i % 3
		row := make([]string, 3)
		for j := range row {
			v := rng.NormFloat64()
			if j == k {
				v += 3
			}
			row[j] = fmt.Sprintf("%.4f", v)
		}
		b.x, b.class = append(b.x, strings.Join(row, ",")), append(b.class, k)
	}
	return b
}

// write writes a table of the examples with the columns that columns gives of each; none of those
// for which it is empty.
func (b *blobs) write(t *testing.T, name, header string, columns func(i int) []string) string {
	t.Helper()
	text := "p,q,r," + header + "\n"
	for i, x := range b.x {
		for _, row := range columns(i) {
			text += x + "," + row + "\n"
		}
	}
	return write(t, b.dir, name, text)
}

func (b *blobs) path(name string) string { return filepath.Join(b.dir, name) }

func name(k int) string { return string(rune('a' + k%3)) }

// classOf returns the class of an example, for write.
func (b *blobs) classOf(i int) []string { return []string{name(b.class[i])} }

// right returns the share of examples whose class a model predicts.
func (b *blobs) right(t *testing.T, model string) float64 {
	t.Helper()
	data := b.write(t, "right.csv", "label", b.classOf)
	succeed(t, "predict", "--data", data, "--model", model, "--out", b.path("classes.txt"))
	count := 0
	for i, class := range strings.Fields(string(read(t, b.path("classes.txt")))) {
		if class == name(b.class[i]) {
			count++
		}
	}
	return float64(count) / float64(len(b.class))
}

// TestWeightColumn has the same model of weights in a column, in a file, and of rows.
func TestWeightColumn(t *testing.T) {
	b := newBlobs(t, 60)
	weight := func(i int) int { return i * 7 % 4 }
	column := b.write(t, "column.csv", "label,weight", func(i int) []string {
		return []string{fmt.Sprintf("%s,%d", name(b.class[i]), weight(i))}
	})
	plain := b.write(t, "plain.csv", "label", b.classOf)
	rows := b.write(t, "rows.csv", "label", func(i int) (all []string) {
		for range weight(i) {
			all = append(all, name(b.class[i]))
		}
		return all
	})
	var text strings.Builder
	for i := range b.x {
		fmt.Fprintln(&text, weight(i))
	}
	file := write(t, b.dir, "weights.txt", text.String())
	for _, learner := range []string{"softmax", "uma", "svm"} {
		train := []string{"train", "--learner", learner, "--max-steps", "20"}
		succeed(t, with(train, "--data", rows, "--model", b.path("rows"))...)
		_, said := succeed(t, with(train, "--data", column, "--weight-column", "weight", "--model",
			b.path("column"))...)
		if !strings.Contains(said, "60 examples count as 90") {
			t.Errorf("%s: said %q, wanted the sum of the weights", learner, said)
		}
		succeed(t, with(train, "--data", plain, "--row-weights", file, "--model", b.path("file"))...)
		for _, model := range []string{"column", "file"} {
			if what := differ(t, b.path(model), b.path("rows")); what != "" {
				t.Errorf("%s: the model of %s is another than that of rows: %s", learner, model, what)
			}
		}
	}
}

// TestKindsOfLabels learns from each kind of labels that are more or less than one class.
func TestKindsOfLabels(t *testing.T) {
	b := newBlobs(t, 300)
	rng := rand.New(rand.NewPCG(31, 5))
	two := func(i int) string {
		return name(b.class[i]+rng.IntN(3)) + "|" + name(b.class[i])
	}
	label := func(f func(i int) string) func(i int) []string {
		return func(i int) []string { return []string{f(i)} }
	}
	candidates := b.write(t, "candidates.csv", "label", label(two))
	gaps := b.write(t, "gaps.csv", "label", label(func(i int) string {
		if i%3 == 1 && i > 100 || i%5 == 0 {
			return ""
		}
		return name(b.class[i])
	}))
	minus := b.write(t, "minus.csv", "label", label(func(i int) string {
		if i%4 == 0 {
			return "-1"
		}
		return name(b.class[i])
	}))
	wrong := b.write(t, "wrong.csv", "label", label(func(i int) string {
		return name(b.class[i] + 1 + rng.IntN(2))
	}))
	plain := b.write(t, "plain.csv", "label", label(func(i int) string { return name(b.class[i]) }))
	shares := "c,a,b\n"
	for _, k := range b.class {
		row := []string{".1", ".1", ".1"}
		row[(k+1)%3] = ".8"
		shares += strings.Join(row, ",") + "\n"
	}
	probabilities := write(t, b.dir, "shares.csv", shares)
	for _, c := range []struct {
		name string
		args []string
		said string
		of   float64
	}{
		{"candidates", []string{"--data", candidates, "--candidates", "|"}, "several candidate classes", .95},
		{"candidates, em", []string{"--data", candidates, "--candidates", "|", "--correction", "em"},
			"several candidate classes", .95},
		{"candidates, held out", []string{"--data", candidates, "--candidates", "|", "--validate", "0.2"},
			"a prediction among the candidate classes counts as right", .95},
		{"gaps", []string{"--data", gaps}, "have none, and are left out: 1, 6, 11, 16, 21, …", .95},
		{"gaps, em", []string{"--data", gaps, "--correction", "em"}, "their classes are learned", .95},
		{"-1", []string{"--data", minus, "--unknown-label", "-1"}, "75 of 300 examples have none", .95},
		{"wrong", []string{"--data", wrong, "--complementary"}, "name a wrong class", .93},
		{"probabilities", []string{"--data", plain, "--label-probabilities", probabilities},
			"300 of 300 examples have probabilities", .95},
		{"probabilities, no labels", []string{"--data", plain, "--ignore-columns", "label", "--no-labels",
			"--label-probabilities", probabilities}, "300 of 300 examples have probabilities", .95},
	} {
		_, said := succeed(t, with([]string{"train", "--model", b.path("m")}, c.args...)...)
		if !strings.Contains(said, c.said) {
			t.Errorf("%s: said %q, wanted %q", c.name, said, c.said)
		}
		if right := b.right(t, b.path("m")); right < c.of {
			t.Errorf("%s: %.3f of the examples are right, wanted %v", c.name, right, c.of)
		}
	}
}

// TestFunctionsTrain learns from the votes of functions, which know one class each and often err.
func TestFunctionsTrain(t *testing.T) {
	b := newBlobs(t, 600)
	rng := rand.New(rand.NewPCG(31, 7))
	plain := b.write(t, "plain.csv", "label", b.classOf)
	votes, checked := "u,v,w,chief\n", "u,v,w,chief\n"
	for i, class := range b.class {
		row := make([]string, 4)
		for k, share := range []float64{.9, .8, .7} {
			switch u := rng.Float64(); {
			case class == k && u < share || class != k && u < .1:
				row[k] = name(k)
			case u > .99:
				row[k] = "abstain"
			}
		}
		votes += strings.Join(row, ",") + "\n"
		if i < 30 {
			row[3] = name(class)
		}
		checked += strings.Join(row, ",") + "\n"
	}
	train := []string{"train", "--data", plain, "--model", b.path("m"), "--functions"}
	for _, c := range []struct {
		text, said string
		args       []string
	}{
		{votes, "are left out", nil},
		{votes, "their classes are learned", []string{"--correction", "em"}},
		{checked, "votes of 4 functions on 600 examples, 3 classes", []string{"--trust", "chief"}},
	} {
		_, said := succeed(t, append(with(train, write(t, b.dir, "votes.csv", c.text)), c.args...)...)
		if !strings.Contains(said, c.said) {
			t.Errorf("%v: said %q, wanted %q", c.args, said, c.said)
		}
		if right := b.right(t, b.path("m")); right < .95 {
			t.Errorf("%v: %.3f of the examples are right, wanted .95", c.args, right)
		}
	}
}

// TestPositiveUnlabelled finds the share of a class, half of its examples with a label.
func TestPositiveUnlabelled(t *testing.T) {
	b := newBlobs(t, 900)
	rng := rand.New(rand.NewPCG(31, 6))
	data := b.write(t, "pu.csv", "label", func(i int) []string {
		if b.class[i] == 0 && rng.IntN(2) == 0 {
			return []string{"a"}
		}
		return []string{""}
	})
	_, said := succeed(t, "train", "--data", data, "--positive-unlabelled", "a", "--model",
		b.path("m"))
	var c, prior, from, to float64
	at := strings.Index(said, "positive and unlabelled: ")
	if at < 0 {
		t.Fatalf("said %q, wanted the share of the class", said)
	}
	if _, err := fmt.Sscanf(said[at:], "positive and unlabelled: %f %% of a have the label, so that "+
		"%f %% of the examples are a (%f to %f %%)", &c, &prior, &from, &to); err != nil {
		t.Fatalf("said %q: %v", said[at:], err)
	}
	if !(from < 33.3 && 33.3 < to && to-from < 12) {
		t.Errorf("the class has %.1f %% of the examples (%.1f to %.1f), wanted 33.3", prior, from, to)
	}
	all := b.write(t, "x.csv", "label", func(int) []string { return []string{"a"} })
	succeed(t, "predict", "--data", all, "--model", b.path("m"), "--out", b.path("classes.txt"))
	wrong := 0
	text := strings.TrimSpace(string(read(t, b.path("classes.txt"))))
	for i, line := range strings.Split(text, "\n") {
		if (line == "a") != (b.class[i] == 0) {
			wrong++
		}
	}
	if wrong > 60 {
		t.Errorf("%d of 900 examples are wrong, wanted at most 60", wrong)
	}
}

// measured returns a table whose last column is a measurement.
func measured() string {
	text := "x,y,price\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%.2f\n", i, i*i%7, 3.14*float64(i))
	}
	return text
}

// TestBadLabels has bad input of labels and weights: it is told with its place, and nothing is
// written.
func TestBadLabels(t *testing.T) {
	const good = "1,2,a\n3,4,b\n5,7,c\n2,2,a\n"
	weighed := func(w ...string) string {
		text := "x,y,w,label\n"
		for i, v := range w {
			text += fmt.Sprintf("%d,%d,%s,%s\n", i, i*i, v, name(i))
		}
		return text
	}
	for _, c := range []struct {
		name, data, second string
		want               string
		args               []string
	}{
		{"weight NaN", weighed("1", "nan", "1"), "", `d.csv:3:5 "nan" 0`, []string{"--weight-column", "w"}},
		{"weight infinite", weighed("1", "1", "inf"), "", `d.csv:4:5 "inf" 0`,
			[]string{"--weight-column", "w"}},
		{"weight negative", weighed("-1", "1", "1"), "", `d.csv:2:5 "-1" 0`,
			[]string{"--weight-column", "w"}},
		{"weight empty", weighed("1", "", "1"), "", "d.csv:3:5 0", []string{"--weight-column", "w"}},
		{"weight a word", weighed("1", "much", "1"), "", `d.csv:3:5 "much" 0`,
			[]string{"--weight-column", "w"}},
		{"weights 0", weighed("0", "0", "0"), "", "d.csv 0 3", []string{"--weight-column", "w"}},
		{"no such column", weighed("1", "1", "1"), "",
			`d.csv:1 "weight"`, []string{"--weight-column", "weight"}},
		{"the label's column", weighed("1", "1", "1"), "", `d.csv:1 "label"`,
			[]string{"--weight-column", "label", "--label-column", "label"}},
		{"few weights", good, "1\n2\n", "second 2 4", []string{"--row-weights", "second"}},
		{"two columns of weights", good, "1,2\n1,2\n1,2\n1,2\n", "second:1 2 1", []string{"--row-weights", "second"}},
		{"weight below 0", good, "1\n-2\n1\n1\n", "second 2 -2 0", []string{"--row-weights", "second"}},
		{"sum of probabilities", good, ".5,.5,0\n.5,.4,0\n1,0,0\n0,1,0\n", "second 2 0.9 1",
			[]string{"--label-probabilities", "second"}},
		{"probability below 0", good, "1.5,-.5,0\n1,0,0\n1,0,0\n0,1,0\n", "second 1 1.5 0 1",
			[]string{"--label-probabilities", "second"}},
		{"probability NaN", good, "1,0,0\nnan,0,0\n1,0,0\n0,1,0\n", `second:2:1 "nan"`,
			[]string{"--label-probabilities", "second"}},
		{"no class has a probability", good, "1,0,0\n0,0,0\n1,0,0\n0,1,0\n", "second 2",
			[]string{"--label-probabilities", "second"}},
		{"few probabilities", good, "1,0,0\n0,1,0\n", "second 2 4",
			[]string{"--label-probabilities", "second"}},
		{"few classes", good, "1,0\n0,1\n0,1\n0,1\n", "second 2 3",
			[]string{"--label-probabilities", "second"}},
		{"other classes", good, "a,b,d\n1,0,0\n0,1,0\n1,0,0\n1,0,0\n", `second "a,b,d" "c"`,
			[]string{"--label-probabilities", "second"}},
		{"empty candidate", "1,2,a\n3,4,a||b\n5,6,b\n", "", `d.csv:2:5 "a||b"`, []string{"--candidates", "|"}},
		{"no candidate", "1,2,a\n3,4,|\n5,6,b\n", "", `d.csv:2:5 "|"`, []string{"--candidates", "|"}},
		{"no label at all", "1,2,\n3,4,\n5,6,\n", "", "d.csv", nil},
		{"positive class unknown", good, "", `d.csv "a" "b" "c" "spam"`,
			[]string{"--positive-unlabelled", "spam"}},
		{"two classes, one wrong", "1,2,a\n3,4,b\n5,6,b\n", "", "d.csv",
			[]string{"--complementary"}},
		{"several labels", "1,2,a|b\n3,4,b|c\n5,6,c|a\n1,1,a\n", "",
			`d.csv "a|b" --candidates scikit-learn's`,
			nil},
		{"numbers", measured(), "", "d.csv scikit-learn's", []string{"--label-column", "last"}},
		{"votes of few rows", good, "f,g\na,b\n,b\n", "second 2 lines 4", []string{"--functions", "second"}},
		{"votes of nobody", good, "f,g\n,\n,\n-1,\n,\n", "second no label",
			[]string{"--functions", "second"}},
		{"votes for one class", good, "f,g\na,\n,\n-1,a\n,\n", "second 1 classes",
			[]string{"--functions", "second"}},
		{"a vote for an unknown row", good, "row,worker,label\n1,f,a\n5,f,b\n", `second:3 row "5" 1 4`,
			[]string{"--functions", "second"}},
		{"a function votes twice", good, "row,worker,label\n1,f,a\n1,f,b\n", `second:3 "f" twice line 2`,
			[]string{"--functions", "second"}},
		{"truncated JSON of votes", good, "{\"0\": {\"weak_labels\": [0, 1]},\n\"1\": {\"weak",
			"second:2 JSON", []string{"--functions", "second"}},
		{"votes, learner", good, "f,g\na,b\n,b\na,\nb,b\n", "learner softmax",
			[]string{"--learner", "uma", "--functions", "second"}},
		{"learner", "1,2,a|b\n3,4,b\n5,6,c\n", "", "d.csv",
			[]string{"--candidates", "|", "--learner", "uma"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data := write(t, dir, "d.csv", c.data)
			args := append([]string{"train", "--data", data, "--model", filepath.Join(dir, "m.npz")},
				c.args...)
			if c.second != "" {
				args[len(args)-1] = write(t, dir, "second", c.second)
			}
			before := names(t, dir)
			fail(t, app.ExitFailure, c.want, args...)
			if now := names(t, dir); len(now) != len(before) {
				t.Errorf("wrote %v", now)
			}
		})
	}
	dir := t.TempDir()
	data := write(t, dir, "d.csv", good)
	for _, args := range [][]string{
		{"--candidates", "|", "--complementary"}, {"--weight-column", "1", "--row-weights", data},
		{"--complementary", "--learn-confusion"}, {"--positive-unlabelled", "a", "--unknown-label", "not a"},
		{"--row-weights", data, "--report", filepath.Join(dir, "r.html")},
		{"--functions", data, "--candidates", "|"}, {"--functions", data, "--learn-confusion", "--complementary"},
		{"--annotators", data, "--functions", data}, {"--trust", "chief"},
	} {
		fail(t, app.ExitUsage, "", with([]string{"train", "--data", data, "--model",
			filepath.Join(dir, "m.npz")}, args...)...)
	}
	if _, err := os.Stat(filepath.Join(dir, "m.npz")); err == nil {
		t.Error("wrote a model")
	}
}
