package means

import "math"

// Loss is a loss of a classifier of two classes: of label y, ±1, and score v it is Of(y·v).
type Loss struct {
	Name    string
	Formula string // of the margin m = y·v
	Of      func(m float64) float64
}

// Losses are those that Immunity is asked of first.
var Losses = []Loss{
	{"linear", "1 - m", func(m float64) float64 { return 1 - m }},
	{"0-1", "1 if m < 0, 1/2 if m = 0", func(m float64) float64 {
		switch {
		case m < 0:
			return 1
		case m == 0:
			return 0.5
		}
		return 0
	}},
	{"ramp", "min(2, max(0, 1 - m))", func(m float64) float64 { return min(2, max(0, 1-m)) }},
	{"sigmoid", "1 / (1 + e^m)", func(m float64) float64 { return 1 / (1 + math.Exp(m)) }},
	{"hinge", "max(0, 1 - m)", func(m float64) float64 { return max(0, 1-m) }},
	{"squared hinge", "max(0, 1 - m)²", func(m float64) float64 { return max(0, 1-m) * max(0, 1-m) }},
	{"squared", "(1 - m)²", func(m float64) float64 { return (1 - m) * (1 - m) }},
	{"logistic", "ln(1 + e^-m)", func(m float64) float64 { return math.Log1p(math.Exp(-m)) }},
	{"exponential", "e^-m", func(m float64) float64 { return math.Exp(-m) }},
	{"perceptron", "max(0, -m)", func(m float64) float64 { return max(0, -m) }},
	{"savage", "1 / (1 + e^m)²", func(m float64) float64 { p := 1 / (1 + math.Exp(m)); return p * p }},
	// Of the exponential family exp_2(a) = 1/(1-a), whose normalisation has a closed form.
	{"t-logistic, t = 2", "ln(1 + √(1 + m²/4) - m/2)", func(m float64) float64 {
		return math.Log(1 + math.Sqrt(1+m*m/4) - m/2)
	}},
}

// Immunity is what symmetric label noise does to a loss. With labels flipped at rate s the
// expected loss is (1-2s)·loss + s·S, S(v) the loss of label 1 at score v and of label -1: where S
// is constant, noise of any s < 1/2 scales and shifts what is minimized, and moves no minimum
// (Theorem 15); where it is not, noise adds a term of its own.
type Immunity struct {
	Least, Most float64 // of S for scores from -Reach to Reach
	Constant    float64 // the largest r such that S is constant for |v| ≤ r, 0 if there is none
	Immune      bool    // S is constant as far as was looked
	Convex      bool    // so that the linear loss is the only one of all that are immune (Theorem 16)
}

// Scores are looked at up to Reach, in steps that are powers of 2.
const (
	Reach     = 4
	lossSteps = 64 // a unit
)

// Immunity computes what noise does to l, from its values.
func (l Loss) Immunity() Immunity {
	const tolerance = 1e-12 // of rounded values of a few units
	sum := func(k int) float64 {
		v := float64(k) / lossSteps
		return l.Of(v) + l.Of(-v)
	}
	first := sum(0)
	r := Immunity{Least: first, Most: first, Immune: true, Convex: true}
	for k := 1; k <= Reach*lossSteps; k++ {
		s := sum(k)
		r.Least, r.Most = min(r.Least, s), max(r.Most, s)
		r.Immune = r.Immune && math.Abs(s-first) <= tolerance
		if r.Immune {
			r.Constant = float64(k) / lossSteps
		}
	}
	for k := -Reach*lossSteps + 1; k < Reach*lossSteps; k++ {
		at := func(k int) float64 { return l.Of(float64(k) / lossSteps) }
		if at(k-1)+at(k+1)-2*at(k) < -tolerance {
			r.Convex = false
		}
	}
	return r
}
