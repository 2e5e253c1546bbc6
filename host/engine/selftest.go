package engine

import (
	"bytes"
	_ "embed"
	"encoding/binary"
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

// SelfTest runs every operation of an engine on a small problem and compares all
// bits with known answers (clause 12). The error names the operation and the
// first differing index.
func SelfTest(e Engine) error {
	answers := selfTestAnswers
	err := selfTest(e, func(op string, got []byte, width int) error {
		if len(answers) < len(got) {
			return fmt.Errorf("the known answers end before %s", op)
		}
		for i := 0; i < len(got); i += width {
			if g, w := got[i:i+width], answers[i:i+width]; !bytes.Equal(g, w) {
				return fmt.Errorf("%s differs from the known answer at index %d: bytes %x, want %x", op,
					i/width, g, w)
			}
		}
		answers = answers[len(got):]
		return nil
	})
	if err == nil && len(answers) != 0 {
		err = fmt.Errorf("%d bytes of known answers are left over", len(answers))
	}
	for width := 1; width <= 2 && err == nil; width++ {
		err = selfTestNarrow(e, width)
	}
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	return nil
}

// selfTestNarrow compares what an engine makes of narrow examples with what it makes of
// the same in float32, by then known to be right.
func selfTestNarrow(e Engine, width int) error {
	_, y, w, inv := selfTestProblem()
	x := dataset.Examples{N: selfTestN, D: selfTestD, X: make([]float32, selfTestN*selfTestD)}
	codes := &store.Codes{Least: -3, Map: make([]float32, 2*selfTestD), Unit: make([]float32,
		selfTestN)}
	if width == 1 {
		codes.Bytes = make([]uint8, len(x.X))
	} else {
		codes.Halves = make([]uint16, len(x.X))
	}
	copy(codes.Map, w.W) // full mantissas
	for i := range x.N {
		codes.Unit[i] = w.W[i] + 1
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
	type answer struct {
		op   string
		bits []byte
	}
	var known []answer
	err := askSelfTest(e, x, y, w, inv, func(op string, got []byte, _ int) error {
		known = append(known, answer{op, got})
		return nil
	})
	if err != nil {
		return err
	}
	narrow := dataset.Stored{Examples: x, At: &store.Store{Codes: codes}}
	return askSelfTest(e, narrow, y, w, inv, func(op string, got []byte, size int) error {
		want := known[0]
		known = known[1:]
		for i := 0; i < len(got); i += size {
			if !bytes.Equal(got[i:i+size], want.bits[i:i+size]) {
				return fmt.Errorf("%s of examples of %d bytes a value differs from that of float32 at index "+
					"%d: bytes %x, want %x", op, width, i/size, got[i:i+size], want.bits[i:i+size])
			}
		}
		return nil
	})
}

// selfTest hands the bytes of each operation's result to judge.
func selfTest(e Engine, judge func(op string, got []byte, width int) error) error {
	x, y, w, inv := selfTestProblem()
	if err := askSelfTest(e, x, y, w, inv, judge); err != nil {
		return err
	}
	// The same values as rows so short that there are two blocks of them (clause 14).
	tall := dataset.Examples{N: x.D, D: x.N, X: x.X}
	for len(y) < tall.N {
		y = append(y, y[len(y)-selfTestQ])
	}
	return askEvaluations(e, tall, y, Weights{Q: w.Q, D: tall.D, W: w.W[:w.Q*tall.D]}, judge)
}

func askSelfTest(e Engine, rows dataset.Rows, y []int32, w Weights, inv []float32,
	judge func(op string, got []byte, width int) error) (err error) {
	x := rows.Stored()
	r, err := e.LoadCells(x, y, selfTestQ, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	scores, pred := make([]float32, selfTestN*selfTestQ), make([]int32, selfTestN)
	sums, norms, z := make([]int64, selfTestQ*selfTestQ*selfTestD), make([]float32,
		selfTestQ*selfTestQ),
		make([]float32, selfTestD)
	landmarks := dataset.Examples{N: selfTestN / 2, D: x.D, X: x.X[:selfTestN/2*x.D]}
	values, numbers := make([]float32, selfTestN*landmarks.N), make([]float32, selfTestN*selfTestQ)
	var a Assignment
	err = put([]question{
		{"score", func() error {
			if err := r.Rescore(w, []int{2, 0, 1}); err != nil {
				return err
			}
			return r.Scores(scores, 0, selfTestN)
		}, func() any { return scores }},
		{"predict", func() error { return r.Predict(pred) }, func() any { return pred }},
		{"assign", func() (err error) { a, err = r.Assign(0.125); return err },
			func() any { return append(a.Predicted, a.Regions...) }},
		{"class sums", func() error {
			for p := range selfTestQ {
				if err := r.ClassSums(sums[p*selfTestQ*selfTestD:(p+1)*selfTestQ*selfTestD], p); err != nil {
					return err
				}
			}
			return nil
		}, func() any { return sums }},
		{"norms", func() error { return r.Norms(norms, inv) }, func() any { return norms }},
		{"update vector", func() error { return r.UpdateVectors(z, []Pair{{1, 2}}, inv) },
			func() any { return z }},
		{"kernel values", func() error {
			f := kernel.Function{Kind: kernel.RBF, Gamma: 0x1p-4}
			return e.Project(values, x, Projection{Function: f, Landmarks: landmarks})
		}, func() any { return values }},
		{"project", func() error {
			f := kernel.Function{Kind: kernel.Poly, Gamma: 0x1p-4, Coef0: 0.7, Degree: 3}
			axes := Weights{Q: selfTestQ, D: landmarks.N, W: w.W[:selfTestQ*landmarks.N]}
			return e.Project(numbers, x, Projection{Function: f, Landmarks: landmarks, Axes: axes,
				Offset: inv[:selfTestQ]})
		}, func() any { return numbers }},
	}, judge)
	if err != nil {
		return err
	}
	return askEvaluations(e, x, y, w, judge)
}

// question is one operation of the self-test; answer returns what the last call of ask found.
type question struct {
	op     string
	ask    func() error
	answer func() any
}

// put hands the bytes of the answers of questions to judge.
func put(questions []question, judge func(op string, got []byte, width int) error) error {
	for _, q := range questions {
		if err := q.ask(); err != nil {
			return err
		}
		answer := q.answer()
		width := 4
		if _, ok := answer.([]int64); ok {
			width = 8
		}
		b, err := binary.Append(nil, binary.LittleEndian, answer)
		if err != nil {
			return err
		}
		if err := judge(q.op, b, width); err != nil {
			return err
		}
	}
	return nil
}

// selfTestProblem builds inputs that a device with relaxed arithmetic gets
// wrong: full mantissas, so that fused and unfused products differ; products
// that are subnormal; ties; a zero row; the largest magnitudes that matter.
func selfTestProblem() (x dataset.Examples, y []int32, w Weights, inv []float32) {
	state := uint32(1)
	next := func() float32 { // a full 24-bit mantissa in [-1, 1)
		state = state*1664525 + 1013904223 // Numerical Recipes' linear congruence
		return float32(int32(state)>>8) * 0x1p-23
	}
	x = dataset.Examples{N: selfTestN, D: selfTestD, X: make([]float32, selfTestN*selfTestD)}
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
	w = NewWeights(selfTestQ, selfTestD)
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
	y = make([]int32, selfTestN)
	for i := range y {
		y[i] = int32(i*7) % selfTestQ
	}
	inv = make([]float32, selfTestQ*selfTestQ)
	for i := range inv {
		inv[i] = next()
	}
	return x, y, w, inv
}
