package umagpu

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// AutoLearner is a TrainRequest's learner that stands for a mixture of a linear model, a curved
// one, boosted trees and a forest: with the shares under which labels held out are likeliest,
// through the confusion if there is one. The best of them alone is learned from more examples than
// the choice reads, from votes or prepared data, and where the training is to be resumable: with a
// Time, or a Checkpoint other than of a failure.
const AutoLearner = "auto"

// What a choice of the learner reads at most, and tries curved models on.
const (
	mostChoosing       = 5000 // examples
	mostCurvedFeatures = 2000
	choosingFolds      = 3
)

// checkAuto returns the fault of settings of one learner beside AutoLearner.
func (r *TrainRequest) checkAuto() error {
	for _, p := range Parameters(&r.Settings) {
		own := p.Group == kernelGroup || p.Name == "normalize" || p.Name == "weights" ||
			p.Name == "max_steps"
		if own && !p.IsZero() {
			return conflict(p.Name, "a value beside the learner auto", "a learner")
		}
	}
	if len(r.Parameters) > 0 {
		return conflict("parameters", "values beside the learner auto", "a learner")
	}
	if r.From != nil || r.Resume != nil {
		return conflict("learner", "auto beside a model to begin with", "its learner")
	}
	plain := *r
	plain.Learner = ""
	return plain.Check()
}

// choice is what AutoLearner stands for.
type choice struct {
	ways         []Candidate // one, or the members of a mixture
	shares       []float64
	temperatures []float32 // of scores held out
	error        float64   // of the mixture
	time         float64   // that is left; 0 for no limit
}

// request returns r with a way in place of AutoLearner.
func (c *choice) request(r *TrainRequest, way int) *TrainRequest {
	one, w := *r, &c.ways[way]
	one.Learner, one.Kernel, one.Parameters = w.Learner, w.Kernel, w.Parameters
	one.Time = c.time
	return &one
}

// choose finds what AutoLearner stands for.
func (r *TrainRequest) choose(ctx context.Context, t *training) (*choice, error) {
	began := time.Now()
	set, err := r.Data.examples(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	ways := []Candidate{{Name: "linear"}}
	if !set.Sparse() && set.D <= mostCurvedFeatures {
		ways = append(ways, Candidate{Name: "curved", Settings: Settings{Kernel: "rbf"}})
	}
	if !set.Encoding.HasText() {
		for _, mode := range []string{trees.Boost, trees.Forest} {
			ways = append(ways, Candidate{Name: mode, Settings: Settings{Learner: "trees",
				Parameters: map[string]any{"mode": mode}}})
		}
	}
	found := &choice{ways: ways, time: r.Time}
	if len(ways) == 1 {
		return found, nil
	}
	for k := range ways { // half of the time, in equal parts
		ways[k].Time = r.Time / float64(2*choosingFolds*len(ways))
	}
	single := set.N > mostChoosing || set.Prepared != nil || r.Time > 0 ||
		r.Labels != nil && r.Labels.Votes != nil || r.Checkpoint.Path != "" && !r.Checkpoint.Failed
	tried, err := CrossValidate(ctx, &CrossValidateRequest{Data: r.Data, Labels: r.Labels,
		Confusion: r.Confusion, Settings: Settings{Seed: r.Seed}, Folds: choosingFolds, Compare: ways,
		Compute: r.Compute, most: mostChoosing, mix: !single})
	if err != nil {
		return nil, err
	}
	found.ways, found.error = nil, tried.error
	text := "learner auto: log-loss of labels held out:"
	for k := range tried.Compared {
		c := &tried.Compared[k]
		if c.LogLoss != nil {
			text += fmt.Sprintf(" %s %.4f,", c.Name, *c.LogLoss)
		}
		if c.share > 0 || c.p == nil && k == 0 {
			at := slices.IndexFunc(ways, func(w Candidate) bool { return w.Name == c.Name })
			found.ways, found.shares = append(found.ways, ways[at]), append(found.shares, c.share)
			found.temperatures = append(found.temperatures, c.temperature)
		}
	}
	text += " so"
	for k, w := range found.ways {
		if text += " " + w.Name; len(found.ways) > 1 {
			text += fmt.Sprintf(" %.0f %%", 100*found.shares[k])
		}
	}
	t.notes.say("%s", text)
	if r.Time > 0 {
		found.time = max(1e-9, r.Time-time.Since(began).Seconds())
	}
	return found, nil
}

// mixture learns the members of a choice, and returns their mixture; of an interrupted member that
// member alone.
func (r *TrainRequest) mixture(ctx context.Context, t *training, c *choice) (*TrainResult, error) {
	var members []*model.Model
	result := new(TrainResult)
	for k := range c.ways {
		one := c.request(r, k)
		if k+1 < len(c.ways) {
			one.Data.memory = nil // the next member reads the examples too
		}
		if k > 0 {
			one.Compute.Engine, one.Compute.Open = t.on, nil
		}
		found, err := one.train(ctx, t)
		if err != nil || found.Interrupted() {
			return found, err
		}
		doubts := lists.Keep(found.Doubts, func(d learners.Doubt) bool {
			return !slices.ContainsFunc(result.Doubts, func(known learners.Doubt) bool {
				return known.Code == d.Code
			})
		})
		found.Doubts = append(result.Doubts, doubts...)
		found.Steps += result.Steps
		found.Model.model.Meta.Temperature = c.temperatures[k]
		members, result = append(members, found.Model.model), found
	}
	m := model.Mix(members, c.shares)
	result.Request, result.Model, result.Learner = *r, &Model{m}, AutoLearner
	result.Request.Data, result.EstimatedError = r.Data.described(), c.error
	m.Meta.Learner, m.Meta.Parameters, m.Meta.Steps = AutoLearner, json.RawMessage("{}"), result.Steps
	m.Meta.EstimatedError = &result.EstimatedError
	result.Notes = t.notes.all
	var err error
	if t.held != nil {
		result.Validation, err = validate(ctx, t.on, m, t.held, t.noise)
	}
	return result, fault(ctx, err)
}

// sample leaves about most of the examples of v, with their shares of each label.
func (v *validation) sample(most int) error {
	d := v.data
	if most == 0 || d.N <= most {
		return nil
	}
	part := *d
	folds := dataset.DrawFolds(d.Y, len(d.Classes), (d.N+most-1)/most, v.request.seed(),
		dataset.OuterFolds)
	some := lists.Where(d.N, func(i int) bool { return folds[i] == 0 })
	examples, err := d.Copy(some)
	if err != nil {
		return err
	}
	part.Examples, part.Y, part.SHA256 = examples, lists.At(d.Y, some), ""
	part.IDs, part.Source, part.Rest = nil, nil, nil
	part.Evidence = d.Evidence.Pick(some, len(d.Classes))
	if v.annotations != nil {
		v.annotations = v.annotations.Pick(some)
	}
	v.data = &part
	return nil
}
