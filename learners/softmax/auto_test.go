package softmax_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

func symmetric(rate float64) func([]string) (*confusion.Matrix, error) {
	return func(classes []string) (*confusion.Matrix, error) {
		return confusion.Symmetric(classes, rate)
	}
}

// The choice is said, and is no worse than the others by much. What it says of the share that is
// right agrees with the labels that nobody has shown it.
func TestAuto(t *testing.T) {
	for _, noise := range []func([]string) (*confusion.Matrix, error){pairwise(0.4), symmetric(0.4),
		nil} {
		p := digits(t, 1300, noise)
		auto := func(params *softmax.Params) { params.Correction = softmax.Auto }
		r := learn(t, p, auto)
		got := wrong(t, p.Engine, r.W, 1300)
		em := wrong(t, p.Engine, learn(t, p,
			func(params *softmax.Params) { params.Correction = softmax.EM }).W, 1300)
		t.Logf("error %.3f, em %.3f; %s", got, em, r.Doubts)
		if got > em+0.02 {
			t.Errorf("error %.3f, em %.3f", got, em)
		}
		want := `chose the correction .*; % right of the examples held out, and how much more: em \d+\.\d+, forward [-+]`
		if noise == nil {
			want = "labels count as right"
		}
		if !regexp.MustCompile(want).MatchString(fmt.Sprint(r.Doubts)) {
			t.Errorf("doubts %q, wanted %q", r.Doubts, want)
		}
	}
}

// A choice that ends before it is made leaves the weights as they were, and says so.
func TestAutoStopped(t *testing.T) {
	p := digits(t, 200, pairwise(0.2))
	params := softmax.Defaults()
	params.Correction = softmax.Auto
	r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(r.Doubts), "ended in the choice of a correction") ||
		r.W.W[0] != 0 {
		t.Errorf("doubts %q, weights %v…", r.Doubts, r.W.W[0])
	}
	params.LearnConfusion = true
	if _, err := learners.Start(t.Context(), params, p); !facts.Told(err,
		"correction auto learn_confusion") {
		t.Errorf("%v", err)
	}
}
