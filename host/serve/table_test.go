package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

const colours = `colour,member,age,class
red,True,30,a
blue,False,,b
red,True,50,a
green,False,40,b
blue,True,31,a
red,False,33,b
`

// A model of a table of more than numbers takes rows of that table, as JSON and as CSV, and rows
// of its features.
func TestTable(t *testing.T) {
	ctx := context.Background()
	data := must(file.ReadFrom(ctx, strings.NewReader(colours), "train.csv",
		file.Options{Table: file.Table{Encode: &features.EncodeOptions{Missing: "indicator"}}}))
	features := data.Examples
	m := must(host.Train(ctx, data, nil, host.Options{Engine: simd.New()})).Model
	s := New(m, simd.New(), Options{}).Handler()
	some := features.Pick([]int{0, 1})
	want := wanted(t, m, some)
	for kind, body := range map[string]string{
		"a list": `{"rows": [["red", true, 30], ["blue", false, null]]}`,
		"texts":  `{"rows": [["red", "True", "30"], ["blue", "no", "NaN"]]}`,
		"names": `{"columns": ["age", "more", "colour", "member"],
			"rows": [[30, "x", "red", 1], [null, 7, "blue", 0]]}`,
		"the features": `{"columns": ["colour=blue", "colour=green", "colour=red", "member", "age", "age (missing)"],
			"rows": [[0, 0, 1, 1, 30, 0], [1, 0, 0, 0, 36.8, 1]]}`,
	} {
		if got := decode(t, post(s, "application/json", strings.NewReader(body))); !equal(got, want) ||
			got.Warnings != nil {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}
	}
	got := decode(t, post(s, "text/csv",
		strings.NewReader("age,colour,member\n30,red,yes\n,blue,0\n")))
	if !equal(got, want) {
		t.Errorf("CSV: %+v, want %+v", got, want)
	}
	for _, c := range []struct{ kind, body string }{
		{"application/json", `{"rows": [["teal", true, 30]]}`}, {"text/csv", "age,colour,member\n30,teal,yes\n"},
	} {
		got := decode(t, post(s, c.kind, strings.NewReader(c.body)))
		if len(got.Warnings) != 1 ||
			!facts.Told(got.Warnings[0], `levels "teal"`) {
			t.Errorf("%s: warnings %v", c.kind, got.Warnings)
		}
	}
	for _, c := range []struct{ body, want string }{
		{`{"rows": [["red", true]]}`, "2 values 3 row 0"},
		{`{"rows": [["red", true, 1], ["red", true, "old"]]}`, "column 3 old decimal row 1 column 2 field age"},
		{`{"rows": [["red", true, [1]]]}`, "list object row 0 column 2"},
		{`{"rows": [{"columns": [0], "values": [1]}]}`, "list value row 0"},
		{`{"columns": ["colour", "age"], "rows": [["red", 1]]}`, "also member"},
		{`{"columns": ["colour", "member", "age"], "rows": [[1,2]]}`, "2 values 3 row 0"},
	} {
		w := post(s, "application/json", strings.NewReader(c.body))
		if w.Code != http.StatusBadRequest || !facts.Told(plain(w.Body.String()), c.want) {
			t.Errorf("%s: %d %s, want %s", c.body, w.Code, w.Body, c.want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/model", nil))
	if !strings.Contains(w.Body.String(), `"levels":["blue","green","red"]`) {
		t.Errorf("model: %s", w.Body)
	}
}
