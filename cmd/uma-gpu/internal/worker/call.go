package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/page"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/wire"
	"github.com/uma-gpu/uma-gpu/learners"
)

// call is a request for a function of package umagpu.
type call struct {
	Function string          `json:"function"` // such as train
	Request  json.RawMessage `json:"request"`
	Arrays   []wire.Array    `json:"arrays"`
	Memory   string          `json:"memory"` // the file of the arrays; "" without any
	Device   string          `json:"device"` // as --device
	Audit    string          `json:"audit"`  // as --audit
	// Page asks for the arrays page and review_page beside those of the result, which are HTML.
	Page *page.Request `json:"page"`
}

// reply is the result of a call, whose arrays lie in a file that the other program removes.
type reply struct {
	Result json.RawMessage `json:"result"`
	Arrays []wire.Array    `json:"arrays"`
	Memory string          `json:"memory,omitempty"`
}

// called is a result with its request.
type called struct{ request, result any }

// functions are those that a call may name.
var functions = map[string]func(context.Context, *call, []byte, *umagpu.Compute) (called, error){
	"train": function(umagpu.Train,
		func(r *umagpu.TrainRequest) *umagpu.Compute { return &r.Compute }),
	"predict": function(umagpu.Predict,
		func(r *umagpu.PredictRequest) *umagpu.Compute { return &r.Compute }),
	"evaluate": function(umagpu.Evaluate,
		func(r *umagpu.EvaluateRequest) *umagpu.Compute { return &r.Compute }),
	"cross_validate": function(umagpu.CrossValidate,
		func(r *umagpu.CrossValidateRequest) *umagpu.Compute { return &r.Compute }),
	"prediction_sets": function(umagpu.PredictionSets,
		func(r *umagpu.PredictionSetsRequest) *umagpu.Compute { return &r.Compute }),
	"clean": function(umagpu.Clean,
		func(r *umagpu.CleanRequest) *umagpu.Compute { return &r.Compute }),
	"report": function(umagpu.Report,
		func(r *umagpu.ReportRequest) *umagpu.Compute { return &r.Compute }),
	"nearest": function(umagpu.Nearest,
		func(r *umagpu.NearestRequest) *umagpu.Compute { return &r.Compute }),
	"estimate_noise": function(umagpu.EstimateNoise,
		func(r *umagpu.EstimateNoiseRequest) *umagpu.Compute { return &r.Compute }),
	"find_issues": function(umagpu.FindIssues,
		func(r *umagpu.FindIssuesRequest) *umagpu.Compute { return &r.Compute }),
	"check_noise": function(umagpu.CheckNoise,
		func(r *umagpu.CheckNoiseRequest) *umagpu.Compute { return &r.Compute }),
	"consensus": function(umagpu.Consensus,
		func(r *umagpu.ConsensusRequest) *umagpu.Compute { return &r.Compute }),
	"query": function(umagpu.Query,
		func(r *umagpu.QueryRequest) *umagpu.Compute { return &r.Compute }),
	"fit_kernel_map": function(umagpu.FitKernelMap,
		func(r *umagpu.FitKernelMapRequest) *umagpu.Compute { return &r.Compute }),
	"apply_kernel_map": function(umagpu.ApplyKernelMap,
		func(r *umagpu.ApplyKernelMapRequest) *umagpu.Compute { return &r.Compute }),
}

// function returns what decodes a request, computes as it is told, and calls do.
func function[Q, A any](do func(context.Context, *Q) (*A, error), compute func(*Q) *umagpu.Compute,
) func(context.Context, *call, []byte, *umagpu.Compute) (called, error) {
	return func(ctx context.Context, c *call, memory []byte, how *umagpu.Compute) (called, error) {
		r := new(Q)
		if err := wire.Decode(c.Request, c.Arrays, memory, r); err != nil {
			return called{}, undecoded(err)
		}
		*compute(r) = *how
		result, err := do(ctx, r)
		return called{r, result}, err
	}
}

// undecoded returns the fault of a request that has a value of another type than its field.
func undecoded(err error) *umagpu.Fault {
	wrong := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &wrong) {
		return &umagpu.Fault{Kind: umagpu.Invalid, Cause: err}
	}
	want := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.String: "a text",
		reflect.Slice: "a list", reflect.Float64: "a number",
		reflect.Uint64: "a whole number of at least 0"}[wrong.Type.Kind()]
	return &umagpu.Fault{Kind: umagpu.Invalid, Got: wrong.Value,
		Option: wrong.Field[strings.LastIndex(wrong.Field, ".")+1:], Want: cmp.Or(want, "a whole number")}
}

// run calls the function and writes the arrays of its result into a file in one of the folders.
func (c *call) run(ctx context.Context, folders []string, said notes) (answer *reply, err error) {
	do, known := functions[c.Function]
	if !known {
		return nil, fmt.Errorf("worker: found function %.40q, wanted one of this version", c.Function)
	}
	memory, done, err := c.mapped()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	device, err := app.NewDevice(c.Device, c.Audit)
	if err != nil {
		return nil, &umagpu.Fault{Kind: umagpu.Device, Option: "device", Cause: err}
	}
	compute := device.Compute(app.Notes{W: said, Quiet: true}, nil)
	compute.Note = said.say
	found, err := do(ctx, c, memory, &compute)
	if err != nil {
		return nil, err
	}
	phrase(reflect.ValueOf(found.result))
	pages := new(page.Pages)
	if c.Page != nil {
		c.Page.Spell = umagpu.SpellPython
		if pages, err = page.Of(ctx, found.request, found.result, c.Page); err != nil {
			return nil, err
		}
	}
	text, arrays, parts, err := wire.Encode(found.result, pages)
	if err != nil {
		return nil, err
	}
	answer = &reply{Result: text, Arrays: arrays}
	if len(parts) > 0 {
		for _, folder := range append(folders, "") { // the first with room
			if answer.Memory, err = write(folder, parts); err == nil {
				break
			}
		}
	}
	return answer, err
}

// phrase spells options in the notes and doubts of a result as Python does.
func phrase(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			phrase(v.Elem())
		}
	case reflect.Slice:
		for k := 0; k < v.Len() && v.Type().Elem().Kind() == reflect.Struct; k++ {
			phrase(v.Index(k))
		}
	case reflect.Struct:
		switch said := v.Addr().Interface().(type) {
		case *umagpu.Note:
			said.Text = umagpu.Phrase(said.Text, umagpu.SpellPython)
		case *learners.Doubt:
			said.Finding = umagpu.Phrase(said.Finding, umagpu.SpellPython)
			said.Advice = umagpu.Phrase(said.Advice, umagpu.SpellPython)
		default:
			for k := range v.NumField() {
				if f := v.Type().Field(k); f.IsExported() && f.Name != "Request" {
					phrase(v.Field(k))
				}
			}
		}
	}
}

// mapped maps the file of the arrays.
func (c *call) mapped() (memory []byte, done func() error, err error) {
	done = func() error { return nil }
	if c.Memory == "" {
		return nil, done, nil
	}
	f, err := os.Open(c.Memory)
	if err != nil {
		return nil, done, err
	}
	defer f.Close() // only read
	about, err := f.Stat()
	if err != nil || about.Size() == 0 {
		return nil, done, err
	}
	m, err := osfile.Map(f, int(about.Size()), c.Memory)
	if err != nil {
		return nil, done, err
	}
	return m.Bytes, m.Close, nil
}

// write writes arrays into a new file, each at a multiple of wire.Align.
func write(folder string, parts [][]byte) (path string, err error) {
	f, err := os.CreateTemp(folder, "result-")
	if err != nil {
		return "", err
	}
	at := int64(0)
	for _, part := range parts {
		if _, err = f.WriteAt(part, at); err != nil {
			break
		}
		at += int64((len(part) + wire.Align - 1) / wire.Align * wire.Align)
	}
	if err == nil {
		err = f.Truncate(max(at, 1))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return filepath.Clean(f.Name()), nil
}
