package versionspace

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

const (
	// settleAfter is the number of bounces after which all products are computed afresh from w and v,
	// which removes the accumulated rounding.
	settleAfter = 128
	// straight is about the number of bounces between random directions: enough for the ball to forget
	// where it was, few enough for many directions in the shortest round.
	straight = 32
	sphere   = -1 // the wall that is no constraint
)

// billiard is a ball at w that flies in direction v, of length 1. It updates its products with the
// constraints by the inner products of constraints: m + d operations a bounce instead of m·d.
type billiard struct {
	s        *Space
	random   *rand.Rand
	w, v     []float64
	distance []float64 // ⟨w, c_k⟩ (5.4)
	speed    []float64 // ⟨v, c_k⟩ (5.5)
	ww, wv   float64   // ⟨w, w⟩ and ⟨w, v⟩
	gram     []float64 // Space.gram; nil if it is not kept
	buffer   []float64 // a row of it, if it is not kept

	stretch float64 // length of the path between random directions; 0 before the first walk
	flown   float64 // of the current stretch
	age     int     // bounces since the products were computed afresh
}

func newBilliard(s *Space, start []float64, random *rand.Rand) *billiard {
	b := &billiard{s: s, random: random, w: slices.Clone(start), v: make([]float64, s.d),
		distance: make([]float64, s.m), speed: make([]float64, s.m), gram: s.gram()}
	if b.gram == nil {
		b.buffer = make([]float64, s.m)
	}
	return b
}

// walk makes steps bounces, adds the mid-points of the flights, times their lengths, to sum, and
// returns the length of the path. The first walk begins with straight bounces that only determine
// the stretch: one that depended on the place of the ball would favour some places.
func (b *billiard) walk(steps int, sum []float64) (length float64) {
	if b.stretch == 0 {
		b.stretch = math.Inf(1)
		b.turn()
		b.stretch = b.fly(straight, make([]float64, len(sum)))
		b.turn()
	}
	return b.fly(steps, sum)
}

func (b *billiard) fly(steps int, sum []float64) (length float64) {
	time, wall := b.next()
	for steps > 0 {
		if b.age >= settleAfter {
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
	return length
}

// turn takes a random direction and starts a stretch.
func (b *billiard) turn() {
	direct(b.v, b.random)
	b.wv, b.flown = 0, 0
	b.settle()
}

// settle computes the products afresh from w and v.
func (b *billiard) settle() {
	scale(b.v, 1/math.Sqrt(numerics.Dot64(b.v, b.v)))
	b.ww, b.wv = numerics.Dot64(b.w, b.w), numerics.Dot64(b.w, b.v)
	b.s.products(b.distance, b.w)
	b.s.products(b.speed, b.v)
	b.age = 0
}

// next returns when the ball hits a wall, and the first wall that it hits then.
func (b *billiard) next() (time float64, wall int) {
	time, wall = b.untilSphere(), sphere
	for k, speed := range b.speed {
		if d := b.distance[k]; d < float64(time*-speed) && speed < 0 {
			time, wall = d/-speed, k
		}
	}
	return max(time, 0), wall // rounding may put the ball behind a wall
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

// move flies for a time and adds the mid-point of the flight, times its length, to sum.
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

// bounce reflects the ball, v' = v − 2⟨v, c⟩c, after a flight to a wall, updates the products, and
// returns the next hit, as next does, in one pass. The rarer condition comes first: processors
// predict it, but not the sign of a speed (twice the rate).
func (b *billiard) bounce(time float64, wall int) (float64, int) {
	// Speed k falls by twice·other[k], where other has the products with the wall's normal.
	var twice float64
	distance, speed := b.distance, b.speed[:len(b.distance)]
	if wall == sphere {
		// The normal is w, of length 1 up to rounding.
		twice = float64(2*b.wv) / b.ww
		numerics.AddScaled64(b.v, -twice, b.w)
		b.wv = -b.wv
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
	numerics.AddScaled64(b.v, -twice, b.s.row(wall))
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

// products returns the inner products of constraint k with all constraints.
func (b *billiard) products(k int) []float64 {
	if b.gram != nil {
		return b.gram[k*b.s.m : (k+1)*b.s.m]
	}
	b.s.products(b.buffer, b.s.row(k))
	return b.buffer
}
