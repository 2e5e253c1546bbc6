package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

const oneRow = `{"rows":[[1,2,3,4]]}`

// TestConcurrency: who comes while all slots are taken is told so at once, and comes again.
func TestConcurrency(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{Concurrency: 1})
	defer s.batches.end()
	r, w := io.Pipe()
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- post(s.Handler(), "application/json", r) }()
	if _, err := io.WriteString(w, oneRow[:5]); err != nil { // the request is being read
		t.Fatal(err)
	}
	busy := post(s.Handler(), "application/json", strings.NewReader(oneRow))
	if busy.Code != 503 || busy.Header().Get("Retry-After") != "1" ||
		!facts.Told(plain(busy.Body.String()), "again") {
		t.Errorf("got %d %s", busy.Code, busy.Body)
	}
	io.WriteString(w, oneRow[5:])
	w.Close()
	if got := <-first; got.Code != 200 {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	if got := post(s.Handler(), "application/json", strings.NewReader(oneRow)); got.Code != 200 {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// stuck is an engine that waits before it loads, and fails on examples of more than most rows.
type stuck struct {
	engine.Engine
	wait chan struct{}
	most int
}

var errMost = errors.New("too many")

func (e stuck) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	<-e.wait
	if x.Stored().N > e.most {
		return nil, errMost
	}
	return e.Engine.Load(x, classes)
}

// TestTimeLimit: a request that the engine does not answer in time is, by an error; the next is
// answered.
func TestTimeLimit(t *testing.T) {
	e := stuck{simd.New(), make(chan struct{}), 10}
	s := New(models()["linear"], e, Options{Timeout: 5 * time.Millisecond})
	defer s.batches.end()
	if got := post(s.Handler(), "application/json", strings.NewReader(oneRow)); got.Code != 503 ||
		!facts.Told(plain(got.Body.String()), "time limit") {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	close(e.wait)
	s.o.Timeout = time.Minute
	if got := post(s.Handler(), "application/json", strings.NewReader(oneRow)); got.Code != 200 {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// TestOneFails: what the engine cannot do for one request does not keep it from the others of its
// batch.
func TestOneFails(t *testing.T) {
	e := stuck{simd.New(), make(chan struct{}), 2}
	close(e.wait)
	m := models()["sparse"]
	s := New(m, e, Options{})
	defer s.batches.end()
	var jobs []*job
	for _, n := range []int{1, 3, 2} {
		x, _ := blobs(n, rand.New(rand.NewPCG(5, uint64(n))))
		jobs = append(jobs, &job{ctx: t.Context(), x: x, done: make(chan struct{})})
	}
	s.batches.answer(jobs)
	for k, j := range jobs {
		<-j.done
		if want := must(m.ScoresPrepared(t.Context(), simd.New(), j.x)); k != 1 && !slices.Equal(j.scores,
			want) || errors.Is(j.err, errMost) != (k == 1) {
			t.Errorf("job %d: got %v, %v", k, j.scores, j.err)
		}
	}
}

// TestEnd: a server that is told to end says so, and takes requests until the drain is over.
func TestEnd(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{Drain: 500 * time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	url := "http://" + l.Addr().String()
	status := func(r *http.Response, err error) int {
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode
	}
	if got := status(http.Get(url + "/health")); got != 200 {
		t.Fatalf("health: status %d", got)
	}
	cancel()
	// a balancer sees the end before the listener is closed
	for status(http.Get(url+"/health")) != 503 {
		time.Sleep(time.Millisecond)
	}
	got, err := http.Post(url+"/v1/predict", "application/json", strings.NewReader(oneRow))
	if status(got, err) != 200 || !got.Close {
		t.Errorf("within the drain: status %d, close %v", got.StatusCode, got.Close)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url + "/health"); err == nil {
		t.Error("the listener is open")
	}
}

// TestEndWaits: a request that is still being read when the drain is over is answered.
func TestEndWaits(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{Drain: time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	r, w := io.Pipe()
	answered := make(chan error)
	go func() {
		got, err := http.Post("http://"+l.Addr().String()+"/v1/predict", "application/json", r)
		if err == nil && got.StatusCode != 200 {
			err = errors.New(got.Status)
		}
		answered <- err
	}()
	io.WriteString(w, oneRow[:5])
	for len(s.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for { // until the listener is closed, which the end of the drain does
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	io.WriteString(w, oneRow[5:])
	w.Close()
	if err := errors.Join(<-answered, <-ended); err != nil {
		t.Error(err)
	}
}

// TestMetrics: Prometheus' format, and numbers that fit together.
func TestMetrics(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{})
	defer s.batches.end()
	h := s.Handler()
	post(h, "application/json", strings.NewReader(oneRow))
	post(h, "application/json", strings.NewReader(`{"rows":[[1,2,3,4],[1,2,3,4]]}`))
	post(h, "application/json", strings.NewReader(`{`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	line := regexp.MustCompile(`^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]+"\})? [0-9.e+-]+)$`)
	for got := range strings.Lines(w.Body.String()) {
		if !line.MatchString(strings.TrimSuffix(got, "\n")) {
			t.Errorf("found the line %q", got)
		}
	}
	for _, want := range []string{`uma_gpu_requests_total{code="200"} 2`,
		`uma_gpu_requests_total{code="400"} 1`,
		"uma_gpu_rows_total 3", `uma_gpu_batch_rows_bucket{le="1"} 1`,
		`uma_gpu_batch_rows_bucket{le="+Inf"} 2`,
		"uma_gpu_batch_rows_sum 3", "uma_gpu_request_seconds_count 2"} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("found no %s in\n%s", want, w.Body)
		}
	}
}

// TestOpenAPI: the file names the paths, statuses and fields that there are.
func TestOpenAPI(t *testing.T) {
	s := New(models()["linear"], simd.New(), Options{})
	defer s.batches.end()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	var api struct {
		Paths map[string]map[string]struct {
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.NewDecoder(w.Body).Decode(&api); err != nil {
		t.Fatal(err)
	}
	for path, methods := range api.Paths {
		for method := range methods {
			if path == "/v1/predict" && method == "post" {
				continue
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(strings.ToUpper(method), path, nil))
			if w.Code != 200 || strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") &&
				!json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %s: got %d %s", method, path, w.Code, w.Body)
			}
		}
	}
	if len(api.Paths) != 5 {
		t.Errorf("found %d paths, want those of Handler", len(api.Paths))
	}
	for _, status := range []int{200, 400, 413, 415, 500, 503} {
		if api.Paths["/v1/predict"]["post"].Responses[fmt.Sprint(status)] == nil {
			t.Errorf("found no answer %d", status)
		}
	}
	whole := fault{Row: new(int), Column: new(int), Field: "f", Line: 1}
	for name, value := range map[string]any{"Answer": answer{}, "Error": whole} {
		var fields map[string]any
		text := bytes.NewReader(must(json.Marshal(value)))
		if err := json.NewDecoder(text).Decode(&fields); err != nil {
			t.Fatal(err)
		}
		for field := range fields {
			if api.Components.Schemas[name].Properties[field] == nil {
				t.Errorf("%s has no %s", name, field)
			}
		}
		if len(fields) != len(api.Components.Schemas[name].Properties) {
			t.Errorf("%s has the fields %v, want %v", name, api.Components.Schemas[name].Properties, fields)
		}
	}
}
