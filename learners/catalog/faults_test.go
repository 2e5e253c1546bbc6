package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// afterStep has f change the weights after each step that was made.
func afterStep(l *learner, f func(engine.Weights)) {
	step := l.step
	l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
		s, err := step(ctx, w)
		if err == nil && !s.Done {
			f(w)
			s.Changed = learners.AllClasses(w.Q)
		}
		return s, err
	}
}

// nudge moves a weight to the next number.
func nudge(w engine.Weights) { w.W[0] = math.Nextafter32(w.W[0], 9) }

// What learners of the mutants share, which none may.
var global struct{ steps, running int }

var mutants = slices.Concat(wrongBits, wrongStates, wrongSense, wrongDefinitions)

var wrongBits = []mutant{
	{name: "changes a label", by: "inputs unmodified",
		wrap: func(_ *learner, p *learners.Problem) { p.Y[0] = 1 - min(p.Y[0], 1) }},
	{name: "changes a value", by: "inputs unmodified", wrap: func(_ *learner, p *learners.Problem) {
		if !p.X.Sparse() {
			p.X.X[0]++
		}
	}},
	{name: "changes the matrix", by: "inputs unmodified",
		wrap: func(_ *learner, p *learners.Problem) { p.Noise.Classes[0] += "x" }},
	{name: "has a state of the process", by: "twice", wrap: func(l *learner, _ *learners.Problem) {
		afterStep(l, func(w engine.Weights) { global.steps++; w.W[0] += float32(global.steps) })
	}},
	{name: "learns otherwise beside another", by: "two runs at once", wrap: func(l *learner,
		_ *learners.Problem) {
		global.running++
		afterStep(l, func(w engine.Weights) {
			if global.running > 1 {
				nudge(w)
			}
		})
		closes := l.close
		l.close = func() error { global.running--; return closes() }
	}},
	{name: "learns otherwise on another engine", by: "engines", wrap: func(l *learner,
		p *learners.Problem) {
		if p.Engine.Device().ID != cpuref.New().Device().ID {
			afterStep(l, nudge)
		}
	}},
	{name: "learns otherwise from sparse examples", by: "sparse and dense", wrap: func(l *learner,
		p *learners.Problem) {
		if p.X.Sparse() {
			afterStep(l, nudge)
		}
	}},
	{name: "learns otherwise without a matrix", by: "identity and no noise",
		wrap: func(l *learner, p *learners.Problem) {
			if p.Noise == nil {
				afterStep(l, nudge)
			}
		}},
	{name: "uses the matrix that it says it ignores", by: "noise that is ignored",
		define: func(d *learners.Definition) { d.IgnoresNoise = true }},
	{name: "looks at its parameters later", by: "parameters changed later",
		start: func(p *params, l *learner, _ *learners.Problem) error {
			afterStep(l, func(w engine.Weights) { w.W[0] += p.Params.Alpha })
			return nil
		}},
	{name: "counts older weights", by: "learns", wrap: func(l *learner, _ *learners.Problem) {
		count, last := l.count, []int64(nil)
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			now, err := count(ctx, w, changed)
			old := last
			if last = now; old == nil {
				old = now
			}
			return old, err
		}
	}},
	{name: "keeps the counts it has given away", by: "count twice", wrap: func(l *learner,
		_ *learners.Problem) {
		count, last := l.count, []int64(nil)
		l.count = func(ctx context.Context, w engine.Weights, changed []int) (_ []int64, err error) {
			if last == nil || len(changed) > 0 {
				last, err = count(ctx, w, changed)
			}
			return last, err
		}
	}},
	{name: "draws when it counts", by: "count twice", wrap: func(l *learner, _ *learners.Problem) {
		count, counted := l.count, 0
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			counted++
			return count(ctx, w, changed)
		}
		afterStep(l, func(w engine.Weights) { w.W[0] += float32(counted) })
	}},
	{name: "changes weights when it counts", by: "count twice", wrap: func(l *learner,
		_ *learners.Problem) {
		count := l.count
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			nudge(w)
			return count(ctx, w, changed)
		}
	}},
	{name: "draws when it saves", by: "count twice", wrap: func(l *learner, _ *learners.Problem) {
		save, saved := l.save, 0
		l.save = func() ([]byte, error) { saved++; return save() }
		afterStep(l, func(w engine.Weights) { w.W[0] += float32(saved) })
	}},
	{name: "does not name a class that it changed", by: "count twice", wrap: func(l *learner,
		_ *learners.Problem) {
		step := l.step
		l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
			s, err := step(ctx, w)
			if len(s.Changed) > 1 {
				s.Changed = s.Changed[1:]
			}
			return s, err
		}
	}},
	{name: "names a class twice", by: "count twice", wrap: func(l *learner, _ *learners.Problem) {
		step := l.step
		l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
			s, err := step(ctx, w)
			s.Changed = append(s.Changed, s.Changed...)
			return s, err
		}
	}},
}

var wrongStates = []mutant{
	{name: "forgets its random numbers", by: "resume", wrap: func(l *learner, _ *learners.Problem) {
		first, err := l.save()
		l.save = func() ([]byte, error) { return first, err }
	}},
	{name: "has random numbers outside its state", by: "resume", wrap: func(l *learner,
		_ *learners.Problem) {
		steps := 0
		afterStep(l, func(w engine.Weights) { steps++; w.W[0] += float32(steps) })
	}},
	{name: "believes any state", by: "damaged state", wrap: func(l *learner, _ *learners.Problem) {
		restore := l.restore
		l.restore = func(saved []byte) error { _ = restore(saved); return nil }
	}},
	{name: "believes the end of a state", by: "damaged state", wrap: func(l *learner,
		_ *learners.Problem) {
		restore := l.restore
		l.restore = func(saved []byte) error {
			if end := slices.Index(saved, '}'); end >= 0 {
				saved = saved[:end+1]
			}
			return restore(saved)
		}
	}},
	{name: "panics on a short state", by: "damaged state", wrap: func(l *learner,
		_ *learners.Problem) {
		restore := l.restore
		l.restore = func(saved []byte) error { _ = saved[9]; return restore(saved) }
	}},
	{name: "believes the sizes in a state", by: "state of another problem", wrap: func(l *learner,
		p *learners.Problem) {
		save, restore, mean := l.save, l.restore, make([]byte, p.Q)
		l.save = func() ([]byte, error) {
			saved, err := save()
			return append(mean, saved...), err
		}
		l.restore = func(saved []byte) error {
			at := slices.Index(saved, '{')
			if at < 0 {
				return errors.New("damaged")
			}
			mean = saved[:at]
			return restore(saved[at:])
		}
		afterStep(l, func(w engine.Weights) { w.W[0] += float32(mean[w.Q-1]) })
	}},
	{name: "leaves its examples on the engine", by: "cancelled anywhere", wrap: func(l *learner,
		_ *learners.Problem) {
		l.close = func() error { return nil }
	}},
	{name: "can be closed once", by: "close", wrap: func(l *learner, _ *learners.Problem) {
		closes, closed := l.close, false
		l.close = func() error {
			if closed {
				return errors.New("closed")
			}
			closed = true
			return closes()
		}
	}},
	{name: "counts after close", by: "close", wrap: func(l *learner, _ *learners.Problem) {
		count := l.count
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			counts, err := count(ctx, w, changed)
			if errors.Is(err, engine.ErrClosed) {
				return make([]int64, w.Q*w.Q), nil
			}
			return counts, err
		}
	}},
	{name: "is done when the engine fails", by: "engine that fails", wrap: func(l *learner,
		_ *learners.Problem) {
		step := l.step
		l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
			s, err := step(ctx, w)
			s.Done = s.Done || err != nil
			return s, nil
		}
	}},
	{name: "gives up a step that it has half made", by: "cancelled anywhere",
		wrap: func(l *learner, _ *learners.Problem) {
			step := l.step
			l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
				s, err := step(ctx, w)
				if ctx.Err() != nil {
					return learners.Step{}, ctx.Err()
				}
				return s, err
			}
		}},
	{name: "counts by the context of its start", by: "cancelled", wrap: func(l *learner,
		_ *learners.Problem) {
		count := l.count
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			if err := l.ctx.Err(); err != nil {
				return nil, err
			}
			return count(ctx, w, changed)
		}
	}},
}

// with returns p with another matrix.
func with(p *learners.Problem, noise *confusion.Matrix) *learners.Problem {
	return &learners.Problem{X: p.X, Y: p.Y, Q: p.Q, Noise: noise, Engine: p.Engine, Seed: p.Seed}
}

var wrongSense = []mutant{
	{name: "does not look at the matrix", by: "learns",
		problem: func(p *learners.Problem) *learners.Problem { return with(p, nil) }},
	{name: "takes the matrix for its transpose", by: "learns",
		problem: func(p *learners.Problem) *learners.Problem {
			if p.Noise == nil {
				return p
			}
			t := &confusion.Matrix{Classes: p.Noise.Classes, P: make([]float64, p.Q*p.Q)}
			for r := range p.Q {
				for c := range p.Q {
					t.P[c*p.Q+r] = p.Noise.P[r*p.Q+c]
				}
			}
			return with(p, t)
		}},
	{name: "expects the next class to be the wrong one", by: "permuted classes",
		problem: func(p *learners.Problem) *learners.Problem {
			if p.Noise == nil || p.Noise.P[0] == 1 {
				return p
			}
			noise, err := confusion.Pairwise(p.Noise.Classes, 1-p.Noise.P[0])
			if err != nil {
				panic(err)
			}
			return with(p, noise)
		}},
	{name: "overlooks features by their place", by: "permuted features", wrap: func(l *learner,
		_ *learners.Problem) {
		afterStep(l, func(w engine.Weights) {
			for r := range w.Q {
				for j := range w.Row(r) {
					if j%3 != 0 || j >= 12 {
						w.Row(r)[j] = 0
					}
				}
			}
		})
	}},
	{name: "divides by the range of a feature", by: "constant features", wrap: func(l *learner,
		p *learners.Problem) {
		x := p.X.Dense()
		afterStep(l, func(w engine.Weights) {
			low, high := x.X[0], x.X[0]
			for i := range x.N {
				low, high = min(low, x.Row(i)[0]), max(high, x.Row(i)[0])
			}
			w.W[0] = w.W[0] * (high - low) / (high - low)
		})
	}},
	{name: "looks for an example of each class", by: "absent class", wrap: func(l *learner,
		p *learners.Problem) {
		for r := range p.Q {
			i := slices.Index(p.Y, int32(r))
			_ = p.X.Dense().Row(i)
		}
	}},
	{name: "divides by the examples of the other classes", by: "one class", wrap: func(l *learner,
		p *learners.Problem) {
		other := 0
		for _, y := range p.Y {
			if y != p.Y[0] {
				other++
			}
		}
		afterStep(l, func(w engine.Weights) { w.W[0] *= float32(other) / float32(other) })
	}},
	{name: "divides by n - 1", by: "one example", wrap: func(l *learner, p *learners.Problem) {
		afterStep(l, func(w engine.Weights) { w.W[0] *= float32(p.X.N-1) / float32(p.X.N-1) })
	}},
	{name: "passes an overflow on", by: "huge and tiny values", wrap: func(l *learner,
		_ *learners.Problem) {
		step := l.step
		l.step = func(ctx context.Context, w engine.Weights) (learners.Step, error) {
			s, err := step(ctx, w)
			if err != nil && ctx.Err() == nil {
				w.W[0] = float32(math.Inf(1))
				return learners.Step{Done: true}, nil
			}
			return s, err
		}
	}},
	{name: "takes labels that are none", by: "bad problems",
		problem: func(p *learners.Problem) *learners.Problem {
			if slices.ContainsFunc(p.Y, func(y int32) bool { return y < 0 || int(y) >= p.Q }) {
				y := make([]int32, len(p.Y))
				return &learners.Problem{X: p.X, Y: y, Q: p.Q, Noise: p.Noise, Engine: p.Engine}
			}
			return p
		}},
	{name: "draws other numbers from given weights", by: "warm start", wrap: func(l *learner,
		_ *learners.Problem) {
		count, first := l.count, true
		var given bool
		l.count = func(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
			if first {
				first, given = false, slices.ContainsFunc(w.W, func(v float32) bool { return v != 0 })
			}
			return count(ctx, w, changed)
		}
		afterStep(l, func(w engine.Weights) {
			if given {
				global.steps++
				w.W[0] += float32(global.steps)
			}
		})
	}},
}

var wrongDefinitions = []mutant{
	{name: "no summary", by: "definition", define: func(d *learners.Definition) { d.Summary = "" }},
	{name: "no paper", by: "definition", define: func(d *learners.Definition) { d.Paper = "" }},
	{name: "no word of steps", by: "definition", define: func(d *learners.Definition) { d.Step = "" }},
	{name: "no steps", by: "definition", define: func(d *learners.Definition) { d.MaxSteps = 0 }},
	{name: "no weights", by: "definition", define: func(d *learners.Definition) { d.Weights = nil }},
	{name: "weights by no rule", by: "definition",
		define: func(d *learners.Definition) { d.Weights = []learners.Rule{"median"} }},
	{name: "a name of two words", by: "definition",
		define: func(d *learners.Definition) { d.Name = "two words" }},
	{name: "no defaults", by: "definition", define: func(d *learners.Definition) { d.New = nil }},
	{name: "the same defaults for all", by: "definition", define: func(d *learners.Definition) {
		p := d.New()
		d.New = func() learners.Params { return p }
	}},
	{name: "bad defaults", by: "definition", check: func(*params) error { return errors.New("bad") }},
	{name: "a parameter without a field", by: "parameters are the fields",
		declare: func(p *params) []learners.Parameter {
			return append(p.Params.Definition().Parameters, learners.Int("more", new(int), 0, 9, "more"))
		}},
	{name: "a field without a parameter", by: "parameters are the fields",
		declare: func(p *params) []learners.Parameter {
			return p.Params.Definition().Parameters[1:]
		}},
	{name: "a parameter of another field", by: "parameters are the fields",
		declare: func(p *params) []learners.Parameter {
			all := p.Params.Definition().Parameters
			all[2] = learners.Float("alpha", &p.Tol, learners.Range{}, "the tolerance")
			return all
		}},
	{name: "a parameter with a default of its own", by: "parameters are the fields",
		declare: func(p *params) []learners.Parameter {
			p.Tol = 3
			return p.Params.Definition().Parameters
		}},
	{name: "a value that grows when it is read", by: "parameters and their JSON",
		declare: func(p *params) []learners.Parameter {
			all := p.Params.Definition().Parameters
			all[4] = learners.Text("tol", (*growing)(&p.Tol), "a number", "grows")
			return all
		}},
	{name: "no check of numbers", by: "no number that is none",
		declare: func(p *params) []learners.Parameter {
			all := p.Params.Definition().Parameters
			all[4] = learners.Text("tol", (*unchecked)(&p.Tol), "a number", "any")
			return all
		}},
}

// unchecked is a number that may be none.
type unchecked float64

func (u unchecked) MarshalText() ([]byte, error) { return fmt.Append(nil, float64(u)), nil }

func (u *unchecked) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	*u = unchecked(v)
	return err
}

// growing is a number that does not come back from its text.
type growing float64

func (g growing) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(g), 'g', -1, 64), nil
}

func (g *growing) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	if err == nil {
		*g = growing(v + 1)
	}
	return err
}
