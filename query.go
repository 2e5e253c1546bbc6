package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// QueryRequest asks which examples without a label an expert should label next.
type QueryRequest struct {
	Data Data `json:"data,omitzero"`
	// below 0 without one; nil for the labels of FromDataset
	Labels    *Labels    `json:"labels,omitempty"`
	Confusion *Confusion `json:"confusion,omitempty"` // of the expert's errors; nil for none
	// Aside are examples not to ask for, which the expert could not tell; nil for none.
	Aside    []int32 `json:"-" array:"aside"`
	K        int     `json:"k,omitempty"`
	Strategy string  `json:"strategy,omitempty"`
	Settings
	Compute Compute `json:"-"`
}

// QueryResult is the examples to label next.
type QueryResult struct {
	Request  QueryRequest  `json:"request" array:"-"`
	Rows     []int         `json:"rows"` // examples from 0, the best first
	Strategy string        `json:"strategy"`
	Learner  string        `json:"learner"`
	Labelled int           `json:"labelled"` // examples with a label
	Left     int           `json:"left"`     // examples neither labelled nor chosen
	Notes    []Note        `json:"notes,omitempty"`
	Device   engine.Device `json:"device"`
}

// Check returns the fault of options that no data could satisfy.
func (r *QueryRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	o, err := r.Settings.options()
	if err == nil && o.Kernel != nil && o.Learner.Definition().FitMap != nil {
		err = conflict("kernel", "one beside a learner that has a map of its own", "none")
	}
	return err
}

// Query learns from the examples that have a label, and chooses those without one whose labels
// would teach most. Until two classes have labels, they are drawn at random.
func Query(ctx context.Context, r *QueryRequest) (*QueryResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	said := notes{to: r.Compute.Note}
	set, err := labelled(ctx, &r.Data, r.Labels, &said)
	if err != nil {
		return nil, fault(ctx, err)
	}
	strategy := cmp.Or(r.Strategy, active.Margin)
	noise, err := r.Confusion.matrix(set, &said)
	if err != nil {
		return nil, err
	}
	labels := slices.Clone(set.Y)
	for _, i := range r.Aside {
		if i < 0 || int(i) >= set.N || labels[i] >= 0 {
			return nil, invalid("aside", fmt.Sprintf("example %d", i), "examples without a label")
		}
		labels[i] = active.Aside
	}
	o, err := r.Settings.options()
	if err != nil {
		return nil, err
	}
	result := &QueryResult{Request: *r, Strategy: strategy,
		Learner: o.Learner.Definition().Name}
	err = r.Compute.use(workOn(set), func(e *engine.Engine) error {
		o.Engine, result.Device = e, e.Device()
		o.Watch = host.Watch{Note: said.say}
		pool, err := active.NewPool(ctx, set, o)
		if err != nil {
			return err
		}
		pool.Labels, o.Watch = labels, host.Watch{}
		var m *model.Model
		switch known := lists.Keep(labels, func(y int32) bool { return y >= 0 }); {
		case len(lists.Set(known)) < 2:
			said.say("rows: drawn at random until two classes have labels")
		case strategy == active.Margin:
			trained, err := pool.Fit(ctx, noise, o)
			if err != nil {
				return err
			}
			m = trained.Model
		}
		result.Rows, err = pool.Ask(e, m, cmp.Or(r.K, 10), o.Seed)
		return err
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Labelled = lists.Count(labels, func(y int32) bool { return y >= 0 })
	result.Left = lists.Count(labels, func(y int32) bool { return y == active.Unknown }) -
		len(result.Rows)
	if len(result.Rows) == 0 {
		said.say("rows: none is left to label")
	}
	result.Request.Data, result.Notes = r.Data.described(), said.all
	return result, nil
}
