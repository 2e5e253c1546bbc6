package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"

	"golang.org/x/net/html"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// inDigits goes to a new folder that has digits.csv.
func inDigits(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	clitest.Succeed(t, "convert", "--data", clitest.Digits, "--out", filepath.Join(dir, "digits.csv"))
	t.Chdir(dir)
	return dir
}

// pageOf parses a page and returns its text; it has to need nothing else.
func pageOf(t *testing.T, path string) string {
	t.Helper()
	text := string(clitest.Read(t, path))
	if len(text) > 300_000 {
		t.Errorf("%s: %d bytes, wanted at most 300 kB", path, len(text))
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	scripts := 0 // one copies code
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			if p := n.Parent.Data; p != "style" && p != "title" && p != "script" {
				b.WriteString(strings.TrimSpace(n.Data) + "\n")
			}
		case html.ElementNode:
			if n.Data == "script" {
				scripts++
			}
			if scripts > 1 || n.Data == "link" || n.Data == "iframe" {
				t.Errorf("%s: found an element %s", path, n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "href" || a.Key == "xlink:href" || a.Key == "style" && strings.Contains(a.Val,
					"url(") {
					t.Errorf("%s: %s has %s=%q, which leads elsewhere", path, n.Data, a.Key, a.Val)
				}
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" && !strings.HasPrefix(a.Val,
					"data:image/png;base64,") {
					t.Errorf("%s: %s has %s=%.40q", path, n.Data, a.Key, a.Val)
				}
			}
		}
	}
	return b.String()
}

// numbersOf reads the numbers beside a page.
func numbersOf(t *testing.T, path string) (r report.Report) {
	t.Helper()
	if err := json.Unmarshal(clitest.Read(t, path), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// On the training data the page and the numbers tell whether C helps; on test data, whose labels
// are right, they tell what eval tells.
func TestReport(t *testing.T) {
	dir := inDigits(t)
	clitest.Succeed(t, "split", "--data", "digits.csv", "--fractions", "0.7,0.3", "--out", "train.csv",
		"--out", "test.csv")
	clitest.Succeed(t, "confusion", "inject", "--data", "train.csv", "--pairwise", "0.3", "--out",
		"noisy.csv",
		"--write-confusion", "C.csv")
	clitest.Succeed(t, "train", "--data", "noisy.csv", "--confusion", "C.csv", "--model", "m.npz",
		"--normalize", "bias,l2")
	// Twice with the same bytes.
	for _, out := range []string{"r.html", "b.html"} {
		clitest.Succeed(t, "report", "--model", "m.npz", "--data", "noisy.csv", "--out", out,
			"--pictures", "8x8")
	}
	if a, b := clitest.Read(t, "r.html"), clitest.Read(t, "b.html"); strings.ReplaceAll(string(a),
		"r.", "b.") != strings.ReplaceAll(string(b), "r.", "b.") {
		t.Error("the same report has other bytes")
	}
	page, r := pageOf(t, "r.html"), numbersOf(t, "r.json")
	if r.Check == nil || r.Check.Verdict != "helps" || !strings.Contains(r.Verdict.Text, "helps") {
		t.Errorf("the verdict is %q", r.Verdict.Text)
	}
	if r.Judged == nil || r.Judged.Corrected == nil || r.Judged.Corrected.Accuracy.Value < 0.85 ||
		r.Judged.Folds != 5 {
		t.Errorf("judged: %+v", r.Judged)
	}
	if r.Issues < 250 || len(r.Suspects) != report.MostSuspects ||
		!strings.HasPrefix(r.Suspects[0].Picture, "data:image/png") {
		t.Errorf("%d issues, suspects %+v", r.Issues, r.Suspects)
	}
	for _, text := range []string{r.Verdict.Text, "Calibration", "The predictions", "The labels",
		"Hardest pairs", "Classes", "Labels most likely to be wrong", "--out r.html"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q", text)
		}
	}
	clitest.Succeed(t, "report", "--model", "m.npz", "--data", "test.csv", "--device", "cpu", "--out",
		"t.html")
	judged, _ := clitest.Succeed(t, "eval", "--model", "m.npz", "--data", "test.csv", "--device",
		"cpu",
		"--json")
	eval := clitest.Decode[eval.Report](t, judged)
	if r := numbersOf(t, "t.json"); r.Judged.ErrorRate != eval.ErrorRate ||
		r.Judged.LogLoss != eval.LogLoss ||
		r.Judged.Folds != 0 || r.Judged.Corrected != nil || r.Check != nil {
		t.Errorf("judged by test data: %+v", r.Judged)
	}
	text, _ := clitest.Succeed(t, "report", "--model", "m.npz", "--data", "test.csv")
	for _, want := range []string{"of the predictions are right, if the labels are",
		"Hardest pairs"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not have %q:\n%s", want, text)
		}
	}
	// What files say is text, whatever is in it.
	hostile := strings.ReplaceAll(string(clitest.Read(t, "test.csv")), ",3\n",
		",\"<script>alert('3')</script>\"\n")
	clitest.Write(t, dir, "hostile.csv", hostile)
	clitest.Succeed(t, "train", "--data", "hostile.csv", "--model", "x.npz", "--max-steps", "5")
	clitest.Succeed(t, "report", "--model", "x.npz", "--data", "hostile.csv", "--out", "x.html")
	if page := pageOf(t, "x.html"); !strings.Contains(page, "<script>alert('3')</script>") {
		t.Error("the page does not have the class's name as text")
	}
}

// Bad usage ends before anything is written.
func TestReportUsage(t *testing.T) {
	dir := inDigits(t)
	clitest.Succeed(t, "train", "--data", "digits.csv", "--model", "m.npz", "--device", "cpu",
		"--max-steps",
		"3")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{app.ExitUsage, "html", []string{"report", "--model", "m.npz", "--data", "digits.csv",
			"--out", "r.txt"}},
		{app.ExitUsage, "--pictures", []string{"report", "--model", "m.npz", "--data", "digits.csv",
			"--pictures", "8"}},
		{app.ExitFailure, "64 features 7×7", []string{"report", "--model", "m.npz", "--data",
			"digits.csv", "--pictures", "7x7"}},
		{app.ExitUsage, "--folds", []string{"report", "--model", "m.npz", "--data", "digits.csv",
			"--folds", "1"}},
		{app.ExitUsage, "--data", []string{"report", "--model", "m.npz"}},
	} {
		clitest.Fail(t, c.code, c.want, c.args...)
	}
	for _, name := range []string{"r.html", "r.json", "r.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// What the page says to do next runs as it is pasted, whatever the table.
func TestReportNextRuns(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	rows.WriteString("kind;note;a;b\n")
	for i := range 200 {
		k := i % 2
		label := k
		if i%7 == 0 {
			label = 1 - k
		}
		fmt.Fprintf(&rows, "%c;%s words of it %d;%d;%d\n", 'x'+label, []string{"low", "high"}[k], i%5,
			10*k+i%3, 7*k-i%4)
	}
	clitest.Write(t, dir, "my table.csv", rows.String())
	clitest.Succeed(t, "train", "--data", "my table.csv", "--label-column", "kind", "--text", "note",
		"--separator", ";", "--model", "m.npz")
	text, _ := clitest.Succeed(t, "report", "--model", "m.npz", "--data", "my table.csv",
		"--label-column",
		"kind", "--json")
	r := clitest.Decode[report.Report](t, text)
	command, found := strings.CutPrefix(r.Verdict.Command, "uma-gpu ")
	if !found {
		t.Fatalf("next is %q, %q", r.Verdict.Next, r.Verdict.Command)
	}
	var words []string
	for k, part := range strings.Split(command, "'") { // every second one is quoted
		if k%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	clitest.Succeed(t, words...)
	if listed := string(clitest.Read(t, "issues.csv")); strings.Count(listed, "\n") != 201 {
		t.Errorf("%q lists\n%.300s", words, listed)
	}
}
