package fit_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Whatever stage a run is in when half of its time is over, it goes on to the last one, says that
// something is missing, and has weights that are about as good. A run that is resumed there has the
// same bits. One step of a run whose time is up has weights too.
func TestShortTime(t *testing.T) {
	const n, d, q = 5 << 12, 4, 3 // a search is made on a part
	x, y, c := mislabelled(t, n, d, q, 0.3)
	for name, change := range map[string]func(*softmax.Params){
		"search": func(*softmax.Params) {},
		"em":     func(p *softmax.Params) { p.Correction = learners.EM },
	} {
		for _, m := range []int{n / 16, n} {
			if m == n && name != "search" {
				continue // which makes no search
			}
			p := &learners.Problem{X: dataset.Examples{N: m, D: d, X: x[:m*d]}, Y: y[:m], Q: q, Noise: c,
				Engine: simd.New(), Seed: 1}
			params := softmax.Defaults()
			change(params)
			run := func(spent func(made int) float64, o host.RunOptions) host.Result {
				t.Helper()
				made := 0
				o.MaxSteps, o.OnStep = 10000, func(r host.Report) { made = r.Step }
				timed := p.On(p.X, p.Y)
				timed.Spent = func() float64 { return spent(made) }
				r, err := host.Run(t.Context(), params, timed, o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return r
			}
			inDoubt := func(r host.Result) bool {
				return slices.ContainsFunc(r.Doubts, func(d learners.Doubt) bool {
					return d.Code == learners.EndsInDoubt
				})
			}
			whole := run(func(int) float64 { return 0 }, host.RunOptions{})
			for _, at := range []int{0, 1, whole.Steps / 2} {
				half := func(made int) float64 {
					if made >= at {
						return 0.7
					}
					return 0.2
				}
				var kept host.Snapshot
				short := run(half, host.RunOptions{Due: func(steps int) bool { return steps == at+1 },
					Keep: func(s host.Snapshot) error { kept = s; return nil }})
				if short.Stop != host.Converged || short.Steps > whole.Steps && !inDoubt(short) ||
					short.EstimatedError > whole.EstimatedError+0.02 {
					t.Errorf("%s, %d examples, short at %d: %s after %d of %d steps, error %.3f of %.3f, %q",
						name, m, at, short.Stop, short.Steps, whole.Steps, short.EstimatedError, whole.EstimatedError,
						short.Doubts)
				}
				if (at == 0 || at < 3 && m < n) && !inDoubt(short) {
					t.Errorf("%s, %d examples, short at %d: it does not say so", name, m, at)
				}
				if kept.Steps == at+1 {
					again := run(half, host.RunOptions{Resume: &kept})
					if !slices.Equal(again.W.W, short.W.W) || inDoubt(again) != inDoubt(short) {
						t.Errorf("%s, %d examples, short at %d: resumed it has other weights or doubts", name, m, at)
					}
				}
			}
			once := run(func(int) float64 { return 1 }, host.RunOptions{})
			if once.Stop != host.TimeUp || once.Steps != 1 || !inDoubt(once) ||
				once.EstimatedError > whole.EstimatedError+0.2 {
				t.Errorf("%s, %d examples: %s after %d steps, error %.3f of %.3f, %q", name, m, once.Stop,
					once.Steps, once.EstimatedError, whole.EstimatedError, once.Doubts)
			}
		}
	}
}
