package train_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
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
func (b *blobs) write(t *testing.T, name, header string,
	columns func(i int) []string) string {
	t.Helper()
	text := "p,q,r," + header + "\n"
	for i, x := range b.x {
		for _, row := range columns(i) {
			text += x + "," + row + "\n"
		}
	}
	return clitest.Write(t, b.dir, name, text)
}

func (b *blobs) path(name string) string { return filepath.Join(b.dir, name) }

func name(k int) string { return string(rune('a' + k%3)) }

// classOf returns the class of an example, for write.
func (b *blobs) classOf(i int) []string { return []string{name(b.class[i])} }

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
	file := clitest.Write(t, b.dir, "weights.txt", text.String())
	for _, learner := range []string{"softmax", "uma", "classmean"} {
		train := []string{"train", "--learner", learner, "--max-steps", "20"}
		clitest.Succeed(t, with(train, "--data", rows, "--model", b.path("rows"))...)
		_, said := clitest.Succeed(t, with(train, "--data", column, "--weight-column", "weight",
			"--model",
			b.path("column"))...)
		if !strings.Contains(said, "60 examples count as 90") {
			t.Errorf("%s: said %q, wanted the sum of the weights", learner, said)
		}
		clitest.Succeed(t, with(train, "--data", plain, "--row-weights", file, "--model",
			b.path("file"))...)
		for _, model := range []string{"column", "file"} {
			if what := clitest.Differ(t, b.path(model), b.path("rows")); what != "" {
				t.Errorf("%s: the model of %s is another than that of rows: %s", learner, model, what)
			}
		}
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
		{"weight NaN", weighed("1", "nan", "1"), "", `d.csv:3:5 "nan" 0`, []string{"--weight-column",
			"w"}},
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
		{"two columns of weights", good, "1,2\n1,2\n1,2\n1,2\n", "second:1 2 1", []string{"--row-weights",
			"second"}},
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
		{"empty candidate", "1,2,a\n3,4,a||b\n5,6,b\n", "", `d.csv:2:5 "a||b"`, []string{"--candidates",
			"|"}},
		{"no candidate", "1,2,a\n3,4,|\n5,6,b\n", "", `d.csv:2:5 "|"`, []string{"--candidates", "|"}},
		{"no label at all", "1,2,\n3,4,\n5,6,\n", "", "d.csv", nil},
		{"several labels", "1,2,a|b\n3,4,b|c\n5,6,c|a\n1,1,a\n", "",
			`d.csv "a|b" candidates scikit-learn's`,
			nil},
		{"numbers", measured(), "", "d.csv scikit-learn's", []string{"--label-column", "last"}},
		{"votes of few rows", good, "f,g\na,b\n,b\n", "second 2 lines 4", []string{"--functions",
			"second"}},
		{"votes of nobody", good, "f,g\n,\n,\n-1,\n,\n", "second no label",
			[]string{"--functions", "second"}},
		{"votes for one class", good, "f,g\na,\n,\n-1,a\n,\n", "second 1 classes",
			[]string{"--functions", "second"}},
		{"a vote for an unknown row", good, "row,worker,label\n1,f,a\n5,f,b\n", `second:3 row "5" 1 4`,
			[]string{"--functions", "second"}},
		{"a function votes twice", good, "row,worker,label\n1,f,a\n1,f,b\n", `second:3 "f" twice line 2`,
			[]string{"--functions", "second"}},
		{"votes, learner", good, "f,g\na,b\n,b\na,\nb,b\n", "learner softmax",
			[]string{"--learner", "uma", "--functions", "second"}},
		{"learner", "1,2,a|b\n3,4,b\n5,6,c\n", "", "d.csv",
			[]string{"--candidates", "|", "--learner", "uma"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data := clitest.Write(t, dir, "d.csv", c.data)
			args := append([]string{"train", "--data", data, "--model", filepath.Join(dir, "m.npz")},
				c.args...)
			if c.second != "" {
				args[len(args)-1] = clitest.Write(t, dir, "second", c.second)
			}
			before := clitest.Names(t, dir)
			clitest.Fail(t, app.ExitFailure, c.want, args...)
			if now := clitest.Names(t, dir); len(now) != len(before) {
				t.Errorf("wrote %v", now)
			}
		})
	}
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", good)
	for _, args := range [][]string{
		{"--weight-column", "1", "--row-weights", data}, {"--functions", data, "--candidates", "|"},
		{"--annotators", data, "--functions", data}, {"--trust", "chief"},
	} {
		clitest.Fail(t, app.ExitUsage, "", with([]string{"train", "--data", data, "--model",
			filepath.Join(dir, "m.npz")}, args...)...)
	}
	if _, err := os.Stat(filepath.Join(dir, "m.npz")); err == nil {
		t.Error("wrote a model")
	}
}
