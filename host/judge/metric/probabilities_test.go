package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
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

// twinCalibration sorts by the top probability and walks through the bins.
func twinCalibration(truth []int32, p []float32, q int) float64 {
	type one struct {
		top   float64
		right bool
	}
	var all []one
	for i, y := range truth {
		row := p[i*q : (i+1)*q]
		top := slices.Max(row)
		all = append(all, one{float64(top), slices.Index(row, top) == int(y)})
	}
	slices.SortFunc(all, func(a, b one) int { return int(math.Copysign(1, a.top-b.top)) })
	sum, edge := 0.0, 1.0/15
	for len(all) > 0 {
		gap := 0.0
		for len(all) > 0 && all[0].top <= edge {
			gap += all[0].top
			if all[0].right {
				gap--
			}
			all = all[1:]
		}
		sum += math.Abs(gap)
		edge += 1.0 / 15
	}
	return sum / float64(len(truth))
}

func TestProbabilitiesAgainstTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		q, n := 2+rng.IntN(6), 200
		var truth []int32
		var p []float32
		for range n {
			row, sum := make([]float32, q), float32(0)
			for r := range row {
				row[r] = rng.Float32()
				sum += row[r]
			}
			for r := range row {
				row[r] /= sum
			}
			p, truth = append(p, row...), append(truth, rng.Int32N(int32(q)))
		}
		r, err := EvaluateProbabilities(truth, p, q)
		if err != nil {
			t.Fatal(err)
		}
		logLoss, brier := 0.0, 0.0
		for i, y := range truth {
			logLoss -= math.Log(float64(p[i*q+int(y)])) / float64(n)
			for k, v := range p[i*q : (i+1)*q] {
				hit := 0.0
				if k == int(y) {
					hit = 1
				}
				brier += math.Pow(float64(v)-hit, 2) / float64(n)
			}
		}
		if !(math.Abs(r.LogLoss-logLoss) < 1e-12 && math.Abs(r.BrierScore-brier) < 1e-12 &&
			math.Abs(r.CalibrationError-twinCalibration(truth, p, q)) < 1e-12) {
			t.Errorf("found %+v, wanted %v, %v, %v", r, logLoss, brier, twinCalibration(truth, p, q))
		}
		identity := make([]float64, q*q)
		for k := range q {
			identity[k*q+k] = 1
		}
		if loss, err := CorrectedLogLoss(truth, p, identity); err != nil ||
			!(math.Abs(loss-r.LogLoss) < 1e-12) {
			t.Errorf("corrected log-loss %v, %v without noise, wanted %v", loss, err, r.LogLoss)
		}
	}
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
