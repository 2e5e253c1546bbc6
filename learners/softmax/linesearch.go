package softmax

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// place is a point along the direction of a search.
type place struct {
	t, slope float64
	point
}

// searchPenalty returns a point along d that satisfies the strong Wolfe conditions, or where losses
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
