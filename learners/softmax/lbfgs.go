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
	curvature  = 0.9
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
	pairs  []pair // the oldest first
	trials int    // points looked at in this step
}

// pair is a step and what it did to the gradient.
type pair struct {
	S, Y []float64
	SY   float64 // ⟨S,Y⟩, above 0
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
			m.now = next
			return true, nil
		case m.pairs == nil:
			return false, nil
		}
		m.pairs = nil // once more, along the gradient
	}
}

// learn keeps the step to next, if the slope rose along it.
func (m *minimiser) learn(next point) {
	p := pair{S: make([]float64, len(next.w)), Y: make([]float64, len(next.w))}
	parallel.Ranges(len(next.w), grain, func(from, to int) {
		for i := from; i < to; i++ {
			p.S[i] = float64(next.w[i]) - float64(m.now.w[i])
			p.Y[i] = next.grad[i] - m.now.grad[i]
		}
	})
	p.SY = dot(p.S, p.Y)
	if !(p.SY > 1e-12*dot(p.Y, p.Y)) {
		return
	}
	if len(m.pairs) == memory {
		m.pairs = slices.Delete(m.pairs, 0, 1)
	}
	m.pairs = append(m.pairs, p)
}

// direction returns -H·gradient, H the inverse Hessian that the pairs make of a multiple of
// the identity (Algorithm 7.4). Without a pair its length is 1, or that of the gradient if
// this is shorter.
func (m *minimiser) direction() []float64 {
	d := make([]float64, len(m.now.grad))
	for i, g := range m.now.grad {
		d[i] = -g
	}
	if len(m.pairs) == 0 {
		if length := math.Sqrt(dot(d, d)); length > 1 {
			scale(d, 1/length)
		}
		return d
	}
	alpha := make([]float64, len(m.pairs))
	for k := len(m.pairs) - 1; k >= 0; k-- {
		p := m.pairs[k]
		alpha[k] = dot(p.S, d) / p.SY
		add(d, -alpha[k], p.Y)
	}
	last := m.pairs[len(m.pairs)-1]
	scale(d, last.SY/dot(last.Y, last.Y))
	for k, p := range m.pairs {
		add(d, alpha[k]-dot(p.Y, d)/p.SY, p.S)
	}
	return d
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
func dot(a, b []float64) float64 {
	parts := make([]float64, (len(a)+grain-1)/grain)
	parallel.Tasks(len(parts), func(k int) {
		from, to := k*grain, min((k+1)*grain, len(a))
		var s [4]float64 // four sums, whose additions need not wait for each other
		x, y := a[from:to], b[from:to]
		for len(x) >= 4 {
			s[0] += float64(x[0] * y[0])
			s[1] += float64(x[1] * y[1])
			s[2] += float64(x[2] * y[2])
			s[3] += float64(x[3] * y[3])
			x, y = x[4:], y[4:]
		}
		for i, v := range x {
			s[0] += float64(v * y[i])
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
func add(a []float64, f float64, b []float64) {
	parallel.Ranges(len(a), grain, func(from, to int) {
		for i := from; i < to; i++ {
			a[i] += float64(f * b[i])
		}
	})
}

func scale(a []float64, f float64) {
	for i := range a {
		a[i] *= f
	}
}
