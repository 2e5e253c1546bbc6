package cv

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Comparison is what cv --try --json prints.
type Comparison struct {
	Examples  int           `json:"examples"`
	Folds     int           `json:"folds"`
	Corrected bool          `json:"measures_corrected"`
	Tried     []Tried       `json:"tried"` // the best first
	Failed    []Failed      `json:"failed"`
	Device    engine.Device `json:"device"`
}

// Tried is a configuration and how good it is on examples held out.
type Tried struct {
	Flags       string           `json:"flags"`
	LogLoss     *float64         `json:"log_loss"`     // corrected, if there is a matrix; nil if unknown
	Behind      float64          `json:"behind"`       // the best, of its loss
	BehindError float64          `json:"behind_error"` // standard error of that
	Accuracy    *metric.Estimate `json:"accuracy"`     // corrected, likewise

	losses []float64 // of each example
}

// Failed is a configuration whose training ended with an error.
type Failed struct {
	Flags string `json:"flags"`
	Error string `json:"error"`
}

// configuration is how --try trains.
type configuration struct {
	training.Options
	flags string
}

// noConfusion, as --confusion of a --try, means no matrix.
const noConfusion = "none"

// configurations parses --try. Each configuration adds its flags to cv's flags for the learner,
// kernel and preparation.
func (o *Options) configurations() (all []*configuration, err error) {
	for _, flags := range o.Try.Value() {
		c := &configuration{flags: flags}
		shared := app.Flags(app.NormalizeFlag(&c.Train.Preparation),
			app.Without(training.LearningFlags(&c.Options, "folds"), "seed"),
			c.Kernel.Flag(&c.Common), c.Kernel.DetailFlags(), c.Kernel.StepsFlag())
		if err := app.Vary(&o.Common, &c.Common, shared, c.Noise.Flags("`FILE`"),
			strings.Fields(flags)); err != nil {
			return nil, fmt.Errorf("--try %q: %w", flags, err)
		}
		if err := c.CheckLearning(); err != nil {
			return nil, fmt.Errorf("--try %q: %w", flags, err)
		}
		if o.Annotators != "" && !learners.IsProbabilistic(c.Train.Learner) {
			return nil, app.Usage("--try %q: learner %s cannot learn from the labels of --annotators", flags,
				c.Train.Learner.Definition().Name)
		}
		c.Train.Seed = o.Train.Seed
		all = append(all, c)
	}
	return all, nil
}

// compare judges the configurations of --try on the same parts.
func compare(ctx context.Context, o *Options) error {
	all, err := o.configurations()
	if err != nil {
		return err
	}
	f, err := training.ReadFolded(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Noise, err = o.ReadNoise(ctx, f.Dataset.Classes); err != nil {
		return err
	}
	given := f.Noise
	if o.Annotators != "" {
		if f.Noise, err = training.JudgeByConsensus(ctx, &o.Options, f.Dataset); err != nil {
			return err
		}
	}
	r := &Comparison{Examples: f.Dataset.N, Folds: o.Folds, Corrected: f.Noise != nil,
		Failed: []Failed{}}
	if err := f.Learn(ctx, func(with host.Options) error {
		r.Device = with.Engine.Device()
		return r.try(ctx, f, all, given, with)
	}); err != nil {
		return err
	}
	if len(r.Tried) == 0 {
		return fmt.Errorf("%s: no --try could be trained; the first failed with %s", o.Data.Path,
			r.Failed[0].Error)
	}
	r.rank()
	return o.PrintTable(r, r.fill)
}

// try trains by all configurations, with the options that they share. given is the matrix to learn
// with unless a configuration has another.
func (r *Comparison) try(ctx context.Context, f *training.OutOfFold, all []*configuration,
	given *confusion.Matrix, with host.Options) error {
	ctx, task := progress.Begin(ctx, progress.Work{Name: "comparing", Unit: "configuration",
		Total: int64(len(all))})
	defer task.End()
	for k, c := range all {
		f.Notes.Say("%d of %d: %s", k+1, len(all), c.flags)
		task.Reach(int64(k))
		o := c.Train
		o.Engine, o.Watch, o.Annotations = with.Engine, with.Watch, with.Annotations
		tried, err := judged(ctx, f, c, given, o)
		if err := app.Interrupted(ctx); err != nil {
			return err
		}
		if err != nil {
			err = app.Advise(err)
			f.Notes.Warn("%s: %v", c.flags, err)
			r.Failed = append(r.Failed, Failed{c.flags, err.Error()})
			continue
		}
		r.Tried = append(r.Tried, tried)
	}
	return nil
}

// judged trains by a configuration and judges it by the examples held out.
func judged(ctx context.Context, f *training.OutOfFold, c *configuration, given *confusion.Matrix,
	o host.Options) (t Tried, err error) {
	d := f.Dataset
	noise := given
	if c.Noise.Path == noConfusion {
		noise = nil
	} else if c.Noise.Path != "" {
		if noise, err = c.Noise.Read(ctx, d.Classes); err != nil {
			return t, err
		}
	}
	one := *f
	if one.Held, err = host.OutOfFold(ctx, d, noise, o, f.Folds); err != nil {
		return t, err
	}
	j, p, err := judgeAll(&one)
	if err != nil {
		return t, err
	}
	t.Flags = c.flags
	if j.Corrected != nil {
		t.Accuracy = &j.Corrected.Accuracy
	} else if f.Noise == nil {
		right := 1 - j.ErrorRate
		t.Accuracy = &metric.Estimate{Value: right, Low: right, High: right}
	}
	if p != nil {
		t.losses = judge.Losses(d.Y, p, f.Noise, len(d.Classes))
		mean := lists.Mean(t.losses)
		t.LogLoss = &mean
	}
	return t, nil
}

// rank orders the configurations by their loss, and compares each with the best, example by
// example.
func (r *Comparison) rank() {
	loss := func(t Tried) float64 {
		if t.LogLoss == nil {
			return math.Inf(1)
		}
		return *t.LogLoss
	}
	slices.SortStableFunc(r.Tried, func(a, b Tried) int { return cmp.Compare(loss(a), loss(b)) })
	best := r.Tried[0].losses
	for k := range r.Tried {
		if t := &r.Tried[k]; t.losses != nil {
			t.Behind, t.BehindError = lists.MeanError(len(best), func(i int) float64 {
				return t.losses[i] - best[i]
			})
		}
	}
}

func (r *Comparison) fill(row app.Row) {
	what := ""
	if r.Corrected {
		what = "corrected "
	}
	row("%slog-loss\tbehind\t\t%saccuracy\tflags", what, what)
	for k, t := range r.Tried {
		behind, mark := "-", ""
		if k > 0 && t.LogLoss != nil {
			behind = fmt.Sprintf("%.4f ± %.4f", t.Behind, 2*t.BehindError)
			if t.Behind <= 2*t.BehindError {
				mark = "*"
			}
		}
		accuracy := judgement.EstimateText(t.Accuracy)
		if !r.Corrected {
			accuracy = fmt.Sprintf("%.4f", t.Accuracy.Value)
		}
		row("%s\t%s\t%s\t%s\t%s", judgement.ShareText(t.LogLoss), behind, mark, accuracy, t.Flags)
	}
	for _, f := range r.Failed {
		row("failed\t\t\t\t%s", f.Flags)
	}
}
