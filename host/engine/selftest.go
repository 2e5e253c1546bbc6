package engine

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// The known answers, in the order of selfTest's questions, little-endian. A test compares
// them with cpuref's, and writes them; the conformance suite judges cpuref.
//
//go:embed selftest.golden
var selfTestAnswers []byte

const (
	selfTestN     = 67  // not a multiple of 16
	selfTestD     = 260 // two chunks
	selfTestQ     = 3
	selfTestMany  = 17 // two groups of classes on every device
	selfTestMost  = 65 // two groups where a device takes the most at once
	selfTestMarks = 65 // two panels of landmarks
)

// selfTestProblem is what the self-test asks about.
type selfTestProblem struct {
	x     dataset.Examples
	y     []int32
	w     Weights
	many  Weights // of more classes
	inv   []float32
	marks dataset.Examples
}

// comparison compares the answer of an operation, values of width bytes, with the right one.
type comparison func(op string, answer []byte, width int) error

// SelfTest runs every operation of an engine on a small problem and compares all
// bits with known answers (clause 12). The error names the operation and the
// first differing index.
func SelfTest(e *Engine) error {
	known := selfTestAnswers
	var dense [][]byte
	err := selfTest(e, asItIs, func(op string, got []byte, width int) error {
		if len(known) < len(got) {
			return fmt.Errorf("the known answers end before %s", op)
		}
		want := known[:len(got)]
		known, dense = known[len(got):], append(dense, want)
		return compareBits(op+" differs from the known answer", got, want, width)
	})
	if err == nil && len(known) != 0 {
		err = fmt.Errorf("%d bytes of known answers are left over", len(known))
	}
	if err == nil {
		err = selfTest(e, dataset.Examples.Compressed,
			each(dense, "%s of sparse examples differs from that of dense ones"))
	}
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	return nil
}

func asItIs(x dataset.Examples) dataset.Examples { return x }

func compareBits(what string, got, want []byte, width int) error {
	for i := 0; i < len(got); i += width {
		if g, w := got[i:i+width], want[i:i+width]; !bytes.Equal(g, w) {
			return fmt.Errorf("%s at index %d: bytes %x, want %x", what, i/width, g, w)
		}
	}
	return nil
}

// each compares answers with those known, one after the other.
func each(known [][]byte, differs string) comparison {
	return func(op string, got []byte, width int) error {
		want := known[0]
		known = known[1:]
		return compareBits(fmt.Sprintf(differs, op), got, want, width)
	}
}

// selfTest puts all questions with known answers, about examples of the given form.
func selfTest(e *Engine, form func(dataset.Examples) dataset.Examples, compare comparison) error {
	p := newSelfTest()
	short := p.ofMany()
	// The same values as rows so short that there are two blocks of them (clause 14).
	n, d := selfTestD, selfTestN
	for len(short.y) < n {
		short.y = append(short.y, short.y[len(short.y)-selfTestMany])
	}
	short.x = form(dataset.Examples{N: n, D: d, X: p.x.X})
	short.w = Weights{Q: selfTestMany, D: d, W: p.many.W[:selfTestMany*d]}
	p.x = form(p.x)
	return cmp.Or(p.ask(e, compare), short.askEvaluations(e, compare), p.askTrees(e, compare))
}

// ofMany returns the problem with more classes.
func (p selfTestProblem) ofMany() selfTestProblem {
	p.w, p.y = p.many, selfTestLabels(selfTestMany)
	return p
}

// selfTestLabels returns labels of q classes.
func selfTestLabels(q int) []int32 {
	y := make([]int32, selfTestN)
	for i := range y {
		y[i] = int32(i*7) % int32(q)
	}
	return y
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

// repeats compares an answer with one that is known to be right.
func (a *answers) repeats(op string, err error, answer, want any) {
	var right []byte
	known := answers{compare: func(_ string, b []byte, _ int) error { right = b; return nil }}
	known.put("", nil, want)
	again := answers{compare: func(_ string, b []byte, width int) error {
		return compareBits(op+" differs from that of 17", b, right, width)
	}, err: a.err}
	again.put(op, err, answer)
	a.err = again.err
}

// ask puts all questions about p.
func (p selfTestProblem) ask(e *Engine, compare comparison) error {
	const n, d, q = selfTestN, selfTestD, selfTestQ
	r, err := e.LoadCells(p.x, p.y, q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	a := answers{compare: compare}
	scores, pred := make([]float32, n*q), make([]int32, n)
	a.put("score", cmp.Or(r.Rescore(p.w, []int{2, 0, 1}), r.Scores(scores, 0, n)), scores)
	a.put("predict", r.Predict(pred), pred)
	counts := make([]int64, q*q)
	a.put("count predicted", r.CountPredicted(counts, p.y), counts)
	assign := func(w Weights) { // to which examples move, and from there
		err := r.Rescore(w, []int{0, 1, 2})
		found, err2 := r.Assign(0.125)
		a.put("assign", cmp.Or(err, err2), append(found.Predicted, found.Regions...))
	}
	assign(Weights{Q: q, D: d, W: p.many.W[:q*d]})
	assign(p.w)
	sums := make([]int64, q*q*d)
	err = nil
	for k := range q {
		err = cmp.Or(err, r.ClassSums(sums[k*q*d:(k+1)*q*d], k))
	}
	a.put("class sums", err, sums)
	norms, z := make([]float32, q*q), make([]float32, d)
	a.put("norms", r.Norms(norms, p.inv), norms)
	a.put("update vector", r.UpdateVectors(z, []Pair{{1, 2}}, p.inv), z)
	const many, m = selfTestMany, selfTestMarks
	values, numbers := make([]float32, n*m), make([]float32, n*many)
	rbf := kernel.Function{Kind: kernel.RBF, Gamma: 0x1p-4}
	a.put("kernel values", e.Project(values, p.x, Projection{Function: rbf, Landmarks: p.marks}),
		values)
	poly := kernel.Function{Kind: kernel.Poly, Gamma: 0x1p-4, Coef0: 0.7, Degree: 3}
	a.put("project", e.Project(numbers, p.x, Projection{Function: poly, Landmarks: p.marks,
		Axes: Weights{Q: many, D: m, W: p.many.W[:many*m]}, Offset: p.many.W[:many]}), numbers)
	if a.err == nil {
		a.err = p.askScores(e, compare)
	}
	if a.err == nil {
		a.err = p.askEvaluations(e, compare)
	}
	return errors.Join(a.err, r.Close())
}

// askScores asks for scores of many classes.
func (p selfTestProblem) askScores(e *Engine, compare comparison) error {
	const q = selfTestMany
	r, err := e.Load(p.x, q)
	if err != nil {
		return err
	}
	classes, scores := make([]int, q), make([]float32, selfTestN*q)
	for c := range classes {
		classes[c] = (c + 5) % q
	}
	a := answers{compare: compare}
	a.put("score of 17 classes", cmp.Or(r.Rescore(p.many, classes), r.Scores(scores, 0, selfTestN)),
		scores)
	if err := errors.Join(a.err, r.Close()); err != nil {
		return err
	}
	// More classes, with the weights of the 17 repeated.
	const most = selfTestMost
	if r, err = e.Load(p.x, most); err != nil {
		return err
	}
	again := make([]float32, selfTestN*most)
	w := Weights{Q: most, D: p.many.D, W: repeated(p.many.W, len(p.many.W), most*p.many.D)}
	for c := range most - q {
		classes = append(classes, q+c)
	}
	a.repeats("score of 65 classes", cmp.Or(r.Rescore(w, classes), r.Scores(again, 0, selfTestN)),
		again, repeated(scores, q, most))
	return errors.Join(a.err, r.Close())
}

// repeated returns each q values as m of them: after the last comes the first again.
func repeated[T any](values []T, q, m int) (all []T) {
	for row := range slices.Chunk(values, q) {
		for c := range m {
			all = append(all, row[c%q])
		}
	}
	return all
}

// askEvaluations puts the questions of clauses 14 to 16: evaluations of w, and of weights so large
// that examples are refused, for noisy labels and for soft labels, and weighted sums.
func (p selfTestProblem) askEvaluations(e *Engine, compare comparison) error {
	n, q := p.x.N, p.w.Q
	r, err := e.LoadEvaluator(p.x, q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	steep := p.w.Clone()
	for k := range steep.W {
		steep.W[k] *= 0x1p13
	}
	known, soft := selfTestTargets(n, q, p.y)
	scores, sums := make([]float32, n*q), make([]int64, q*p.w.D)
	coefficients := make([]float32, n*q) // full mantissas, halves and zeros
	for i := range coefficients {
		if coefficients[i] = p.w.W[i%len(p.w.W)]; i%16 == 5 {
			coefficients[i] = float32(i%48/16-1) / 2
		}
	}
	a, of := answers{compare: compare}, ""
	if q == selfTestMany {
		of = " of 17 classes"
	}
	evaluate := func(op string, w Weights, t Targets) {
		err := r.SetTargets(t)
		found, err2 := r.Evaluate(sums, w)
		a.put(op+of, cmp.Or(err, err2), append([]int64{found.Loss, found.Refused}, sums...))
	}
	evaluate("evaluate", p.w, known)
	evaluate("evaluate soft labels", p.w, soft)
	evaluate("evaluate large losses", steep, known)
	a.put("score to evaluate"+of, r.Scores(scores, 0, n), scores)
	a.put("weighted sums"+of, r.WeightedSums(sums, coefficients), sums)
	if err := errors.Join(a.err, r.Close()); err != nil || q != selfTestMany {
		return err
	}
	const most = selfTestMost
	if r, err = e.LoadEvaluator(p.x, most, numerics.FixedPoint{}); err != nil {
		return err
	}
	again := make([]int64, most*p.w.D)
	a.repeats("weighted sums of 65 classes", r.WeightedSums(again, repeated(coefficients, q, most)),
		again, repeated(sums, len(sums), most*p.w.D))
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
	for i := 32; i < selfTestN; i++ { // zeros, which sparse examples leave out
		for j := (i + 2) % 3; j < selfTestD; j += 3 {
			x.Row(i)[j] = 0
		}
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
	inv := make([]float32, selfTestQ*selfTestQ)
	for i := range inv {
		inv[i] = next()
	}
	many := NewWeights(selfTestMany, selfTestD)
	for i := range many.W {
		many.W[i] = next()
	}
	return selfTestProblem{x, selfTestLabels(selfTestQ), w, many, inv,
		dataset.Examples{N: selfTestMarks, D: selfTestD, X: x.X[:selfTestMarks*selfTestD]}}
}

// selfTestTargets returns targets of n examples of q classes: how likely their noisy labels y are
// with each true class, and soft labels with weights.
func selfTestTargets(n, q int, y []int32) (known, soft Targets) {
	ninf := float32(math.Inf(-1))
	three := [3][3]float32{{-0.3, -2.6, ninf}, {-3.7, -0.1, -1.9}, {ninf, -4.3, -0.2}}
	known.Row = y
	for k := range q * q {
		known.Values = append(known.Values, three[k/q%3][k%q%3])
	}
	soft = Targets{Given: true, Weight: make([]float32, n), Values: make([]float32, n*q)}
	for i := range n {
		a, b := float32(i%7)/7, float32(i%11)/77 // 1 at most together
		t := soft.Values[i*q : (i+1)*q]
		t[0], t[q/2], t[q-1] = a, b, 1-a-b
		soft.Weight[i] = float32(i%13) / 13
	}
	return known, soft
}
