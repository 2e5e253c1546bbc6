package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// problem is one data set that an engine is taken through.
type problem struct {
	name          string
	n, d, q       int
	sparse        bool // the engine gets the examples in sparse form
	alpha         float32
	value, weight func(*rand.Rand) float32 // one feature value, one weight; nil for normal
	edit          func(x dataset.Examples, y []int32)

	// Of evaluations.
	targets []drawTargets // of one round each; nil for every kind
	counts  []int         // coefficients of an example in weighted sums; nil for 1 and 3

	// Of examples that are also loaded in two parts.
	first  int // examples of the first part
	coarse int // bits that the format has fewer than it could
	times  int // the format is for this many times the examples; 0 for 1
}

func (p problem) String() string {
	form := ""
	if p.sparse {
		form = ", sparse"
	}
	return fmt.Sprintf("%s (n=%d d=%d Q=%d%s)", p.name, p.n, p.d, p.q, form)
}

// cases put problems to a check, in both forms.
func cases(prefix string, check func(p problem, e, ref *engine.Engine) error,
	problems ...problem) []Case {
	var all []Case
	for _, p := range problems {
		p.name = prefix + p.name
		add := func(p problem) {
			all = append(all, newCase(p.String(), func(e, ref *engine.Engine) error {
				return check(p, e, ref)
			}))
		}
		add(p)
		p.sparse = true
		add(p)
	}
	return all
}

// build draws the problem: examples, labels, an inverse confusion matrix.
func (p problem) build() (x dataset.Examples, y []int32, inv []float32, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(p.n)<<40|uint64(p.d)<<20|uint64(p.q), 7))
	x = drawExamples(rng, p.n, p.d, p.value)
	y = make([]int32, p.n)
	for i := range y {
		y[i] = int32(rng.IntN(p.q))
	}
	if p.edit != nil {
		p.edit(x, y)
	}
	inv = make([]float32, p.q*p.q)
	for i := range inv {
		inv[i] = float32(rng.NormFloat64() * 0.3)
		if i/p.q == i%p.q {
			inv[i] += 1.5
		}
	}
	return x, y, inv, rng
}

// form returns x as the engine gets it.
func (p problem) form(x dataset.Examples) dataset.Examples {
	if p.sparse {
		return x.Compressed()
	}
	return x
}

// format returns the fixed-point format that p asks for.
func (p problem) format(x dataset.Examples) (numerics.FixedPoint, error) {
	m, err := engine.MaxAbs(x)
	f := numerics.NewFixedPoint(m, p.n*max(1, p.times))
	f.S -= p.coarse
	return f, err
}

// parts returns the whole and its two parts, as first and last example.
func (p problem) parts() [][2]int { return [][2]int{{0, p.n}, {0, p.first}, {p.first, p.n}} }

// drawExamples draws n dense examples of d values.
func drawExamples(rng *rand.Rand, n, d int, value func(*rand.Rand) float32) dataset.Examples {
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	draw(rng, x.X, value)
	return x
}

// draw fills dst.
func draw(rng *rand.Rand, dst []float32, value func(*rand.Rand) float32) {
	if value == nil {
		value = normal
	}
	for i := range dst {
		dst[i] = value(rng)
	}
}

func zero(*rand.Rand) float32      { return 0 }
func normal(r *rand.Rand) float32  { return float32(r.NormFloat64()) }
func digits(r *rand.Rand) float32  { return float32(r.IntN(3) - 1) }
func pixels(r *rand.Rand) float32  { return float32(r.IntN(256)) }
func largest(r *rand.Rand) float32 { return float32(r.IntN(3)-1) * math.MaxFloat32 }
func mostly(r *rand.Rand) float32  { return float32(r.IntN(3)-1) * 0x1p118 }
func tiny(r *rand.Rand) float32    { return float32(r.NormFloat64() * 0x1p-70) }
func faint(r *rand.Rand) float32   { return float32(r.NormFloat64() * 0x1p-118) }
func strong(r *rand.Rand) float32  { return float32(40 * r.NormFloat64()) }
func losing(r *rand.Rand) float32  { return float32(r.NormFloat64() * 0x1p12) }
func fromOne(r *rand.Rand) float32 { return 1 + r.Float32() }

// sometimesLarge are numbers of which some have kernel values that overflow.
func sometimesLarge(r *rand.Rand) float32 { return fromOne(r) * []float32{1, 1, 1, 1e9}[r.IntN(4)] }
func alike(r *rand.Rand) float32          { return float32(1000 + 0.01*r.NormFloat64()) }
func powers(r *rand.Rand) float32         { return float32(math.Ldexp(1, r.IntN(4))) }
func wide(r *rand.Rand) float32 {
	return float32(math.Ldexp(r.NormFloat64(), r.IntN(120)-60))
}
func bulky(r *rand.Rand) float32      { return float32(math.Ldexp(r.NormFloat64(), 40+r.IntN(25))) }
func sometimes(r *rand.Rand) float32  { return float32(math.Ldexp(r.NormFloat64(), r.IntN(8)*16)) }
func cancelling(r *rand.Rand) float32 { return digits(r)*0x1p20 + float32(r.NormFloat64()*0x1p-3) }
func subnormal(r *rand.Rand) float32 {
	return math.Float32frombits(uint32(r.IntN(1<<24)) | uint32(r.IntN(2))<<31)
}
func signedZeros(r *rand.Rand) float32 {
	return []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0x1p-149}[r.IntN(5)]
}

// midpoints have few or full mantissas, so that fused and twice rounded results differ.
func midpoints(r *rand.Rand) float32 {
	if r.IntN(2) == 0 {
		return float32(r.IntN(7)-3) * 0.5
	}
	return float32(1+r.IntN(1<<24)) * 0x1p-23
}

// keepOnly returns an edit that makes all values +0 but where keep says so.
func keepOnly(keep func(i, j, last int) bool) func(dataset.Examples, []int32) {
	return func(x dataset.Examples, _ []int32) {
		for i := range x.N {
			for j := range x.D {
				if !keep(i, j, x.D-1) {
					x.Row(i)[j] = 0
				}
			}
		}
	}
}

// thinOut leaves a value in a few columns of each example, always in the last.
var thinOut = keepOnly(func(i, j, last int) bool { return j*7919%997 == i || j == last })
