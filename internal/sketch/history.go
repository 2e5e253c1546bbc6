package sketch

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// History remembers the weights of each class over the last Span rounds, and says how
// far the scores that were computed in one of them may have moved since. A round is
// whatever scores some examples: an assignment of regions.
type History struct {
	Q, Span int
	// Eta and Theta bound the error of estimates: [slot*Q+c] is for the scores of class
	// c computed in the round with that Slot, if it is one of the last Span. The score
	// of an example of Tile.Rho ρ and Tile.Nu ν lies within Eta·ρ + (Theta + Slack)·ν
	// of its estimate, also if this is computed in float32.
	Eta, Theta []float32

	basis               *Basis
	spread, error, most float64 // of all tiles
	round               int
	classes             []class
}

// class is the history of one class.
type class struct {
	versions []version // of its weights, the last is the present one
	longest  float64   // that the weights have been since all scores were computed
	rounding float64   // sum of what each change adds to the error of estimates
}

// version is the weights of a class from a round on.
type version struct {
	round    int
	shift    []float64 // the weights in the directions
	rest     []float64 // what these leave of the weights
	shift2   float64   // squares of their lengths
	rest2    float64
	rounding float64 // of class, then
	large    bool    // their scores may be infinite, which no bound knows
}

// newHistory begins in round 0, in which the scores of all examples of the tiles stand
// for the weights w(c) of the classes c < q.
func newHistory(b *Basis, tiles []*Tile, q, span int, w func(c int) []float32) *History {
	h := &History{
		Q: q, Span: span, Eta: make([]float32, span*q), Theta: make([]float32, span*q),
		basis: b, classes: make([]class, q),
	}
	for _, t := range tiles {
		h.spread, h.error, h.most = max(h.spread, t.spread), max(h.error, t.error), max(h.most, t.most)
	}
	for c := range h.classes {
		h.classes[c].longest = up(euclidean(w(c)))
		h.classes[c].versions = []version{h.version(w(c), 0)}
	}
	return h
}

// overflow is far enough below the largest float32 that neither a score by clause 1 nor an
// estimate of one can overflow on the way, if ‖w‖·ν is below it for all examples.
const overflow = 1e36

func (h *History) version(w []float32, round int) version {
	b := h.basis
	v := version{round: round, shift: make([]float64, b.K), rest: make([]float64, b.D)}
	for j, value := range w {
		v.rest[j] = float64(value)
	}
	for k := range b.K {
		v.shift[k] = dot(b.v[k*b.D:(k+1)*b.D], v.rest)
	}
	for k, a := range v.shift {
		axpy(-a, b.v[k*b.D:(k+1)*b.D], v.rest)
	}
	v.shift2, v.rest2 = dot(v.shift, v.shift), dot(v.rest, v.rest)
	length2 := v.shift2 + v.rest2
	v.large = !(length2 < 1e30 && math.Sqrt(length2)*h.most < overflow) // NaN too
	return v
}

// Slot is the place of the present round in Eta and Theta.
func (h *History) Slot() int { return h.round % h.Span }

// Oldest is the first round whose scores can still be used.
func (h *History) Oldest() int { return max(0, h.round-h.Span+1) }

// Round is the number of the present round.
func (h *History) Round() int { return h.round }

// Fresh begins a round in which all scores are those of the weights w(c) of the
// classes c; some changed.
func (h *History) Fresh(w func(c int) []float32, changed []int) {
	h.round++
	for _, c := range changed {
		h.classes[c].versions = []version{h.version(w(c), h.round)}
	}
	for c := range h.classes {
		k := &h.classes[c]
		k.longest, k.rounding = up(euclidean(w(c))), 0
		k.versions[len(k.versions)-1].rounding = 0
	}
	h.present()
}

// present notes that scores of the present round are exact.
func (h *History) present() {
	at := h.Slot() * h.Q
	clear(h.Eta[at : at+h.Q])
	clear(h.Theta[at : at+h.Q])
}

// Next begins a round with the weights w(c) of the changed classes c. It returns by how
// much each of them shifts in the directions, for Tile.Coef. ok is false, and no round
// begun, if the weights are or were so large that a score may be infinite, which cannot be
// bounded: scores must then be computed afresh.
func (h *History) Next(w func(c int) []float32, changed []int) (shifts [][]float64, ok bool) {
	next := make([]version, len(changed))
	parallel.Ranges(len(changed), 1, func(from, to int) {
		for n := from; n < to; n++ {
			next[n] = h.version(w(changed[n]), h.round+1)
		}
	})
	for n, c := range changed {
		k := &h.classes[c]
		if next[n].large || k.versions[len(k.versions)-1].large {
			return nil, false
		}
	}
	h.round++
	for n, c := range changed {
		k, now := &h.classes[c], next[n]
		before := k.versions[len(k.versions)-1]
		k.longest = max(k.longest, up(euclidean(w(c))))
		shift := slices.Clone(now.shift)
		axpy(-1, before.shift, shift)
		shifts = append(shifts, shift)
		// Coef is rounded, its sum of products, and the sum with the score.
		k.rounding += unit*1.1*float64(h.basis.K+6)*up(norm(shift))*h.spread + 4*unit*k.longest
		// Coef underflows, which counts up to 127 times, and so does each term of the sum.
		k.rounding += 64 * float64(h.basis.K) * least / shortest
		now.rounding = k.rounding
		k.versions = append(k.versions, now)
		h.forget(k)
		h.measure(c)
	}
	h.present()
	return shifts, true
}

// forget drops the versions that no round of the last Span had.
func (h *History) forget(k *class) {
	drop := 0
	for drop+1 < len(k.versions) && k.versions[drop+1].round <= h.Oldest() {
		drop++
	}
	k.versions = slices.Delete(k.versions, 0, drop)
}

// measure computes Eta and Theta of a class for all rounds before the present one.
func (h *History) measure(c int) {
	versions := h.classes[c].versions
	now := versions[len(versions)-1]
	parallel.Ranges(len(versions)-1, 32, func(from, to int) {
		for n := from; n < to; n++ {
			h.measureOne(c, versions[n], now, versions[n+1].round)
		}
	})
}

// measureOne is measure for the rounds of one version, from its own up to end.
func (h *History) measureOne(c int, v, now version, end int) {
	eta := distance(v.rest, v.rest2, now.rest, now.rest2)
	theta := distance(v.shift, v.shift2, now.shift, now.shift2) * (h.error + h.basis.skew*h.spread)
	theta += now.rounding - v.rounding
	// A few roundings more, for a device that adds it up in float32.
	eta32, theta32 := up32(eta), up32(theta)
	for round := max(v.round, h.Oldest()); round < end; round++ {
		at := round%h.Span*h.Q + c
		h.Eta[at], h.Theta[at] = eta32, theta32
	}
}

// distance returns at least the distance of a and b, whose squared lengths are given.
func distance(a []float64, a2 float64, b []float64, b2 float64) float64 {
	return up(math.Sqrt(max(0, a2+b2-2*dot(a, b)))) + 3e-7*math.Sqrt(a2+b2)
}

// Slack is what the rounding of the scores of class c by clause 1 adds to the error,
// then and now.
func (h *History) Slack(c int) float32 {
	longest := h.classes[c].longest
	underflow := float64(h.basis.D+2) * least / shortest // of two scores, and of the bound itself
	return up32(2*h.basis.gamma*longest + 8*unit*longest + underflow)
}
