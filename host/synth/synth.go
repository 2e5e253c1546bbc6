// Package synth makes classification data of any size that is the same, bit for
// bit, on every machine, for tests and measurements that need more examples
// than a repository should hold.
package synth

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// radius is the length of every class centre in units of the noise's standard
// deviation. With 64 features and 12 classes it leaves the best linear
// classifier an error of about 2.5 %.
const radius = 4.0

// Generate returns n examples of d features, row-major (n×d), and their true classes, each in
// [0, q), until ctx ends; then it returns ctx.Err(). It draws q class centres, uniformly from a
// sphere as far as twelve-fold sums imitate a Gaussian, and then for each example a class, all q
// equally likely, and its centre plus noise of variance 1 in every feature. Centres of equal length
// and equal round noise make a linear classifier the best one.
//
// Every value is a multiple of 0.001, rounded to float32: its shortest decimal form has at most
// three decimals and reads back to the same bits.
//
// The same d, q and seed give the same examples; a larger n only adds more. If n is small a class
// may have no example. It is an error if n < 0, d < 1, q < 2 or q > 2³¹-1, or if the examples and
// centres do not fit in memory ([memory.ErrBudget]).
func Generate(ctx context.Context, n, d, q int, seed uint64) (x []float32, y []int32, err error) {
	if n < 0 || d < 1 || q < 2 || q > math.MaxInt32 {
		return nil, nil, fmt.Errorf("synthetic data: size: got %d examples × %d features in %d classes, "+
			"want n ≥ 0, d ≥ 1 and 2 ≤ q < 2³¹", n, d, q)
	}
	need := memory.Sum(memory.Product(n, d, 4), memory.Product(n, 4), memory.Product(q, d, 8))
	if err := memory.Check(need, fmt.Sprintf("a set of %d synthetic examples × %d features in %d "+
		"classes", n, d, q)); err != nil {
		return nil, nil, err
	}
	_, task := progress.Begin(ctx, progress.Work{Name: "synthetic data", Unit: "example",
		Total: int64(n)})
	defer task.End()
	draws := rand.NewPCG(seed, 0x73796e7468) // "synth": apart from other uses of the same seed
	centres := centres(draws, d, q)
	x, y = make([]float32, n*d), make([]int32, n)
	const atATime = 1 << 18 // values between two looks at ctx
	for i := range n {
		if i%(1+atATime/d) == 0 {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			task.Reach(int64(i))
		}
		// The high word of u·q is a class in [0, q).
		class, _ := bits.Mul64(draws.Uint64(), uint64(q))
		y[i] = int32(class)
		for j, centre := range centres[int(class)*d:][:d] {
			x[i*d+j] = thousandths(centre + noise(draws))
		}
	}
	return x, y, nil
}

// centres draws q vectors of d entries and of length radius, row-major.
func centres(src *rand.PCG, d, q int) []float64 {
	c := make([]float64, q*d)
	for r := range q {
		row := c[r*d:][:d]
		var sum float64
		for sum == 0 { // all zero: no direction, draw again
			for j := range row {
				row[j] = noise(src)
				sum += float64(row[j] * row[j])
			}
		}
		length := math.Sqrt(sum)
		for j := range row {
			row[j] = row[j] / length * radius
		}
	}
	return c
}

// noise returns a sum of twelve uniform numbers less its mean: variance 1 and
// nearly a Gaussian (Irwin-Hall). Integers until the last, exact scaling: unlike
// a logarithm or an exponential it cannot differ between processors.
func noise(src *rand.PCG) float64 {
	const width = 21 // bits of one uniform number; a Uint64 holds three
	const mask = 1<<width - 1
	var sum int64
	for range 4 {
		u := src.Uint64()
		sum += int64(u&mask) + int64(u>>width&mask) + int64(u>>(2*width)&mask)
	}
	return float64(sum-6*mask) / (1 << width)
}

// thousandths rounds v to three decimals. The quotient is rounded to float64 and
// then to float32; below 10^5 no quotient lies so close to the middle of two
// float32 that this differs from rounding the decimal number once, which is
// what a reader of the text does.
func thousandths(v float64) float32 {
	return float32(float64(int64(math.Round(v*1000))) / 1000)
}
