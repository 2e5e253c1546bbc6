package host_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

// script is a learner that sets W to given values, one row of class weights a
// step, and is done when it runs out of them.
type script struct {
	rows   [][]float32
	fail   error
	cancel context.CancelFunc
	give   bool // a cancelled step is given up
	free   bool // no Count has to come before a step
	counts int  // calls of Count
}

var scriptDefinition = learners.Definition{Name: "script",
	Weights: []learners.Rule{learners.Best, learners.Average, learners.Last, learners.BestAverage}}

func (s *script) Definition() *learners.Definition {
	d := scriptDefinition
	d.Start = s.start
	d.Uncounted = s.free
	return &d
}
func (s *script) start(_ context.Context, p *learners.Problem) (learners.Learner, error) {
	r, err := p.Engine.LoadCells(p.X, p.Y, p.Q, numerics.FixedPoint{})
	return &scriptRun{script: s, r: r}, err
}

type scriptRun struct {
	*script
	r     *engine.Cells
	steps int
}

func (s *scriptRun) Count(_ context.Context, w engine.Weights, changed []int) ([]int64, error) {
	s.counts++
	if err := s.r.Rescore(w, changed); err != nil {
		return nil, err
	}
	a, err := s.r.Assign(0)
	return a.Predicted, err
}

func (s *scriptRun) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if s.cancel != nil && s.steps == 1 {
		s.cancel() // in the middle of a step
		if s.give {
			return learners.Step{}, ctx.Err()
		}
	}
	if s.steps >= len(s.rows) {
		return learners.Step{Done: true}, s.fail
	}
	copy(w.W, s.rows[s.steps])
	s.steps++
	return learners.Step{Changed: []int{0, 1}, Fields: []learners.Field{{Name: "row",
		Value: s.steps}}}, nil
}

func (s *scriptRun) Save() ([]byte, error) { return []byte{byte(s.steps)}, nil }
func (s *scriptRun) Restore(saved []byte) error {
	s.steps = int(saved[0])
	return nil
}
func (s *scriptRun) Close() error { return s.r.Close() }

// six one-feature examples: class 1 has positive features, but for one.
func problem() *learners.Problem {
	x := dataset.Examples{N: 6, D: 1, X: []float32{-3, -2, -1, 1, 2, 3}}
	return &learners.Problem{X: x, Y: []int32{0, 0, 1, 1, 1, 1}, Q: 2, Engine: cpuref.New()}
}

func TestRules(t *testing.T) {
	// Errors of the iterates: W_0 4/6 (all class 0), then 1/6, 5/6, 1/6.
	rows := [][]float32{{-1, 1}, {1, -1}, {-3, 3}}
	for _, c := range []struct {
		rule learners.Rule
		max  int
		w    []float32
		err  float64
		stop host.Stop
	}{
		{learners.Last, 10, []float32{-3, 3}, 1. / 6, host.Converged},
		{learners.Last, 2, []float32{1, -1}, 5. / 6, host.MaxSteps},
		{learners.Average, 10, []float32{-1, 1}, 1. / 6, host.Converged},
		{"", 2, []float32{-1, 1}, 1. / 6, host.MaxSteps},
		{learners.Best, 10, []float32{-1, 1}, 1. / 6, host.Converged}, // the earliest of two
		{learners.Best, 2, []float32{-1, 1}, 1. / 6, host.MaxSteps},
		{learners.BestAverage, 1, []float32{-1, 1}, 1. / 6, host.MaxSteps},
		{learners.BestAverage, 2, []float32{-1, 1}, 1. / 6, host.MaxSteps}, // the second average is 0
		{learners.BestAverage, 10, []float32{-1, 1}, 1. / 6, host.Converged},
		{learners.BestAverage, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
		{learners.Last, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
		{learners.Average, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
		{learners.Best, 0, []float32{0, 0}, 4. / 6, host.MaxSteps},
	} {
		var reports []host.Report
		res, err := host.Run(context.Background(), &script{rows: rows}, problem(), host.RunOptions{
			MaxSteps: c.max, Weights: c.rule, OnStep: func(r host.Report) { reports = append(reports, r) }})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%q, at most %d steps", c.rule, c.max)
		if !slices.Equal(res.W.W, c.w) || res.Stop != c.stop || res.Steps != min(c.max, len(rows)) {
			t.Errorf("%s: W %v, %s after %d steps; want %v, %s", what, res.W.W, res.Stop, res.Steps, c.w,
				c.stop)
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
			if rep.Step != i+1 || rep.Fields[0].Value != i+1 {
				t.Errorf("%s: report %+v of step %d", what, rep, i+1)
			}
		}
	}
}

// TestBestAverage looks at each average that may be chosen in a run of 40 steps: after 1 to 16
// steps, then after every second one up to 32, then after 36 and 40. Each step's average is better
// than the previous one, so the last average looked at is the result.
func TestBestAverage(t *testing.T) {
	x := dataset.Examples{N: 40, D: 2}
	p := &learners.Problem{Q: 2, Engine: cpuref.New()}
	for i := range x.N {
		x.X, p.Y = append(x.X, float32(i+1), 1), append(p.Y, 1)
	}
	p.X = x
	var rows [][]float32
	for step := range x.N { // the average after t steps finds the examples from number 40-t on
		rows = append(rows, []float32{0, 0, 1, float32(2*step-x.N) + 0.5})
	}
	looked := map[int]bool{}
	for most := range x.N + 1 {
		res, err := host.Run(t.Context(), &script{rows: rows}, p,
			host.RunOptions{MaxSteps: most, Weights: learners.BestAverage})
		if err != nil {
			t.Fatal(err)
		}
		sum := float32(0)
		for at, row := range rows[:most] {
			if sum += row[3]; res.W.W[3] == sum/float32(at+1) && res.W.W[2] == 1 {
				looked[at+1] = true
			}
		}
	}
	var want []int
	for _, steps := range [][3]int{{1, 16, 1}, {18, 32, 2}, {36, 40, 4}} {
		for s := steps[0]; s <= steps[1]; s += steps[2] {
			want = append(want, s)
		}
	}
	if got := slices.Sorted(maps.Keys(looked)); !slices.Equal(got, want) {
		t.Errorf("looked at the averages of %v steps, want %v", got, want)
	}
}

// Where nobody watches, and no step or rule needs it, only the result is counted, and it is the
// same.
func TestUncountedSteps(t *testing.T) {
	rows := [][]float32{{-1, 1}, {2, -2}, {-3, 3}}
	for _, c := range []struct {
		free, watched bool
		rule          learners.Rule
		most, counts  int
	}{
		{true, false, learners.Last, 2, 1}, {true, false, learners.Last, 9, 1}, {true, false,
			learners.Last, 0, 1},
		{true, true, learners.Last, 2, 3}, {true, false, learners.Best, 2, 3}, {false, false,
			learners.Last, 2, 3},
	} {
		var results []host.Result
		counts := 0
		for _, l := range []*script{{rows: rows}, {rows: rows, free: c.free}} {
			o := host.RunOptions{MaxSteps: c.most, Weights: c.rule}
			if c.watched {
				o.OnStep = func(host.Report) {}
			}
			res := must(host.Run(t.Context(), l, problem(), o))
			results, counts = append(results, res), l.counts
		}
		if !reflect.DeepEqual(results[0], results[1]) || counts != c.counts {
			t.Errorf("%+v: counted %d times, and %+v; wanted %d times, and %+v", c, counts, results[1],
				c.counts, results[0])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &script{rows: rows, cancel: cancel, give: true, free: true}
	res, err := host.Run(ctx, l, problem(), host.RunOptions{MaxSteps: 10, Weights: learners.Last})
	if err != nil || res.Stop != host.Interrupted || res.Counts == nil || l.counts != 1 {
		t.Errorf("a step given up: %+v, %v, counted %d times", res, err, l.counts)
	}
}

func TestInterrupted(t *testing.T) {
	for give, steps := range map[bool]int{false: 2, true: 1} {
		ctx, cancel := context.WithCancel(context.Background())
		l := &script{rows: [][]float32{{-1, 1}, {-2, 2}, {-3, 3}}, cancel: cancel, give: give}
		res, err := host.Run(ctx, l, problem(), host.RunOptions{MaxSteps: 10, Weights: learners.Last})
		if err != nil || res.Stop != host.Interrupted || res.Steps != steps || !slices.Equal(res.W.W,
			l.rows[steps-1]) {
			t.Errorf("step given up %v: %+v, %v; want %d steps", give, res, err, steps)
		}
		l.cancel = nil
		rest, err := host.Run(context.Background(), l, problem(),
			host.RunOptions{MaxSteps: 10, Weights: learners.Last, Resume: res.Snapshot})
		if err != nil || rest.Steps != 3 || rest.Stop != host.Converged || !slices.Equal(rest.W.W,
			l.rows[2]) {
			t.Errorf("step given up %v, gone on: %+v, %v; want 3 steps", give, rest, err)
		}
	}
}

// TestResume stops runs of each rule after each step, and goes on with the same result.
func TestResume(t *testing.T) {
	l := &script{rows: [][]float32{{1, -1}, {-1, 1}, {1, -2}, {-3, 3}, {0, 1}}}
	for _, rule := range scriptDefinition.Weights {
		var snapshots []host.Snapshot
		o := host.RunOptions{MaxSteps: 5, Weights: rule, Due: func(int) bool { return true },
			Keep: func(s host.Snapshot) error {
				snapshots = append(snapshots, s)
				return nil
			}}
		want, err := host.Run(context.Background(), l, problem(), o)
		if err != nil || len(snapshots) != 6 {
			t.Fatalf("%s: %d snapshots, %v; want 6", rule, len(snapshots), err)
		}
		for at, s := range snapshots {
			if s.Steps != at {
				t.Errorf("%s: snapshot %d is of step %d", rule, at, s.Steps)
			}
			got, err := host.Run(context.Background(), l, problem(), host.RunOptions{MaxSteps: 5,
				Weights: rule, Resume: &s})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, from step %d: %+v, %v; want %+v", rule, at, got, err, want)
			}
		}
		bad := snapshots[3]
		bad.Sum, bad.Counts = bad.Sum[:0], bad.Counts[:0]
		if rule == learners.BestAverage { // each is missed
			bad.Sum = snapshots[3].Sum
		}
		if rule == learners.Last {
			bad.Last = bad.Last[:1]
		}
		if _, err := host.Run(context.Background(), l, problem(),
			host.RunOptions{MaxSteps: 5, Weights: rule, Resume: &bad}); !errors.Is(err, host.ErrResume) {
			t.Errorf("%s: a damaged snapshot: %v", rule, err)
		}
	}
	// Weights to start from are W_0.
	res, err := host.Run(context.Background(), l, problem(), host.RunOptions{From: []float32{-1, 2}})
	if err != nil || !slices.Equal(res.W.W, []float32{-1, 2}) || res.EstimatedError > 0.2 {
		t.Errorf("from given weights: %+v, %v", res, err)
	}
}

func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	_, err := host.Run(context.Background(), &script{rows: [][]float32{{1, 1}}, fail: broken},
		problem(), host.RunOptions{MaxSteps: 5})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "step 2: ") {
		t.Errorf("%v, want the learner's error at step 2", err)
	}
	_, err = host.Run(context.Background(), &script{}, problem(),
		host.RunOptions{Keep: func(host.Snapshot) error {
			return broken
		}})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want that of who keeps snapshots", err)
	}
	for _, c := range []struct {
		o    host.RunOptions
		want string
	}{
		{host.RunOptions{Weights: "mean"}, `"mean"`},
		{host.RunOptions{From: []float32{1}}, "weights 1 2×1"},
	} {
		if _, err := host.Run(context.Background(), &script{}, problem(), c.o); !facts.Told(err, c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
