package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// crammerSinger separates all classes at once (Crammer and Singer): with w_r = Σ_i α_ir·x_i
//
//	minimise ½‖W‖² + Σ_i Σ_{r≠y_i} α_ir  over Σ_r α_ir = 0, α_iy ≤ C, α_ir ≤ 0 for r ≠ y_i.
//
// The step for one example, all others kept, is the solution for its Q variables (Keerthi et al.,
// Algorithm 1). Beside examples, classes of an example are left out that have stayed at their
// bound.
type crammerSinger struct {
	*examples
	q         int
	tolerance float64

	alpha []float64 // n×Q
	w     []float64 // D×Q: the weights of all classes in one column are adjacent
	order order
	// n×Q: of each example a permutation of the classes; the ones left out come last
	classes []int32
	left    []int32 // of each example, how many are not left out
	random  rand.PCG
	// coarse is what the violation has to come below for all to be looked at again; fresh says
	// whether the pass began with nothing left out.
	coarse    float64
	fresh     bool
	violation float64
	done      bool

	slope, beyond, sorted, moved []float64 // of an example's classes
	movers                       []int32
}

func newCrammerSinger(e *examples, q int, p *Params, seed uint64) *crammerSinger {
	n := e.x.N
	t := &crammerSinger{
		examples: e, q: q, tolerance: p.Tolerance, alpha: make([]float64, n*q),
		w:     make([]float64, e.x.D*q),
		order: newOrder(n), classes: make([]int32, n*q), left: make([]int32, n),
		random: *rand.NewPCG(seed, stream),
		coarse: max(10*p.Tolerance, 1), fresh: true, violation: math.Inf(1),
		slope: make([]float64, q), beyond: make([]float64, q), sorted: make([]float64, q),
	}
	for k := range t.classes {
		t.classes[k] = int32(k % q)
	}
	t.all()
	return t
}

// all leaves nothing out.
func (t *crammerSinger) all() {
	t.order.all()
	for i := range t.left {
		t.left[i] = int32(t.q)
	}
}

func (t *crammerSinger) pass() (visited int64) {
	t.order.shuffle(rand.New(&t.random))
	t.violation = 0
	for s := int64(0); s < t.order.active; s++ {
		visited++
		i := int(t.order.of[s])
		if s+1 < t.order.active {
			t.expect(t.order.of[s+1])
		}
		if t.norms2[i] == 0 {
			continue
		}
		t.slopes(i)
		spread := t.shrink(i)
		if t.left[i] <= 1 {
			t.order.leave(s)
			s--
			continue
		}
		if spread <= negligible {
			continue
		}
		t.violation = max(t.violation, spread)
		t.solve(i)
		t.apply(i)
	}
	t.judge()
	return visited
}

// judge decides what the next pass leaves out.
func (t *crammerSinger) judge() {
	if t.violation >= t.coarse {
		t.fresh = false
		return
	}
	if t.violation < t.tolerance && t.fresh {
		t.done = true
		return
	}
	t.all()
	t.coarse, t.fresh = max(t.coarse/2, t.tolerance), true
}

// slopes computes the slope of example i in each active class r: ⟨w_r,x⟩, plus 1 if r is not its
// own.
func (t *crammerSinger) slopes(i int) {
	classes := t.classes[i*t.q : i*t.q+int(t.left[i])]
	slope := t.slope[:len(classes)]
	for m, r := range classes {
		slope[m] = 1
		if r == t.y[i] {
			slope[m] = 0
		}
	}
	var four [4]int
	for from := 0; from < len(classes); from += len(four) {
		for k := range four { // the last one again if fewer are left
			four[k] = int(classes[min(from+k, len(classes)-1)])
		}
		sums := t.scores(i, four)
		for k := range min(len(four), len(classes)-from) {
			slope[from+k] += sums[k]
		}
	}
}

// scores returns ⟨w_r,x_i⟩ of four classes, each summed in increasing order of the columns: four
// sums that do not wait for each other.
func (t *crammerSinger) scores(i int, of [4]int) [4]float64 {
	var a, b, c, d float64
	w, q := t.w, t.q
	r0, r1, r2, r3 := of[0], of[1], of[2], of[3]
	if !t.x.Sparse() {
		for j, v := range t.x.Row(i) {
			at, x := j*q, float64(v)
			a += float64(w[at+r0] * x)
			b += float64(w[at+r1] * x)
			c += float64(w[at+r2] * x)
			d += float64(w[at+r3] * x)
		}
		return [4]float64{a, b, c, d}
	}
	columns, values := t.x.SparseRow(i)
	for k, j := range columns {
		at, x := int(j)*q, float64(values[k])
		a += float64(w[at+r0] * x)
		b += float64(w[at+r1] * x)
		c += float64(w[at+r2] * x)
		d += float64(w[at+r3] * x)
	}
	return [4]float64{a, b, c, d}
}

// column returns the weights of all classes in column j.
func (t *crammerSinger) column(j int) []float64 { return t.w[j*t.q : (j+1)*t.q] }

// scatter adds v times what classes have moved to their weights in one column.
func scatter(w, moved []float64, movers []int32, v float64) {
	for m, r := range movers {
		w[r] += float64(moved[m] * v)
	}
}

// bound returns the most that α may be of class r of example i.
func (t *crammerSinger) bound(i int, r int32) float64 {
	if r == t.y[i] {
		return t.costs[r]
	}
	return 0
}

// shrink drops bounded classes of example i whose slope is below every free one, and returns the
// distance from the least slope of a free class to the largest slope.
func (t *crammerSinger) shrink(i int) (spread float64) {
	classes, alpha := t.classes[i*t.q:(i+1)*t.q], t.alpha[i*t.q:(i+1)*t.q]
	least, most := math.Inf(1), math.Inf(-1)
	for m, r := range classes[:t.left[i]] {
		most = max(most, t.slope[m])
		if alpha[r] < t.bound(i, r) {
			least = min(least, t.slope[m])
		}
	}
	for m := 0; m < int(t.left[i]); m++ {
		r := classes[m]
		if alpha[r] != t.bound(i, r) || t.slope[m] >= least {
			continue
		}
		t.left[i]--
		last := t.left[i]
		classes[m], classes[last] = classes[last], classes[m]
		t.slope[m], t.slope[last] = t.slope[last], t.slope[m]
		m--
	}
	return most - least
}

// solve computes the best α of the classes of example i that are not left out: α_r = min(u_r, (θ
// - b_r)/‖x‖²) with b_r = slope_r - ‖x‖²·α_r, and θ so that they add up to 0.
func (t *crammerSinger) solve(i int) {
	norm2 := t.norms2[i]
	classes, alpha := t.classes[i*t.q:i*t.q+int(t.left[i])], t.alpha[i*t.q:(i+1)*t.q]
	beyond, sorted := t.beyond[:len(classes)], t.sorted[:len(classes)]
	for m, r := range classes {
		beyond[m] = t.slope[m] - float64(norm2*alpha[r])
		sorted[m] = beyond[m] + float64(norm2*t.bound(i, r))
	}
	slices.Sort(sorted)
	slices.Reverse(sorted)
	theta, count := sorted[0]-float64(norm2*t.costs[t.y[i]]), 1 // what is left out is at its bound
	for count < len(sorted) && theta < float64(float64(count)*sorted[count]) {
		theta += sorted[count]
		count++
	}
	theta /= float64(count)
	t.moved, t.movers = t.moved[:0], t.movers[:0]
	for m, r := range classes {
		next := min(t.bound(i, r), (theta-beyond[m])/norm2)
		if by := next - alpha[r]; math.Abs(by) >= negligible {
			t.moved, t.movers = append(t.moved, by), append(t.movers, r)
		}
		alpha[r] = next
	}
}

// apply adds what solve has changed to the weights.
func (t *crammerSinger) apply(i int) {
	if len(t.movers) == 0 {
		return
	}
	if !t.x.Sparse() {
		for j, v := range t.x.Row(i) {
			scatter(t.column(j), t.moved, t.movers, float64(v))
		}
		return
	}
	columns, values := t.x.SparseRow(i)
	for k, j := range columns {
		scatter(t.column(int(j)), t.moved, t.movers, float64(values[k]))
	}
}

func (t *crammerSinger) unmet() (violation float64, done bool) { return t.violation, t.done }

func (t *crammerSinger) weights(w engine.Weights) (classes []int) {
	for k, v := range t.w {
		w.W[k%t.q*w.D+k/t.q] = float32(v)
	}
	return learners.AllClasses(t.q)
}

func (t *crammerSinger) saved() []any {
	return []any{
		t.alpha, t.w, t.order.of, &t.order.active, t.classes, t.left, &t.random, &t.coarse, &t.fresh,
		&t.violation, &t.done,
	}
}

func (t *crammerSinger) restore(s *base.SavedState) {
	s.Read(t.saved()...)
	for i, left := range t.left {
		row := t.classes[i*t.q : (i+1)*t.q]
		if left < 0 || int(left) > t.q || !permutation(row) {
			s.Refuse(errors.New("found invalid classes of an example, want a permutation"))
		}
		for r, v := range t.alpha[i*t.q : (i+1)*t.q] {
			if !(v <= t.bound(i, int32(r))) || math.IsInf(v, 0) {
				s.Refuse(errors.New("found a dual variable that is out of its bounds"))
			}
		}
	}
	if !base.Finite(t.w) || !(t.coarse > 0) || math.IsInf(t.coarse, 0) || !(t.violation >= 0) {
		s.Refuse(errors.New("found NaN or infinite numbers, want finite ones"))
	}
	s.Refuse(t.order.check())
}
