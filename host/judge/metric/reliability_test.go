package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Through C⁻¹ noisy labels tell what right ones tell, within four standard errors of each bin.
func TestReliabilityOfNoisyLabels(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	labels, p := drawnProbabilities(random, 40000)
	right, err := Reliability(labels, p, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	const keep = 0.6 // else the next class
	for i, y := range labels {
		if random.Float64() > keep {
			labels[i] = (y + 1) % 3
		}
	}
	c := []float64{keep, 0, 1 - keep, 1 - keep, keep, 0, 0, 1 - keep, keep}
	noisy, err := Reliability(labels, p, 3, inverted(c, 3))
	if err != nil {
		t.Fatal(err)
	}
	for k, b := range noisy {
		if b.Examples > 100 && math.Abs(b.Right-right[k].Right) > 4*b.StandardError {
			t.Errorf("bin %d of %d examples: %.3f ± %.3f right by noisy labels, %.3f by right ones", k,
				b.Examples, b.Right, b.StandardError, right[k].Right)
		}
	}
	if _, err := Reliability(labels, p, 3, c[:8]); err == nil {
		t.Error("no error for an inverse that is not square")
	}
}

// drawnProbabilities are of three classes, and promise a little too much.
func drawnProbabilities(random *rand.Rand, n int) (labels []int32, p []float32) {
	for range n {
		scores, sum := [3]float64{}, 0.0
		for k := range scores {
			scores[k] = math.Exp(2 * random.NormFloat64())
			sum += scores[k]
		}
		u, y := random.Float64(), int32(0)
		for k, v := range scores {
			if p = append(p, float32(v/sum)); k < 2 && u > (0.8*v/sum+0.2/3) && y == int32(k) {
				u -= 0.8*v/sum + 0.2/3
				y++
			}
		}
		labels = append(labels, y)
	}
	return labels, p
}
