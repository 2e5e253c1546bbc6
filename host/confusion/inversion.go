package confusion

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Inversion says what stands for C⁻¹ where learners and estimates ask for it: the exact inverse
// of a matrix that is only nearly right multiplies its errors by up to the condition number. The
// zero value is the exact inverse.
type Inversion struct {
	Rule     string  // Exact or "", Pseudo, Tikhonov, Mix
	Strength float64 // λ of Tikhonov, above 0; of Mix the share of the identity, above 0 and below 1
}

// The rules.
const (
	Exact    = "exact"    // C⁻¹
	Pseudo   = "pinv"     // the pseudo-inverse: Tikhonov with λ = 10⁻⁹
	Tikhonov = "tikhonov" // (CᵀC + λI)⁻¹Cᵀ
	Mix      = "mix"      // ((1-λ)C + λI)⁻¹
)

// DefaultStrength is that of Tikhonov and Mix if none is given.
const DefaultStrength = 0.03

const pseudoStrength = 1e-9

// ParseInversion reads what String writes: a rule, and after a colon its strength.
func ParseInversion(text string) (Inversion, error) {
	rule, strength, given := strings.Cut(text, ":")
	v := Inversion{Rule: rule}
	switch rule {
	case Exact, Pseudo:
		if given {
			return v, fmt.Errorf("found the inverse %q, wanted %s without a strength", text, rule)
		}
		return v, nil
	case Tikhonov, Mix:
	default:
		return v, fmt.Errorf("found the inverse %q, wanted exact, pinv, tikhonov or mix, of which the "+
			"last two may have a strength, such as tikhonov:0.1", text)
	}
	v.Strength = DefaultStrength
	if given {
		var err error
		v.Strength, err = strconv.ParseFloat(strength, 64)
		if err != nil || !(v.Strength > 0 && v.Strength <= math.MaxFloat64) || rule == Mix &&
			v.Strength >= 1 {
			return v, fmt.Errorf("found the strength %q of the inverse %s, wanted a number above 0 (of mix "+
				"below 1)", strength, rule)
		}
	}
	return v, nil
}

// String returns the rule and its strength.
func (v Inversion) String() string {
	switch v.Rule {
	case "", Exact:
		return Exact
	case Pseudo:
		return Pseudo
	}
	return v.Rule + ":" + strconv.FormatFloat(v.Strength, 'g', -1, 64)
}

func (v Inversion) exact() bool { return v.Rule == "" || v.Rule == Exact }

// of returns what stands for the inverse of c, Q×Q; false if there is none. Each product is
// rounded before it is added, so that all machines agree.
func (v Inversion) of(c []float64, q int) ([]float64, bool) {
	a := make([]float64, q*q)
	if v.Rule == Mix {
		for i, f := range c {
			a[i] = float64((1 - v.Strength) * f)
			if i/q == i%q {
				a[i] += v.Strength
			}
		}
		return numerics.Inverse(a, q)
	}
	for k := range q {
		for i := range q {
			for j := range q {
				a[i*q+j] += float64(c[k*q+i] * c[k*q+j])
			}
		}
	}
	for i := range q {
		if v.Rule == Pseudo {
			a[i*q+i] += pseudoStrength
		} else {
			a[i*q+i] += v.Strength
		}
	}
	b, ok := numerics.Inverse(a, q)
	if !ok {
		return nil, false
	}
	inverse := make([]float64, q*q)
	for i := range q {
		for k := range q {
			for j := range q {
				inverse[i*q+j] += float64(b[i*q+k] * c[j*q+k])
			}
		}
	}
	return inverse, true
}
