package enginetest

import (
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// drawTargets draws targets that n examples of q classes are evaluated with.
type drawTargets func(rng *rand.Rand, n, q int) engine.Targets

// The first has no weights, and right labels come after posteriors.
var everyKind = []drawTargets{labels, soft, perRow, identity, backward, extremes}

// labels: a row of log C for each class, some of it impossible, and a noisy label for
// each example.
func labels(rng *rand.Rand, n, q int) engine.Targets {
	t := engine.Targets{Values: make([]float32, q*q), Row: make([]int32, n)}
	for at := range t.Values {
		p := rng.Float64()
		if rng.IntN(4) == 0 && at%q != at/q {
			p = 0
		}
		t.Values[at] = float32(math.Log(p / float64(q)))
	}
	for i := range t.Row {
		t.Row[i] = int32(rng.IntN(q))
	}
	return t
}

// perRow: for each example how likely the answers of several people are, and a weight.
func perRow(rng *rand.Rand, n, q int) engine.Targets {
	t := engine.Targets{Values: make([]float32, n*q), Weight: weights(rng, n)}
	for at := range t.Values {
		t.Values[at] = float32(-20 * rng.Float64())
		if rng.IntN(5) == 0 && at%q != at/q%q {
			t.Values[at] = float32(math.Inf(-1))
		}
	}
	return t
}

// identity: labels that are right for sure.
func identity(rng *rand.Rand, n, q int) engine.Targets {
	t := labels(rng, n, q)
	for at := range t.Values {
		if t.Values[at] = 0; at/q != at%q {
			t.Values[at] = float32(math.Inf(-1))
		}
	}
	t.Weight = weights(rng, n)
	return t
}

// soft: a distribution over the classes for each example, some of them certain.
func soft(rng *rand.Rand, n, q int) engine.Targets {
	t := engine.Targets{Given: true, Values: make([]float32, n*q)}
	for i := range n {
		row, total := t.Values[i*q:(i+1)*q], 0.0
		for k := range row {
			row[k] = float32(rng.ExpFloat64())
			total += float64(row[k])
		}
		certain := rng.IntN(4 * q)
		for k := range row {
			if row[k] = float32(float64(row[k]) / total); certain < q {
				row[k] = 0
			}
		}
		if certain < q {
			row[certain] = 1
		}
	}
	return t
}

// backward: rows that sum to 1 with values far below 0 and above 1, and weights that
// make up for it.
func backward(rng *rand.Rand, n, q int) engine.Targets {
	t := engine.Targets{Given: true, Values: make([]float32, q*q), Row: make([]int32, n),
		Weight: weights(rng, n)}
	for r := range q {
		row, total := t.Values[r*q:(r+1)*q], 0.0
		for k := range row {
			row[k] = float32(rng.NormFloat64() * float64(1+3*r%7))
			total += float64(row[k])
		}
		row[r] += float32(1 - total)
	}
	for i := range n {
		r := rng.IntN(q)
		size := 1.0
		for _, v := range t.Values[r*q : (r+1)*q] {
			size = max(size, float64(v), 1-float64(v))
		}
		t.Row[i] = int32(r)
		t.Weight[i] = float32(float64(t.Weight[i]) / size * (1 - 0x1p-23))
	}
	return t
}

// extremes: logarithms that overflow, underflow and cancel, and weights between.
func extremes(rng *rand.Rand, n, q int) engine.Targets {
	values := []float32{0, -0x1p-149, 0x1p-149, -1, 1, -87.3, -87.4, -104, 88.7, 1e-30, -1e6, 3e4,
		-32767.5, 40000, -math.MaxFloat32, math.MaxFloat32, float32(math.Inf(-1))}
	t := labels(rng, n, q)
	rows := 3*q + 5
	t.Values = make([]float32, rows*q)
	for at := range t.Values {
		if t.Values[at] = values[rng.IntN(len(values))]; at%q == at/q%q {
			t.Values[at] = values[rng.IntN(len(values)-1)]
		}
		if at/q%3 == 0 && t.Values[at] > 100 { // a row that is not refused for all that overflows
			t.Values[at] = -50
		}
	}
	for i := range t.Row {
		t.Row[i] = int32(rng.IntN(rows))
	}
	t.Weight = weights(rng, n)
	return t
}

// weights are 0 to 1, some of either and some so small that products are subnormal.
func weights(rng *rand.Rand, n int) []float32 {
	w := make([]float32, n)
	for i := range w {
		switch rng.IntN(6) {
		case 0:
			w[i] = float32(rng.IntN(2))
		case 1:
			w[i] = float32(math.Ldexp(rng.Float64(), -rng.IntN(149)))
		default:
			w[i] = rng.Float32()
		}
	}
	return w
}
