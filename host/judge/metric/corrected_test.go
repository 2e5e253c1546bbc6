package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// pairwise is the matrix of noise that takes class k for k+1, and its inverse by the adjugate
// series: C = (1-s)·(I + r·P), with P a cycle of q classes and r = s/(1-s).
func pairwise(q int, s float64) (c, inverse []float64) {
	c, inverse = make([]float64, q*q), make([]float64, q*q)
	r := s / (1 - s)
	for t := range q {
		c[t*q+t] += 1 - s
		c[(t+1)%q*q+t] += s
		// (I + rP)⁻¹ = Σ_j (-r)^j P^j / (1 - (-r)^q), j < q
		for j := range q {
			inverse[(t+j)%q*q+t] += math.Pow(-r, float64(j)) / (1 - math.Pow(-r, float64(q))) / (1 - s)
		}
	}
	return c, inverse
}

func identity(q int) []float64 {
	v := make([]float64, q*q)
	for k := range q {
		v[k*q+k] = 1
	}
	return v
}

// Where labels are right, all values equal Evaluate's, and the intervals are Agresti and Coull's:
// (x + z²/2) / (n + z²) ± z·√(p(1-p)/(n + z²)).
func TestCorrectWithoutNoise(t *testing.T) {
	for _, set := range peers {
		truth, predicted := peerLabels(set.classes)
		classes := make([]string, set.classes+1)
		r, err := Evaluate(truth, predicted, classes)
		if err != nil {
			t.Fatal(err)
		}
		one := identity(len(classes))
		c, err := Correct(r.Confusion, classes, one, one, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "accuracy", c.Accuracy.Value, 1-r.ErrorRate)
		near(t, "macro F1", *c.MacroF1, r.MacroF1)
		near(t, "balanced accuracy", *c.BalancedAccuracy, r.BalancedAccuracy)
		near(t, "kappa", *c.Kappa, *r.Kappa)
		hits := int64(0)
		for k, want := range r.PerClass {
			got := c.PerClass[k]
			near(t, "share", got.Share, float64(want.Examples)/60)
			for _, pair := range [][2]*float64{{want.F1, got.F1}, {want.Recall, valueOf(got.Recall)},
				{want.Precision, valueOf(got.Precision)}} {
				if (pair[0] == nil) != (pair[1] == nil) {
					t.Errorf("class %d: found %v, wanted %v", k, pair[1], pair[0])
				} else if pair[0] != nil {
					near(t, "class", *pair[1], *pair[0])
				}
			}
			if want.Recall != nil {
				agrestiCoull(t, *got.Recall, r.Confusion[k][k], want.Examples)
			}
			hits += r.Confusion[k][k]
		}
		agrestiCoull(t, c.Accuracy, hits, 60)
	}
}

func valueOf(e *Estimate) *float64 {
	if e == nil {
		return nil
	}
	return &e.Value
}

func agrestiCoull(t *testing.T, got Estimate, x, n int64) {
	t.Helper()
	const z = 1.959963984540054
	m := float64(n) + z*z
	p := (float64(x) + z*z/2) / m
	half := z * math.Sqrt(p*(1-p)/m)
	if !(math.Abs(got.Low-(p-half)) < 1e-12 && math.Abs(got.High-(p+half)) < 1e-12) {
		t.Errorf("found %+v, wanted %v ± %v", got, p, half)
	}
}

// simulated draws n examples of the joint distribution of truth and prediction, [p*q+t], and
// corrupts their labels by c.
func simulated(rng *rand.Rand, joint, c []float64, q, n int) [][]int64 {
	counts := make([][]int64, q)
	for p := range counts {
		counts[p] = make([]int64, q)
	}
	for range n {
		at := draw(rng, joint, 0, 1)
		counts[at/q][draw(rng, c, at%q, q)]++
	}
	return counts
}

// draw returns at random an index i with probability p[from+i·step].
func draw(rng *rand.Rand, p []float64, from, step int) int {
	u, i := rng.Float64(), 0
	for ; from+(i+1)*step < len(p); i++ {
		if u -= p[from+i*step]; u < 0 {
			break
		}
	}
	return i
}

// Of 1000 simulated test sets with noisy labels, 93 to 97 % have the true accuracy in their
// interval, and nearly as many the true recall and precision of a class.
func TestIntervalsCover(t *testing.T) {
	const q, sets = 5, 1000
	for _, world := range []struct {
		noise, accuracy float64
		n               int
	}{{0.4, 0.9, 500}, {0.2, 0.97, 300}, {0.45, 0.6, 1000}, {0, 0.8, 200}} {
		rng := rand.New(rand.NewPCG(7, uint64(world.n)))
		c, inverse := pairwise(q, world.noise)
		joint := make([]float64, q*q)
		recall, precision := make([]float64, q), make([]float64, q)
		for k := range q {
			share := float64(k+3) / 25 // of class k: 0.12 to 0.28
			for p := range q {
				joint[p*q+k] = share * (1 - world.accuracy) / (q - 1)
			}
			joint[k*q+k] = share * world.accuracy
			recall[k] = world.accuracy
		}
		for k := range q {
			sum := 0.0
			for _, v := range joint[k*q : (k+1)*q] {
				sum += v
			}
			precision[k] = joint[k*q+k] / sum
		}
		inside, insideClass, wide := 0, 0, 0.0
		for range sets {
			r, err := Correct(simulated(rng, joint, c, q, world.n), make([]string, q), c, inverse, nil)
			if err != nil {
				t.Fatal(err)
			}
			wide += (r.Accuracy.High - r.Accuracy.Low) / sets
			inside += covers(r.Accuracy, world.accuracy)
			for k, class := range r.PerClass {
				insideClass += covers(*class.Recall, recall[k]) + covers(*class.Precision, precision[k])
			}
		}
		share, shareClass := float64(inside)/sets, float64(insideClass)/(2*q*sets)
		t.Logf("%+v: %.3f of accuracies, %.3f of recalls and precisions; mean width %.4f", world, share,
			shareClass, wide)
		if share < 0.93 || share > 0.97 || shareClass < 0.93 || shareClass > 0.98 {
			t.Errorf("%+v: %.3f of the intervals hold the accuracy, %.3f a recall or precision", world,
				share, shareClass)
		}
	}
}

func covers(e Estimate, truth float64) int {
	if e.Low <= truth && truth <= e.High && e.Low <= e.Value && e.Value <= e.High {
		return 1
	}
	return 0
}

// By hand: two classes, C = (0.8 0.1; 0.2 0.9), C⁻¹ = (9 -1; -2 8)/7.
func TestCorrectByHand(t *testing.T) {
	c, inverse := []float64{0.8, 0.1, 0.2, 0.9}, []float64{9. / 7, -1. / 7, -2. / 7, 8. / 7}
	r, err := Correct([][]int64{{40, 20}, {10, 30}}, []string{"a", "b"}, c, inverse, nil)
	if err != nil {
		t.Fatal(err)
	}
	// J = N·C⁻ᵀ/n: rows (40·9-20, -80+160)/700 and (90-30, -20+240)/700.
	near(t, "accuracy", r.Accuracy.Value, (340.+220)/700)
	near(t, "share", r.PerClass[0].Share, 400./700)
	near(t, "recall", r.PerClass[0].Recall.Value, 340./400)
	near(t, "precision", r.PerClass[0].Precision.Value, 340./420)
	near(t, "joint", r.Confusion[0][1], 80./7)
	near(t, "F1", *r.PerClass[1].F1, 2*220./(300+280))
	near(t, "balanced accuracy", *r.BalancedAccuracy, (340./400+220./300)/2)
	near(t, "kappa", *r.Kappa, (0.8-0.6*400/700-0.4*300/700)/(1-0.6*400/700-0.4*300/700))
	if impossible(r) {
		t.Error("found impossible what is possible")
	}
	// A matrix that claims far more noise than there is: nobody is right so often.
	c, inverse = pairwise(3, 0.45)
	r, err = Correct([][]int64{{100, 0, 0}, {0, 100, 0}, {0, 0, 100}}, make([]string, 3), c, inverse,
		nil)
	if err != nil || !impossible(r) || r.Accuracy.Value < 1 {
		t.Errorf("found %+v, %v", r.Accuracy, err)
	}
}

func TestCorrectErrors(t *testing.T) {
	for _, c := range []struct {
		counts [][]int64
		matrix []float64
		want   string
	}{
		{[][]int64{{1, 0}, {0, 1}}, identity(3), "evaluate 9 9 entries 2 classes 2×2"},
		{[][]int64{{1, 0}}, identity(2), "evaluate counts 1 rows 2 classes 2×2"},
		{[][]int64{{1}, {0, 1}}, identity(2), "evaluate row 1 counts 2 classes 2×2"},
		{[][]int64{{0, 0}, {0, 0}}, identity(2), "evaluate example 1"},
	} {
		if _, err := Correct(c.counts, []string{"a", "b"}, c.matrix, c.matrix, nil); !facts.Told(err,
			c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// impossible reports whether the interval of the accuracy lies outside of [0, 1].
func impossible(r Corrected) bool { return r.Accuracy.Low > 1 || r.Accuracy.High < 0 }
