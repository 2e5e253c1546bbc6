package svm

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// examples are what the machines of a run share, and do not write to.
type examples struct {
	x      dataset.Examples
	y      []int32
	norms2 []float64 // ‖x‖² of each
	costs  []float64 // C by label
}

// newExamples takes examples as they are, or as sparse ones if no more than a third of the values
// are not 0: then the passes take less time and memory, and the same bits come of it.
func newExamples(x dataset.Examples, y []int32, costs []float64) *examples {
	e := &examples{x: x, y: y, costs: costs, norms2: make([]float64, x.N)}
	stored := lists.Count(x.X, func(v float32) bool { return v != 0 })
	if !x.Sparse() && stored <= len(x.X)/3 {
		e.x = x.Compressed()
	}
	for i := range e.norms2 {
		_, values := e.x.Entries(i)
		e.norms2[i] = learners.SquaredLength(values)
	}
	return e
}

// dot returns ⟨w,x_i⟩, summed in increasing order of the columns.
func (e *examples) dot(w []float64, i int) (sum float64) {
	columns, values := e.x.Entries(i)
	if columns == nil {
		for j, v := range values {
			sum += float64(w[j] * float64(v))
		}
		return sum
	}
	for k, j := range columns {
		sum += float64(w[j] * float64(values[k]))
	}
	return sum
}

// add adds step·x_i to w.
func (e *examples) add(w []float64, i int, step float64) {
	columns, values := e.x.Entries(i)
	if columns == nil {
		for j, v := range values {
			w[j] += float64(step * float64(v))
		}
		return
	}
	for k, j := range columns {
		w[j] += float64(step * float64(values[k]))
	}
}

// machine separates one class from the rest: with s_i = 1 for the examples of the class and -1 for
// the others
//
//	minimise ½‖Σ_i s_i·α_i·x_i‖² + Σ_i (½·d_i·α_i² - α_i)  over 0 ≤ α_i ≤ u_i,
//
// which has d = 0, u = C for the hinge loss and d = 1/(2C), u = ∞ for its square. The step for one
// example, all others kept, ends where the slope G = s·⟨w,x⟩ - 1 + d·α is 0, or at a bound
// (Algorithm 1 of Hsieh et al.).
type machine struct {
	*examples
	class     int32
	mirrored  bool // the rest is a class, 0, which has the opposite weights
	tolerance float64
	most      []float64 // u by label
	ridge     []float64 // d by label

	alpha  []float64 // of each example
	w      []float64
	order  []int32 // a permutation of the examples; all after the first active ones are left out
	active int64
	random rand.PCG
	// Slopes at a bound beyond which an example is left out: the extremes of the pass before.
	high, low float64
	violation float64 // largest slope less the smallest, of the last pass
	done      bool    // the violation is small enough, for all examples
}

func newMachine(e *examples, class int, mirrored bool, p *Params, seed uint64) *machine {
	m := &machine{
		examples: e, class: int32(class), mirrored: mirrored, tolerance: p.Tolerance,
		alpha: make([]float64, e.x.N), w: make([]float64, e.x.D), order: lists.UpTo[int32](e.x.N),
		active: int64(e.x.N), random: *rand.NewPCG(seed, stream+uint64(class)), high: math.Inf(1),
		low: math.Inf(-1), violation: math.Inf(1),
	}
	for _, c := range e.costs {
		u, d := c, 0.0
		if p.Loss == Squared {
			u, d = math.Inf(1), 1/(2*c)
		}
		m.most, m.ridge = append(m.most, u), append(m.ridge, d)
	}
	return m
}

// negligible is a slope that is as good as 0.
const negligible = 1e-12

// pass improves α of all examples that are not left out, once each, in random order, and returns
// how many it has looked at (Algorithm 3 of Hsieh et al.).
func (m *machine) pass() (visited int64) {
	random := rand.New(&m.random)
	for s := range m.active {
		m.swap(s, s+random.Int64N(m.active-s))
	}
	high, low := math.Inf(-1), math.Inf(1)
	for s := int64(0); s < m.active; s++ {
		visited++
		i := int(m.order[s])
		k := m.y[i]
		sign := -1.0
		if k == m.class {
			sign = 1
		}
		a, d := m.alpha[i], m.ridge[k]
		slope := float64(sign*m.dot(m.w, i)) - 1 + float64(d*a)
		if a == 0 && slope > m.high || a == m.most[k] && slope < m.low {
			m.active--
			m.swap(s, m.active)
			s--
			continue
		}
		projected := slope
		if a == 0 && slope > 0 || a == m.most[k] && slope < 0 {
			projected = 0
		}
		high, low = max(high, projected), min(low, projected)
		if math.Abs(projected) <= negligible {
			continue
		}
		m.alpha[i] = min(max(0, a-slope/(m.norms2[i]+d)), m.most[k])
		m.add(m.w, i, float64(sign*(m.alpha[i]-a)))
	}
	m.judge(high, low)
	return visited
}

// swap exchanges two places of the order.
func (m *machine) swap(s, t int64) { m.order[s], m.order[t] = m.order[t], m.order[s] }

// judge decides from the largest and the smallest slope of a pass what the next one leaves out.
func (m *machine) judge(high, low float64) {
	m.violation = max(0, high-low)
	if all := int64(len(m.order)); m.violation <= m.tolerance {
		m.done = m.active == all
		m.active = all
		m.high, m.low = math.Inf(1), math.Inf(-1)
		return
	}
	m.high, m.low = high, low
	if high <= 0 {
		m.high = math.Inf(1)
	}
	if low >= 0 {
		m.low = math.Inf(-1)
	}
}

// weights writes the weights of the machine to rows of w, and returns which.
func (m *machine) weights(w engine.Weights) (classes []int) {
	for j, v := range m.w {
		w.Row(int(m.class))[j] = float32(v)
	}
	if !m.mirrored {
		return []int{int(m.class)}
	}
	for j, v := range m.w {
		w.Row(0)[j] = float32(0 - v)
	}
	return []int{0, int(m.class)}
}

// saved returns the state of the machine.
func (m *machine) saved() []any {
	return []any{m.alpha, m.w, m.order, &m.active, &m.random, &m.high, &m.low, &m.violation, &m.done}
}

// restore reads it, and refuses what no run would have saved.
func (m *machine) restore(s *learners.SavedState) {
	s.Read(m.saved()...)
	for i, a := range m.alpha {
		if !(a >= 0 && a <= m.most[m.y[i]]) || math.IsInf(a, 0) {
			s.Refuse(errors.New("found a dual variable that is out of its bounds"))
		}
	}
	if !learners.Finite(m.w) || math.IsNaN(m.high) || math.IsNaN(m.low) || !(m.violation >= 0) {
		s.Refuse(errors.New("found NaN or infinite numbers, want finite ones"))
	}
	if m.active < 0 || m.active > int64(len(m.order)) || !permutation(m.order) {
		s.Refuse(errors.New("found an invalid order of the examples, want a permutation"))
	}
}

// permutation says whether order has each of 0 … len(order)-1 once.
func permutation(order []int32) bool {
	seen := make([]bool, len(order))
	for _, i := range order {
		if i < 0 || int(i) >= len(order) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}
