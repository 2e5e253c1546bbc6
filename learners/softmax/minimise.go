package softmax

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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

// minimiser is L-BFGS (Liu & Nocedal, 1989; Nocedal & Wright, Numerical Optimization,
// Algorithms 7.4, 7.5 and 3.5) in the middle of a run. Every sum is in float64 in a fixed
// order, so that the iterates have the same bits everywhere.
type minimiser struct {
	at     func(w []float32) (point, error) // of the function to minimise
	now    point
	curve  *curvature // whose P⁻¹ is the first guess of the inverse Hessian
	most   int        // pairs
	pairs  []Pair     // the oldest first
	trials int        // points looked at in this step
	next   []float64  // the direction of the next step; nil if it is not known
}

// Pair is a step and what it did to the gradient.
type Pair struct {
	S, Y Floats
	SY   float64 // ⟨S,Y⟩, above 0

	scale float64 // of P⁻¹ along Y; 0 if it is not known
}

// Floats are weights in a saved state, whose text is base64 of 4 bytes each.
type Floats []float32

// MarshalText implements encoding.TextMarshaler.
func (f Floats) MarshalText() ([]byte, error) {
	b, err := binary.Append(make([]byte, 0, 4*len(f)), binary.LittleEndian, []float32(f))
	return base64.StdEncoding.AppendEncode(nil, b), err
}

// UnmarshalText implements encoding.TextUnmarshaler. Weights of an empty text are nil.
func (f *Floats) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if *f = nil; len(b) > 0 {
		*f = make(Floats, len(b)/4)
	}
	if len(b)%4 != 0 {
		return fmt.Errorf("found %d bytes of float32 values, wanted a multiple of 4", len(b))
	}
	_, err = binary.Decode(b, binary.LittleEndian, []float32(*f))
	return err
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
	p := Pair{S: make([]float32, len(next.w)), Y: make([]float32, len(next.w))}
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

// place is a point along the direction of a search.
type place struct {
	t, slope float64
	point
}

// search returns a point along d that satisfies the strong Wolfe conditions, or where losses
// cannot be told apart any more the approximate ones; a point without weights if there is
// none (Algorithms 3.5 and 3.6 of Nocedal & Wright).
func (m *minimiser) search(ctx context.Context, d []float64, slope float64) (point, error) {
	start := place{slope: slope, point: m.now}
	before, t := start, 1.0
	for m.trials < mostTrials {
		next, err := m.place(ctx, d, t)
		if err != nil {
			return point{}, err
		}
		switch {
		case accepts(start, next):
			return next.point, nil
		case !descends(start, next) || before.t > 0 && next.loss >= before.loss:
			return m.zoom(ctx, d, start, before, next)
		case next.slope >= 0:
			return m.zoom(ctx, d, start, next, before)
		}
		before, t = next, t*further(start, next)
	}
	return point{}, nil
}

// further returns by what factor the next point is farther away than p, where the slope is still
// steep: to where it would end if it went on as it went from start to p.
func further(start, p place) float64 {
	return min(max(2, start.slope/(start.slope-p.slope)), 100)
}

// zoom narrows an interval whose better end is low.
func (m *minimiser) zoom(ctx context.Context, d []float64, start, low, high place) (point, error) {
	for m.trials < mostTrials {
		next, err := m.place(ctx, d, between(low, high))
		if err != nil {
			return point{}, err
		}
		switch {
		case accepts(start, next):
			return next.point, nil
		case !descends(start, next) || next.loss >= low.loss:
			high = next
		default:
			if next.slope*(high.t-low.t) >= 0 {
				high = low
			}
			low = next
		}
	}
	if low.t > 0 && low.loss < start.loss { // not where the conditions want it, but lower
		return low.point, nil
	}
	return point{}, nil
}

// place evaluates the point at a distance t along d.
func (m *minimiser) place(ctx context.Context, d []float64, t float64) (place, error) {
	if err := ctx.Err(); err != nil {
		return place{}, err
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
		return place{}, err
	}
	return place{t, dot(p.grad, d), p}, nil
}

// descends is the first Wolfe condition. A loss that is no number descends nowhere.
func descends(start, p place) bool {
	return p.loss <= start.loss+float64(float64(sufficient*p.t)*start.slope)
}

// accepts are both Wolfe conditions, or the approximate ones.
func accepts(start, p place) bool {
	if descends(start, p) && math.Abs(p.slope) <= -flattened*start.slope {
		return true
	}
	return p.loss <= start.loss+float64(noise*math.Abs(start.loss)) &&
		p.slope <= (2*sufficient-1)*start.slope && p.slope >= flattened*start.slope
}

// between returns where the cubic through both ends has its minimum, at least a tenth of the
// interval away from either.
func between(a, b place) float64 {
	width := b.t - a.t
	least, most := a.t+float64(0.1*width), a.t+float64(0.9*width)
	if !(math.Abs(b.loss) <= math.MaxFloat64 && math.Abs(b.slope) <= math.MaxFloat64) {
		return least // b is out of all reach
	}
	d1 := a.slope + b.slope - 3*(a.loss-b.loss)/(a.t-b.t)
	under := float64(d1*d1) - float64(a.slope*b.slope)
	if !(under >= 0) {
		return a.t + float64(0.5*width)
	}
	d2 := math.Copysign(math.Sqrt(under), width)
	t := b.t - float64(width*(b.slope+d2-d1))/(b.slope-a.slope+2*d2)
	if !(math.Min(least, most) <= t && t <= math.Max(least, most)) {
		if math.Abs(t-a.t) < math.Abs(0.1*width) {
			return least
		}
		return a.t + float64(0.5*width)
	}
	return t
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
