package issues_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/issues"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// issues finds the labels that were corrupted, and writes them as a table; clean corrects them.
func TestIssues(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	noisy, matrix := clitest.SmallNoisy(t, dir)
	load := func(path string) *dataset.Dataset {
		d, err := file.Read(t.Context(), path, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	right, wrong := load(in("part.csv")), load(noisy)
	args := []string{"issues", "--data", noisy, "--confusion", matrix}
	stdout, stderr := clitest.Succeed(t, append(args, "--json", "--out", in("i.csv"))...)
	r := clitest.Decode[issues.Report](t, stdout)
	if r.Examples != 500 || r.Issues != len(r.Rows) || r.Folds != 5 ||
		len(r.PerClass) != 10 || !facts.Told(stderr, "issues 500 rows") {
		t.Fatalf("found %+v\n%s", r, stderr)
	}
	found, corrupted := 0, 0
	for i, y := range right.Y {
		if y != wrong.Y[i] {
			corrupted++
		}
	}
	last := 0.0
	for _, row := range r.Rows {
		i := row.Example - 1
		if row.Given != wrong.Classes[wrong.Y[i]] || row.Quality < last || row.Quality >= 0.5 ||
			!row.Wrong {
			t.Fatalf("found %+v after %v, labelled %s", row, last, wrong.Classes[wrong.Y[i]])
		}
		last = row.Quality
		if right.Y[i] != wrong.Y[i] {
			found++
		}
	}
	precision, recall := float64(found)/float64(r.Issues), float64(found)/float64(corrupted)
	if precision < 0.9 || recall < 0.9 ||
		math.Abs(r.ExpectedWrong-float64(corrupted)) > 0.1*float64(corrupted) {
		t.Errorf("precision %v, recall %v; expected %v of %d", precision, recall, r.ExpectedWrong,
			corrupted)
	}
	issues, pairs := 0, 0
	for _, p := range r.PerClass {
		issues += p.Issues
	}
	for _, p := range r.Pairs {
		pairs += p.Issues
	}
	if issues != r.Issues || pairs != r.Issues || r.Pairs[0].Issues < r.Pairs[len(r.Pairs)-1].Issues {
		t.Errorf("%d by class, %d by pair, wanted %d", issues, pairs, r.Issues)
	}

	// The table has all rows, the reported ones first.
	table, err := csv.NewReader(strings.NewReader(string(clitest.Read(t, in("i.csv"))))).ReadAll()
	if err != nil || len(table) != 501 || strings.Join(table[0], " ") !=
		"example is_label_issue label_quality given_label predicted_label predicted_quality "+
			"duplicate_of conflict" {
		t.Fatalf("%d rows, %v, %v", len(table), table[0], err)
	}
	for k, row := range r.Rows {
		if got := table[k+1]; got[0] != fmt.Sprint(row.Example) || got[1] != "True" ||
			got[3] != row.Given ||
			got[2] != strconv.FormatFloat(row.Quality, 'g', -1, 64) || got[4] != row.Predicted {
			t.Fatalf("found %v, wanted %+v", got, row)
		}
	}
	clitest.Succeed(t, "clean", noisy, "--confusion", matrix, "--dir", dir, "--json")
	for _, row := range r.Rows {
		wrong.Y[row.Example-1] = int32(slices.Index(wrong.Classes, row.Predicted))
	}
	if cleaned := load(in("cleaned.csv")); !slices.Equal(cleaned.Y, wrong.Y) {
		t.Error("clean corrects other labels than issues finds")
	}
	text, _ := clitest.Succeed(t, args...)
	for _, want := range []string{"examples               500\n", "\nlikely wrong labels    ",
		"\nlabel  examples  likely wrong",
		"\nlabel  likely class  examples\n", "\nexample  label  likely class  label quality\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Probabilities of any program, in any form, take the place of trainings; several are an ensemble.
func TestIssuesOfProbabilities(t *testing.T) {
	dir := t.TempDir()
	noisy, matrix := clitest.SmallNoisy(t, dir)
	right, wrong := strings.Fields(string(clitest.Read(t, filepath.Join(dir, "part.csv")))),
		strings.Fields(string(clitest.Read(t, noisy)))
	// A model that is sure of the right class of nine rows in ten, and of noisy labels as of those.
	var table, rest strings.Builder
	table.WriteString(",0,1,2,3,4,5,6,7,8,9\n")
	for i, line := range right {
		class := int(line[len(line)-1] - '0')
		if i%10 == 0 {
			class = (class + 3) % 10
		}
		table.WriteString(strconv.Itoa(i))
		for k := range 10 {
			switch k {
			case class:
				table.WriteString(",0.6")
			case (class + 1) % 10:
				table.WriteString(",0.32")
			default:
				table.WriteString(",0.01")
			}
		}
		table.WriteString("\n")
	}
	rest.WriteString("0,1,2,3,4,5,6,7,8,9\n")
	rest.WriteString(strings.Repeat(strings.Repeat("0.1,", 9)+"0.1\n", 500))
	p := clitest.Write(t, dir, "p.csv", table.String())
	for _, args := range [][]string{{"--confusion", matrix}, {}} {
		stdout, stderr := clitest.Succeed(t, append([]string{"issues", "--data", noisy, "--probabilities",
			p, "--json"}, args...)...)
		r := clitest.Decode[issues.Report](t, stdout)
		hit, corrupted := 0, 0
		for i, line := range right {
			if line != wrong[i] {
				corrupted++
			}
		}
		for _, row := range r.Rows {
			if i := row.Example - 1; right[i] != wrong[i] {
				hit++
			}
		}
		if r.Learner != "probabilities" || r.Folds != 0 || (r.EstimatedBy == "") != (len(args) > 0 &&
			args[0] == "--confusion") || 10*hit < 8*corrupted || 10*hit < 8*r.Issues {
			t.Errorf("%q: %d of %d wrong labels among %d, %+v\n%s", args, hit, corrupted, r.Issues,
				r.Learner, stderr)
		}
	}
	constant := "k,label\n"
	for _, line := range wrong {
		constant += "x," + line[strings.LastIndex(line, ",")+1:] + "\n"
	}
	alike := clitest.Write(t, dir, "constant.csv", constant)
	for k, data := range []string{noisy, alike} { // features that tell nothing change nothing
		_, stderr := clitest.Succeed(t, "issues", "--data", data, "--probabilities", p, "--out",
			filepath.Join(dir, fmt.Sprint(k, ".csv")))
		if told := strings.Contains(stderr, "the same features, which are ignored"); told != (k == 1) {
			t.Errorf("%s: %s", data, stderr)
		}
	}
	if !bytes.Equal(clitest.Read(t, filepath.Join(dir, "0.csv")), clitest.Read(t,
		filepath.Join(dir, "1.csv"))) {
		t.Error("a constant column changed the issues")
	}
	clitest.Fail(t, 1, "flat.csv 499 500", "issues", "--data", noisy, "--probabilities",
		clitest.Write(t, dir, "flat.csv", rest.String()[:rest.Len()-40]))
}

// A survey finds what was put into the data, counts rows from 1, and says so to people.
func TestIssuesSurvey(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 300)
	for i := range lines {
		var b strings.Builder
		class := i % 2
		if i == 200 {
			class = 2
		}
		for range 6 {
			fmt.Fprintf(&b, "%.4f,", rng.NormFloat64()+float64(3*(class%2)))
		}
		lines[i] = b.String() + string(rune('a'+class))
	}
	lines[20] = lines[130][:len(lines[130])-1] + "b" // an equal row is no near duplicate
	near := strings.Split(lines[131], ",")
	near[0] += "1"
	lines[50] = strings.Join(near, ",")
	lines[99] = "90,90,90,90,90,90,b"
	dir := t.TempDir()
	data := clitest.Write(t, dir, "x.csv", strings.Join(lines, "\n")+"\n")
	stdout, _ := clitest.Succeed(t, "issues", "--data", data, "--survey", "--json")
	r := clitest.Decode[issues.Report](t, stdout).Survey
	if len(r.NearDuplicates) != 1 || !slices.Equal(r.NearDuplicates[0], []int{51, 132}) ||
		len(r.Outliers) != 1 || r.Outliers[0].Example != 100 || r.OrderP <= 0.01 ||
		!slices.Equal(r.RareClasses, []string{"c"}) {
		t.Errorf("found %+v", r)
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		return cmp.Compare(a[len(a)-1], b[len(b)-1])
	})
	data = clitest.Write(t, dir, "x.csv", strings.Join(lines, "\n")+"\n")
	stdout, _ = clitest.Succeed(t, "issues", "--data", data, "--survey", "--quiet")
	if !facts.Told(stdout, "survey outliers 1 order p 0.005 rare classes 1 c") {
		t.Errorf("printed\n%s", stdout)
	}
	data = clitest.Write(t, dir, "x.csv", strings.Join(lines[140:160], "\n")+"\n")
	stdout, _ = clitest.Succeed(t, "issues", "--data", data, "--survey", "--quiet")
	if !facts.Told(stdout, "survey neighbours 30") {
		t.Errorf("printed\n%s", stdout)
	}
}

func TestIssuesUsage(t *testing.T) {
	for _, c := range []struct {
		fragment string
		args     []string
	}{
		{"--data missing", nil},
		{"--out i.txt", []string{"--data", "d.csv", "--out", "i.txt"}},
		{"--normalize probabilities", []string{"--data", "d.csv", "--probabilities", "p.npy",
			"--normalize", "bias"}},
		{"--probabilities annotators", []string{"--data", "d.csv", "--probabilities", "p.npy",
			"--annotators", "a.csv"}},
	} {
		clitest.Fail(t, app.ExitUsage, c.fragment, append([]string{"issues"}, c.args...)...)
	}
}
