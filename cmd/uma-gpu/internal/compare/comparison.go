package compare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

type comparison struct {
	*Options
	data   *dataset.Dataset
	judge  *confusion.Matrix // nil if labels are taken to be right
	engine engine.Engine
}

// tryAll tries all candidates, and enters those into the report. Its error is that of a cancelled
// ctx.
func (x *comparison) tryAll(ctx context.Context, list []candidate,
	report *Report) error {
	ctx, task := progress.Begin(ctx, progress.Work{Name: "comparing", Unit: "way",
		Total: int64(len(list))})
	defer task.End()
	for k, way := range list {
		x.Notes.Say("%d of %d: %s", k+1, len(list), way.flags)
		task.Reach(int64(k))
		tried, err := x.try(ctx, way)
		if err := app.Interrupted(ctx); err != nil {
			return err
		}
		if err != nil {
			err = app.AdviseKernel(app.AdviseMemory(err))
			x.Notes.Warn("%s: %v", way.flags, err)
			report.Failed = append(report.Failed, failure{way.flags, err.Error()})
			continue
		}
		report.Tried = append(report.Tried, tried)
	}
	return nil
}

// try trains in a way by every seed, and judges it.
func (x *comparison) try(ctx context.Context, way candidate) (tried Tried, err error) {
	o := way.Train
	o.Engine = x.engine
	noise, err := x.noiseOf(ctx, way, o)
	if err != nil {
		return tried, err
	}
	by := noise
	if o.Annotations != nil {
		by = x.judge // the labels held out are the consensus
	}
	var bySeed []Tried
	ctx, task := progress.Begin(ctx, progress.Work{Name: "every seed", Unit: "seed",
		Total: int64(x.Seeds)})
	defer task.End()
	for range x.Seeds {
		held, err := outoffold.Scores(ctx, x.data, noise, o, x.Folds)
		if err != nil {
			return tried, err
		}
		r, err := x.judged(held, by)
		if err != nil {
			return tried, err
		}
		bySeed = append(bySeed, r)
		o.Seed++
		task.Add(1)
	}
	tried = mean(bySeed)
	tried.Flags, tried.way = way.flags, way
	return tried, nil
}

// judged judges what a way that learned with noise says of examples held out.
func (x *comparison) judged(held *judge.HeldOut, noise *confusion.Matrix) (r Tried,
	err error) {
	classes := x.data.Classes
	if err := r.judge(x.data, engine.Predicted(held.Scores, held.Q), x.judge); err != nil {
		return r, err
	}
	p, err := held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if noise == nil {
		noise = &confusion.Matrix{Classes: classes, P: confusion.NoNoise(len(classes)).V}
	}
	loss, err := metric.CorrectedLogLoss(x.data.Y, p, noise.P)
	r.NoisyLogLoss = &loss
	return r, err
}

// mean is the mean over seeds. Its interval is the mean one: the examples are the same with every
// seed.
func mean(bySeed []Tried) Tried {
	m := bySeed[0]
	n := float64(len(bySeed))
	if n == 1 {
		return m
	}
	var a metric.Estimate
	loss, losses := 0.0, 0
	credits := make([]float64, len(m.credits))
	for _, r := range bySeed {
		a.Value, a.Low, a.High = a.Value+r.Accuracy.Value/n, a.Low+r.Accuracy.Low/n,
			a.High+r.Accuracy.High/n
		if r.NoisyLogLoss != nil {
			loss, losses = loss+*r.NoisyLogLoss/n, losses+1
		}
		for i, v := range r.credits {
			credits[i] += v / n
		}
	}
	m.Accuracy, m.credits, m.NoisyLogLoss = a, credits, nil
	if losses == len(bySeed) {
		m.NoisyLogLoss = &loss
	}
	return m
}

// save trains in a way on all examples and writes the model.
func (x *comparison) save(ctx context.Context, way candidate) error {
	o := way.Train
	o.Engine, o.Watch = x.engine, host.Watch{Note: x.Notes.Say}
	noise, err := x.noiseOf(ctx, way, o)
	if err != nil {
		return app.AdviseKernel(app.AdviseMemory(err))
	}
	m, err := host.Train(ctx, x.data, noise, o)
	if err := app.Failure(ctx, x.data.Path, err); err != nil {
		return err
	}
	return m.Save(x.Model)
}

// noiseOf returns the matrix to learn with in a way, nil for none.
func (x *comparison) noiseOf(ctx context.Context, way candidate, o host.Options,
) (*confusion.Matrix, error) {
	method := way.estimates()
	switch {
	case way.Noise.Path == "" && way.Train.Annotations == nil:
		return x.judge, nil
	case way.Train.Annotations != nil || way.Noise.Path == noConfusion || method == outoffold.NoNoise:
		return nil, nil
	case method == "":
		return way.Noise.Read(ctx, x.data.Classes)
	}
	found, err := outoffold.EstimateNoise(ctx, x.data, outoffold.NoiseOptions{Options: o,
		Method: method, Folds: x.Folds})
	if err != nil {
		return nil, err
	}
	if found.Chosen == outoffold.NoNoise {
		return nil, nil
	}
	return &found.Matrix, nil
}

// judge compares predictions with labels that are noisy by the matrix, or right if that is nil.
func (r *Tried) judge(d *dataset.Dataset, predicted []int32, noise *confusion.Matrix) error {
	report, err := metric.Evaluate(d.Y, predicted, d.Classes)
	if err != nil {
		return err
	}
	q := len(d.Classes)
	inverse := confusion.NoNoise(q)
	p, errs := inverse.V, []float64(nil)
	if noise != nil {
		if inverse, err = noise.Invert(); err != nil {
			return err
		}
		p, errs = noise.P, noise.Error
	}
	corrected, err := metric.Correct(report.Confusion, d.Classes, p, inverse.V, errs)
	if err != nil {
		return err
	}
	r.Accuracy = corrected.Accuracy
	for i, said := range predicted {
		r.credits = append(r.credits, inverse.V[int(said)*q+int(d.Y[i])])
	}
	return nil
}

// loss is the noisy log-loss; infinite where there is none.
func (r Tried) loss() float64 {
	if r.NoisyLogLoss == nil {
		return math.Inf(1)
	}
	return *r.NoisyLogLoss
}

// rank orders them, the best first, and compares each with it.
func rank(tried []Tried) {
	slices.SortStableFunc(tried, func(a, b Tried) int {
		return -cmp.Compare(a.Accuracy.Value, b.Accuracy.Value)
	})
	if tried[0].Accuracy.Low > 1 { // the labels are not noisy by the matrix
		slices.SortStableFunc(tried, func(a, b Tried) int {
			return cmp.Compare(a.loss(), b.loss())
		})
	}
	best := tried[0].credits
	n := float64(len(best))
	for k := range tried {
		sum, square := 0.0, 0.0
		for i, v := range tried[k].credits {
			d := best[i] - v
			sum += d
			square += float64(d * d)
		}
		tried[k].Behind = sum / n
		tried[k].BehindError = math.Sqrt(max(0, square/n-sum/n*sum/n) / n)
	}
}
