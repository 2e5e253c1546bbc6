//go:build cgo && !noopencl

package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// gain is by how much a candidate has to be faster to be taken: less is in the noise.
const gain = 0.03

// Tune looks for a tuning of device i that is faster than its default on the examples
// of p: it measures other values of one parameter after the other and keeps the
// fastest. Each candidate passes the self-test and repeats a training run of the
// default; one that differs from it in a single bit is rejected. What seems best is
// measured once more against the default. o.Tuning is ignored. Errors: those of Open
// and Load with the default, and ctx's. It tells its progress through ctx.
func Tune(ctx context.Context, i Info, o Options, p Problem) (TuneReport, error) {
	if p.Repeat < 1 {
		return TuneReport{}, fmt.Errorf("tune %s: everything is to be measured %d times, wanted at least 1", i.ID(),
			p.Repeat)
	}
	sources, err := kernels.Sources()
	if err != nil {
		return TuneReport{}, err
	}
	t := &tuner{Problem: p, info: i, options: o, enough: 0.1 * float64(p.Repeat), parameters: parameters,
		builds: func(Tuning) build { return build{sources: sources} }}
	err = t.run(ctx)
	return t.report, err
}

// tuner is a search under way.
type tuner struct {
	Problem
	info       Info
	options    Options
	builds     func(Tuning) build // what to compile for a tuning
	parameters []parameter        // to look at
	enough     float64            // seconds that a trial is timed for, if Repeat is over sooner

	series    *series
	reference *trial // with the default, at the end of the series
	task      *progress.Task
	report    TuneReport
}

func (t *tuner) run(ctx context.Context) (err error) {
	t.reference = t.open(Tuning{})
	defer func() { err = errors.Join(err, t.reference.close()) }()
	if err = t.reference.err; err == nil {
		t.series, err = t.reference.record(t.Problem)
	}
	if err != nil {
		return fmt.Errorf("tune %s with the default: %w", t.info.ID(), err)
	}
	e := t.reference.e
	t.report = TuneReport{Device: e.Device(), Default: e.tuning, Best: e.tuning, Ratio: 1, Candidates: []Candidate{}}
	work := progress.Work{Name: "tuning", Unit: "measurement", AtMost: true, Total: measurements(1)} // of confirm
	all := make([][]int, len(t.parameters))
	for k, parameter := range t.parameters { // each is as it is by default until it is tried
		if all[k] = parameter.candidates(e.cpu, t.X.Sparse(), *parameter.of(&e.tuning)); len(all[k]) > 0 {
			work.Total += measurements(len(all[k]))
		}
	}
	_, t.task = progress.Begin(ctx, work)
	defer t.task.End()
	for k, parameter := range t.parameters {
		values := all[k]
		if len(values) == 0 {
			continue
		}
		if err := t.try(ctx, parameter, values); err != nil {
			return err
		}
	}
	return t.confirm(ctx)
}

// measurements are those that the task counts for candidates and two trials of what they are compared with: it opens
// each, and times each kind of steps of it.
func measurements(candidates int) int64 { return int64(candidates+2) * (1 + kinds) }

// candidates are the values of a parameter that are worth a try beside the value now.
func (p parameter) candidates(cpu, sparse bool, now int) (values []int) {
	var all []int
	switch {
	case p.name == "group" && cpu:
		all = []int{1, 8, 64}
	case p.name == "group":
		all = []int{32, 64, 128, 256}
	case sparse: // whose kernels have no other
	case p.name == "score_rows" && cpu:
		all = []int{4, 8, 16}
	case p.name == "score_group" && cpu:
		all = []int{1, 8, 32}
	case p.name == "score_group":
		all = []int{32, 64, 128, 256}
	case p.name == "score_width" && !cpu:
		all = []int{8, 16, 32, 64}
	case p.name == "sum_columns" && cpu:
		all = []int{32, 64, 128, 256}
	case p.name == "sum_rows":
		all = []int{16, 64, 256}
	}
	for _, v := range all {
		if v != now {
			values = append(values, v)
		}
	}
	return values
}

func (t *tuner) open(tuning Tuning) *trial {
	o := t.options
	o.Tuning = tuning
	x := newTrial(t.info, o, t.Problem, t.builds(tuning))
	if x.err == nil && x.e.tuning != tuning && tuning != (Tuning{}) {
		x.err = errors.New("the device has no work-groups of this size")
	}
	return x
}

// timed opens, checks and times some tunings beside base, which is there twice: two
// engines with the same kernels differ in where their memory lies, and a candidate
// has to be faster than both. The caller closes the trials.
func (t *tuner) timed(ctx context.Context, base Tuning, others []Tuning, rounds int) (
	bases, trials []*trial, err error) {
	for range 2 {
		bases = append(bases, t.open(base))
		t.task.Add(1)
	}
	for _, tuning := range others {
		if err := ctx.Err(); err != nil {
			return bases, trials, err
		}
		trials = append(trials, t.open(tuning))
		t.task.Add(1)
	}
	if err := t.timeAll(ctx, append(slices.Clone(bases), trials...), rounds); err != nil {
		return bases, trials, err
	}
	for _, b := range bases {
		if b.err != nil {
			return bases, trials, fmt.Errorf("%+v, which has passed before: %w", base, b.err)
		}
	}
	return bases, trials, nil
}

func closeAll(trials []*trial) error {
	var errs []error
	for _, t := range trials {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

// try measures other values of one parameter of the best tuning until now.
func (t *tuner) try(ctx context.Context, of parameter, values []int) (err error) {
	now := t.report.Best
	t.say("%s, now %d", of.name, *of.of(&now))
	tunings := make([]Tuning, len(values))
	for k, v := range values {
		tunings[k] = now
		*of.of(&tunings[k]) = v
	}
	bases, trials, err := t.timed(ctx, now, tunings, t.Repeat)
	defer func() { err = errors.Join(err, closeAll(bases), closeAll(trials)) }()
	if err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	best := 1.0
	for k, x := range trials {
		c := Candidate{Parameter: of.name, Value: values[k], Tuning: tunings[k]}
		c.judge(x, bases)
		if c.Verdict == Faster && *c.Ratio < best {
			best, t.report.Best = *c.Ratio, c.Tuning
		}
		t.say("  %s", c)
		t.report.Candidates = append(t.report.Candidates, c)
	}
	return nil
}

// judge fills in what became of a candidate beside base.
func (c *Candidate) judge(t *trial, base []*trial) {
	if t.err != nil {
		c.Verdict, c.Reason = Failed, t.err.Error()
		if differs := (*difference)(nil); errors.As(t.err, &differs) {
			c.Verdict = Rejected
		}
		return
	}
	seconds, ratio := median(t.times[exact]), t.ratio(base)
	c.Seconds, c.Ratio = &seconds, &ratio
	if len(t.times[bounded]) > 0 {
		s := median(t.times[bounded])
		c.Bounded = &s
	}
	switch {
	case ratio <= 1-gain:
		c.Verdict = Faster
	case ratio < 1+gain:
		c.Verdict = AsFast
	default:
		c.Verdict = Slower
	}
}

// confirm measures the best once more, against the default, which stays if there is
// little in it.
func (t *tuner) confirm(ctx context.Context) (err error) {
	r := &t.report
	if r.Best == r.Default {
		return nil
	}
	t.say("the best once more, against the default")
	bases, trials, err := t.timed(ctx, r.Default, []Tuning{r.Best}, 2*t.Repeat)
	defer func() { err = errors.Join(err, closeAll(bases), closeAll(trials)) }()
	if err == nil {
		err = trials[0].err
	}
	if err != nil {
		return fmt.Errorf("tune: confirm %+v: %w", r.Best, err)
	}
	ratio := trials[0].ratio(bases)
	t.say("  %.3f of the time", ratio)
	if ratio <= 1-gain {
		r.Ratio = ratio
	} else {
		t.say("  the default stays")
		r.Best = r.Default
	}
	return nil
}
