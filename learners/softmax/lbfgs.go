package softmax

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// memory is the number of pairs of step and change of gradient from which the next direction
// is made.
const memory = 10

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

// length returns the length of the gradient.
func (p point) length() float64 { return math.Sqrt(dot(p.grad, p.grad)) }

// minimiser is L-BFGS (Liu & Nocedal, 1989; Nocedal & Wright, Numerical Optimization,
// Algorithms 7.4, 7.5 and 3.5) in the middle of a run. Every sum is in float64 in a fixed
// order, so that the iterates have the same bits everywhere.
type minimiser struct {
	at     func(w []float32) (point, error) // of the function to minimise
	now    point
	solve  func(g []float64) []float64 // P⁻¹·g, the first guess of the inverse Hessian
	pairs  []pair                      // the oldest first
	trials int                         // points looked at in this step
	next   []float64                   // the direction of the next step; nil if it is not known
}

// pair is a step and what it did to the gradient.
type pair struct {
	S, Y []float32
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
	parallel.Ranges(len(next.w), grain, func(from, to int) {
		for i := from; i < to; i++ {
			p.S[i] = next.w[i] - m.now.w[i]
			p.Y[i] = float32(next.grad[i] - m.now.grad[i])
		}
	})
	y := make([]float64, len(p.Y))
	add(y, 1, p.Y)
	p.SY = dot(p.S, y)
	if !(p.SY > 1e-12*dot(y, y)) {
		return
	}
	if len(m.pairs) == memory {
		m.pairs = slices.Delete(m.pairs, 0, 1)
	}
	m.pairs = append(m.pairs, p)
}

// direction returns -H·gradient, H the inverse Hessian that the pairs make of a multiple of P⁻¹
// (Algorithm 7.4).
func (m *minimiser) direction() []float64 {
	if m.next != nil {
		return m.next
	}
	g := make([]float64, len(m.now.grad))
	for i, v := range m.now.grad {
		g[i] = -v
	}
	alpha := make([]float64, len(m.pairs))
	for k := len(m.pairs) - 1; k >= 0; k-- {
		p := m.pairs[k]
		alpha[k] = dot(p.S, g) / p.SY
		add(g, -alpha[k], p.Y)
	}
	d := m.solve(g)
	if last := len(m.pairs) - 1; last >= 0 {
		p := &m.pairs[last]
		if p.scale == 0 {
			y := make([]float64, len(p.Y))
			add(y, 1, p.Y)
			p.scale = p.SY / dot(p.Y, m.solve(y))
		}
		scale(d, p.scale)
	}
	for k, p := range m.pairs {
		add(d, alpha[k]-dot(p.Y, d)/p.SY, p.S)
	}
	m.next = d
	return d
}

// from gives the minimiser another P.
func (m *minimiser) from(solve func(g []float64) []float64) {
	m.solve, m.next = solve, nil
	for k := range m.pairs {
		m.pairs[k].scale = 0
	}
}

// look evaluates the point at a distance t along d.
func (m *minimiser) look(ctx context.Context, d []float64, t float64) (point, float64, error) {
	if err := ctx.Err(); err != nil {
		return point{}, 0, err
	}
	m.trials++
	w := make([]float32, len(m.now.w))
	parallel.Ranges(len(w), grain, func(from, to int) {
		for i := from; i < to; i++ {
			w[i] = float32(float64(m.now.w[i]) + float64(t*d[i]))
		}
	})
	p, err := m.at(w)
	if err != nil {
		return p, 0, err
	}
	return p, dot(p.grad, d), nil
}

// grain is how many values are worth a processor, and how many a sum adds up before it adds
// the result to the total: the cuts are those of the values alone.
const grain = 1 << 14

// dot returns ⟨a,b⟩.
func dot[T float32 | float64](a []T, b []float64) float64 {
	parts := make([]float64, (len(a)+grain-1)/grain)
	parallel.Tasks(len(parts), func(k int) {
		from, to := k*grain, min((k+1)*grain, len(a))
		var s [4]float64 // four sums, whose additions need not wait for each other
		x, y := a[from:to], b[from:to]
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
		parts[k] = (s[0] + s[1]) + (s[2] + s[3])
	})
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	return sum
}

// add adds f·b to a.
func add[T float32 | float64](a []float64, f float64, b []T) {
	parallel.Ranges(len(a), grain, func(from, to int) {
		for i := from; i < to; i++ {
			a[i] += float64(f * float64(b[i]))
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
