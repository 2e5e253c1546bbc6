package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// clock is a clock that goes on by a second with each step.
func clock(t *testing.T, o *host.Options) {
	at := time.Unix(1e9, 0)
	was := *host.Now
	*host.Now = func() time.Time { return at }
	t.Cleanup(func() { *host.Now = was })
	o.Watch.Step = func(host.Report) { at = at.Add(time.Second) }
}

// A training ends when its time is up, says so, and can be resumed to the bits of one without a
// limit. One step is always made.
func TestTime(t *testing.T) {
	d, noise := fewDigits(t)
	train := func(o host.Options) *host.Trained {
		t.Helper()
		o.Engine, o.Learner = simd.New(), &uma.Params{Step: uma.StepPair, Select: uma.SelectRandom,
			AlphaUnit: uma.UnitWeights, Tol: 1e-9}
		o.MaxSteps = 20
		return must(host.Train(t.Context(), d, noise, o))
	}
	whole := train(host.Options{})
	for limit, steps := range map[time.Duration]int{1: 1, time.Second: 1, 4500 * time.Millisecond: 5,
		time.Hour: 20} {
		o := host.Options{Time: limit}
		clock(t, &o)
		got := train(o)
		if got.Run.Steps != steps || (got.Run.Stop == host.TimeUp) != (steps < 20) ||
			got.Meta.Stop != string(got.Run.Stop) {
			t.Errorf("%v: stop %s after %d steps, want %d", limit, got.Run.Stop, got.Run.Steps, steps)
		}
		if says := slices.ContainsFunc(got.Doubts, func(d learners.Doubt) bool {
			return d.Code == host.OutOfTime && d.Advice != ""
		}); says != (steps < 20) {
			t.Errorf("%v: doubts %q", limit, got.Doubts)
		}
		if steps < 20 {
			got = train(host.Options{Resume: got.Model})
		}
		if !slices.Equal(got.W, whole.W) || got.Run.Steps != whole.Run.Steps {
			t.Errorf("%v: resumed it has other weights after %d steps", limit, got.Run.Steps)
		}
	}
}

// A limit of time is not negative.
func TestTimeRefused(t *testing.T) {
	d, noise := fewDigits(t)
	o := host.Options{Engine: simd.New(), Time: -1}
	if _, err := host.Train(t.Context(), d, noise, o); err == nil {
		t.Errorf("%+v was taken", o)
	}
}
