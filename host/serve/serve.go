// Package serve answers, over HTTP, what a model predicts: examples come as JSON, CSV or NumPy's
// arrays, and classes and probabilities go back as JSON, or probabilities as an array, with the
// bits that Model.Predict has. Examples of requests that come together are predicted together. It
// changes nothing, on disk or elsewhere; openapi.json describes all that it answers.
package serve

import (
	"cmp"
	"context"
	_ "embed" // openapi.json
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Options are the limits of a Server; a zero value stands for the default in brackets.
type Options struct {
	MaxBody int64         // bytes of a request [16 MiB]
	MaxRows int           // examples of a request, and of those predicted together [20,000]
	Timeout time.Duration // to read a request, and again to answer it [30 s]
	// requests that are read and answered at a time; more are refused with 503 [64]
	Concurrency int
	// Drain is how long Serve goes on to take requests after it was told to end, while it closes each
	// connection behind its answer: so clients see that they should go elsewhere before anything is
	// refused [1 s].
	Drain time.Duration
}

func (o *Options) fill() {
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.MaxRows = cmp.Or(o.MaxRows, 20000)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Concurrency = cmp.Or(o.Concurrency, 64)
	o.Drain = cmp.Or(o.Drain, time.Second)
}

// maxValues bounds the numbers of a request in memory, which sparse rows could claim with few
// bytes.
const maxValues = 1 << 24

// Server answers for one model.
type Server struct {
	m        *model.Model
	o        Options
	batches  *batcher
	slots    chan struct{} // one for each request under way
	ending   atomic.Bool
	measured metrics
}

// New returns a server for m, which it only reads, on an engine that stays the caller's. Serve
// ends what it starts.
func New(m *model.Model, e engine.Engine, o Options) *Server {
	o.fill()
	s := &Server{m: m, o: o, slots: make(chan struct{}, o.Concurrency)}
	s.batches = newBatcher(m, e, o.MaxRows, o.Concurrency, &s.measured)
	return s
}

//go:embed openapi.json
var openAPI []byte

// Handler returns what answers the requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/predict", s.predict)
	mux.HandleFunc("GET /v1/model", s.describe)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		s.measured.write(w)
	})
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(openAPI) // the client may be gone
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		mux.ServeHTTP(w, r)
	})
}

// Serve answers the requests of l until ctx is cancelled. Then it goes on for Options.Drain,
// closes l, answers the requests under way, and returns nil. It ends the server; call it once. It
// returns the error of l, or context.DeadlineExceeded if requests still run after twice
// Options.Timeout. Clients that connect while l closes may be reset, as http.Server.Shutdown
// allows.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.batches.end()
	h := &http.Server{Handler: s.Handler(),
		ReadHeaderTimeout: s.o.Timeout, ReadTimeout: s.o.Timeout, WriteTimeout: 3 * s.o.Timeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: log.New(io.Discard, "", 0)} // what clients do wrong they are told
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.ending.Store(true)
	time.Sleep(s.o.Drain)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.o.Timeout)
	defer cancel()
	return h.Shutdown(late)
}

// health says whether to send requests here.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.ending.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"status":"ending"}`+"\n") // the client may be gone
		return
	}
	io.WriteString(w, `{"status":"ok"}`+"\n")
}
