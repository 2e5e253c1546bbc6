package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/compare"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/cv"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/issues"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/show"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// annotated writes the first examples of the digits with right labels, and what annotators
// make of them: two that are right for nine of ten, and one who takes each class for the next.
func annotated(t *testing.T, dir string, n int) (data, table string) {
	t.Helper()
	data = filepath.Join(dir, "few.csv")
	succeed(t, "split", "--data", digits, "--counts", fmt.Sprint(n), "--out", data)
	var text strings.Builder
	text.WriteString("worker,item,label\n")
	for i, line := range strings.Fields(string(read(t, data))) {
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
	return data, write(t, dir, "table.csv", text.String())
}

func TestTrainByAnnotators(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	data, table := annotated(t, dir, 400)
	train := []string{"train", "--data", data, "--annotators", table, "--learner", "softmax",
		"--folds", "3"}
	succeed(t, with(train, "--model", path("m"), "--checkpoint", path("kept"), "--every", "150")...)
	m := load(t, path("m"))
	if m.Confusion != nil || m.Learned == nil || len(m.Learned.Annotators) != 3 ||
		m.Learned.Annotators[2].Name != "eve" {
		t.Fatalf("the model has %+v", m.Learned)
	}
	for k := range 10 {
		if p := m.Learned.Matrices[2*100+(k+1)%10*10+k]; p < 0.8 {
			t.Errorf("eve takes class %d for the next with probability %.2f, wanted about 1", k, p)
		}
	}
	// Whatever stands where the labels are does not count; nor does the order of the table.
	var other, lines []string
	for _, line := range strings.Fields(string(read(t, data))) {
		other = append(other, line[:len(line)-1]+"7")
	}
	lines = strings.Fields(string(read(t, table)))
	for a, b := 1, len(lines)-1; a < b; a, b = a+1, b-1 {
		lines[a], lines[b] = lines[b], lines[a]
	}
	sevens := write(t, dir, "sevens.csv", strings.Join(other, "\n"))
	turned := write(t, dir, "turned.csv", strings.Join(lines, "\n"))
	succeed(t, with(train, "--data", sevens, "--annotators", turned, "--model", path("same"))...)
	if what := differ(t, path("same"), path("m")); what != "" {
		t.Errorf("other labels in the data and another order of the table change the model: %s", what)
	}
	succeed(t, with(train, "--resume", path("kept"), "--model", path("resumed"))...)
	if what := differ(t, path("resumed"), path("m")); what != "" {
		t.Errorf("resumed: %s", what)
	}
	less := write(t, dir, "less.csv", strings.Join(lines[:len(lines)-1], "\n"))
	fail(t, 1, "annotations", with(train, "--annotators", less, "--resume", path("kept"), "--model",
		path("x"))...)

	out, _ := succeed(t, "confusion", "show", path("m"))
	for _, want := range []string{"learned: P(vote of the annotators", "±", "ann  ", "bob  ", "eve  ",
		"400 labels"} {
		if !strings.Contains(out, want) {
			t.Errorf("confusion show prints %q, wanted %q in it", out, want)
		}
	}
	out, _ = succeed(t, "confusion", "show", "--json", path("m"))
	if report := decode[show.ModelReport](t, out); len(report.Annotators) != 3 ||
		report.Annotators[2].Name != "eve" || report.Given != nil {
		t.Errorf("confusion show --json: %+v", report)
	}
}

func TestLearnConfusionFlag(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	few := path("few.csv")
	succeed(t, "split", "--data", digits, "--counts", "300", "--out", few)
	data, c := noisy(t, dir, few)
	train := []string{"train", "--data", data, "--learner", "softmax", "--learn-confusion", "--folds",
		"3", "--max-steps", "80"}
	succeed(t, with(train, "--model", path("alone"))...)
	succeed(t, with(train, "--model", path("given"), "--confusion", c)...)
	alone, given := load(t, path("alone")), load(t, path("given"))
	if alone.Confusion != nil || alone.Learned == nil || given.Confusion == nil ||
		given.Learned == nil || given.Learned.Annotators != nil {
		t.Errorf("given %v and %v, learned %v and %v", alone.Confusion, given.Confusion, alone.Learned,
			given.Learned)
	}
	out, _ := succeed(t, "confusion", "show", path("given"))
	if !strings.Contains(out, "given: P(noisy") || !strings.Contains(out, "\nlearned: P(noisy") {
		t.Errorf("confusion show prints %q", out)
	}
	uma := path("uma")
	succeed(t, "train", "--data", data, "--model", uma, "--max-steps", "1")
	if out, _ := succeed(t, "confusion", "show", uma); !strings.Contains(out, "taken to be right") {
		t.Errorf("confusion show prints %q", out)
	}
}

// cv, compare and issues learn from the labels of annotators, each with the matrix that other
// examples tell.
func TestJudgeByAnnotators(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	data, table := annotated(t, dir, 300)
	args := []string{"--data", data, "--annotators", table, "--folds", "2", "--json"}
	stdout, stderr := succeed(t, append([]string{"issues", "--out", file("i.csv"), "--write-clean",
		file("clean.csv"), "--clean-by", "relabel"}, args...)...)
	r := decode[issues.Report](t, stdout)
	var all [][]string
	for _, line := range strings.Fields(string(read(t, file("i.csv")))) {
		all = append(all, strings.Split(line, ","))
	}
	right, clean := strings.Fields(string(read(t, data))), strings.Fields(string(read(t,
		file("clean.csv"))))
	if len(all) != 301 || len(clean) != 300 || r.Examples != 300 || r.EstimatedBy != "" ||
		all[0][5] != "predicted_quality" {
		t.Fatalf("found %d rows, %d clean ones, %v\n%s", len(all), len(clean), all[0], stderr)
	}
	agree, sure := 0, 0.0
	for _, row := range all[1:] {
		i, _ := strconv.Atoi(row[0])
		label := right[i-1][len(right[i-1])-1:]
		if row[4] == label {
			agree++
		}
		v, err := strconv.ParseFloat(row[5], 64)
		if err != nil || v < 0.1 || row[1] == "False" && (row[2] != row[5] || row[3] != row[4]) {
			t.Errorf("found %v, %v", row, err)
		}
		sure += v
		if !strings.HasSuffix(clean[i-1], ","+row[4]) {
			t.Errorf("row %d is %s, wanted the label %s", i, clean[i-1], row[4])
		}
	}
	// Two votes of three are right in four cases of five, and one of three else.
	if agree < 290 || sure < 285 || r.Issues < 10 || r.Issues > 60 {
		t.Errorf("%d of 300 right, %v by the probabilities, %d issues", agree, sure, r.Issues)
	}

	stdout, stderr = succeed(t, append([]string{"cv"}, args...)...)
	cv := decode[cv.Report](t, stdout)
	if a := cv.Judgement.Corrected; !cv.MeasuresCorrected || a == nil || a.Accuracy.Value < 0.8 ||
		!facts.Told(stderr, "dawid-skene") {
		t.Errorf("found %+v\n%s", cv, stderr)
	}
	compared := append([]string{"compare", "--try", "--learner {softmax|classmean}"}, args...)
	stdout, _ = succeed(t, compared...)
	c := decode[compare.Report](t, stdout)
	if len(c.Tried) != 2 || c.JudgedBy != table ||
		c.Tried[0].Accuracy != cv.Judgement.Corrected.Accuracy ||
		*c.Tried[0].NoisyLogLoss != *cv.CorrectedLogLoss {
		t.Errorf("found %+v, of cv %+v", c, cv.Judgement.Corrected.Accuracy)
	}
	text, _ := succeed(t, "compare", "--data", data, "--annotators", table, "--folds", "2", "--try",
		"--learner classmean")
	for _, want := range []string{"first: uma-gpu confusion estimate --annotators " + table +
		" --out estimate.csv --write-labels consensus.csv\n",
		" --learner classmean --confusion estimate.csv --labels consensus.csv --label-column label " +
			"--ignore-columns last"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	fail(t, app.ExitUsage, "--annotators --confusion exclude",
		append(compared, "--confusion", table)...)
	fail(t, app.ExitUsage, "--no-labels --annotators", "compare", "--data", data, "--no-labels")
	fail(t, app.ExitUsage, "uma labels", append([]string{"cv", "--learner", "uma"}, args...)...)
}

// --trust: whose labels are right has no matrix to learn, in train, in estimates and in what
// compare recommends.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	data, table := annotated(t, dir, 300)
	right := strings.Fields(string(read(t, data)))
	var lines []string // bob, eve, and a chief for every third example
	for _, line := range strings.Fields(string(read(t, table))) {
		name, rest, _ := strings.Cut(line, ",")
		item, _, _ := strings.Cut(rest, ",")
		if i, err := strconv.Atoi(item); name == "ann" && err == nil {
			if i%3 > 0 {
				continue
			}
			line = fmt.Sprintf("chief,%d,%s", i, right[i][strings.LastIndex(right[i], ",")+1:])
		}
		lines = append(lines, line)
	}
	crowd := write(t, dir, "crowd.csv", strings.Join(lines, "\n"))
	args := []string{"--data", data, "--annotators", crowd, "--trust", "chief", "--folds", "2"}
	succeed(t, append([]string{"train", "--learner", "softmax", "--model", file("m")}, args...)...)
	m := load(t, file("m"))
	if len(m.Learned.Annotators) != 3 || m.Learned.Annotators[1].Name != "chief" {
		t.Fatalf("found %+v", m.Learned.Annotators)
	}
	for k, v := range m.Learned.Matrices[100:200] {
		if want := map[bool]float64{true: 1}[k%11 == 0]; v != want {
			t.Errorf("entry %d of the chief's matrix is %v, wanted %v", k, v, want)
		}
	}
	succeed(t, "confusion", "estimate", "--annotators", crowd, "--trust", "chief", "--out",
		file("C.csv"), "--write-labels", file("consensus.csv"))
	for i, line := range strings.Fields(string(read(t, file("consensus.csv"))))[1:] {
		if i%3 == 0 && strings.Split(line, ",")[1] != right[i][strings.LastIndex(right[i], ",")+1:] {
			t.Errorf("the consensus of example %d, which was checked, is %s", i, line)
		}
	}
	text, _ := succeed(t, append([]string{"compare", "--try", "--learner {softmax|classmean}"},
		args...)...)
	if !strings.Contains(text, "--annotators "+crowd+" --trust chief") {
		t.Errorf("compare recommends\n%s", text)
	}
	fail(t, app.ExitUsage, "--trust --annotators", "compare", "--data", data, "--trust", "chief")
	fail(t, app.ExitUsage, "--trust --annotators", "confusion", "estimate", "--table", crowd,
		"--trust", "chief", "--out", file("x"))
}

// Crowd tables of the wild: ids for items, items without votes, two labels of one person, a column
// for each annotator.
func TestAnnotatorsOfTheWild(t *testing.T) {
	dir := t.TempDir()
	data, table := annotated(t, dir, 120)
	var ids, long, wide strings.Builder
	ids.WriteString("customer," + strings.Repeat("x,", 64) + "y\n")
	for i, line := range strings.Fields(string(read(t, data))) {
		fmt.Fprintf(&ids, "c%d,%s\n", i, line)
	}
	long.WriteString("worker,customer,label\n")
	wide.WriteString("customer,ann,bob,eve\n")
	lines := strings.Fields(string(read(t, table)))[1:]
	for k := 0; k < 300; k += 3 { // of 100 examples
		wide.WriteString(fmt.Sprintf("c%d", k/3))
		for _, line := range lines[k : k+3] {
			f := strings.Split(line, ",")
			fmt.Fprintf(&long, "%s,c%s,%s\n", f[0], f[1], f[2])
			wide.WriteString("," + f[2])
		}
		wide.WriteString("\n")
	}
	named := write(t, dir, "named.csv", strings.Replace(ids.String(), strings.Repeat("x,", 64),
		columns(64), 1))
	models := map[string]string{}
	for name, text := range map[string]string{"long": long.String(), "wide": wide.String(),
		"repeated": long.String() + lines[0][:4] + "c0" + lines[0][5:] + "\n"} {
		models[name] = filepath.Join(dir, name+".npz")
		_, stderr := succeed(t, "train", "--data", named, "--id-column", "customer", "--annotators",
			write(t, dir, name+".csv", text), "--folds", "2", "--model",
			models[name])
		if !facts.Told(stderr, "20 of 120 no label left out") {
			t.Errorf("%s: got notes\n%s", name, stderr)
		}
		if facts.Told(stderr, "1 labels further") != (name == "repeated") {
			t.Errorf("%s: got notes\n%s", name, stderr)
		}
	}
	if string(read(t, models["long"])) != string(read(t, models["wide"])) {
		t.Error("the wide table makes another model than the long one")
	}
}

// columns returns n names of columns, each with a comma.
func columns(n int) string {
	var names strings.Builder
	for j := range n {
		fmt.Fprintf(&names, "x%d,", j)
	}
	return names.String()
}

func TestAnnotatorsRefuses(t *testing.T) {
	dir := t.TempDir()
	data, table := annotated(t, dir, 60)
	model := filepath.Join(dir, "m")
	train := []string{"train", "--data", data, "--learner", "softmax", "--model", model}
	beyond := write(t, dir, "beyond.csv", "index,worker,label\n0,a,1\n60,a,2\n")
	short := write(t, dir, "short.csv", "item,worker,label\n1,a,1\n1,b,2\n")
	for want, flags := range map[string][]string{
		"--no-labels --annotators": {"--no-labels"},
		"exclude each other":       {"--annotators", table, "--confusion", table},
		"uma labels --annotators":  {"--annotators", table, "--learner", "uma"},
		"correction none":          {"--annotators", table, "--correction", "none"},
		"beyond.csv:3 index":       {"--annotators", beyond},
		"neither 0 nor 60 row":     {"--annotators", short},
		"--trust --annotators":     {"--trust", "ann"},
		`"zoe"`:                    {"--annotators", table, "--trust", "ann,zoe"},
		"labels both right":        {"--annotators", table, "--trust", "ann,eve"},
	} {
		code := 1
		if strings.Contains(want, "--") || strings.Contains(want, "exclude") {
			code = 2
		}
		fail(t, code, want, with(train, flags...)...)
	}
}
