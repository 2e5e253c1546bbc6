package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// problem is one data set that an engine is taken through.
type problem struct {
	name          string
	n, d, q       int
	sparse        bool // the engine gets the examples in sparse form
	narrow        int  // bytes of a value of narrow examples; 0 for others
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
	switch {
	case p.sparse:
		form = ", sparse"
	case p.narrow != 0:
		form = fmt.Sprintf(", %d bytes a value", p.narrow)
	}
	return fmt.Sprintf("%s (n=%d d=%d Q=%d%s)", p.name, p.n, p.d, p.q, form)
}

// cases put problems to a check, those without narrow examples in both forms.
func cases(prefix string, check func(p problem, e, ref engine.Engine) error,
	problems ...problem) []Case {
	var all []Case
	for _, p := range problems {
		p.name = prefix + p.name
		add := func(p problem) {
			all = append(all, newCase(p.String(), func(e, ref engine.Engine) error {
				return check(p, e, ref)
			}))
		}
		if add(p); p.narrow == 0 {
			p.sparse = true
			add(p)
		}
	}
	return all
}

// build draws the problem: examples, labels, an inverse confusion matrix.
func (p problem) build() (x dataset.Stored, y []int32, inv []float32, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(p.n)<<40|uint64(p.d)<<20|uint64(p.q), 7))
	x = drawExamples(rng, p.n, p.d, p.value).Stored()
	if p.narrow != 0 {
		x = narrowed(x.Examples, p.narrow, rng)
	}
	y = make([]int32, p.n)
	for i := range y {
		y[i] = int32(rng.IntN(p.q))
	}
	if p.edit != nil {
		p.edit(x.Examples, y)
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
func (p problem) form(x dataset.Stored) dataset.Stored {
	if p.sparse {
		return x.Compressed().Stored()
	}
	return x
}

// format returns the fixed-point format that p asks for.
func (p problem) format(x dataset.Stored) (numerics.FixedPoint, error) {
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

// narrowed returns examples near x that were prepared from integers of some bytes each
// (clause 2), in both forms.
func narrowed(x dataset.Examples, bytes int, rng *rand.Rand) dataset.Stored {
	n := &store.Codes{Least: float32(-rng.IntN(300)), Map: make([]float32, 2*x.D),
		Unit: make([]float32, x.N)}
	codes := 256
	if bytes == 1 {
		n.Bytes = make([]uint8, len(x.X))
	} else {
		n.Halves = make([]uint16, len(x.X))
		codes = 1 << 16
	}
	most := float32(0x1p-20)
	for _, v := range x.X {
		most = max(most, v, -v)
	}
	for j := range x.D { // about from -most to most
		n.Map[j] = 2 * most / float32(codes) * float32(1+rng.Float64())
		n.Map[x.D+j] = -most - n.Least*n.Map[j]
	}
	z := dataset.Examples{N: x.N, D: x.D, X: make([]float32, len(x.X))}
	for i := range x.N {
		n.Unit[i] = float32(0.5 + rng.Float64())
		for j, v := range x.Row(i) {
			at := i*x.D + j
			code := max(0, min(codes-1, int(math.Round(float64((v+most)/n.Map[j])))))
			if bytes == 1 {
				n.Bytes[at] = uint8(code)
			} else {
				n.Halves[at] = uint16(code)
			}
			z.X[at] = numerics.FMA(float32(code)+n.Least, n.Map[j], n.Map[x.D+j]) * n.Unit[i]
		}
	}
	return dataset.Stored{Examples: z, At: &store.Store{Codes: n}}
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
func alike(r *rand.Rand) float32   { return float32(1000 + 0.01*r.NormFloat64()) }
func powers(r *rand.Rand) float32  { return float32(math.Ldexp(1, r.IntN(4))) }
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
