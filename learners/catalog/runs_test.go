package catalog_test

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// few is how many steps a run makes whose bits are compared, at most.
const few = 6

// enough is how many steps a run makes that has to learn, at most.
const enough = 600

// steps returns at most limit steps, of what the learner makes unless told otherwise.
func (s subject) steps(limit int) int { return min(s.MaxSteps, limit) }

// run runs the learner with its defaults on t and judges whether the result is sound.
func (s subject) run(t task, o host.RunOptions) (host.Result, error) {
	return s.runOn(background, s.engine, t, o)
}

func (s subject) runOn(ctx context.Context, e *engine.Engine, t task,
	o host.RunOptions) (host.Result, error) {
	r, err := host.Run(ctx, s.New(), t.on(e), o)
	if err != nil {
		return r, err
	}
	return r, sound(r, t, e)
}

// sound says what no result may be, whatever the problem was.
func sound(r host.Result, t task, e *engine.Engine) error {
	if w := r.W; w.Q != t.q || w.D != t.x.D || len(w.W) != t.q*t.x.D {
		return fmt.Errorf("the result has %d weights of shape %d×%d, wanted %d×%d", len(w.W), w.Q, w.D,
			t.q, t.x.D)
	}
	for i, v := range r.W.W {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("weight %d of class %d is %v, wanted a number", i%r.W.D, i/r.W.D, v)
		}
	}
	predicted, err := engine.Predict(e, r.W, t.x)
	if err != nil {
		return err
	}
	want := make([]int64, t.q*t.q)
	for i, p := range predicted {
		want[int(p)*t.q+int(t.y[i])]++
	}
	if !slices.Equal(r.Counts, want) {
		return fmt.Errorf("the counts are %v, wanted %v as the weights that are returned predict",
			r.Counts, want)
	}
	if v := r.EstimatedError; math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("the estimated error is %v, wanted a number", v)
	}
	return nil
}

// same says where two results differ in a bit.
func same(got, want host.Result) error {
	if got.Steps != want.Steps || got.Stop != want.Stop {
		return fmt.Errorf("%s after %d steps, wanted %s after %d", got.Stop, got.Steps, want.Stop,
			want.Steps)
	}
	if err := sameWeights(got.W.W, want.W.W); err != nil {
		return err
	}
	if math.Float64bits(got.EstimatedError) != math.Float64bits(want.EstimatedError) {
		return fmt.Errorf("estimated error %v, wanted %v", got.EstimatedError, want.EstimatedError)
	}
	if !slices.Equal(got.Counts, want.Counts) {
		return fmt.Errorf("counts %v, wanted %v", got.Counts, want.Counts)
	}
	return nil
}

func sameWeights(got, want []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d weights, wanted %d", len(got), len(want))
	}
	for i, v := range got {
		if is, wanted := math.Float32bits(v), math.Float32bits(want[i]); is != wanted {
			return fmt.Errorf("weight %d is %v (%08x), wanted %v (%08x)", i, v, is, want[i], wanted)
		}
	}
	return nil
}

// watched is a run with all that could be seen of it.
type watched struct {
	host.Result
	steps     []string        // the reports
	snapshots []host.Snapshot // before the first step and after each
}

// watch runs the learner for few steps and keeps what is seen.
func (s subject) watch(e *engine.Engine, t task, o host.RunOptions) (w watched, err error) {
	o.MaxSteps = s.steps(few)
	o.OnStep = func(r host.Report) {
		w.steps = append(w.steps, fmt.Sprintf("%d %v %+v", r.Step, r.EstimatedError, r.Fields))
	}
	o.Keep = func(snapshot host.Snapshot) error {
		w.snapshots = append(w.snapshots, snapshot)
		return nil
	}
	o.Due = func(int) bool { return true }
	w.Result, err = s.runOn(background, e, t, o)
	return w, err
}

// sameSeen is same, and says where the reports and snapshots differ.
func sameSeen(got, want watched) error {
	if err := same(got.Result, want.Result); err != nil {
		return err
	}
	if !slices.Equal(got.steps, want.steps) {
		return fmt.Errorf("the reports of the steps are\n%q, wanted\n%q", got.steps, want.steps)
	}
	return sameSnapshots(got.snapshots, want.snapshots)
}

func sameSnapshots(got, want []host.Snapshot) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d snapshots, wanted %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if err := sameWeights(g.Last, w.Last); err != nil {
			return fmt.Errorf("the snapshot of step %d: %w", w.Steps, err)
		}
		if err := sameWeights(g.Kept.W, w.Kept.W); err != nil {
			return fmt.Errorf("the snapshot of step %d, kept: %w", w.Steps, err)
		}
		if g.Steps != w.Steps || !slices.Equal(g.Sum, w.Sum) || !slices.Equal(g.Counts, w.Counts) ||
			!slices.Equal(g.Learner, w.Learner) {
			return fmt.Errorf("the snapshot of step %d is %+v, wanted %+v", w.Steps, g.State, w.State)
		}
	}
	return nil
}
