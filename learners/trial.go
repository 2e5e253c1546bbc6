package learners

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// temperatures are what scores are multiplied by before their loss is taken, each twice the second
// one before it. Each trial is judged with the one that suits it best: a model that is too
// sure, or not sure enough, may decide well.
var temperatures = [...]float32{0.25, 0.35355338, 0.5, 0.70710677, 1, 1.4142135, 2, 2.828427, 4,
	5.656854, 8}

// Trial is what became of a penalty, or of a kernel function, on examples held out.
type Trial struct {
	Weight float64 // of the examples
	Missed float64 // the weight of those whose label is not the likeliest class

	Losses, Squares [len(temperatures)]float64 // sums of the corrected losses, and of their squares
}

// likeliest returns the temperature of the least loss, as its place in temperatures.
func (t *Trial) likeliest() int {
	best := 0
	for k, v := range t.Losses {
		if v < t.Losses[best] {
			best = k
		}
	}
	return best
}

// Temperature returns what scores are best multiplied by.
func (t *Trial) Temperature() float32 { return temperatures[t.likeliest()] }

// Mean returns the least mean loss that a temperature may give, where a parabola through the best
// three has it, and its standard error.
func (t *Trial) Mean() (loss, deviation float64) {
	if t.Weight == 0 {
		return 0, 0
	}
	best := t.likeliest()
	loss = t.Losses[best] / t.Weight
	variance := t.Squares[best]/t.Weight - float64(loss*loss)
	if best > 0 && best < len(temperatures)-1 {
		before, after := t.Losses[best-1]-t.Losses[best], t.Losses[best+1]-t.Losses[best]
		if bend := before + after; bend > 0 {
			loss -= float64((after-before)*(after-before)) / (8 * bend * t.Weight)
		}
	}
	return loss, math.Sqrt(max(0, variance) / t.Weight)
}

// Add counts an example of scores s, weight u and label y, which has the likelihood, as logarithms,
// with each class. known, if not nil, is what else is known of its class, as a distribution if
// given. powers is a place for four numbers of each class.
func (t *Trial) Add(u float64, y int32, s, likelihood, known []float32, given bool,
	powers []float64) {
	t.Weight += u
	q, most := len(s), slices.Max(s)
	if known != nil {
		t.Missed += float64(u * (1 - min(1, hit(known, s))))
	} else if s[y] != most {
		t.Missed += u
	}
	label, now := powers[2*q:3*q], powers[3*q:]
	for k, v := range s {
		powers[k] = float64(numerics.Exp(temperatures[0] * (v - most)))
		powers[q+k] = float64(numerics.Exp(temperatures[1] * (v - most)))
		label[k] = float64(numerics.Exp(likelihood[k]))
	}
	for e := range temperatures {
		p := powers[e%2*q:][:q] // each second temperature is twice the one before it
		if known != nil {
			copy(now, p)
		}
		var all, those float64
		for k, v := range p {
			all += v
			those += float64(v * label[k])
			p[k] = float64(v * v)
		}
		loss := float64(numerics.MostLoss)
		if f := float32(those / all); f >= 0x1p-126 {
			loss = -float64(numerics.Log(f))
		}
		if known != nil && given {
			loss = crossEntropy(known, now, all)
		}
		t.Losses[e] += float64(u * loss)
		t.Squares[e] += float64(float64(u*loss) * loss)
	}
}

// Join counts the examples of another trial too.
func (t *Trial) Join(other *Trial) {
	t.Weight += other.Weight
	t.Missed += other.Missed
	for e := range temperatures {
		t.Losses[e] += other.Losses[e]
		t.Squares[e] += other.Squares[e]
	}
}

// hit returns how much of what is known of an example are its likeliest classes by scores s.
func hit(known, s []float32) (share float64) {
	most := slices.Max(s)
	for k, v := range s {
		if v == most {
			share = max(share, float64(known[k]))
		}
	}
	return share
}

// crossEntropy returns -Σ_k f_k log(p_k/all).
func crossEntropy(f []float32, p []float64, all float64) (loss float64) {
	for k, share := range f {
		if share == 0 {
			continue
		}
		least := float64(numerics.MostLoss)
		if v := float32(p[k] / all); v >= 0x1p-126 {
			least = -float64(numerics.Log(v))
		}
		loss += float64(float64(share) * least)
	}
	return loss
}
