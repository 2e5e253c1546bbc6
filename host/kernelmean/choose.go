package kernelmean

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
)

// candidates is how many atoms Auto chooses among.
const candidates = 2000

// atom is an example that has a weight of its own in the mean of its class.
type atom struct {
	row    int
	weight float64
}

// choose sets the atoms of m, in the order of the examples, with the weights of the choice, and Bound.
func (s *sample) choose(m *Means) error {
	rng := rand.New(rand.NewPCG(s.o.Seed, 0x61746f6d)) // "atom"
	n := s.o.Atoms
	if n == Auto {
		n = min(candidates, len(s.y))
	}
	members := make([][]int, len(s.sizes))
	for i, k := range s.y {
		members[k] = append(members[k], i)
	}
	shares, err := s.shares(n)
	if err != nil {
		return err
	}
	m.Bound = make([]float64, len(s.sizes))
	weights := map[int]float64{}
	for k, rows := range members {
		if len(rows) == 0 {
			continue
		}
		var atoms []atom
		switch s.o.Choice {
		case Clusters:
			atoms, m.Bound[k], err = s.clusters(rows, shares[k], rng)
		case Herding:
			atoms, m.Bound[k], err = s.herd(rows, shares[k])
		default:
			m.Bound[k] = s.deviation(math.Sqrt(s.radius2()), shares[k])
			for _, at := range rng.Perm(len(rows))[:shares[k]] {
				atoms = append(atoms, atom{rows[at], 1 / float64(shares[k])})
			}
		}
		if err != nil {
			return err
		}
		for _, a := range atoms {
			weights[a.row] += a.weight
		}
	}
	m.Rows = m.Rows[:0]
	for row := range weights {
		m.Rows = append(m.Rows, row)
	}
	slices.Sort(m.Rows)
	m.Landmarks = s.exact.Landmarks.Pick(m.Rows)
	m.Axes = engine.NewWeights(len(s.sizes), len(m.Rows))
	for l, row := range m.Rows {
		m.Axes.Row(int(s.y[row]))[l] = float32(weights[row])
	}
	return nil
}

// shares returns how many of n atoms each class has: as its share of the examples, at least one.
func (s *sample) shares(n int) ([]int, error) {
	all, shares, before, most := len(s.y), make([]int, len(s.sizes)), 0, 0
	left, classes := n, 0
	for k, size := range s.sizes {
		shares[k] = (before+size)*n/all - before*n/all
		if before += size; size == 0 {
			continue
		}
		classes++
		shares[k] = max(1, shares[k])
		left -= shares[k]
	}
	if n < classes {
		return nil, fmt.Errorf("kernel mean: %w: found %d atoms, wanted one at least for each of %d classes", ErrOptions, n,
			classes)
	}
	for ; left < 0; left++ { // classes that got one have taken it from the others
		for k := range shares {
			if shares[k] > shares[most] {
				most = k
			}
		}
		shares[most]--
	}
	return shares, nil
}

// clusters draws k atoms from examples of a class by Algorithm 1: as many centres of a farthest-first
// traversal cut the examples in parts, and one atom of each part, drawn at random, has the weight of all.
//
// The bound is that of Theorem 21's proof, without taking the largest part for all: an atom drawn anew
// moves the mean by w·D at most, w the share of the examples that the part has and D its diameter, and is
// D/√2 from the part's mean on average at most.
func (s *sample) clusters(rows []int, k int, rng *rand.Rand) ([]atom, float64, error) {
	x := s.exact.Landmarks.Pick(rows)
	cover, err := kernelpca.NewCover(s.ctx, s.e, x, s.o.Function, k, kernelpca.Farthest, rng.Uint64())
	if err != nil {
		return nil, 0, err
	}
	parts, radius := make([][]int, len(cover.Rows)), make([]float64, len(cover.Rows))
	for i, c := range cover.Nearest {
		parts[c] = append(parts[c], rows[i])
		radius[c] = max(radius[c], math.Sqrt(cover.Distances[i]))
	}
	var atoms []atom
	moves := 0.0
	for c, part := range parts {
		w := float64(len(part)) / float64(len(rows))
		atoms = append(atoms, atom{part[rng.IntN(len(part))], w})
		moves += float64(w * 2 * radius[c] * w * 2 * radius[c])
	}
	return atoms, math.Sqrt(moves/2) + math.Sqrt(logarithm*moves/2), nil
}

// herd chooses k atoms of a class, each where the class's mean exceeds that of the atoms so far most,
// with a further atom in it (Chen, Welling and Smola, Super-samples from kernel herding, 2010).
//
// The bound holds always: v = (t+1)·ω - Σ φ(atom) begins as ω, and a further atom, which has the largest
// ⟨v, φ(x)⟩ of all x, adds ω - φ(atom), at most 2R long, at a right angle or more. After k atoms v is no
// longer than R·√(1+4k), and the error is ‖v - ω‖/k. No faster rate is known of spaces of endless dimension.
func (s *sample) herd(rows []int, k int) ([]atom, float64, error) {
	x := s.exact.Landmarks.Pick(rows)
	mean := engine.Projection{Function: s.o.Function, Landmarks: x, Axes: engine.NewWeights(1, len(rows))}
	for l := range rows {
		mean.Axes.W[l] = float32(1 / float64(len(rows)))
	}
	target, err := s.project(x, mean)
	if err != nil {
		return nil, 0, err
	}
	sums, taken := make([]float64, len(rows)), make([]int, len(rows))
	for t := range k {
		best, most := 0, math.Inf(-1)
		for i, v := range target {
			if gain := float64(v) - sums[i]/float64(t+1); gain > most {
				best, most = i, gain
			}
		}
		taken[best]++
		row, err := s.project(x, engine.Projection{Function: s.o.Function, Landmarks: x.Pick([]int{best})})
		if err != nil {
			return nil, 0, err
		}
		for i, v := range row {
			sums[i] += float64(v)
		}
	}
	var atoms []atom
	for i, times := range taken {
		if times > 0 {
			atoms = append(atoms, atom{rows[i], float64(times) / float64(k)})
		}
	}
	return atoms, math.Sqrt(s.radius2()) * (math.Sqrt(float64(1+4*k)) + 1) / float64(k), nil
}
