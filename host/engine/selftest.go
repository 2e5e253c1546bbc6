package engine

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// The known answers, in the order of selfTest's questions, little-endian. A test compares
// them with cpuref's, and writes them; the conformance suite judges cpuref.
//
//go:embed selftest.golden
var selfTestAnswers []byte

const (
	selfTestN = 67  // not a multiple of 16
	selfTestD = 260 // two chunks
	selfTestQ = 3
)

// selfTestProblem is what the self-test asks about.
type selfTestProblem struct {
	x   dataset.Stored
	y   []int32
	w   Weights
	inv []float32
}

// comparison compares the answer of an operation, values of width bytes, with the right one.
type comparison func(op string, answer []byte, width int) error

// SelfTest runs every operation of an engine on a small problem and compares all
// bits with known answers (clause 12). The error names the operation and the
// first differing index.
func SelfTest(e Engine) error {
	known := selfTestAnswers
	err := selfTest(e, func(op string, got []byte, width int) error {
		if len(known) < len(got) {
			return fmt.Errorf("the known answers end before %s", op)
		}
		want := known[:len(got)]
		known = known[len(got):]
		return compareBits(op+" differs from the known answer", got, want, width)
	})
	if err == nil && len(known) != 0 {
		err = fmt.Errorf("%d bytes of known answers are left over", len(known))
	}
	for width := 1; width <= 2 && err == nil; width++ {
		err = selfTestNarrow(e, width)
	}
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	return nil
}

func compareBits(what string, got, want []byte, width int) error {
	for i := 0; i < len(got); i += width {
		if g, w := got[i:i+width], want[i:i+width]; !bytes.Equal(g, w) {
			return fmt.Errorf("%s at index %d: bytes %x, want %x", what, i/width, g, w)
		}
	}
	return nil
}

// selfTestNarrow compares what an engine makes of narrow examples with what it makes of
// the same in float32, by then known to be right.
func selfTestNarrow(e Engine, width int) error {
	p := newSelfTest()
	x := dataset.Examples{N: selfTestN, D: selfTestD, X: make([]float32, selfTestN*selfTestD)}
	codes := &store.Codes{Least: -3, Map: make([]float32, 2*selfTestD), Unit: make([]float32,
		selfTestN)}
	if width == 1 {
		codes.Bytes = make([]uint8, len(x.X))
	} else {
		codes.Halves = make([]uint16, len(x.X))
	}
	copy(codes.Map, p.w.W) // full mantissas
	for i := range x.N {
		codes.Unit[i] = p.w.W[i] + 1
		for j := range x.D {
			code := uint16(i*x.D+j) * 40503 // Knuth's multiplicative hash
			if width == 1 {
				code >>= 8
				codes.Bytes[i*x.D+j] = uint8(code)
			} else {
				codes.Halves[i*x.D+j] = code
			}
			x.Row(i)[j] = numerics.FMA(float32(code)+codes.Least, codes.Map[j],
				codes.Map[x.D+j]) * codes.Unit[i]
		}
	}
	var known [][]byte
	p.x = x.Stored()
	if err := p.ask(e, func(_ string, got []byte, _ int) error {
		known = append(known, got)
		return nil
	}); err != nil {
		return err
	}
	p.x = dataset.Stored{Examples: x, At: &store.Store{Codes: codes}}
	return p.ask(e, func(op string, got []byte, size int) error {
		want := known[0]
		known = known[1:]
		return compareBits(fmt.Sprintf("%s of examples of %d bytes a value differs from that of float32",
			op, width), got, want, size)
	})
}

// selfTest puts all questions.
func selfTest(e Engine, compare comparison) error {
	p := newSelfTest()
	if err := p.ask(e, compare); err != nil {
		return err
	}
	// The same values as rows so short that there are two blocks of them (clause 14).
	n, d := p.x.D, p.x.N
	for len(p.y) < n {
		p.y = append(p.y, p.y[len(p.y)-selfTestQ])
	}
	p.x = dataset.Examples{N: n, D: d, X: p.x.X}.Stored()
	p.w = Weights{Q: selfTestQ, D: d, W: p.w.W[:selfTestQ*d]}
	return p.askEvaluations(e, compare)
}

// answers are compared one after the other, until the first error.
type answers struct {
	compare comparison
	err     error
}

// put hands the answer of an operation on, which returned err.
func (a *answers) put(op string, err error, answer any) {
	if a.err == nil {
		a.err = err
	}
	if a.err != nil {
		return
	}
	width := 4
	if _, ok := answer.([]int64); ok {
		width = 8
	}
	var b []byte
	if b, a.err = binary.Append(nil, binary.LittleEndian, answer); a.err == nil {
		a.err = a.compare(op, b, width)
	}
}

// ask puts all questions about p.
func (p selfTestProblem) ask(e Engine, compare comparison) error {
	const n, d, q = selfTestN, selfTestD, selfTestQ
	r, err := e.LoadCells(p.x, p.y, q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	a := answers{compare: compare}
	scores, pred := make([]float32, n*q), make([]int32, n)
	a.put("score", cmp.Or(r.Rescore(p.w, []int{2, 0, 1}), r.Scores(scores, 0, n)), scores)
	a.put("predict", r.Predict(pred), pred)
	found, err := r.Assign(0.125)
	a.put("assign", err, append(found.Predicted, found.Regions...))
	sums := make([]int64, q*q*d)
	err = nil
	for k := range q {
		err = cmp.Or(err, r.ClassSums(sums[k*q*d:(k+1)*q*d], k))
	}
	a.put("class sums", err, sums)
	norms, z := make([]float32, q*q), make([]float32, d)
	a.put("norms", r.Norms(norms, p.inv), norms)
	a.put("update vector", r.UpdateVectors(z, []Pair{{1, 2}}, p.inv), z)
	marks := dataset.Examples{N: n / 2, D: d, X: p.x.X[:n/2*d]}
	values, numbers := make([]float32, n*marks.N), make([]float32, n*q)
	rbf := kernel.Function{Kind: kernel.RBF, Gamma: 0x1p-4}
	a.put("kernel values", e.Project(values, p.x, Projection{Function: rbf, Landmarks: marks}), values)
	poly := kernel.Function{Kind: kernel.Poly, Gamma: 0x1p-4, Coef0: 0.7, Degree: 3}
	a.put("project", e.Project(numbers, p.x, Projection{Function: poly, Landmarks: marks,
		Axes: Weights{Q: q, D: marks.N, W: p.w.W[:q*marks.N]}, Offset: p.inv[:q]}), numbers)
	if a.err == nil {
		a.err = p.askEvaluations(e, compare)
	}
	return errors.Join(a.err, r.Close())
}

// askEvaluations puts the questions of clauses 14 to 16: evaluations of w, and of weights so large
// that examples are refused, for noisy labels and for soft labels, and weighted sums.
func (p selfTestProblem) askEvaluations(e Engine, compare comparison) error {
	n, q := p.x.N, p.w.Q
	r, err := e.LoadEvaluator(p.x, q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	steep := p.w.Clone()
	for k := range steep.W {
		steep.W[k] *= 0x1p13
	}
	known, soft := selfTestTargets(n, p.y)
	scores, sums := make([]float32, n*q), make([]int64, q*p.w.D)
	coefficients := make([]float32, n*q) // full mantissas, halves and zeros
	for i := range coefficients {
		if coefficients[i] = p.w.W[i%len(p.w.W)]; i%16 == 5 {
			coefficients[i] = float32(i%48/16-1) / 2
		}
	}
	a := answers{compare: compare}
	evaluate := func(op string, w Weights, t Targets) {
		err := r.SetTargets(t)
		found, err2 := r.Evaluate(sums, w)
		a.put(op, cmp.Or(err, err2), append([]int64{found.Loss, found.Refused}, sums...))
	}
	evaluate("evaluate", p.w, known)
	evaluate("evaluate soft labels", p.w, soft)
	evaluate("evaluate large losses", steep, known)
	a.put("score to evaluate", r.Scores(scores, 0, n), scores)
	a.put("weighted sums", r.WeightedSums(sums, coefficients), sums)
	return errors.Join(a.err, r.Close())
}

// newSelfTest builds inputs that a device with relaxed arithmetic gets
// wrong: full mantissas, so that fused and unfused products differ; products
// that are subnormal; ties; a zero row; the largest magnitudes that matter.
func newSelfTest() selfTestProblem {
	state := uint32(1)
	next := func() float32 { // a full 24-bit mantissa in [-1, 1)
		state = state*1664525 + 1013904223 // Numerical Recipes' linear congruence
		return float32(int32(state)>>8) * 0x1p-23
	}
	x := dataset.Examples{N: selfTestN, D: selfTestD, X: make([]float32, selfTestN*selfTestD)}
	for i := range x.X {
		x.X[i] = next()
	}
	clear(x.Row(5))
	for j := range x.Row(6) { // products with w are subnormal, their sums too
		x.Row(6)[j] *= 0x1p-125
	}
	for i := 8; i < selfTestN; i++ { // no integers in fixed point: rounding shows
		x.Row(i)[i] *= 0x1p-40
	}
	w := NewWeights(selfTestQ, selfTestD)
	for i := range w.W {
		w.W[i] = next()
	}
	for j := range selfTestD { // example 7 sees a tie of classes 0 and 1
		if x.Row(7)[j] != 0 && j%2 == 0 {
			w.Row(1)[j] = w.Row(0)[j]
		} else {
			x.Row(7)[j] = float32(math.Copysign(0, -1))
		}
	}
	y := make([]int32, selfTestN)
	for i := range y {
		y[i] = int32(i*7) % selfTestQ
	}
	inv := make([]float32, selfTestQ*selfTestQ)
	for i := range inv {
		inv[i] = next()
	}
	return selfTestProblem{x.Stored(), y, w, inv}
}

// selfTestTargets returns targets of n examples: how likely their noisy labels y are with each
// true class, and soft labels with weights.
func selfTestTargets(n int, y []int32) (known, soft Targets) {
	ninf := float32(math.Inf(-1))
	known = Targets{Row: y, Values: []float32{-0.3, -2.6, ninf, -3.7, -0.1, -1.9, ninf, -4.3, -0.2}}
	soft = Targets{Given: true, Weight: make([]float32, n)}
	for i := range n {
		a, b := float32(i%7)/7, float32(i%11)/77 // 1 at most together
		soft.Values = append(soft.Values, a, b, 1-a-b)
		soft.Weight[i] = float32(i%13) / 13
	}
	return known, soft
}
