package umagpu_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
)

// TestAuto: labels held out choose the learner, columns of text that trees would leave out keep
// them from competing, and settings of one learner are refused.
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
	train := func(y []string, columns ...umagpu.Column) *umagpu.TrainResult {
		t.Helper()
		l, err := umagpu.NewLabels(y, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Labels: l,
			Data:     umagpu.Data{Table: &umagpu.Table{Columns: columns}},
			Settings: umagpu.Settings{Learner: umagpu.AutoLearner}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, c := range []struct {
		what, want string
		found      *umagpu.TrainResult
	}{
		{"steps of one column", "trees", train(wave, columns...)},
		{"a line", "softmax", train(step, columns...)},
		{"words", "softmax", train(wave, append(columns, umagpu.NewText("note", labels))...)},
	} {
		if c.found.Learner != c.want || c.found.Request.Learner == umagpu.AutoLearner {
			t.Errorf("%s: chose %s, request %s, want %s; notes %v", c.what, c.found.Learner,
				c.found.Request.Learner, c.want, c.found.Notes)
		}
	}
	request := umagpu.TrainRequest{Settings: umagpu.Settings{Learner: umagpu.AutoLearner,
		Kernel: "rbf"}}
	if fault := (*umagpu.Fault)(nil); !errors.As(request.Check(), &fault) || fault.Option != "kernel" {
		t.Errorf("a kernel beside auto: %v, want a fault of it", request.Check())
	}
}
