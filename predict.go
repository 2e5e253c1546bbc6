package umagpu

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// PredictRequest asks a model for the classes of examples. Columns of a Table are found by name.
type PredictRequest struct {
	Model *Model `json:"-" array:"model"`
	Data  Data   `json:"data,omitzero"`

	Probabilities bool `json:"probabilities,omitempty"`
	Scores        bool `json:"scores,omitempty"`
	// level of prediction sets, which PredictionSets fitted
	Sets    float64 `json:"sets,omitempty"`
	Compute Compute `json:"-"`
}

// Check returns the fault of options that no data could satisfy.
func (r *PredictRequest) Check() error {
	if err := r.Model.check(); err != nil {
		return err
	}
	switch {
	case r.Probabilities && r.Model.model.Meta.Temperature == 0:
		return &Fault{Kind: Unfit, Option: "model", Cause: model.ErrNoTemperature}
	case r.Sets != 0:
		_, err := r.rule()
		return err
	}
	return nil
}

// rule returns the rule of the prediction sets.
func (r *PredictRequest) rule() (sets.Rule, error) {
	known := r.Model.model.Meta.Sets
	rule, ok := sets.At(known, r.Sets)
	if !ok {
		var levels []float64
		for _, each := range known {
			levels = append(levels, each.Level)
		}
		return rule, &Fault{Kind: Unfit, Option: "model", Got: fmt.Sprintf(
			"prediction sets of levels %v", levels), Want: fmt.Sprintf("level %v", r.Sets),
			Advice: "fit them to held-out examples by PredictionSets, or calibrate --sets"}
	}
	return rule, nil
}

// PredictResult has the class of each example, and what else was asked for.
type PredictResult struct {
	Request       PredictRequest `json:"request" array:"-"`
	Classes       []string       `json:"classes"`
	Codes         []int32        `json:"-" array:"codes"`         // places in Classes
	Probabilities []float32      `json:"-" array:"probabilities"` // n×Q row-major; each row sums to 1
	// n×Q row-major; the largest is predicted
	Scores []float32 `json:"-" array:"scores"`
	// n×Q row-major: whether the set has the class
	Sets   []bool        `json:"-" array:"sets"`
	Notes  []Note        `json:"notes,omitempty"`
	Device engine.Device `json:"device"`
}

// Predict returns the class of each example.
func Predict(ctx context.Context, r *PredictRequest) (*PredictResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	c := classification{model: r.Model.model, scores: r.Scores || r.Probabilities || r.Sets != 0}
	c.notes.to = r.Compute.Note
	if err := c.run(ctx, &r.Data, &r.Compute); err != nil {
		return nil, fault(ctx, err)
	}
	q := c.model.Q
	result := &PredictResult{Request: *r, Classes: c.model.Meta.Classes, Codes: c.predicted,
		Notes: c.notes.all, Device: c.device}
	result.Request.Data = r.Data.described()
	if r.Scores {
		result.Scores = append([]float32{}, c.found...)
	}
	if !r.Probabilities && r.Sets == 0 {
		return result, nil
	}
	if err := c.model.ToProbabilities(c.found); err != nil {
		return nil, &Fault{Kind: Unfit, Option: "model", Cause: err}
	}
	if r.Probabilities {
		result.Probabilities = c.found
	}
	if r.Sets != 0 {
		rule, err := r.rule()
		if err != nil {
			return nil, err
		}
		result.Sets = make([]bool, len(c.found))
		var set []int32
		for i := range c.data.N {
			set = rule.Classes(set[:0], c.found[i*q:(i+1)*q])
			for _, k := range set {
				result.Sets[i*q+int(k)] = true
			}
		}
	}
	return result, nil
}

// classification is the use of a model on data.
type classification struct {
	model     *model.Model
	scores    bool // whether they are wanted
	notes     notes
	data      *dataset.Dataset // prepared
	memory    []dataset.Memory
	predicted []int32
	found     []float32 // the scores
	device    engine.Device
}

// run reads and prepares the data, and predicts.
func (c *classification) run(ctx context.Context, d *Data, compute *Compute) (err error) {
	if c.data, err = d.examplesFor(ctx, c.model); err != nil {
		return err
	}
	c.memory = d.memory
	return c.predict(ctx, compute)
}

// judged is run on data whose labels are to be compared with the predictions. It returns their
// confusion matrix, nil if they are right.
func (c *classification) judged(ctx context.Context, d *Data, l *Labels, noise *Confusion,
	compute *Compute) (m *confusion.Matrix, err error) {
	if m, err = c.labelled(ctx, d, l, noise); err != nil {
		return nil, err
	}
	return m, c.predict(ctx, compute)
}

// labelled reads data with labels of the classes of the model, and their confusion matrix.
func (c *classification) labelled(ctx context.Context, d *Data, l *Labels, noise *Confusion,
) (m *confusion.Matrix, err error) {
	if c.data, err = d.examplesFor(ctx, c.model); err != nil {
		return nil, err
	}
	c.memory = d.memory
	if l, err = l.of(c.model.Meta.Classes); err != nil {
		return nil, err
	}
	if _, err = l.enter(ctx, c.data, 0); err != nil {
		return nil, err
	}
	for i := range c.data.N {
		if e := c.data.Evidence; e != nil && !e.One(i, len(c.data.Classes)) {
			row := c.data.SourceRow(i)
			return nil, &Fault{Kind: Invalid, Option: "labels", Row: &row, Got: "no label, or several",
				Want: "one class for each example", Advice: "label the row, or leave it out"}
		}
	}
	return noise.matrix(c.data, &c.notes)
}

// predict prepares the data, and predicts.
func (c *classification) predict(ctx context.Context, compute *Compute) (err error) {
	m := c.model
	c.notes.of(c.data)
	if err := features.PrepareBy(c.data, &m.Meta.Preparation, c.memory...); err != nil {
		return err
	}
	return compute.use(c.work, func(e *engine.Engine) error {
		c.device = e.Device()
		if c.scores {
			if c.found, err = m.ScoresPrepared(ctx, e, c.data.Examples); err != nil {
				return err
			}
			c.predicted = engine.Predicted(c.found, m.Q)
			return ctx.Err()
		}
		if c.predicted, err = m.PredictPrepared(ctx, e, c.data.Examples); err != nil {
			return err
		}
		return ctx.Err()
	})
}

// work is what the use of the model, or a training like it, takes.
func (c *classification) work() host.Work {
	w := host.Work{Data: c.data, Classes: c.model.Q, Condition: 1}
	if c.model.Projection != nil {
		w.Components = c.model.D
	}
	return w
}
