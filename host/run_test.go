package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// script is a learner that sets W to given values, one row of class weights a
// step, and has converged when it runs out of them.
type script struct {
	rows    [][]float32
	alphas  float32
	fail    error
	cancel  context.CancelFunc
	atSteps []int
}

func (s *script) Margin() float32 { return s.alphas }

func (s *script) Step(st learners.State) (learners.Update, error) {
	s.atSteps = append(s.atSteps, st.Steps)
	if s.cancel != nil && st.Steps == 1 {
		s.cancel() // in the middle of a step, which is finished all the same
	}
	if st.Steps >= len(s.rows) {
		return learners.Update{Converged: true}, s.fail
	}
	copy(st.W.W, s.rows[st.Steps])
	return learners.Update{P: 0, Q: 1, Norm2: 4, Changed: []int{0, 1}}, nil
}

// six one-feature examples: class 1 has positive features, but for one.
func problem(t *testing.T) (engine.Cells, *confusion.Inverse) {
	t.Helper()
	x := dataset.Examples{N: 6, D: 1, X: []float32{-3, -2, -1, 1, 2, 3}}
	r, err := cpuref.New().LoadCells(x, []int32{0, 0, 1, 1, 1, 1}, 2, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := confusion.Identity([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	inv, err := c.Invert()
	if err != nil {
		t.Fatal(err)
	}
	return r, inv
}

func TestRules(t *testing.T) {
	// Errors of the iterates: W_0 4/6 (all class 0), then 1/6, 5/6, 1/6.
	rows := [][]float32{{-1, 1}, {1, -1}, {-3, 3}}
	for _, c := range []struct {
		rule host.Rule
		max  int
		w    []float32
		err  float64
		stop host.Stop
	}{
		{host.Last, 10, []float32{-3, 3}, 1. / 6, host.Converged},
		{host.Last, 2, []float32{1, -1}, 5. / 6, host.MaxSteps},
		{host.Average, 10, []float32{-1, 1}, 1. / 6, host.Converged},
		{"", 2, []float32{-1, 1}, 1. / 6, host.MaxSteps},
		{host.Best, 10, []float32{-1, 1}, 1. / 6, host.Converged}, // the earliest of two
		{host.Best, 2, []float32{-1, 1}, 1. / 6, host.MaxSteps},
		{host.Last, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
		{host.Average, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
		{host.Best, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
	} {
		r, inv := problem(t)
		var reports []host.Report
		res, err := host.Run(context.Background(), r, &script{rows: rows}, host.Options{
			MaxSteps: c.max, Weights: c.rule, Inverse: inv, OnStep: func(r host.Report) { reports = append(reports, r) }})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%q, at most %d steps", c.rule, c.max)
		if !slices.Equal(res.W.W, c.w) || res.Stop != c.stop || res.Steps != min(c.max, len(rows)) {
			t.Errorf("%s: W %v, %s after %d steps; want %v, %s", what, res.W.W, res.Stop, res.Steps, c.w, c.stop)
		}
		if d := res.EstimatedError - c.err; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: estimated error %v, want %v", what, res.EstimatedError, c.err)
		}
		wrong := res.Counts[1] + res.Counts[2]
		if float64(wrong)/6-c.err > 1e-12 {
			t.Errorf("%s: counts %v do not belong to the weights that are returned", what, res.Counts)
		}
		if len(reports) != res.Steps {
			t.Errorf("%s: %d reports of %d steps", what, len(reports), res.Steps)
		}
		for i, rep := range reports {
			if rep.Step != i+1 || rep.Norm != 2 || rep.Q != 1 {
				t.Errorf("%s: report %+v of step %d", what, rep, i+1)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	r, inv := problem(t)
	ctx, cancel := context.WithCancel(context.Background())
	l := &script{rows: [][]float32{{-1, 1}, {-2, 2}, {-3, 3}}, cancel: cancel}
	res, err := host.Run(ctx, r, l, host.Options{MaxSteps: 10, Weights: host.Last, Inverse: inv})
	if err != nil || res.Stop != host.Interrupted || res.Steps != 2 || !slices.Equal(res.W.W, []float32{-2, 2}) {
		t.Errorf("%+v, %v; want the second step finished and no third", res, err)
	}
}

func TestRunErrors(t *testing.T) {
	r, inv := problem(t)
	broken := errors.New("broken")
	_, err := host.Run(context.Background(), r, &script{rows: [][]float32{{1, 1}}, fail: broken}, host.Options{MaxSteps: 5, Inverse: inv})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "step 2: ") {
		t.Errorf("%v, want the learner's error at step 2", err)
	}
	for _, c := range []struct {
		o    host.Options
		want string
	}{
		{host.Options{Weights: "mean", Inverse: inv}, `weights "mean" are not known; use last, average or best`},
		{host.Options{}, "want the inverse of a confusion matrix"},
		{host.Options{Inverse: &confusion.Inverse{Q: 3}}, "the examples have 2 classes"},
	} {
		if _, err := host.Run(context.Background(), r, &script{}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Run(context.Background(), r, &script{}, host.Options{Inverse: inv, MaxSteps: 1}); err == nil {
		t.Error("a closed data set trains")
	}
}

func TestPredict(t *testing.T) {
	x := dataset.Examples{N: 3, D: 2, X: []float32{1, 0, 0, 1, -1, -1}}
	w := engine.Weights{Q: 3, D: 2, W: []float32{1, 0, 0, 1, -1, -1}}
	for _, e := range engines(t) {
		got, err := host.Predict(e, w, x)
		if err != nil || !slices.Equal(got, []int32{0, 1, 2}) {
			t.Errorf("%s: %v, %v; want 0 1 2", e.Device().ID, got, err)
		}
		if got, err := host.Predict(e, w, dataset.Examples{D: 2}); err != nil || len(got) != 0 {
			t.Errorf("%s: no examples: %v, %v", e.Device().ID, got, err)
		}
		if _, err := host.Predict(e, w, dataset.Examples{N: 1, D: 3, X: []float32{1, 2, 3}}); !errors.Is(err, engine.ErrShape) {
			t.Errorf("%s: examples of another width: %v, want %v", e.Device().ID, err, engine.ErrShape)
		}
	}
}
