package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// scored are noisy labels, and probabilities of noisy labels as a model would know them that is
// sometimes in doubt of the true class.
func scored(t testing.TB, m *confusion.Matrix, n int, doubt float64, seed uint64) (p []float32, y,
	right []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	q := m.Q()
	right = make([]int32, n)
	for i := range right {
		right[i] = int32(rng.IntN(q))
	}
	y, err := m.Inject(right, seed)
	if err != nil {
		t.Fatal(err)
	}
	of, row := make([]float64, q), make([]float64, q)
	for i := range n {
		clear(of)
		sure := 1 - doubt*rng.Float64()*rng.Float64()
		of[right[i]] += sure
		for k := range q {
			of[k] += (1 - sure) / float64(q)
		}
		sum := 0.0
		for k := range q {
			row[k] = 0
			for c, v := range of {
				row[k] += m.P[k*q+c] * v
			}
			sum += row[k]
		}
		for k := range q {
			p = append(p, float32(row[k]/sum))
		}
	}
	return p, y, right
}

// twinJoint is the published rule, one example after the other.
func twinJoint(p []float32, y []int32, q int) []float64 {
	thresholds, given := make([]float64, q), make([]float64, q)
	for i, k := range y {
		thresholds[k] += float64(p[i*q+int(k)])
		given[k]++
	}
	for k := range thresholds {
		if given[k] > 0 {
			thresholds[k] = math.Max(thresholds[k]/given[k], 2e-6)
		} else {
			thresholds[k] = 2
		}
	}
	joint := make([]float64, q*q)
	for i, k := range y {
		row := p[i*q : (i+1)*q]
		var sure []int
		for c, v := range row {
			if float64(v) >= thresholds[c]-1e-6 {
				sure = append(sure, c)
			}
		}
		if len(sure) == 1 {
			joint[int(k)*q+sure[0]]++
		} else if len(sure) > 1 {
			joint[int(k)*q+slices.Index(row, slices.Max(row))]++
		}
	}
	for k := range q {
		joint[k*q+k] = math.Max(joint[k*q+k], 1)
		sum := 0.0
		for c := range q {
			sum += joint[k*q+c]
		}
		for c := range q {
			joint[k*q+c] *= given[k] / sum
		}
	}
	return joint
}

// The joint follows the definition.
func TestConfidentJointTwin(t *testing.T) {
	m, err := confusion.Random(names(7), 0.5, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, y, _ := scored(t, m, 5000, 1, 5)
	e, err := ConfidentJoint(m.Classes, y, p, false)
	if err != nil {
		t.Fatal(err)
	}
	checkJoint(t, p, y, 7)
	if d := meanError(e.P, m.P); !(d < 0.03) {
		t.Errorf("%v off, wanted less than 0.03", d)
	}
}

// checkJoint compares the calibrated joint with the twin's.
func checkJoint(t *testing.T, p []float32, y []int32, q int) {
	t.Helper()
	counted, _, err := countConfident(y, p, q)
	if err != nil {
		t.Fatal(err)
	}
	joint := calibrated(counted, y, q)
	for k, v := range twinJoint(p, y, q) {
		if math.Abs(joint[k]-v) > 1e-9*(1+v) {
			t.Errorf("entry %d is %v, wanted %v", k, joint[k], v)
		}
	}
}

// Labels that are never given, classes that no example counts as of, and rows that reach no
// threshold have an answer.
func TestConfidentJointGaps(t *testing.T) {
	p := []float32{
		.9, .05, .05, 0,
		.8, .1, .1, 0,
		.1, .2, .7, 0,
		.6, .1, .3, 0, // labelled 2
		.3, .3, .4, 0,
	}
	y := []int32{0, 0, 2, 2, 2}
	e, err := ConfidentJoint(names(4), y, p, true)
	if err != nil {
		t.Fatal(err)
	}
	checkJoint(t, p, y, 4)
	notes := strings.Join(e.Notes, "\n")
	for _, want := range []string{
		`label "c1" is never given`, `label "c3" is never given`, `1 examples count as class "c2"`,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q, wanted %q", notes, want)
		}
	}
	if e.P[1*4+1] != 1 || e.P[3*4+3] != 1 {
		t.Errorf("classes that nothing is known of: %v", e.P)
	}
	// A model that knows nothing has high thresholds, which nothing reaches but by chance.
	flat := slices.Repeat([]float32{.5, .5}, 30)
	e, err = ConfidentJoint(names(2), slices.Repeat([]int32{0, 1}, 15), flat, false)
	if err != nil || e.Check() != nil {
		t.Errorf("flat: %v, %v", e, err)
	}
	// The label 1 has a threshold that nothing labelled 0 reaches, nor half of its own.
	high := []float32{.2, .8, 0, 1, .6, .4, .7, .3}
	e, err = ConfidentJoint(names(2), []int32{1, 1, 0, 0}, high, true)
	if err != nil || e.Check() != nil {
		t.Errorf("high: %v, %v", e, err)
	}
}

func TestConfidentJointRefuses(t *testing.T) {
	p := []float32{.9, .1, .2, .8}
	_, err := ConfidentJoint(names(2), []int32{0, 1}, p, false)
	if !facts.Told(err, "in-sample out-of-fold") {
		t.Errorf("labels known by heart: %v", err)
	}
	if e, err := ConfidentJoint(names(2), []int32{0, 1}, p, true); err != nil || e.P[1] != 0 {
		t.Errorf("labels without a mistake: %v", err)
	}
	unknown := []float32{.9, .1, .2, float32(math.NaN())}
	for want, try := range map[string]struct {
		y []int32
		p []float32
	}{
		"label 2 0 1":              {[]int32{0, 2}, p},
		"4 probabilities 3 labels": {[]int32{0, 1, 1}, p},
		"4 probabilities 1 labels": {[]int32{0}, p},
		"example 1 NaN 0":          {[]int32{0, 1}, unknown},
	} {
		if _, err := ConfidentJoint(names(2), try.y, try.p, false); !facts.Told(err, want) {
			t.Errorf("%v, wanted %q", err, want)
		}
	}
}
