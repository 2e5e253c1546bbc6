package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// blobs are examples of three classes and four features, a third of them 0.
func blobs(n int, random *rand.Rand) (x dataset.Examples, labels []string) {
	x = dataset.Examples{N: n, D: 4, X: make([]float32, n*4)}
	for i := range n {
		labels = append(labels, []string{"a", "<b>", "é"}[i%3])
		for j := range 4 {
			if v := random.NormFloat64(); random.IntN(3) > 0 {
				x.X[i*4+j] = float32(v) + 2*float32((i+j)%3)
			}
		}
	}
	return x, labels
}

var names = []string{"u", "v", "w w", "x"}

// models are one of each form that serving could tell apart.
var models = sync.OnceValue(func() map[string]*model.Model {
	x, labels := blobs(90, rand.New(rand.NewPCG(1, 1)))
	data := must(dataset.New(x, labels, names))
	all := map[string]*model.Model{}
	for name, o := range map[string]host.Options{
		"linear": {}, "sparse": {Preparation: "l2"},
		"kernel": {Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: 5}},
	} {
		o.Engine = simd.New()
		all[name] = must(host.Train(context.Background(), data, nil, o)).Model
	}
	plain := *all["linear"]
	plain.Meta.Temperature, plain.Meta.Features.Names = 0, nil
	all["scores, no names"] = &plain
	return all
})

// post sends a body to a handler.
func post(h http.Handler, kind string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/v1/predict", body)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer is what openapi.json calls Answer.
type answer struct {
	Classes       []string    `json:"classes"`
	Labels        []string    `json:"labels"`
	Probabilities [][]float32 `json:"probabilities"`
	Scores        [][]float32 `json:"scores"`
	Warnings      []string    `json:"warnings"`
}

func decode(t testing.TB, w *httptest.ResponseRecorder) (a answer) {
	t.Helper()
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&a); w.Code != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v", w.Code, err)
	}
	return a
}

// wanted is what the model itself says, by the row.
func wanted(t testing.TB, m *model.Model, x dataset.Examples) answer {
	t.Helper()
	ctx, e := context.Background(), simd.New()
	a := answer{Classes: m.Meta.Classes, Labels: m.Names(must(m.Predict(ctx, e, x)))}
	if m.Meta.Temperature == 0 {
		a.Scores = rows(must(m.Scores(ctx, e, x)), m.Q)
	} else {
		a.Probabilities = rows(must(m.Probabilities(ctx, e, x)), m.Q)
	}
	return a
}

func rows(list []float32, width int) (all [][]float32) {
	for row := range slices.Chunk(list, width) {
		all = append(all, row)
	}
	return all
}

func equal(a, b answer) bool {
	same := func(a, b [][]float32) bool {
		return slices.EqualFunc(a, b, func(a, b []float32) bool { return slices.Equal(a, b) })
	}
	return slices.Equal(a.Classes, b.Classes) && slices.Equal(a.Labels, b.Labels) &&
		same(a.Probabilities, b.Probabilities) && same(a.Scores, b.Scores)
}

// forms are the same examples in every form that a request can have, by the Content-Type and a
// name.
func forms(x dataset.Examples, named bool) map[[2]string]string {
	dense := string(must(json.Marshal(rows(x.X, x.D))))
	var sparse, shuffled []string
	csv := []string{"x,w w,what,v,u"}
	for _, row := range rows(x.X, x.D) {
		var columns, values []string
		for j, v := range row {
			if v != 0 {
				columns, values = append(columns, strconv.Itoa(j)), append(values, fmt.Sprint(v))
			}
		}
		sparse = append(sparse, fmt.Sprintf(`{"columns":[%s],"values":[%s]}`, strings.Join(columns, ","),
			strings.Join(values, ",")))
		shuffled = append(shuffled, fmt.Sprintf("[ %v,%v , 7,%v,%v]", row[2], row[0], row[3], row[1]))
		csv = append(csv, fmt.Sprintf("%v,%v,9,%v,%v", row[3], row[2], row[1], row[0]))
	}
	all := map[[2]string]string{
		{"application/json", "dense"}:  `{"rows":` + dense + `}`,
		{"application/json", "sparse"}: `{"rows":[` + strings.Join(sparse, ",") + `]}`,
	}
	if named {
		all[[2]string{"application/json; charset=utf-8",
			"names"}] = `{"columns":["w w","u","more","x","v"],"rows":[` + strings.Join(shuffled, ",") + `]}`
		all[[2]string{"text/csv", "names"}] = strings.Join(csv, "\n")
	}
	return all
}

// TestAnswersArePredictions: every form gives the bits of the model, of one row and of many.
func TestAnswersArePredictions(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for name, m := range models() {
		s := New(m, simd.New(), Options{})
		defer s.batches.end()
		for _, n := range []int{1, 2, 50} {
			x, _ := blobs(n, random)
			want := wanted(t, m, x)
			for form, body := range forms(x, m.Meta.Features.Names != nil) {
				if got := decode(t, post(s.Handler(), form[0], strings.NewReader(body))); !equal(got, want) {
					t.Errorf("%s, %v, %d rows: got %+v, want %+v", name, form, n, got, want)
				}
			}
		}
	}
}

// array is a matrix as numpy.save writes it.
func array(numbers []float32, width int) []byte {
	b := bytes.NewBuffer(npyfile.Header("<f4", len(numbers)/width, width))
	npyfile.Write(b, numbers)
	return b.Bytes()
}

// TestArrays: NumPy's arrays come, and go back to who names them.
func TestArrays(t *testing.T) {
	x, _ := blobs(20, rand.New(rand.NewPCG(4, 4)))
	for name, m := range models() {
		s := New(m, simd.New(), Options{})
		defer s.batches.end()
		want := wanted(t, m, x)
		if got := decode(t, post(s.Handler(), npyType, bytes.NewReader(array(x.X, x.D)))); !equal(got,
			want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		for kind, body := range map[string]string{npyType: string(array(x.X, x.D)),
			"application/json": `{"rows":` + string(must(json.Marshal(rows(x.X, x.D)))) + `}`} {
			r := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(body))
			r.Header.Set("Content-Type", kind)
			r.Header.Add("Accept", "text/html, */*;q=0.8")
			r.Header.Add("Accept", "text/plain, application/x-npy;q=0.9")
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			numbers := slices.Concat(append(want.Probabilities, want.Scores...)...)
			if w.Code != 200 || w.Header().Get("Content-Type") != npyType ||
				!bytes.Equal(w.Body.Bytes(), array(numbers, m.Q)) {
				t.Errorf("%s, %s: got %d %q, want the array of %v", name, kind, w.Code, w.Body, numbers)
			}
		}
	}
}

// TestTogether: requests at the same time share calls of the engine, and each gets its own answer.
func TestTogether(t *testing.T) {
	for name, m := range models() {
		s := New(m, simd.New(), Options{Concurrency: 100, MaxRows: 30})
		h := s.Handler()
		var wait sync.WaitGroup
		for k := range 8 {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(3, uint64(k)))
				for range 3 {
					x, _ := blobs(1+random.IntN(20), random)
					want := wanted(t, m, x)
					for form, body := range forms(x, m.Meta.Features.Names != nil) {
						if got := decode(t, post(h, form[0], strings.NewReader(body))); !equal(got, want) {
							t.Errorf("%s, %v: got %+v, want %+v", name, form, got, want)
						}
					}
				}
			})
		}
		wait.Wait()
		s.batches.end()
		if calls := s.measured.batchRows.all; calls == 0 || calls > s.measured.requests[200] {
			t.Errorf("%d requests in %d calls", s.measured.requests[200], calls)
		}
	}
}

// plain returns the words of a JSON text.
func plain(text string) string {
	return strings.NewReplacer(`\`, " ", `"`, " ", "{", " ", "}", " ", ":", " ", ",", " ").Replace(text)
}

// TestFaults: what is wrong is said, and where.
func TestFaults(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{MaxRows: 3, MaxBody: 300})
	defer s.batches.end()
	h := s.Handler()
	for _, test := range []struct {
		kind, body string
		status     int
		want       string // facts of the answer
	}{
		{"text/plain", `{"rows":[[1,2,3,4]]}`, 415, "application/json text/csv application/x-npy"},
		{"", `{"rows":[[1,2,3,4]]}`, 415, "application/json text/csv application/x-npy"},
		{npyType, `{"rows":[[1,2,3,4]]}`, 400, "request"},
		{npyType, string(array(make([]float32, 16), 4)), 413, "4 rows 3"},
		{npyType, string(array(make([]float32, 6), 3)), 400, "3 features"},
		{npyType, string(array(make([]float32, 100), 4)), 413, "300 bytes"},
		{npyType, string(npyfile.Header("<f4", 1<<40, 4)), 400, "request"},
		{npyType, string(npyfile.Header("<f4", 1<<28, 4)), 400, "request"},
		{"application/json", ``, 400, "nothing"},
		{"application/json", `{"rows":[[1,2,3,4]]`, 400, "EOF"},
		{"application/json", `{"rows":[[1,2,3,4]]} {}`, 400, "behind"},
		{"application/json", `{"row":[[1,2,3,4]]}`, 400, "unknown field row"},
		{"application/json", `{"rows":[]}`, 400, "rows none"},
		{"application/json", `null`, 400, "rows none"},
		{"application/json", `[[1,2,3,4]]`, 400, "array"},
		{"application/json", `{"rows":[[1,2,3]]}`, 400, "3 numbers 4 row 0"},
		{"application/json", `{"rows":[[1,2,3,4],[]]}`, 400, "0 numbers 4 row 1"},
		{"application/json", `{"rows":[[1,2,3,4,5]]}`, 400, "5 numbers 4 row 0"},
		{"application/json", `{"rows":[[1,2,3,4],[1,2,null,4]]}`, 400, "null number row 1 column 2 field w w"},
		{"application/json", `{"rows":[[1,"a,b",3,4]]}`, 400, "number row 0 column 1 field v"},
		{"application/json", `{"rows":[[1,[2],3,4]]}`, 400, "number row 0 column 1 field v"},
		{"application/json", `{"rows":[[1,2,3,1e39]]}`, 400, "float32 row 0 column 3 field x"},
		{"application/json", `{"rows":[7]}`, 400, "7 list 4 numbers"},
		{"application/json", `{"rows":[null]}`, 400, "null list 4 numbers"},
		{"application/json", `{"columns":["x","v","u"],"rows":[[1,2,3]]}`, 400, "w w"},
		{"application/json", `{"columns":["x","v","u","w w"],"rows":[[1,2,3,{}]]}`, 400, "column 3 field w w"},
		{"application/json", `{"columns":[],"rows":[[]]}`, 400, "columns none"},
		{"application/json", `{"rows":[{"columns":[4],"values":[1]}]}`, 400, "columns 0 3"},
		{"application/json", `{"rows":[{"columns":[1,1],"values":[1,2]}]}`, 400, "increasing row 0"},
		{"application/json", `{"rows":[{"columns":[1],"values":[]}]}`, 400, "1 columns 0 values"},
		{"application/json", `{"rows":[{"columns":[1],"values":["x"]}]}`, 400, "row 0"},
		{"application/json", `{"rows":[{"columns":[-1],"values":[1]}]}`, 400, "column -1"},
		{"application/json", `{"rows":[[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3,4]]}`, 413, "4 rows 3"},
		{"application/json", `{"rows":[[1,2,3,` + strings.Repeat(" ", 300) + `4]]}`, 413, "300 bytes"},
		{"text/csv", "u,v,w w,x\n1,2,3,4\n1,2,x,4\n", 400, "line 3"},
		{"text/csv", "u,v,x\n1,2,3\n", 400, "w w"},
		{"text/csv", strings.Repeat("1,2,3,4\n", 4), 413, "4 rows 3"},
		{"text/csv", strings.Repeat("1,2,3,4\n", 40), 413, "300 bytes"},
		{"text/csv", "", 400, "request"},
	} {
		w := post(h, test.kind, strings.NewReader(test.body))
		if got := w.Body.String(); w.Code != test.status || !facts.Told(plain(got), test.want) ||
			!json.Valid([]byte(got)) {
			t.Errorf("%.60q: got %d %s, want %d %s", test.body, w.Code, got, test.status, test.want)
		}
	}
	for path, want := range map[string]int{"/v1/predict": 405, "/v1/other": 404, "/": 404,
		"/health": 200} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != want {
			t.Errorf("GET %s: got %d, want %d", path, w.Code, want)
		}
	}
}

// FuzzPredict: whatever comes, there is an answer with a row of numbers for each row, or an error
// that is JSON.
func FuzzPredict(f *testing.F) {
	random := rand.New(rand.NewPCG(4, 4))
	x, _ := blobs(3, random)
	for form, body := range forms(x, true) {
		f.Add(form[0] == "text/csv", []byte(body))
	}
	var servers []*Server
	for _, m := range models() {
		servers = append(servers, New(m, simd.New(), Options{MaxRows: 100, MaxBody: 1 << 16}))
	}
	f.Fuzz(func(t *testing.T, csv bool, body []byte) {
		kind := "application/json"
		if csv {
			kind = "text/csv"
		}
		for _, s := range servers {
			w := post(s.Handler(), kind, bytes.NewReader(body))
			switch {
			case w.Code == http.StatusOK:
				if a := decode(t, w); len(a.Labels) == 0 ||
					len(a.Labels) != len(a.Probabilities)+len(a.Scores) {
					t.Errorf("got %+v", a)
				}
			case w.Code >= 500 || !json.Valid(w.Body.Bytes()) || !strings.HasPrefix(w.Body.String(),
				`{"error":"`):
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		}
	})
}
