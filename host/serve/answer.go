package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// predict answers POST /v1/predict.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		s.refuse(w, faultf(http.StatusServiceUnavailable,
			"found %d requests under way, wanted fewer; try again", s.o.Concurrency))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*s.o.Timeout)
	defer cancel()
	asArray := accepts(r, npyType)
	p, err := s.answer(ctx, r, http.MaxBytesReader(w, r.Body, s.o.MaxBody), !asArray)
	if err != nil {
		s.refuse(w, err)
		return
	}
	body := new(bytes.Buffer)
	kind := "application/json"
	if asArray {
		kind = npyType
		p.npy(body, s.m.Q)
		for _, warning := range p.warnings {
			w.Header().Add("Warning", "199 uma-gpu "+strconv.QuoteToASCII(warning))
		}
	} else {
		p.json(body, s.m.Meta.Classes)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.Write(body.Bytes()) // the client may be gone
	s.measured.request(http.StatusOK, len(p.numbers)/s.m.Q, time.Since(start))
}

// accepts says whether the client of a request names a type of answer.
func accepts(r *http.Request, kind string) bool {
	for _, list := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(list, ",") {
			if found, _, err := mime.ParseMediaType(part); err == nil && found == kind {
				return true
			}
		}
	}
	return false
}

// predictions are what to answer: of each example a label, and of each example and class a number.
type predictions struct {
	labels   []int32 // nil if the client wants an array
	what     string  // the numbers are "probabilities" or "scores"
	numbers  []float32
	warnings []string
}

func (s *Server) answer(ctx context.Context, r *http.Request, body io.Reader, labels bool,
) (p predictions, err error) {
	x, warnings, err := s.read(ctx, r, body)
	if err != nil {
		return p, err
	}
	prepared, err := features.Apply(&s.m.Meta.Preparation, x)
	if err != nil {
		if errors.Is(err, memory.ErrBudget) {
			return p, err
		}
		return p, faultf(http.StatusBadRequest, "%v", err)
	}
	numbers, err := s.batches.scores(ctx, prepared)
	if err != nil {
		return p, err
	}
	p = predictions{what: "scores", numbers: numbers, warnings: warnings}
	if labels {
		p.labels = engine.Predicted(numbers, s.m.Q)
	}
	if s.m.Meta.Temperature != 0 {
		p.what = "probabilities"
		err = s.m.ToProbabilities(numbers)
	}
	return p, err
}

// npy writes the numbers alone, as float32 of N × Q.
func (p predictions) npy(b *bytes.Buffer, q int) {
	b.Write(npyfile.Header("<f4", len(p.numbers)/q, q))
	b.Grow(4 * len(p.numbers))
	text := b.AvailableBuffer()
	for _, v := range p.numbers {
		text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
	}
	b.Write(text)
}

// json writes {"classes": […], "labels": […], "probabilities": [[…], …]}, with {"warnings": […]}
// if there are any.
func (p predictions) json(to *bytes.Buffer, classes []string) {
	names := make([][]byte, len(classes))
	for k, name := range classes {
		names[k] = text(name)
	}
	to.Grow(64 + len(p.numbers)*12)
	b := to.AvailableBuffer()
	b = append(append(append(b, `{"classes":[`...), bytes.Join(names, []byte(","))...),
		`],"labels":[`...)
	for i, label := range p.labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, names[label]...)
	}
	b = append(append(append(b, `],"`...), p.what...), `":[`...)
	for i, v := range p.numbers {
		switch {
		case i == 0:
			b = append(b, '[')
		case i%len(classes) == 0:
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
	if len(p.warnings) > 0 {
		b = append(append(b, `,"warnings":`...), text(p.warnings)...)
	}
	to.Write(append(b, "}\n"...))
}

// text returns a string, or a list of them, as JSON.
func text[T string | []string](s T) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	if err := e.Encode(s); err != nil {
		panic(err) // they have a form in JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// refuse answers with an error: {"error": "…", "row": 3, "column": 1, "field": "height"}.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	f, ok := errors.AsType[*fault](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f = faultf(http.StatusServiceUnavailable,
			"found no answer within the time limit; send fewer rows, or try again")
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
