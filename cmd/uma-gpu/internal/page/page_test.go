package page

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// cleaned is a cleaning of a table with values of each kind, a share of whose labels is wrong.
func cleaned(t *testing.T) (*umagpu.CleanRequest, *umagpu.CleanResult, *Request) {
	t.Helper()
	random, n := rand.New(rand.NewPCG(1, 2)), 400
	labels := &umagpu.Labels{Classes: []string{"</script>", " b"}}
	var numbers []float64
	var words, texts, index []string
	var days []time.Time
	checked := slices.Repeat([]int32{-1}, n)
	for i := range n {
		k := int32(i % 2)
		numbers = append(numbers, float64(4*k)+random.NormFloat64())
		words = append(words, []string{"red", "blue"}[random.IntN(2)])
		texts = append(texts, fmt.Sprintf("<b>text</b> %d", i))
		days = append(days, time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC))
		index = append(index, fmt.Sprintf("id-%d", i))
		if i < 60 {
			checked[i] = k
		}
		if k == 0 && random.IntN(4) == 0 {
			k = 1
		}
		labels.Codes = append(labels.Codes, k)
	}
	numbers[7] = math.NaN()
	r := &umagpu.CleanRequest{Labels: labels, Checked: checked}
	r.Data.Table = &umagpu.Table{Columns: []umagpu.Column{umagpu.NewNumbers("size", numbers),
		umagpu.NewCategory("colour", words), umagpu.NewText("title", texts),
		umagpu.NewDates("day", days)}}
	found, err := umagpu.Clean(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return r, found, &Request{Name: "df", Date: "2026-11-27", Call: "umagpu.clean(df)",
		Again: "umagpu.clean(df, checked=c)", Index: index, Spell: umagpu.SpellPython}
}

// Pages for Python have its words, the names of rows, texts beside suspects, and no flags.
func TestPagesOfCleaning(t *testing.T) {
	request, result, o := cleaned(t)
	pages, err := Of(t.Context(), request, result, o)
	if err != nil {
		t.Fatal(err)
	}
	page := string(pages.Report)
	for _, want := range []string{"<h1>df</h1>", "2026-11-27", "umagpu.clean(df, checked=c)", ">id-",
		"&lt;b&gt;text", "&lt;/script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report has no %s", want)
		}
	}
	_, body, _ := strings.Cut(page, "<body>")
	for _, bad := range []string{" --", "uma-gpu issues", "<b>text"} {
		if strings.Contains(body, bad) {
			t.Errorf("the report has %s", bad)
		}
	}
	_, text, _ := strings.Cut(string(pages.Review), `id="data">`)
	text, _, _ = strings.Cut(text, "</script>")
	var review report.Review
	if err := json.Unmarshal([]byte(text), &review); err != nil {
		t.Fatal(err)
	}
	if len(review.Checked) != 60 || len(review.Rows) == 0 {
		t.Fatalf("%d rows to review, %d checked before", len(review.Rows), len(review.Checked))
	}
	for _, r := range review.Rows {
		var i int
		if _, err := fmt.Sscanf(r.Row, "id-%d", &i); err != nil || i < 60 {
			t.Fatalf("row %q is to review, want one that nobody has checked", r.Row)
		}
		if len(r.Near) != neighbours || r.Values[2] != fmt.Sprintf("<b>text</b> %d", i) ||
			r.Values[3] != time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) ||
			r.Suspect != result.Wrong[i] || int32(r.Given) != request.Labels.Codes[i] {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

// A report judges a model that the examples were not used for; other results have no page.
func TestPageOfReport(t *testing.T) {
	request, result, o := cleaned(t)
	asked := &umagpu.ReportRequest{Model: result.Model, Data: request.Data, Labels: request.Labels}
	found, err := umagpu.Report(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Of(t.Context(), asked, found, o)
	if err != nil || !strings.Contains(string(pages.Report), "Labels most likely to be wrong") {
		t.Errorf("%v", err)
	}
	if _, err := Of(t.Context(), asked, &umagpu.PredictResult{}, o); err == nil {
		t.Error("predictions have a page")
	}
}
