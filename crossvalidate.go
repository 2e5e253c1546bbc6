package umagpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// CrossValidateRequest asks how good settings are, by examples held out in turn.
type CrossValidateRequest struct {
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // to learn and judge by; nil if labels are right
	Settings
	Folds int `json:"folds,omitempty"`
	// Compare are settings to compare on the same folds, in place of Settings, whose Seed they have.
	Compare []Candidate `json:"compare,omitempty"`
	Compute Compute     `json:"-"`

	most int  // examples to take part; 0 for all
	mix  bool // finds the shares of the candidates in their best mixture
}

// Candidate is settings in a comparison.
type Candidate struct {
	Name string `json:"name"`
	Settings
	NoConfusion bool       `json:"no_confusion,omitempty"` // takes labels to be right
	Confusion   *Confusion `json:"confusion,omitempty"`    // to learn with, unlike the one that judges
}

// CrossValidateResult judges all examples, each by the training that has not seen it.
type CrossValidateResult struct {
	Request CrossValidateRequest `json:"request" array:"-"`
	Learner string               `json:"learner,omitempty"`
	Folds   int                  `json:"folds"`
	*Judgement
	Classes []string `json:"classes"`
	// predicted; -1 of an example that no annotator has labelled
	Codes []int32 `json:"-" array:"codes"`
	// n×Q; nil if the models have none
	Probabilities []float32     `json:"-" array:"probabilities"`
	Compared      []Compared    `json:"compared,omitempty"` // of Compare, the best first
	Notes         []Note        `json:"notes,omitempty"`
	Device        engine.Device `json:"device"`

	error float64 // of the mixture, corrected
}

// Compared is how good a candidate is.
type Compared struct {
	Name string `json:"name"`
	// corrected, if there is a confusion; nil if unknown
	LogLoss     *float64         `json:"log_loss"`
	Behind      float64          `json:"behind"`       // the best, of its loss
	BehindError float64          `json:"behind_error"` // standard error of that
	Accuracy    *metric.Estimate `json:"accuracy"`     // corrected, likewise
	Failed      string           `json:"failed,omitempty"`

	losses []float64 // of each example that is judged
	p      []float32 // its probabilities, n×Q; of a mixture alone
	share  float64   // in the best mixture

	temperature float32 // of scores held out; 0 for none
}

// Check returns the fault of options that no data could satisfy.
func (r *CrossValidateRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	for k := range r.Compare {
		c := &r.Compare[k]
		err := checkParameters(&c.Settings)
		if err == nil {
			err = r.checkLearner(&c.Settings)
		}
		if f := (*Fault)(nil); errors.As(err, &f) {
			named := *f
			named.Where = fmt.Sprintf("candidate %q", cmp.Or(c.Name, fmt.Sprint(k)))
			return &named
		}
	}
	return r.checkLearner(&r.Settings)
}

func (r *CrossValidateRequest) checkLearner(s *Settings) error {
	o, err := s.options()
	if err != nil {
		return err
	}
	return r.Labels.checkLearner(o.Learner)
}

// checkLearner returns the fault of a learner that cannot learn from the labels.
func (l *Labels) checkLearner(p learners.Params) error {
	if l == nil || l.Votes == nil || l.Votes.Functions || learners.IsProbabilistic(p) {
		return nil
	}
	return conflict("learner", p.Definition().Name+" beside labels of annotators",
		"one that learns from them, such as softmax")
}

// CrossValidate judges settings by each example's prediction of a training without its fold. Labels
// of annotators are judged by their consensus.
func CrossValidate(ctx context.Context, r *CrossValidateRequest) (*CrossValidateResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	v := validation{request: r, result: &CrossValidateResult{Request: *r}}
	v.notes.to, v.compute = r.Compute.Note, &r.Compute
	err := v.read(ctx, &r.Data, r.Labels, r.Confusion, nil, r.seed())
	if err == nil {
		err = v.sample(r.most)
	}
	if err == nil {
		err = v.judgeBy(ctx)
	}
	if err == nil {
		err = r.Compute.use(v.work, func(e *engine.Engine) error {
			v.on, v.result.Device = e, e.Device()
			if len(r.Compare) > 0 {
				return v.compare(ctx)
			}
			return v.judge(ctx)
		})
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	v.result.Request.Data, v.result.Notes = r.Data.described(), v.notes.all
	v.result.Classes, v.result.Folds = v.data.Classes, v.folds()
	return v.result, nil
}

// validation is a call of CrossValidate.
type validation struct {
	training
	request *CrossValidateRequest
	result  *CrossValidateResult
	labels  []int32           // that judge
	by      *confusion.Matrix // their noise; nil if they are right
	known   []int             // examples with a label
}

// usualFolds is how many folds there are unless a request says.
const usualFolds = 5

func (v *validation) folds() int { return cmp.Or(v.request.Folds, usualFolds) }

// judgeBy finds the labels that judge: of annotators their consensus.
func (v *validation) judgeBy(ctx context.Context) error {
	d, q := v.data, len(v.data.Classes)
	v.labels, v.by = d.Y, v.noise
	v.known = lists.Where(d.N, func(i int) bool {
		return d.Evidence == nil || !d.Evidence.Unknown(i, q)
	})
	if v.annotations == nil {
		return nil
	}
	found, err := crowd.Fit(ctx, v.annotations, crowd.Options{})
	if err != nil {
		return &Fault{Kind: Unfit, Option: "votes", Cause: err}
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return &Fault{Kind: Unfit, Option: "votes", Cause: err}
	}
	v.notes.say("judged by the consensus of the annotators (%s)", found.Method)
	v.labels, v.by, d.Y = found.Consensus, &noise.Matrix, found.Consensus
	return nil
}

// work is what the trainings read.
func (v *validation) work() host.Work {
	w := host.Work{Data: v.data, Classes: len(v.data.Classes), Condition: 1}
	for _, s := range append([]Settings{v.request.Settings}, v.candidates()...) {
		o, err := s.options()
		switch {
		case err != nil || o.Kernel == nil:
		case o.Learner.Definition().FitMap != nil:
			w.Components = max(w.Components, w.Classes)
		default:
			w.Components = max(w.Components, o.Kernel.MostComponents(v.data.N, v.data.D))
		}
	}
	return w
}

func (v *validation) candidates() (all []Settings) {
	for k := range v.request.Compare {
		all = append(all, v.request.Compare[k].Settings)
	}
	return all
}

// fit makes the trainings, and judges all examples that have a label.
func (v *validation) fit(ctx context.Context, s *Settings, noise *confusion.Matrix,
) (j *Judgement, held *judge.HeldOut, p []float32, err error) {
	o, err := s.options()
	if err != nil {
		return nil, nil, nil, err
	}
	o.Engine, o.Annotations, o.Watch = v.on, v.annotations, host.Watch{Note: v.notes.say}
	if held, err = host.OutOfFold(ctx, v.data, noise, o, v.folds()); err != nil {
		return nil, nil, nil, err
	}
	q := held.Q
	if p, err = held.Probabilities(); errors.Is(err, model.ErrNoTemperature) {
		p, err = nil, nil
	} else if err != nil {
		return nil, nil, nil, err
	}
	predicted := engine.Predicted(held.Scores, q)
	labels := v.data.Evidence.Labels(predicted, v.labels, q)
	j, err = judgement(lists.At(labels, v.known), lists.At(predicted, v.known), v.pick(p),
		v.data.Classes, v.by)
	return j, held, p, err
}

// pick returns the probabilities of the examples that judge; nil of nil.
func (v *validation) pick(p []float32) (some []float32) {
	if p == nil || len(v.known) == v.data.N {
		return p
	}
	q := len(v.data.Classes)
	for _, i := range v.known {
		some = append(some, p[i*q:(i+1)*q]...)
	}
	return some
}

// judge judges the settings of the request.
func (v *validation) judge(ctx context.Context) error {
	s := &v.request.Settings
	j, held, p, err := v.fit(ctx, s, v.noise)
	if err != nil {
		return err
	}
	o, err := s.options()
	if err != nil {
		return err
	}
	r := v.result
	r.Learner, r.Judgement, r.Probabilities = o.Learner.Definition().Name, j, p
	r.Codes = engine.Predicted(held.Scores, held.Q)
	v.spread(r)
	return nil
}

// spread puts the predictions of the examples with votes in the places of all examples.
func (v *validation) spread(r *CrossValidateResult) {
	n, q := v.examples, len(v.data.Classes)
	if n == v.data.N {
		return
	}
	voted, predicted, p := make([]bool, n), r.Codes, r.Probabilities
	for _, i := range v.request.Labels.Votes.Rows {
		voted[i] = true
	}
	if r.Codes = slices.Repeat([]int32{-1}, n); p != nil {
		r.Probabilities = make([]float32, n*q)
	}
	for k, i := range lists.Where(n, func(i int) bool { return voted[i] }) {
		if r.Codes[i] = predicted[k]; p != nil {
			copy(r.Probabilities[i*q:], p[k*q:(k+1)*q])
		}
	}
}

// compare judges the candidates on the same folds.
func (v *validation) compare(ctx context.Context) error {
	all := v.request.Compare
	ctx, task := progress.Begin(ctx, progress.Work{Name: "comparing", Unit: "configuration",
		Total: int64(len(all))})
	defer task.End()
	for k := range all {
		v.notes.say("%d of %d: %s", k+1, len(all), all[k].Name)
		task.Reach(int64(k))
		c, err := v.candidate(ctx, &all[k])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.Name = all[k].Name; err != nil {
			c.Failed = err.Error()
			v.notes.warn("%s: %v", c.Name, err)
		}
		v.result.Compared = append(v.result.Compared, c)
	}
	rank(v.result.Compared)
	if first := &v.result.Compared[0]; first.Failed != "" {
		return &Fault{Kind: Unfit, Got: fmt.Sprintf("candidates that all failed, %q with %s", first.Name,
			first.Failed), Want: "one that can be trained"}
	}
	if v.request.mix {
		return v.mix()
	}
	return nil
}

// Likelihoods and shares in a mixture of candidates.
const (
	leastLikely = 1e-4 // limits the influence of a single example
	leastShare  = 0.1  // a candidate of less is left out
)

// mix finds the shares of the candidates under which labels held out are likeliest, and the error
// of that mixture.
func (v *validation) mix() error {
	some := lists.Keep(v.result.Compared, func(c Compared) bool { return c.losses != nil })
	if len(some) == 0 {
		return nil
	}
	for mixed := 0; mixed != len(some); {
		mixed = len(some)
		likely := make([][]float64, mixed)
		for k := range some {
			for _, loss := range some[k].losses {
				likely[k] = append(likely[k], max(math.Exp(-loss), leastLikely))
			}
		}
		for k, share := range clean.Shares(likely) {
			some[k].share = share
		}
		some = lists.Keep(some, func(c Compared) bool { return c.share >= leastShare })
	}
	v.result.Compared = some
	sums := make([]float32, len(some[0].p))
	for _, c := range some {
		for at, p := range c.p {
			sums[at] += float32(float32(c.share) * p)
		}
	}
	q := len(v.data.Classes)
	j, err := judgement(lists.At(v.labels, v.known), engine.Predicted(sums, q), nil, v.data.Classes,
		v.by)
	if err == nil {
		if v.result.error = j.ErrorRate; j.Corrected != nil {
			v.result.error = 1 - j.Corrected.Accuracy.Value
		}
	}
	return err
}

// candidate judges a candidate.
func (v *validation) candidate(ctx context.Context, c *Candidate) (found Compared, err error) {
	noise := v.noise
	if c.Confusion != nil {
		if noise, err = c.Confusion.matrix(v.data, &v.notes); err != nil {
			return found, err
		}
	} else if c.NoConfusion {
		noise = nil
	}
	s := c.Settings
	s.Seed = v.request.Seed
	j, held, p, err := v.fit(ctx, &s, noise)
	if err != nil {
		return found, err
	}
	found.temperature = held.Temperature
	if j.Corrected != nil {
		found.Accuracy = &j.Corrected.Accuracy
	} else if v.by == nil {
		right := 1 - j.ErrorRate
		found.Accuracy = &metric.Estimate{Value: right, Low: right, High: right}
	}
	if p != nil {
		found.losses = judge.Losses(lists.At(v.labels, v.known), v.pick(p), v.by, len(v.data.Classes))
		mean := lists.Mean(found.losses)
		if found.LogLoss = &mean; v.request.mix {
			found.p = v.pick(p)
		}
	}
	return found, nil
}

// rank orders candidates by their loss, failed ones last, and compares each with the best, example
// by example.
func rank(all []Compared) {
	loss := func(c Compared) float64 {
		if c.LogLoss == nil {
			return math.Inf(1)
		}
		return *c.LogLoss
	}
	slices.SortStableFunc(all, func(a, b Compared) int {
		if failed := (a.Failed != "") != (b.Failed != ""); failed {
			return map[bool]int{true: 1, false: -1}[a.Failed != ""]
		}
		return cmp.Compare(loss(a), loss(b))
	})
	best := all[0].losses
	for k := range all {
		if c := &all[k]; c.losses != nil {
			c.Behind, c.BehindError = lists.MeanError(len(best), func(i int) float64 {
				return c.losses[i] - best[i]
			})
		}
	}
}
