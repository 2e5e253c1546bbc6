package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// drawn is a report of q classes whose names and texts are long, with pictures if asked for.
func drawn(t *testing.T, q int, pictures bool) *report.Report {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(q)))
	made := model.Provenance{Learner: "softmax", Parameters: json.RawMessage("{}")}
	r := &report.Report{Command: "uma-gpu report --model m.npz",
		Model: report.Model{File: "m.npz", Provenance: made}, Judged: &report.Judged{File: "d.csv",
			Folds: 5}, Issues: 60}
	matrix := make([][]float64, q)
	for k := range q {
		r.Classes = append(r.Classes, fmt.Sprintf("<class> & %q of many, number %d", "name", k))
		matrix[k] = make([]float64, q)
		for j := range matrix[k] {
			matrix[k][j] = random.Float64() / float64(q)
		}
	}
	r.Noise = &report.Noise{Source: "drawn", Matrix: matrix, Errors: matrix}
	var labels, predicted []int32
	var p []float32
	for range 10 * q {
		labels, predicted = append(labels, int32(random.IntN(q))), append(predicted,
			int32(random.IntN(q)))
		for range q {
			p = append(p, 1/float32(q))
		}
	}
	var err error
	if r.Judged.Report, err = metric.Evaluate(labels, predicted, r.Classes); err != nil {
		t.Fatal(err)
	}
	if r.Judged.Reliability, err = metric.Reliability(labels, p, q, nil); err != nil {
		t.Fatal(err)
	}
	r.Judged.Hardest(r.Classes)
	for k := range report.MostSuspects {
		s := report.Suspect{Row: fmt.Sprint(k + 1), Given: r.Classes[0], Likely: r.Classes[1],
			Text: strings.Repeat("long <text> ", 1000)}
		if pictures {
			pixels := make([]float32, 28*28)
			for i := range pixels {
				pixels[i] = random.Float32()
			}
			if s.Picture, err = report.Picture(pixels, 28, 28); err != nil {
				t.Fatal(err)
			}
		}
		r.Suspects = append(r.Suspects, s)
	}
	r.Conclude()
	return r
}

// However many classes there are and however long texts are, a page has less than 300 kB, and what
// it was given as text stays text.
func TestPageIsSmall(t *testing.T) {
	for _, q := range []int{2, 30, 31, 300} {
		for _, pictures := range []bool{false, true}[:1+q/300] {
			var page, text bytes.Buffer
			r := drawn(t, q, pictures)
			if err := r.WriteHTML(&page, "r.json"); err != nil {
				t.Fatal(err)
			}
			if page.Len() > 300_000 {
				t.Errorf("%d classes, pictures %v: %d bytes, wanted at most 300 kB", q, pictures, page.Len())
			}
			for _, bad := range []string{"<class>", "<text>", "NaN", "ZgotmplZ", "<no value>"} {
				if strings.Contains(page.String(), bad) {
					t.Errorf("%d classes: the page has %s", q, bad)
				}
			}
			if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(),
				"Hardest pairs") {
				t.Errorf("%d classes: %v\n%s", q, err, &text)
			}
		}
	}
}

// The page answers which labels are wrong, how good the model is and what now, before all else:
// three large numbers, one line next, the suspects; statistics are folded. Numbers of examples are
// whole, and a map of two classes fills its place.
func TestPageAnswersFirst(t *testing.T) {
	r := drawn(t, 2, false)
	r.Issues, r.Judged.Pairs[0].Examples = 5, 17.42
	r.Judged.Probabilities = &metric.Probabilities{}
	r.Conclude()
	var b, text bytes.Buffer
	if err := r.WriteHTML(&b, "r.json"); err != nil {
		t.Fatal(err)
	}
	page, last := b.String(), 0
	for _, want := range []string{`<div class="numbers"><p><strong>25.0 %</strong>`, r.Verdict.Next,
		">Labels most likely to be wrong<", "38 more", "The predictions", "about 17",
		"What this rests on",
		"<summary>How good the predictions are", "<summary>Classes", "<summary>Calibration",
		"<summary>The confusion matrix", "<summary>The model"} {
		at := strings.Index(page, want)
		if at < last {
			t.Errorf("%q is at %d, wanted behind %d", want, at, last)
		}
		last = at
	}
	if n := strings.Count(page, "<p><strong>"); n != 3 || strings.Count(page, `class="next"`) != 1 {
		t.Errorf("%d numbers, wanted three, and one line next", n)
	}
	if strings.Contains(page, "17.42") || strings.Contains(page, "<details open") ||
		!strings.Contains(page, `<table class="heat" style="--q:2">`) {
		t.Error("a fraction of an example, an open statistic, or a map without its size")
	}
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), r.Verdict.Next) {
		t.Errorf("%v\n%s", err, &text)
	}
}

// A page of a cleaning has its numbers alone, says what shows wrong labels, and names the rows to
// check.
func TestPageOfCleaning(t *testing.T) {
	r := drawn(t, 2, false)
	r.Issues, r.Suspects, r.CheckNext = 0, nil, []string{"7", "3"}
	r.Judged.Probabilities = &metric.Probabilities{}
	r.Cleaned = &report.Cleaned{Evidence: "none", Wrong: report.Share{Value: .125, Low: new(.1),
		High: new(.2)}, Error: report.Share{Value: .25}, NotIdentified: []string{"a"},
		ToIdentify: []string{"r4", "r9"}}
	r.Conclude()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if n := r.Verdict.Numbers; n[0].Value != "12.5 %" || n[1].Value != "75.0 %" ||
		!strings.Contains(n[0].Note, "(10.0 % to 20.0 %)") || !facts.Told(r.Verdict.Next, "rows 7 3") ||
		!strings.Contains(text.String(), "check 2 rows: r4 r9") ||
		!strings.HasPrefix(r.Verdict.Text, "75.0 %") {
		t.Errorf("found %+v, next %q\n%s", n, r.Verdict.Next, &text)
	}
	r.Issues, r.Cleaned.Corrected = 3, 2
	r.Conclude()
	var page bytes.Buffer
	if err := r.WriteHTML(&page, ""); err != nil {
		t.Fatal(err)
	}
	if said := page.String(); !strings.Contains(said, "wrong than right; 2 are changed") ||
		strings.Contains(said, "<title>"+r.Title+": "+r.Model.Learner) {
		t.Error("the page does not say that a label is kept, or names one model of several")
	}
}

// The pairs exchange the most examples.
func TestHardest(t *testing.T) {
	labels, predicted := []int32{0, 0, 0, 1, 1, 2}, []int32{1, 1, 0, 1, 2, 2}
	var j report.Judged
	var err error
	classes := []string{"a", "b", "c"}
	if j.Report, err = metric.Evaluate(labels, predicted, classes); err != nil {
		t.Fatal(err)
	}
	j.Hardest(classes)
	want := []report.Pair{{True: "a", Predicted: "b", Examples: 2, Share: 2.0 / 3}, {True: "b",
		Predicted: "c", Examples: 1, Share: 0.5}}
	if fmt.Sprint(j.Pairs) != fmt.Sprint(want) {
		t.Errorf("found %v, wanted %v", j.Pairs, want)
	}
}

// What a page to review has as data is read back alike, whatever it is: names of classes and values
// are no markup.
func TestReview(t *testing.T) {
	bad := "</script><script>alert(1)</script><!--<script>\u2028${x}`"
	r := &report.Review{Title: bad, Again: bad, Classes: []string{bad, ""}, Columns: []string{bad},
		Rows: []report.ReviewRow{{Row: bad, Name: bad, Given: -1, Suggested: 1, Wrong: 0.5, Reason: bad,
			Suspect: true, Values: []string{bad}, Near: []report.NearRow{{Name: bad, Given: 0,
				Values: []string{""}}}}}, Checked: [][2]string{{bad, bad}}}
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for n := range root.Descendants() {
		if n.Data != "script" || n.Type != html.ElementNode {
			continue
		}
		if scripts++; scripts == 1 {
			got := new(report.Review)
			if err := json.Unmarshal([]byte(n.FirstChild.Data), got); err != nil ||
				!reflect.DeepEqual(got, r) {
				t.Errorf("read back %+v, %v", got, err)
			}
		}
	}
	if scripts != 2 {
		t.Errorf("found %d scripts, want the data and one", scripts)
	}
}
