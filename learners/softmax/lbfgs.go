package softmax

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// memory is the number of pairs of step and change of gradient from which the next direction
// is made; of many features, whose pairs take longer than the examples, fewMemory.
const (
	memory    = 10
	fewMemory = 5
)

// Strong Wolfe conditions: a step lowers the loss by at least a share of what the slope
// promises, and leaves at most a share of the slope.
const (
	sufficient = 1e-4
	flattened  = 0.9
)

// noise is by how much, relative to the loss, rounding may make it seem to rise. Near a
// minimum losses differ by less, and the slopes alone judge a step (Hager & Zhang 2005).
const noise = 1e-7

// mostTrials is how many weights a step looks at before it gives up.
const mostTrials = 30

// point is a place that was looked at: float32 weights, since those are what an engine
// computes with, and the loss and gradient there.
type point struct {
	w    []float32
	loss float64
	grad []float64
}

func (p point) length() float64 { return math.Sqrt(dot(p.grad, p.grad)) }

// minimiser is L-BFGS (Liu & Nocedal, 1989; Nocedal & Wright, Numerical Optimization,
// Algorithms 7.4, 7.5 and 3.5) in the middle of a run. Every sum is in float64 in a fixed
// order, so that the iterates have the same bits everywhere.
type minimiser struct {
	at     func(w []float32) (point, error) // of the function to minimise
	now    point
	curve  *curvature // whose P⁻¹ is the first guess of the inverse Hessian
	most   int        // pairs
	pairs  []pair     // the oldest first
	trials int        // points looked at in this step
	next   []float64  // the direction of the next step; nil if it is not known
}

// pair is a step and what it did to the gradient.
type pair struct {
	S, Y floats
	SY   float64 // ⟨S,Y⟩, above 0

	scale float64 // of P⁻¹ along Y; 0 if it is not known
}

// step moves to a better point, and reports whether it found one: if no step lowers the loss,
// rounding is all there is. If ctx is cancelled between two looks it returns ctx's error and stays.
func (m *minimiser) step(ctx context.Context) (improved bool, err error) {
	m.trials = 0
	for {
		d := m.direction()
		var next point
		if slope := dot(d, m.now.grad); slope < 0 {
			if next, err = m.search(ctx, d, slope); err != nil {
				return false, err
			}
		}
		switch {
		case next.w != nil:
			m.learn(next)
			m.now, m.next = next, nil
			return true, nil
		case m.pairs == nil:
			return false, nil
		}
		m.pairs, m.next = nil, nil // once more, from P alone
	}
}

// learn keeps the step to next, if the slope rose along it.
func (m *minimiser) learn(next point) {
	p := pair{S: make([]float32, len(next.w)), Y: make([]float32, len(next.w))}
	p.SY = total(len(next.w), func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			s, y := next.w[i]-m.now.w[i], float32(next.grad[i]-m.now.grad[i])
			p.S[i], p.Y[i] = s, y
			sum += float64(float64(s) * float64(y))
		}
		return sum
	})
	if !(p.SY > 1e-12*squares(p.Y)) {
		return
	}
	if len(m.pairs) == m.most {
		m.pairs = slices.Delete(m.pairs, 0, 1)
	}
	m.pairs = append(m.pairs, p)
}

// direction returns -H·gradient, H the inverse Hessian from the pairs and a multiple of P⁻¹
// (Algorithm 7.4).
func (m *minimiser) direction() []float64 {
	if m.next != nil {
		return m.next
	}
	d, last := make([]float64, len(m.now.w)), len(m.pairs)-1
	parallel.Ranges(len(d), grain, func(from, to int) {
		for i, v := range m.now.grad[from:to] {
			d[from+i] = -v
		}
	})
	if last < 0 {
		m.curve.solve(d, 1)
		m.next = d
		return d
	}
	alpha := make([]float64, last+1)
	for k, p := range slices.Backward(m.pairs) {
		alpha[k] = dot(p.S, d) / p.SY
		add(d, -alpha[k], p.Y)
	}
	p := &m.pairs[last]
	if p.scale == 0 {
		p.scale = p.SY / m.curve.squared(p.Y)
	}
	m.curve.solve(d, p.scale)
	for k, p := range m.pairs {
		add(d, alpha[k]-dot(p.Y, d)/p.SY, p.S)
	}
	m.next = d
	return d
}

// renew is to be called when P has changed.
func (m *minimiser) renew() {
	m.next = nil
	for k := range m.pairs {
		m.pairs[k].scale = 0
	}
}

// grain is how many values are worth a processor, and how many a sum adds up before it adds
// the result to the total: cuts depend on the number of values alone.
const grain = 1 << 14

// total returns the sum of what f returns of consecutive ranges of 0..n-1, which it may be asked
// of several at a time.
func total(n int, f func(from, to int) float64) (sum float64) {
	parts := make([]float64, (n+grain-1)/grain)
	parallel.Tasks(len(parts), func(k int) { parts[k] = f(k*grain, min((k+1)*grain, n)) })
	for _, p := range parts {
		sum += p
	}
	return sum
}

// dot returns ⟨a,b⟩.
func dot[T float32 | float64](a []T, b []float64) float64 {
	return total(len(a), func(from, to int) float64 { return product(a[from:to], b[from:to]) })
}

// squares returns ⟨y,y⟩.
func squares(y []float32) float64 {
	return total(len(y), func(from, to int) (sum float64) {
		for _, v := range y[from:to] {
			sum += float64(float64(v) * float64(v))
		}
		return sum
	})
}

// product returns ⟨x,y⟩, as four sums whose additions need not wait for each other.
func product[T float32 | float64](x []T, y []float64) float64 {
	var s [4]float64
	y = y[:len(x)]
	for len(x) >= 4 {
		s[0] += float64(float64(x[0]) * y[0])
		s[1] += float64(float64(x[1]) * y[1])
		s[2] += float64(float64(x[2]) * y[2])
		s[3] += float64(float64(x[3]) * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s[0] += float64(float64(v) * y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// add adds f·b to a.
func add(a []float64, f float64, b []float32) {
	parallel.Ranges(len(a), grain, func(from, to int) {
		for i, v := range b[from:to] {
			a[from+i] += float64(f * float64(v))
		}
	})
}

func scale(a []float64, f float64) {
	parallel.Ranges(len(a), grain, func(from, to int) {
		for i := from; i < to; i++ {
			a[i] *= f
		}
	})
}
