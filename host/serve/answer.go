package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// predict answers POST /v1/predict.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		s.refuse(w, faultf(http.StatusServiceUnavailable, "found %d requests under way, wanted fewer; try again",
			s.o.Concurrency))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*s.o.Timeout)
	defer cancel()
	answer, rows, err := s.answer(ctx, r, http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer) // the client may be gone
	s.measured.request(http.StatusOK, rows, time.Since(start))
}

// answer returns what to answer, and of how many examples.
func (s *Server) answer(ctx context.Context, r *http.Request, body io.Reader) ([]byte, int, error) {
	x, warnings, err := s.read(ctx, r, body)
	if err != nil {
		return nil, 0, err
	}
	prepared, err := s.m.Meta.Preparation.Apply(x)
	if err != nil {
		if errors.Is(err, memory.ErrBudget) {
			return nil, 0, err
		}
		return nil, 0, faultf(http.StatusBadRequest, "%v", err)
	}
	numbers, err := s.batches.scores(ctx, prepared)
	if err != nil {
		return nil, 0, err
	}
	labels, what := engine.Predicted(numbers, s.m.Q), "scores"
	if s.m.Meta.Temperature != 0 {
		what = "probabilities"
		if err := s.m.ToProbabilities(numbers); err != nil {
			return nil, 0, err
		}
	}
	return s.encode(labels, what, numbers, warnings), x.N, nil
}

// encode writes {"classes": […], "labels": […], "probabilities": [[…], …]}, and {"warnings": […]} if there are any.
func (s *Server) encode(labels []int32, what string, numbers []float32, warnings []string) []byte {
	names := make([][]byte, s.m.Q)
	for k, name := range s.m.Meta.Classes {
		names[k] = text(name)
	}
	b := make([]byte, 0, 64+len(numbers)*12)
	b = append(append(append(b, `{"classes":[`...), bytes.Join(names, []byte(","))...), `],"labels":[`...)
	for i, label := range labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, names[label]...)
	}
	b = append(append(append(b, `],"`...), what...), `":[`...)
	for i, v := range numbers {
		switch {
		case i == 0:
			b = append(b, '[')
		case i%s.m.Q == 0:
			b = append(b, "],["...)
		default:
			b = append(b, ',')
		}
		if v-v != 0 { // an infinite score, which JSON has no number for
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	b = append(b, "]]"...)
	for i, warning := range warnings {
		if i == 0 {
			b = append(b, `,"warnings":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, text(warning)...)
		if i == len(warnings)-1 {
			b = append(b, ']')
		}
	}
	return append(b, "}\n"...)
}

// text returns a string as JSON.
func text(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	if err := e.Encode(s); err != nil {
		panic(err) // a string has a form in JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// refuse answers with an error: {"error": "…", "row": 3, "column": 1, "field": "height"}.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	f, ok := errors.AsType[*fault](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f = faultf(http.StatusServiceUnavailable, "found no answer within the time limit; send fewer rows, or try again")
	case errors.Is(err, memory.ErrBudget), errors.Is(err, engine.ErrMemory):
		f = faultf(http.StatusServiceUnavailable, "%v", err)
	default:
		f = faultf(http.StatusInternalServerError, "%v", err)
	}
	s.measured.request(f.status, 0, 0)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(f) // the client may be gone
}

// describe answers GET /v1/model.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	b, err := json.Marshal(struct {
		Classes       []string         `json:"classes"`
		Features      any              `json:"features"`
		Probabilities bool             `json:"probabilities"` // else scores
		Provenance    model.Provenance `json:"provenance"`
	}{s.m.Meta.Classes, s.m.Meta.Features, s.m.Meta.Temperature != 0, s.m.Meta.Provenance()})
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "%s\n", b) // the client may be gone
}
