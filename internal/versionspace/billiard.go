package versionspace

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// settled is how many bounces pass before products are computed from w and v again, not from those
// of the bounce before: what rounding did to them is gone then.
const settled = 128

// straight is about how many bounces pass from one random direction to the next: enough that the
// ball forgets where it was, few enough that the shortest round has many directions.
const straight = 32

// sphere is the wall that is no constraint.
const sphere = -1

// billiard is a ball at w that flies in direction v, of length 1. It keeps its products with all
// constraints up to date by the inner products of constraints: m + d operations a bounce, not m·d.
type billiard struct {
	s        *Space
	random   *rand.Rand
	w, v     []float64
	distance []float64 // ⟨w, c_k⟩ (5.4)
	speed    []float64 // ⟨v, c_k⟩ (5.5)
	ww, wv   float64   // ⟨w, w⟩ and ⟨w, v⟩
	gram     []float64 // Space.gram, or nil and
	buffer   []float64 // a row of it

	stretch float64 // length of the path from one random direction to the next; 0: not known yet
	flown   float64 // of the present stretch
	radii   float64 // ∫‖w‖ over the path
	since   float64 // ⟨w, v⟩ where the part of the path begins that is not in radii
	age     int     // bounces since products were computed from w and v
}

func newBilliard(s *Space, start []float64, random *rand.Rand) *billiard {
	b := &billiard{s: s, random: random, w: slices.Clone(start), v: make([]float64, s.d),
		distance: make([]float64, s.m), speed: make([]float64, s.m), gram: s.gram()}
	if b.gram == nil {
		b.buffer = make([]float64, s.m)
	}
	return b
}

// walk makes steps bounces. Before the first ones it flies straight bounces that count for nothing
// but the stretch, which has their length and does not change any more: a stretch that depends on
// where the ball is would favour some places.
//
// The weight is ∫‖w‖ of the path over the mean of ‖w‖ in the space, d/(d+1): the centre's length
// then does not wait for the path to have been at all distances from the origin.
func (b *billiard) walk(steps int, sum []float64) (weight float64) {
	if b.stretch == 0 {
		b.stretch = math.Inf(1)
		b.turn()
		b.stretch = b.fly(straight, make([]float64, len(sum)))
		b.turn()
	}
	b.radii = 0
	b.fly(steps, sum)
	return b.radii * (1 + 1/float64(b.s.d))
}

func (b *billiard) fly(steps int, sum []float64) (length float64) {
	time, wall := b.next()
	for steps > 0 {
		if b.age >= settled {
			b.settle()
			time, wall = b.next()
		}
		if left := b.stretch - b.flown; time >= left {
			b.move(left, sum)
			length += left
			b.turn()
			time, wall = b.next()
			continue
		}
		b.move(time, sum)
		length += time
		b.flown += time
		b.age++
		steps--
		time, wall = b.bounce(time, wall)
	}
	b.sumRadii()
	return length
}

// turn takes a random direction and begins a stretch.
func (b *billiard) turn() {
	b.sumRadii()
	direct(b.v, b.random)
	b.wv, b.since, b.flown = 0, 0, 0
	b.settle()
}

// settle computes the products from w and v.
func (b *billiard) settle() {
	b.sumRadii()
	scale(b.v, 1/math.Sqrt(dot(b.v, b.v)))
	b.ww, b.wv = dot(b.w, b.w), dot(b.w, b.v)
	b.s.products(b.distance, b.w)
	b.s.products(b.speed, b.v)
	b.since, b.age = b.wv, 0
}

// next returns when the ball hits a wall, and which: that of the least time, the first of those
// with the same.
func (b *billiard) next() (time float64, wall int) {
	time, wall = b.untilSphere(), sphere
	for k, speed := range b.speed {
		if d := b.distance[k]; d < float64(time*-speed) && speed < 0 {
			time, wall = d/-speed, k
		}
	}
	return max(time, 0), wall // below 0 where rounding put the ball behind a wall
}

// untilSphere returns the larger root of ‖w + t·v‖² = 1.
func (b *billiard) untilSphere() float64 {
	inside := 1 - b.ww
	root := math.Sqrt(max(float64(b.wv*b.wv)+inside, 0))
	if b.wv <= 0 {
		return root - b.wv
	}
	return max(inside, 0) / (root + b.wv)
}

// move flies for a time, and adds the mid-point of the flight, times its length, to sum.
func (b *billiard) move(time float64, sum []float64) {
	half := time / 2
	v, sum := b.v[:len(b.w)], sum[:len(b.w)]
	for j, w := range b.w {
		step := float64(half * v[j])
		middle := w + step
		sum[j] += float64(time * middle)
		b.w[j] = middle + step
	}
	b.ww += float64(time * (float64(2*b.wv) + time))
	b.wv += time
}

// sumRadii adds the part of the path to radii that is not yet in it. With s for ⟨w, v⟩, ‖w‖² is s²
// and what bounces off constraints do not change: the integral is ½(s‖w‖ + ρ²·log(s + ‖w‖)).
func (b *billiard) sumRadii() {
	from, to := b.since, b.wv
	if b.since = b.wv; !(to > from) {
		return
	}
	square := max(b.ww-float64(to*to), 0)
	before, after := math.Sqrt(square+float64(from*from)), math.Sqrt(square+float64(to*to))
	b.radii += (float64(to*after) - float64(from*before)) / 2
	if square < 1e-20 {
		return // times a logarithm below 50
	}
	// (to + after)/(from + before), of sums in which no digits cancel.
	above, below := math.Abs(to)+after, math.Abs(from)+before
	switch {
	case to < 0:
		above, below = below, above
	case from < 0:
		above, below = float64(above*below), square
	}
	b.radii += float64(square*float64(numerics.Log(float32(above/below)))) / 2
}

// bounce turns the ball round, v' = v − 2⟨v, c⟩c, after it flew for a time to a wall, and returns
// where it goes then, as next does. The products move in the same reading. The rarer condition
// comes first: processors foresee it, and the sign of a speed they do not (twice the rate).
func (b *billiard) bounce(time float64, wall int) (float64, int) {
	// What each speed loses is twice·other[k]: other are the products with the normal of the wall.
	var twice float64
	distance, speed := b.distance, b.speed[:len(b.distance)]
	if wall == sphere {
		// The normal is w, of length 1 but for rounding.
		twice = float64(2*b.wv) / b.ww
		addScaled(b.v, -twice, b.w)
		b.sumRadii()
		b.wv = -b.wv
		b.since = b.wv
		best, first := b.untilSphere(), sphere
		for k, q := range speed {
			p := distance[k] + float64(time*q)
			q -= float64(twice * p)
			distance[k], speed[k] = p, q
			if p < float64(best*-q) && q < 0 {
				best, first = p/-q, k
			}
		}
		return max(best, 0), first
	}
	twice = 2 * speed[wall]
	addScaled(b.v, -twice, b.s.row(wall))
	other := b.products(wall)[:len(distance)]
	best, first := b.untilSphere(), sphere
	for k, q := range speed {
		p := distance[k] + float64(time*q)
		q -= float64(twice * other[k])
		distance[k], speed[k] = p, q
		if p < float64(best*-q) && q < 0 {
			best, first = p/-q, k
		}
	}
	return max(best, 0), first
}

// products returns the inner products of constraint k with all, made anew where they are not kept.
func (b *billiard) products(k int) []float64 {
	if b.gram != nil {
		return b.gram[k*b.s.m : (k+1)*b.s.m]
	}
	b.s.products(b.buffer, b.s.row(k))
	return b.buffer
}
