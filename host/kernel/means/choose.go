package means

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// atom is an example that has a weight of its own in the mean of its class.
type atom struct {
	row    int
	weight float64
}

// choose sets the atoms of m, in the order of the examples, with the weights of the choice, and
// Bound.
func (s *sample) choose(m *Means) error {
	rng := rand.New(rand.NewPCG(s.o.Seed, 0x61746f6d)) // "atom"
	members := make([][]int, len(s.sizes))
	for i, k := range s.y {
		members[k] = append(members[k], i)
	}
	shares, err := s.most()
	if err != nil {
		return err
	}
	m.Bound = make([]float64, len(s.sizes))
	weights := map[int]float64{}
	for k, rows := range members {
		s.task.Reach(int64(k))
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
			atoms, m.Bound[k] = s.draw(rows, shares[k], rng)
		}
		if err != nil {
			return err
		}
		for _, a := range atoms {
			weights[a.row] += a.weight
		}
	}
	m.Rows = slices.Sorted(maps.Keys(weights))
	m.Landmarks = s.x.Pick(m.Rows)
	m.Axes = engine.NewWeights(len(s.sizes), len(m.Rows))
	for l, row := range m.Rows {
		m.Axes.Row(int(s.y[row]))[l] = float32(weights[row])
	}
	return nil
}

// most returns how many atoms each class may have: its share of Options.Atoms, or all of its
// examples where Options.Within says how many it has.
func (s *sample) most() ([]int, error) {
	if s.o.Within > 0 {
		return s.sizes, nil
	}
	return s.shares(s.o.Atoms)
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
		return nil, fmt.Errorf("kernel mean: %w: found %d atoms, wanted one at least for each of %d "+
			"classes", ErrOptions, n, classes)
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

// members returns the examples of a class.
func (s *sample) members(rows []int) (dataset.Examples, error) {
	if len(rows) == s.x.N {
		return s.x, nil
	}
	return s.x.Copy(rows)
}

// draw draws k atoms of a class, or the fewest that are within Options.Within of its mean in 95
// draws of 100.
func (s *sample) draw(rows []int, k int, rng *rand.Rand) ([]atom, float64) {
	if root := Deviation(s.radius, 1) / s.o.Within; s.o.Within > 0 && root < math.Sqrt(float64(k)) {
		k = max(1, int(math.Ceil(float64(root*root))))
	}
	var atoms []atom
	for _, at := range rng.Perm(len(rows))[:k] {
		atoms = append(atoms, atom{rows[at], 1 / float64(k)})
	}
	if k == len(rows) {
		return atoms, 0
	}
	return atoms, Deviation(s.radius, k)
}

// clusters draws k atoms of a class by Algorithm 1: k centres of a farthest-first traversal divide
// the examples into parts, and an atom drawn from each part has the weight of the part. With
// Options.Within it is Algorithm 2, which ends the traversal when the bound is small enough.
func (s *sample) clusters(rows []int, k int, rng *rand.Rand) ([]atom, float64, error) {
	x, err := s.members(rows)
	if err != nil {
		return nil, 0, err
	}
	near := func(c *Cover) bool { return s.o.Within > 0 && drawBound(c) <= s.o.Within }
	cover, err := NewCover(s.ctx, s.e, x, s.o.Function, k, true, rng.Uint64(),
		near)
	if err != nil {
		return nil, 0, err
	}
	parts := make([][]int, len(cover.Rows))
	for i, c := range cover.Nearest {
		parts[c] = append(parts[c], rows[i])
	}
	var atoms []atom
	for _, part := range parts {
		w := float64(len(part)) / float64(len(rows))
		atoms = append(atoms, atom{part[rng.IntN(len(part))], w})
	}
	return atoms, drawBound(cover), nil
}

// drawBound bounds the distance between the mean of all examples and the mean of one draw from each
// part, in 95 draws of 100: the bound in the proof of Theorem 21, with the size of each part.
// Drawing again from a part moves the mean by at most w·D, for the part's share w and diameter D;
// on average a draw is at most D/√2 from the part's mean.
func drawBound(c *Cover) float64 {
	sizes, far := make([]int, len(c.Rows)), make([]float64, len(c.Rows))
	for i, part := range c.Nearest {
		sizes[part]++
		far[part] = max(far[part], c.Distances[i])
	}
	moves := 0.0
	for part, size := range sizes {
		w, radius := float64(size)/float64(len(c.Nearest)), math.Sqrt(far[part])
		moves += float64(w * 2 * radius * w * 2 * radius)
	}
	return math.Sqrt(moves/2) + math.Sqrt(logarithm*moves/2)
}

// herd chooses k atoms of a class by kernel herding (Chen, Welling and Smola, Super-samples from
// kernel herding, 2010). With Options.Within it stops as soon as the mean is near enough, or takes
// all examples.
//
// The bound always holds: v = (t+1)·ω - Σ φ(atom) starts as ω. The next atom has the largest ⟨v,
// φ(x)⟩, so ω - φ(atom), at most 2R long, is at an angle of at least 90° to v. After k atoms v is
// at most R·√(1+4k) long, and the error is ‖v - ω‖/k. No faster rate is known for infinite
// dimensions.
func (s *sample) herd(rows []int, k int) (atoms []atom, bound float64, err error) {
	x, err := s.members(rows)
	if err != nil {
		return nil, 0, err
	}
	all := engine.Projection{Function: s.o.Function, Landmarks: x,
		Axes: engine.Weights{Q: 1, D: x.N, W: slices.Repeat([]float32{float32(1 / float64(x.N))}, x.N)}}
	target, err := s.project(x, all)
	if err != nil {
		return nil, 0, err
	}
	h := newHerd(target)
	values, err := newRows(s.e, x, s.o.Function)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, values.close()) }()
	work := progress.Work{Name: "herding", Unit: "atom"}
	if s.o.Within == 0 {
		work.Total = int64(k)
	}
	_, task := progress.Begin(s.ctx, work)
	defer task.End()
	for h.size < k {
		task.Reach(int64(h.size))
		at := h.next()
		row, err := values.row(s.ctx, at)
		if err != nil {
			return nil, 0, err
		}
		h.take(at, row)
		if s.o.Within > 0 && h.squaredError() <= s.o.Within*s.o.Within {
			break
		}
	}
	if s.o.Within > 0 && h.squaredError() > s.o.Within*s.o.Within {
		for _, row := range rows {
			atoms = append(atoms, atom{row, 1 / float64(len(rows))})
		}
		return atoms, 0, nil
	}
	for i, times := range h.taken {
		if times > 0 {
			atoms = append(atoms, atom{rows[i], float64(times) / float64(h.size)})
		}
	}
	return atoms, s.radius * (math.Sqrt(float64(1+4*h.size)) + 1) / float64(h.size), nil
}

// herd is a growing set of atoms whose mean approaches the mean of n examples.
type herd struct {
	target []float32 // of each example: ⟨ω, φ(x)⟩
	sums   []float64 // Σ κ(atom, x)
	taken  []int     // how often each example is an atom
	size   int       // Σ taken

	square float64 // ‖ω‖²
	cross  float64 // Σ ⟨ω, φ(atom)⟩
	own    float64 // ‖Σ φ(atom)‖²
}

// newHerd returns an empty herd, given ⟨ω, φ(x)⟩ of the examples.
func newHerd(target []float32) *herd {
	n := len(target)
	h := &herd{target: target, sums: make([]float64, n), taken: make([]int, n)}
	for _, v := range target {
		h.square += float64(v)
	}
	h.square /= float64(n)
	return h
}

// next returns the example at which ω exceeds the mean of the atoms and that example most, the
// first of ties.
func (h *herd) next() int {
	best, most := 0, math.Inf(-1)
	for i, v := range h.target {
		if gain := float64(v) - h.sums[i]/float64(h.size+1); gain > most {
			best, most = i, gain
		}
	}
	return best
}

// take adds example at as an atom, given its kernel values with all examples.
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
