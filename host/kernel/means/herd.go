package means

import "math"

// herd is a set of atoms that grows, by kernel herding, towards the mean of n examples.
type herd struct {
	target []float32 // of each example: ⟨ω, φ(x)⟩
	sums   []float64 // Σ κ(atom, x)
	gains  []float64 // of the next atom
	taken  []int     // how often each example is an atom
	size   int       // Σ taken

	square float64 // ‖ω‖²
	cross  float64 // Σ ⟨ω, φ(atom)⟩
	own    float64 // ‖Σ φ(atom)‖²
}

// newHerd begins a herd, of no atom, given the mean's numbers at the examples.
func newHerd(target []float32) *herd {
	n := len(target)
	h := &herd{target: target, sums: make([]float64, n), gains: make([]float64, n), taken: make([]int,
		n)}
	for _, v := range target {
		h.square += float64(v)
	}
	h.square /= float64(n)
	return h
}

// next returns the example by which the mean exceeds that of the atoms and it most, the first of
// equal ones.
func (h *herd) next() int {
	best, most := 0, math.Inf(-1)
	for i, v := range h.target {
		h.gains[i] = float64(v) - h.sums[i]/float64(h.size+1)
		if h.gains[i] > most {
			best, most = i, h.gains[i]
		}
	}
	return best
}

// take makes example at an atom, whose kernel values with all are given.
func (h *herd) take(at int, values []float32) {
	h.own += float64(2*h.sums[at]) + float64(values[at])
	h.cross += float64(h.target[at])
	for i := range h.sums {
		h.sums[i] += float64(values[i])
	}
	h.taken[at]++
	h.size++
}

// squaredError returns the squared distance of the atoms' mean from ω.
func (h *herd) squaredError() float64 {
	k := float64(h.size)
	return h.square - float64(2*h.cross)/k + h.own/float64(k*k)
}
