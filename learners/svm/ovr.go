package svm

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// ovr separates one class from the rest: with s_i = 1 for the examples of the class and -1 for the
// others
//
//	minimise ½‖Σ_i s_i·α_i·x_i‖² + Σ_i (½·d_i·α_i² - α_i)  over 0 ≤ α_i ≤ u_i,
//
// which has d = 0, u = C for the hinge loss and d = 1/(2C), u = ∞ for its square. The step for one
// example, all others kept, ends where the slope G = s·⟨w,x⟩ - 1 + d·α is 0, or at a bound
// (Algorithm 1 of Hsieh et al.).
type ovr struct {
	*examples
	class     int32
	mirrored  bool // the rest is a class, 0, which has the opposite weights
	tolerance float64
	most      []float64 // u by label
	ridge     []float64 // d by label

	alpha  []float64 // of each example
	w      []float64
	order  order
	random rand.PCG
	// Slopes at a bound beyond which an example is left out: the extremes of the pass before.
	high, low float64
	violation float64 // largest slope less the smallest, of the last pass
	done      bool
}

func newOVR(e *examples, class int, mirrored bool, p *Params, seed uint64) *ovr {
	o := &ovr{
		examples: e, class: int32(class), mirrored: mirrored, tolerance: p.Tolerance,
		alpha: make([]float64, e.x.N), w: make([]float64, e.x.D), order: newOrder(e.x.N),
		random: *rand.NewPCG(seed, stream+uint64(class)), high: math.Inf(1), low: math.Inf(-1),
		violation: math.Inf(1),
	}
	for _, c := range e.costs {
		u, d := c, 0.0
		if p.Loss == Squared {
			u, d = math.Inf(1), 1/(2*c)
		}
		o.most, o.ridge = append(o.most, u), append(o.ridge, d)
	}
	return o
}

// negligible is a slope that is as good as 0.
const negligible = 1e-12

// pass implements machine (Algorithm 3 of Hsieh et al.).
func (o *ovr) pass() (visited int64) {
	o.order.shuffle(rand.New(&o.random))
	high, low := math.Inf(-1), math.Inf(1)
	for s := int64(0); s < o.order.active; s++ {
		visited++
		i := int(o.order.of[s])
		if s+1 < o.order.active {
			o.expect(o.order.of[s+1])
		}
		k := o.y[i]
		sign := -1.0
		if k == o.class {
			sign = 1
		}
		a, d := o.alpha[i], o.ridge[k]
		slope := float64(sign*o.dot(o.w, i)) - 1 + float64(d*a)
		if a == 0 && slope > o.high || a == o.most[k] && slope < o.low {
			o.order.leave(s)
			s--
			continue
		}
		projected := slope
		if a == 0 && slope > 0 || a == o.most[k] && slope < 0 {
			projected = 0
		}
		high, low = max(high, projected), min(low, projected)
		if math.Abs(projected) <= negligible {
			continue
		}
		o.alpha[i] = min(max(0, a-slope/(o.norms2[i]+d)), o.most[k])
		o.add(o.w, i, float64(sign*(o.alpha[i]-a)))
	}
	o.judge(high, low)
	return visited
}

// judge decides from the largest and the smallest slope of a pass what the next one leaves out.
func (o *ovr) judge(high, low float64) {
	o.violation = max(0, high-low)
	if o.violation <= o.tolerance {
		o.done = o.order.whole()
		o.order.all()
		o.high, o.low = math.Inf(1), math.Inf(-1)
		return
	}
	o.high, o.low = high, low
	if high <= 0 {
		o.high = math.Inf(1)
	}
	if low >= 0 {
		o.low = math.Inf(-1)
	}
}

func (o *ovr) unmet() (violation float64, done bool) { return o.violation, o.done }

func (o *ovr) weights(w engine.Weights) (classes []int) {
	for j, v := range o.w {
		w.Row(int(o.class))[j] = float32(v)
	}
	if !o.mirrored {
		return []int{int(o.class)}
	}
	for j, v := range o.w {
		w.Row(0)[j] = float32(0 - v)
	}
	return []int{0, int(o.class)}
}

func (o *ovr) saved() []any {
	return []any{o.alpha, o.w, o.order.of, &o.order.active, &o.random, &o.high, &o.low, &o.violation,
		&o.done}
}

func (o *ovr) restore(s *base.SavedState) {
	s.Read(o.saved()...)
	for i, a := range o.alpha {
		if !(a >= 0 && a <= o.most[o.y[i]]) || math.IsInf(a, 0) {
			s.Refuse(errors.New("found a dual variable that is out of its bounds"))
		}
	}
	if !base.Finite(o.w) || math.IsNaN(o.high) || math.IsNaN(o.low) || !(o.violation >= 0) {
		s.Refuse(errors.New("found NaN or infinite numbers, want finite ones"))
	}
	s.Refuse(o.order.check())
}
