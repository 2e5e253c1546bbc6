package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// boundKernels are the inner loops of bounds (package internal/sketch).
type boundKernels struct {
	estimate func(sketch []int8, depth int, coef []float32, lines []int, scores []float32, step int)
	open     func(scores []float32, q int, alpha float32, rho, nu, slack, eta, theta []float32,
		scored []int32, now int32, place []int32, open []uint16)
	copy func(dst, x, next []float32)
}

// estimateGo adds to the scores of two classes what their weights changed by, as far
// as the sketch tells. The integers of direction t for block b are the 16 from
// sketch[(b·depth + t)·16], depth is even, coef[2·t + c] is the factor of class c,
// and its scores are the 16 from scores[b·step + lines[c]]. Both may be one class.
func estimateGo(sketch []int8, depth int, coef []float32, lines []int, scores []float32, step int) {
	for b := range len(sketch) / (depth * lanes) {
		for l := range lanes {
			var sum [2][2]float32 // [parity of the direction][class]
			for t := range depth {
				s := float32(sketch[(b*depth+t)*lanes+l])
				for c := range lines {
					sum[t%2][c] = numerics.FMA(s, coef[2*t+c], sum[t%2][c])
				}
			}
			for c, line := range lines {
				sum[0][c] += sum[1][c]
				sum[0][c] += scores[b*step+line+l]
			}
			for c, line := range lines {
				scores[b*step+line+l] = sum[0][c]
			}
		}
	}
}

// boundGo finds the examples of len(open) blocks whose place is not sure, as bits of
// open, from estimates of their scores, which lie as in regionGo. That of class c is
// off by at most
//
//	eta[scored + c]·rho + (theta[scored + c] + slack[c])·nu
//
// where scored, rho, nu and place are those of the example; eta and theta belong to
// the round in which it was scored, and mean nothing if scored is now.
func boundGo(scores []float32, q int, alpha float32, rho, nu, slack, eta, theta []float32,
	scored []int32, now int32, place []int32, open []uint16) {
	for b := range open {
		open[b] = 0
		for l := range lanes {
			i := b*lanes + l
			none := float32(math.Inf(-1))
			low, high, rivalLow, rivalHigh := none, none, none, none
			sure := scored[i] != now
			for c := range q {
				s, at := scores[(b*q+c)*lanes+l], int(scored[i])+c
				most := numerics.FMA(rho[i], eta[at], float32(nu[i]*float32(theta[at]+slack[c])))
				a, z := s-most, s+most
				switch {
				case z != z:
					sure = false
				case place[i]>>1 == int32(c):
					low, high = a, z
				default:
					rivalHigh = max(rivalHigh, z)
					if a > rivalLow { // which max would not make of a NaN
						rivalLow = a
					}
				}
			}
			stays := high-rivalLow < alpha
			if place[i]&1 == 1 {
				stays = low-rivalHigh >= alpha
			}
			if !(sure && low > rivalHigh && stays) {
				open[b] |= 1 << l
			}
		}
	}
}

// copyGo copies x to dst, of the same length. The assembly fetches as many values of
// next meanwhile, which will be x soon.
func copyGo(dst, x, next []float32) { copy(dst, x) }
