package umagpu_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// TestAuto: labels held out choose the learner, columns of text that trees would leave out keep
// them from competing, a training that is to be resumable learns the best alone, and settings of
// one learner are refused.
func TestAuto(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 400
	a, b, wave, labels := make([]float64, n), make([]float64, n), make([]string, n), make([]string, n)
	step := make([]string, n)
	for i := range n {
		a[i], b[i] = r.Float64(), r.Float64()
		wave[i], step[i] = []string{"no", "yes"}[int(8*a[i])%2], "low"
		if a[i]+b[i] > 1 {
			step[i] = "high"
		}
		labels[i] = strings.Repeat("word ", 1+i%7) + wave[i]
	}
	columns := []umagpu.Column{umagpu.NewNumbers("a", a), umagpu.NewNumbers("b", b)}
	train := func(y []string, seconds float64, columns ...umagpu.Column) *umagpu.TrainResult {
		t.Helper()
		l, err := umagpu.NewLabels(y, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Labels: l, HoldOut: 0.25,
			Data:     umagpu.Data{Table: &umagpu.Table{Columns: columns}},
			Settings: umagpu.Settings{Learner: umagpu.AutoLearner, Time: seconds}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, c := range []struct {
		what, want string // the learner of the largest share
		alone      bool
		found      *umagpu.TrainResult
	}{
		{"steps of one column", "trees", false, train(wave, 0, columns...)},
		{"steps, with a limit of time", "trees", true, train(wave, 1000, columns...)},
		{"a line", "softmax", false, train(step, 0, columns...)},
		{"words", "softmax", true, train(wave, 0, append(columns, umagpu.NewText("note", labels))...)},
	} {
		m := c.found.Model.Host()
		learner, alone := c.found.Learner, m.Members == nil
		if !alone {
			learner = m.Members[lists.Largest(m.Meta.Shares)].Meta.Learner
		}
		if learner != c.want || c.alone && !alone {
			t.Errorf("%s: chose %s, shares %v, want %s; notes %v", c.what, learner, m.Meta.Shares, c.want,
				c.found.Notes)
		}
		if asked := c.found.Request.Learner == umagpu.AutoLearner; asked == alone {
			t.Errorf("%s: the request has learner %s", c.what, c.found.Request.Learner)
		}
		if v := c.found.Validation; v == nil || v.ErrorRate > 0.1 || c.found.EstimatedError > 0.1 {
			t.Errorf("%s: validation %+v, estimated error %.3f, want them low", c.what, v,
				c.found.EstimatedError)
		}
	}
	request := umagpu.TrainRequest{From: train(wave, 0, columns...).Model}
	if fault := (*umagpu.Fault)(nil); !errors.As(request.Check(), &fault) || fault.Option != "from" {
		t.Errorf("from a mixture: %v, want a fault of it", request.Check())
	}
	request = umagpu.TrainRequest{Settings: umagpu.Settings{Learner: umagpu.AutoLearner,
		Kernel: "rbf"}}
	if fault := (*umagpu.Fault)(nil); !errors.As(request.Check(), &fault) || fault.Option != "kernel" {
		t.Errorf("a kernel beside auto: %v, want a fault of it", request.Check())
	}
}
