package sets

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// sureQuantile is the 95 % quantile of the standard normal distribution.
const sureQuantile = 1.6449

// mostTried is how many thresholds Sure tries.
const mostTried = 200

// draws tells how much the coverage of a threshold varies over calibrations.
type draws struct {
	p       []float32
	y       []int32
	inverse []float64 // what a label counts as of each class, Q×Q
	noise   *confusion.Matrix
	level   float64
	class   int // the only true class, or -1
}

// raise returns the least threshold, from at on, that surely has the level, with all larger ones.
// points are sorted.
func (d *draws) raise(points []point, at float64) float64 {
	first := 0
	for first < len(points) && points[first].score < at {
		first++
	}
	above := points[first:]
	best := float64(Always)
	for k := min(mostTried, len(above)); k > 0; k-- {
		score := above[len(above)*k/min(mostTried, len(above))-1].score
		if score == best {
			continue
		}
		if d.least(score) < d.level {
			break
		}
		best = score
	}
	return best
}

// least returns the coverage of a threshold less its standard error times sureQuantile, in [0, 1].
func (d *draws) least(score float64) float64 {
	if score == Always {
		return 1
	}
	n, q := float64(len(d.y)), int(math.Sqrt(float64(len(d.inverse))))
	held := make([]float64, q*q) // of each class and label, the share in the set, less the level
	sum, squares, share := 0.0, 0.0, 0.0
	for i, label := range d.y {
		excess := 0.0
		for k, v := range d.p[i*q : (i+1)*q] {
			if d.class >= 0 && k != d.class {
				continue
			}
			weight, in := d.inverse[k*q+int(label)], -d.level
			if 1-float64(v) <= score {
				in++
			}
			excess += float64(weight * in)
			share += weight / n
			held[k*q+int(label)] += in / n
		}
		sum, squares = sum+excess, squares+float64(excess*excess)
	}
	if share <= 0 {
		return 0
	}
	mean := sum / n
	covered := min(max(d.level+mean/share, 0), 1)
	variance := max(squares/n-float64(mean*mean), 0)
	// The promise is tested where the coverage is the level, and there it varies more.
	variance += share * max(float64(d.level*(1-d.level))-float64(covered*(1-covered)), 0)
	off := math.Sqrt(variance/n + d.byMatrix(held, q))
	return min(max(d.level+(mean-float64(sureQuantile*off))/share, 0), 1)
}

// byMatrix returns the variance of Σ B·held, for B the inverse of the matrix, by its standard
// errors. A column varies as the shares of a sample do.
func (d *draws) byMatrix(held []float64, q int) (variance float64) {
	if d.noise == nil || d.noise.Error == nil {
		return 0
	}
	turned := make([]float64, q*q)
	for k := range q {
		for l := range q {
			turned[l*q+k] = held[k*q+l]
		}
	}
	// The sum falls by Σ E[a][t]·slope[t][a] if the matrix grows by E.
	slope := numerics.Product(numerics.Product(d.inverse, turned, q), d.inverse, q)
	for t := range q {
		var spread, errors, mean, square float64
		for a := range q {
			e, share, v := d.noise.Error[a*q+t], d.noise.P[a*q+t], slope[t*q+a]
			errors += float64(e * e)
			spread += float64(share * (1 - share))
			mean += float64(share * v)
			square += float64(share * v * v)
		}
		if spread > 0 {
			variance += errors / spread * max(square-float64(mean*mean), 0)
		}
	}
	return variance
}
