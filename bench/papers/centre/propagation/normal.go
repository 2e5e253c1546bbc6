package propagation

import "math"

// The functions of the normal distribution use additions, multiplications and divisions only, so
// they have the same bits on every machine. They are accurate to a few units of the last place of
// the larger operand of a subtraction.

// exp returns e^x for x ≤ 0, and 0 below -700. With x = k·ln 2 + r for the nearest integer k, e^r
// is a Taylor series for |r| ≤ ½·ln 2, added from its least term.
func exp(x float64) float64 {
	const (
		upper = 0x1.62e42fee00000p-1 // of ln 2, short enough for an exact product with k
		lower = 0x1.a39ef35793c76p-33
	)
	if x < -700 {
		return 0
	}
	k := math.Floor(float64(x*0x1.71547652b82fep0) + 0.5)
	r := (x - float64(k*upper)) - float64(k*lower)
	sum := 1.0
	for n := 14; n > 0; n-- {
		sum = 1 + float64(r*sum)/float64(n)
	}
	return math.Float64frombits(math.Float64bits(sum) + uint64(int64(k))<<52)
}

// bell is √(2π).
const bell = 0x1.40d931ff62706p1

// density returns φ(z) of the standard normal distribution.
func density(z float64) float64 { return exp(-float64(z*z)/2) / bell }

// steep is where mills changes from a series to a continued fraction.
const steep = 3

// mills returns Mills' ratio (1 - Φ(z))/φ(z) for z ≥ 0: up to steep 1/(2φ(z)) less the series z +
// z³/3 + z⁵/(3·5) + … = (Φ(z) - ½)/φ(z), beyond it Laplace's 1/(z + 1/(z + 2/(z + …))).
func mills(z float64) float64 {
	square := float64(z * z)
	if z <= steep {
		sum, term := z, z
		for n := 3.0; term > float64(0x1p-56*sum); n += 2 {
			term = float64(term*square) / n
			sum += term
		}
		return bell/2/exp(-square/2) - sum
	}
	rest := z
	for n := 40.0; n > 0; n-- {
		rest = z + n/rest
	}
	return 1 / rest
}

// share returns Φ(z).
func share(z float64) float64 {
	if z < 0 {
		return float64(density(z) * mills(-z))
	}
	return 1 - float64(density(z)*mills(z))
}

// slope returns the derivative of log(b·Φ(z) + a·Φ(-z)) by z, for a and b from 0 to 1, one of them
// above 0.
func slope(z, b, a float64) float64 {
	if z < 0 {
		return -slope(-z, a, b)
	}
	ratio := mills(z)
	if b == 0 {
		return -1 / ratio
	}
	phi := density(z)
	tail := float64(phi * ratio)
	return float64((b-a)*phi) / (float64(b*(1-tail)) + float64(a*tail))
}
