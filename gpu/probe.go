//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// probe returns an error if the device's float32 operations differ from the contract's, or if its
// driver ends loops early. It names what is wrong, whereas the self-test would only show wrong
// results.
func (e *deviceEngine) probe() error {
	questions := hardQuestions()
	answers, rounds, err := askProbe(e, questions)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if rounds != probeRounds {
		return fmt.Errorf("%w: its driver ends loops early: got %d rounds, want %d", ErrNonconforming,
			rounds, probeRounds)
	}
	if wrong := wrongAnswer(questions, answers); wrong != "" {
		return fmt.Errorf("%w: its float32 is not exact: %s", ErrNonconforming, wrong)
	}
	return nil
}

// unlimited returns a queue without a memory limit and guards.
func (q *queue) unlimited() *queue {
	return &queue{context: q.context, cache: q.cache, queue: q.queue, device: q.device,
		memory: math.MaxInt64, height: q.height}
}

// question is what a work-item of kernel probe is asked.
type question struct {
	a, b, c float32
	integer int64
	scale   float32 // a power of two, |integer·scale| <= 2^62
}

// probed are the answers to a question, as kernels/probe.cl orders them: names, whether they are
// the bits of a float32, and the answer of a device that keeps the contract.
var probed = [...]struct {
	name   string
	float  bool
	answer func(q question) int32
}{
	{"fma(a, b, c)", true, func(q question) int32 { return bitsOf(numerics.FMA(q.a, q.b, q.c)) }},
	{"a + b", true, func(q question) int32 { return bitsOf(q.a + q.b) }},
	{"a - b", true, func(q question) int32 { return bitsOf(q.a - q.b) }},
	{"a * b", true, func(q question) int32 { return bitsOf(q.a * q.b) }},
	{"-a", true, func(q question) int32 { return bitsOf(-q.a) }},
	{"a < b", false, func(q question) int32 { return number(q.a < q.b) }},
	{"a >= b", false, func(q question) int32 { return number(q.a >= q.b) }},
	{"a is NaN", false, func(q question) int32 { return number(q.a != q.a) }},
	{"the larger of a and b", true, func(q question) int32 {
		if q.a < q.b {
			return bitsOf(q.b)
		}
		return bitsOf(q.a)
	}},
	{"float of i", true, func(q question) int32 { return bitsOf(float32(q.integer)) }},
	{"lower half of i·s", false, func(q question) int32 { return int32(q.fixed()) }},
	{"upper half of i·s", false, func(q question) int32 { return int32(q.fixed() >> 32) }},
	{"a * b + c", true, func(q question) int32 { return bitsOf(float32(q.a*q.b) + q.c) }},
}

// probeRounds is more than drivers that end loops are known to allow: 65535 by llvmpipe.
const probeRounds = 1 << 17

func bitsOf(v float32) int32 { return int32(math.Float32bits(v)) }

func number(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

func (q question) fixed() int64 { return numerics.Quantize(float32(q.integer), q.scale) }

// wrongAnswer describes the first answer that is not right, "" if all are. All NaN are one.
func wrongAnswer(questions []question, answers []int32) string {
	for k, q := range questions {
		for j, p := range probed {
			got, want := answers[k*len(probed)+j], p.answer(q)
			if got != want && !(p.float && isNaN(got) && isNaN(want)) {
				return fmt.Sprintf("%s of a = %x, b = %x, c = %x, i = %d, s = %x: got the bits %08x, want %08x",
					p.name, q.a, q.b, q.c, q.integer, q.scale, uint32(got), uint32(want))
			}
		}
	}
	return ""
}

func isNaN(bits int32) bool { f := math.Float32frombits(uint32(bits)); return f != f }

// hardQuestions returns what devices are known, or likely, to get wrong: products that are
// not fused, subnormal operands and results taken for 0, signs of zeros, ties, overflow.
func hardQuestions() []question {
	const (
		least, normal, full, most = 0x1p-149, 0x1p-126, 0x1.fffffep0, math.MaxFloat32
		next                      = 1 + 0x1p-23
	)
	minus0 := float32(math.Copysign(0, -1))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	return []question{
		// Not fused; a tie to even. A subnormal factor; a tie upwards. A subnormal product and sum.
		{1 + 0x1p-12, 1 + 0x1p-12, -1, 1<<24 + 1, 1},
		{0x1p-140, 3, 0, 1<<24 + 3, 0x1p-1},
		{0x1p-100, 0x1p-40, 0x1p-145, 1<<62 + 1<<38, 0x1p-38},
		// A product with little left of it. Halves of the least number: ties, and -0.
		{full * 0x1p-64, full * 0x1p-64, -full * 0x1p-127, -(1<<62 + 1<<38 + 1), 0x1p-39},
		{least, 0.5, least, -1, 0.5},
		{-least, 0.5, 0, 5, 0.5},
		// Comparisons of subnormal numbers and of neighbours; rounding up to the least normal number.
		{least, 0, -0x1p-148, 7, 0.5},
		{0, least, 0, 9, 0x1p-3},
		{-normal, normal - least, 1, 0, 1},
		{full * 0x1p-126, 0.5, 0, math.MinInt64, 0x1p-1},
		// Zeros of both signs; overflow between the steps only, and of the result.
		{minus0, 0, 0, math.MaxInt64, 0x1p-1},
		{minus0, 1, minus0, -3, 0x1p-1},
		{most, 2, -most, 1<<25 - 1, 0x1p-24},
		{most, next, most, 1<<31 + 1, 1},
		// NaN and infinity.
		{inf, 0, 1, 1<<40 + 1<<16 + 1, 0x1p-17},
		{inf, 1, -inf, -(1<<40 + 1<<16 + 1), 0x1p-17},
		{nan, 1, 1, 1, 0x1p-30},
		{1, nan, inf, -1, 1},
		// What a double does not hold; a midpoint but for what follows; nothing special.
		{next, next, 0x1p-60, 0x7fffffbfffffffff, 0x1p-1},
		{next, 1 - 0x1p-24, -0x1p-100, 0x7fffffc000000000, 0x1p-1},
		{-3, -2.5, 7.5, 11, 0x1p-2},
	}
}

// askProbe returns the device's answers to each question, and how many of probeRounds
// rounds a loop ran.
func askProbe(e *deviceEngine, questions []question) (answers []int32, rounds int32, err error) {
	q := e.q.unlimited()
	p := program{files: "probe"}
	program, err := q.build(p.text(e.build.sources), compilerOptions(true), "probe")
	if err != nil {
		return nil, 0, err
	}
	defer q.release(program)
	k, err := q.kernel(program, "probe", 64, false)
	if err != nil {
		return nil, 0, err
	}
	defer k.cl.Release()
	n := len(questions)
	numbers, integers := make([]float32, 0, 4*n), make([]int64, 0, n)
	for _, q := range questions {
		numbers, integers = append(numbers, q.a, q.b, q.c, q.scale), append(integers, q.integer)
	}
	answers = make([]int32, len(probed)*n+1)
	o := buffers{q: q}
	defer func() { err = errors.Join(err, o.free()) }()
	a, b := upload(&o, "probe's numbers", numbers), upload(&o, "probe's integers", integers)
	c := alloc[int32](&o, "probe's answers", len(answers))
	if o.err != nil {
		return nil, 0, o.err
	}
	if err := k.launch(n, 1, probeArgs{a, b, c, n, probeRounds}); err != nil {
		return nil, 0, err
	}
	err = c.read(answers, 0)
	return answers[:len(probed)*n], answers[len(probed)*n], err
}
