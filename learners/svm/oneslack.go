package svm

import (
	"errors"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// oneSlack is a problem with one slack for all examples (Joachims, Finley and Yu): the planes that
// were found stand in for the losses,
//
//	minimise ½‖w‖² + ξ  over ξ ≥ ⟨a_j,w⟩ + b_j for each plane j,
//
// in the dual, whose variables α_j ≥ 0 add up to 1:
//
//	maximise Σ_j α_j·b_j - ½‖Σ_j α_j·a_j‖²,  and w = -Σ_j α_j·a_j.
//
// No plane is above the losses of any w, so this is a bound on the objective, and the distance to
// it says how far the solution is. w has one row, of a class against the rest, or one for each of
// all classes at once.
type oneSlack struct {
	*examples
	class     int32 // against the rest; -1 for all classes at once
	mirrored  bool  // the rest is a class, 0, which has the opposite weights
	rows      int
	tolerance float64

	planes []plane
	gram   [][]float64 // row j has ⟨a_j,a_k⟩ for k up to j
	alpha  []float64
	w      []float64 // rows×D
	// objective less bound, as a share of the objective, of the last w that was judged
	gap   float64
	done  bool
	stuck bool // done by what scores of float32 can tell
}

// plane is ⟨a,w⟩ + b = Σ_i C_i·(1 - ±⟨w,x_i⟩) over some of the examples, or of all classes at once
// Σ_i C_i·(1 + ⟨w_r,x_i⟩ - ⟨w_y,x_i⟩) with a rival class r of each: what these miss of the margin,
// if each of them misses it.
type plane struct {
	examples []int32
	rivals   []int32 // parallel to the examples; nil for a class against the rest
	offset   float64 // b
}

func newOneSlack(e *examples, class, q int, mirrored bool, p *Params) *oneSlack {
	s := &oneSlack{examples: e, class: int32(class), mirrored: mirrored, rows: 1,
		tolerance: p.Tolerance, gap: 1}
	if class < 0 {
		s.rows = q
	}
	s.w = make([]float64, s.rows*e.x.D)
	s.keep(plane{}, []float64{0}) // that no loss is below 0
	s.alpha[0] = 1
	return s
}

// keep adds a plane that has no part in w yet, and its row of gram.
func (s *oneSlack) keep(p plane, row []float64) {
	s.planes, s.gram, s.alpha = append(s.planes, p), append(s.gram, row), append(s.alpha, 0)
}

// miss adds example i to the plane if its scores, of all classes, miss the margin, and returns C
// times by how much.
func (s *oneSlack) miss(p *plane, i int, scores []float32) float64 {
	y := s.y[i]
	missed, rival := 0.0, int32(-1)
	switch {
	case s.class < 0:
		for r, v := range scores {
			if int32(r) != y && (rival < 0 || v > scores[rival]) {
				rival = int32(r)
			}
		}
		missed = 1 + (float64(scores[rival]) - float64(scores[y]))
	case s.class == y:
		missed = 1 - float64(scores[s.class])
	default:
		missed = 1 + float64(scores[s.class])
	}
	if missed <= 0 {
		return 0
	}
	p.examples = append(p.examples, int32(i))
	p.offset += s.costs[y]
	if rival >= 0 {
		p.rivals = append(p.rivals, rival)
	}
	return float64(s.costs[y] * missed)
}

// each calls f for the parts of a plane's vector a: c·x_i in a row.
func (s *oneSlack) each(p *plane, f func(i, row int, c float64)) {
	for k, example := range p.examples {
		i, y := int(example), s.y[example]
		switch c := s.costs[y]; {
		case s.class < 0:
			f(i, int(p.rivals[k]), c)
			f(i, int(y), -c)
		case s.class == y:
			f(i, 0, -c)
		default:
			f(i, 0, c)
		}
	}
}

// improve takes the plane that touches the losses at w, which add up to so much, and finds the
// next w; or is done.
func (s *oneSlack) improve(p plane, losses float64) error {
	square, offsets, dual := s.terms()
	objective := square/2 + losses
	if objective-objective != 0 {
		return errors.New("svm: found an objective too large for float64; normalise the features, or " +
			"take a lower cost")
	}
	s.gap = max(0, (objective-dual)/objective)
	if s.done = s.gap <= s.tolerance; s.done {
		return nil
	}
	need := memory.Sum(memory.Product(len(s.planes), 8), memory.Product(s.x.N, s.rows, 8),
		memory.Product(s.x.D, s.rows, 8))
	if err := memory.Check(need, planesMemory); err != nil {
		return err
	}
	row := s.products(&p)
	// How far the plane is above the others at w, which scores of float32 may not tell from nothing.
	above := p.offset - (offsets - square)
	for j, a := range s.alpha {
		above -= float64(a * row[j])
	}
	if s.stuck = above <= 1e-9*objective; s.stuck {
		s.done = true
		return nil
	}
	s.keep(p, row)
	s.solve(s.tolerance / 100)
	s.sum()
	return nil
}

// terms returns ‖w‖², Σ α·b and the value of the dual.
func (s *oneSlack) terms() (square, offsets, dual float64) {
	for j, a := range s.alpha {
		if a > 0 {
			offsets += float64(a * s.planes[j].offset)
			square += float64(a * s.along(j))
		}
	}
	return square, offsets, offsets - square/2
}

// along returns Σ_k α_k·⟨a_j,a_k⟩.
func (s *oneSlack) along(j int) (sum float64) {
	for k, a := range s.alpha {
		if a > 0 {
			sum += float64(a * s.product(j, k))
		}
	}
	return sum
}

func (s *oneSlack) product(j, k int) float64 { return s.gram[max(j, k)][min(j, k)] }

// products returns the inner products of a new plane with all planes, and with itself last.
func (s *oneSlack) products(p *plane) []float64 {
	d, n := s.x.D, s.x.N
	a, of := make([]float64, s.rows*d), make([]float64, s.rows*n)
	s.each(p, func(i, row int, c float64) { s.add(a[row*d:(row+1)*d], i, c) })
	parallel.Ranges(n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			for r := range s.rows {
				of[i*s.rows+r] = s.dot(a[r*d:(r+1)*d], i)
			}
		}
	})
	found := make([]float64, len(s.planes)+1)
	for j := range found {
		other := p
		if j < len(s.planes) {
			other = &s.planes[j]
		}
		s.each(other, func(i, row int, c float64) { found[j] += float64(c * of[i*s.rows+row]) })
	}
	return found
}

// sum makes w of the planes.
func (s *oneSlack) sum() {
	d, n := s.x.D, s.x.N
	of := make([]float64, s.rows*n) // of each example in each row
	for j, a := range s.alpha {
		if a > 0 {
			s.each(&s.planes[j], func(i, row int, c float64) { of[i*s.rows+row] -= float64(a * c) })
		}
	}
	clear(s.w)
	parallel.Tasks(s.rows, func(r int) {
		for i := range n {
			if v := of[i*s.rows+r]; v != 0 {
				s.add(s.w[r*d:(r+1)*d], i, v)
			}
		}
	})
}

// solve improves α until the dual is within a share of its value from the best: two variables at a
// time, the one of the steepest slope and the one that gains most by giving to it.
func (s *oneSlack) solve(share float64) {
	offsets := make([]float64, len(s.planes))
	slope := make([]float64, len(s.planes)) // of ½‖Σ α·a‖² - Σ α·b
	for j := range slope {
		offsets[j] = s.planes[j].offset
		slope[j] = s.along(j) - offsets[j]
	}
	for range 1000 * len(slope) {
		to, mean, offset := 0, 0.0, 0.0
		for j, g := range slope {
			if g < slope[to] {
				to = j
			}
			mean += float64(s.alpha[j] * g)
			offset += float64(s.alpha[j] * offsets[j])
		}
		// Σ α·slope is ‖w‖² - Σ α·b, so the dual is ½(Σ α·b - Σ α·slope).
		if mean-slope[to] <= share*max(0, offset-mean)/2 {
			return
		}
		from, best := -1, 0.0
		for j, g := range slope {
			if s.alpha[j] == 0 || g <= slope[to] {
				continue
			}
			gain := float64((g-slope[to])*(g-slope[to])) / max(s.bend(j, to), math.SmallestNonzeroFloat64)
			if from < 0 || gain > best {
				from, best = j, gain
			}
		}
		if from < 0 {
			return
		}
		step, bend := s.alpha[from], s.bend(from, to)
		if part := (slope[from] - slope[to]) / bend; bend > 0 && part < step {
			step = part
			s.alpha[from] -= step
		} else {
			s.alpha[from] = 0
		}
		s.alpha[to] += step
		for j := range slope {
			slope[j] += float64(step * (s.product(j, to) - s.product(j, from)))
		}
	}
}

// bend returns ‖a_j - a_k‖².
func (s *oneSlack) bend(j, k int) float64 {
	return s.product(j, j) + s.product(k, k) - 2*s.product(j, k)
}

// weights writes w to its rows, and returns which.
func (s *oneSlack) weights(w engine.Weights) (classes []int) {
	for k, v := range s.w {
		r := int(s.class)
		if s.class < 0 {
			r = k / w.D
		}
		w.Row(r)[k%w.D] = float32(v)
		if s.mirrored {
			w.Row(0)[k%w.D] = float32(0 - v)
		}
	}
	switch {
	case s.class < 0:
		return learners.AllClasses(s.rows)
	case s.mirrored:
		return []int{0, int(s.class)}
	}
	return []int{int(s.class)}
}

func (s *oneSlack) unmet() (gap float64, done bool) { return s.gap, s.done }

// judged is the state of a problem without its planes.
type judged struct {
	Gap         float64
	Done, Stuck bool
	Planes      int32 // but for the first, which is empty
}

// saved implements machine: how far it is, and each plane with α and the products.
func (s *oneSlack) saved() []any {
	all := []any{judged{s.gap, s.done, s.stuck, int32(len(s.planes) - 1)}, s.alpha}
	for j, p := range s.planes[1:] {
		all = append(all, int32(len(p.examples)), p.examples, p.rivals, s.gram[j+1])
	}
	return all
}

func (s *oneSlack) restore(state *base.SavedState) {
	var j judged
	if !state.Read(&j) {
		return
	}
	if !(j.Gap >= 0 && j.Gap <= 1) || j.Planes < 0 {
		state.Refuse(errors.New("found NaN or infinite numbers, want finite ones"))
		return
	}
	if err := memory.Check(memory.Product(int(j.Planes), 8), planesMemory); err != nil {
		state.Refuse(err)
		return
	}
	s.gap, s.done, s.stuck = j.Gap, j.Done, j.Stuck
	alpha := make([]float64, 1+j.Planes)
	state.Read(alpha)
	for _, a := range alpha {
		if !(a >= 0 && a <= 2) { // 1 but for rounding
			state.Refuse(errors.New("found a dual variable that is out of its bounds"))
		}
	}
	for range j.Planes {
		p, err := s.readPlane(state)
		state.Refuse(err)
		row := make([]float64, len(s.planes)+1)
		if state.Read(row) && !base.Finite(row) {
			state.Refuse(errors.New("found NaN or infinite numbers, want finite ones"))
		}
		if !state.Read() {
			return
		}
		s.keep(p, row)
	}
	copy(s.alpha, alpha)
	s.sum()
}

func (s *oneSlack) readPlane(state *base.SavedState) (p plane, err error) {
	var size int32
	if !state.Read(&size) {
		return p, nil
	}
	if size < 0 || int(size) > s.x.N {
		return p, errors.New("found a plane of more examples than there are")
	}
	p.examples = make([]int32, size)
	state.Read(p.examples)
	if s.class < 0 {
		p.rivals = make([]int32, size)
		state.Read(p.rivals)
	}
	if !state.Read() {
		return p, nil
	}
	for k, i := range p.examples {
		if i < 0 || int(i) >= s.x.N || k > 0 && i <= p.examples[k-1] ||
			p.rivals != nil && (p.rivals[k] < 0 || int(p.rivals[k]) >= s.rows || p.rivals[k] == s.y[i]) {
			return p, errors.New("found an invalid cutting plane: examples or rivals out of range or order")
		}
		p.offset += s.costs[s.y[i]]
	}
	return p, nil
}
