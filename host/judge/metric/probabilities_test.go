package metric

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// The examples of scikit-learn's documentation: log_loss of spam and ham, and the Brier
// score of probabilities 0.1, 0.9, 0.8, 0.3 of class 1, which it halves for two classes.
func TestProbabilitiesOfScikitLearn(t *testing.T) {
	r, err := EvaluateProbabilities([]int32{1, 0, 0, 1}, []float32{0.1, 0.9, 0.9, 0.1, 0.8, 0.2, 0.35,
		0.65}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.21616187468057912; !(math.Abs(r.LogLoss-want) < 1e-7) {
		t.Errorf("log-loss %v, wanted %v", r.LogLoss, want)
	}
	r, err = EvaluateProbabilities([]int32{0, 1, 1, 0}, []float32{0.9, 0.1, 0.1, 0.9, 0.2, 0.8, 0.7,
		0.3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 0.0375; !(math.Abs(r.BrierScore-want) < 1e-7) {
		t.Errorf("Brier score %v, wanted %v", r.BrierScore, want)
	}
}

// By hand: tops 1, 3/4, 3/4, 1/2: the first, the third and the last are right, in
// bins 15, 12, 12 and 8 of 15.
func TestProbabilitiesByHand(t *testing.T) {
	p := []float32{1, 0, 0, 0.75, 0.25, 0, 0, 0.25, 0.75, 0.5, 0.5, 0}
	r, err := EvaluateProbabilities([]int32{0, 1, 2, 0}, p, 3)
	if err != nil {
		t.Fatal(err)
	}
	// scikit-learn holds float32 probabilities between 2^-23 and 1 - 2^-23.
	near(t, "log-loss", r.LogLoss,
		(-math.Log(1-0x1p-23)-math.Log(0.25)-math.Log(0.75)-math.Log(0.5))/4)
	near(t, "Brier score", r.BrierScore, (0+2*0.5625+2*0.0625+2*0.25)/4)
	near(t, "calibration error", r.CalibrationError, (0+math.Abs(1-1.5)+0.5)/4)
	got, err := json.Marshal(Probabilities{0.5, 0.25, 0.125})
	if want := `{"log_loss":0.5,"brier_score":0.25,"calibration_error":0.125}`; err != nil ||
		string(got) != want {
		t.Errorf("found %s, %v, wanted %s", got, err, want)
	}
	// Through C = [[1/2 0 0] [1/2 1 0] [0 0 1]], column = true class.
	c := []float64{0.5, 0, 0, 0.5, 1, 0, 0, 0, 1}
	loss, err := CorrectedLogLoss([]int32{0, 1, 2, 1}, p, c)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "corrected log-loss", loss,
		-(math.Log(0.5)+math.Log(0.625)+math.Log(0.75)+math.Log(0.75))/4)
	if loss, err = CorrectedLogLoss([]int32{2}, []float32{1, 0, 0}, c); err != nil {
		t.Fatal(err)
	}
	near(t, "corrected log-loss of what cannot be", loss, 23*math.Ln2)
}

func TestProbabilitiesErrors(t *testing.T) {
	for _, c := range []struct {
		truth []int32
		p     []float32
		want  string
	}{
		{nil, nil, "0 probabilities 0 labels 2"},
		{[]int32{0}, []float32{1}, "1 probabilities 1 labels"},
		{[]int32{0, 2}, []float32{1, 0, 0, 1}, "example 1 0 label 2 0 1"},
		{[]int32{0, 1}, []float32{1, 0, 0, float32(math.NaN())}, "example 1 0 NaN"},
		{[]int32{0, 1}, []float32{1, 0, 0, 2}, "example 1 0 2 0 1"},
	} {
		if _, err := EvaluateProbabilities(c.truth, c.p, 2); !facts.Told(err, c.want) {
			t.Errorf("found %v, wanted %s", err, c.want)
		}
		if _, err := CorrectedLogLoss(c.truth, c.p, make([]float64, 4)); !facts.Told(err, c.want) {
			t.Errorf("found %v, wanted %s", err, c.want)
		}
	}
	if _, err := CorrectedLogLoss([]int32{0}, []float32{1, 0}, make([]float64, 5)); !facts.Told(err,
		"5 entries") {
		t.Errorf("found %v", err)
	}
}
