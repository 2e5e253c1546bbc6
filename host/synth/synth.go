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

// atATime is how many values are made before anybody is heard or told.
const atATime = 1 << 18

// Generate returns n examples of d features, row-major (n×d), and their true
// classes, each in [0, q), until ctx ends; then it returns ctx.Err(). It draws q class centres,
// uniformly from a sphere as far as twelve-fold sums imitate a Gaussian, and then for each example
// a class, all q equally likely, and its centre plus noise of variance 1 in every
// feature. Centres of equal length and equal round noise make a linear
// classifier the best one.
//
// Every value is a multiple of 0.001, rounded to float32: its shortest decimal
// form has at most three decimals and reads back to the same bits.
//
// The same d, q and seed give the same examples; a larger n only adds more. If n
// is small a class may have no example. The caller owns both slices. It is an
// error if n < 0, d < 1, q < 2 or q > 2³¹-1, or if the examples and centres do not
// fit in memory ([memory.ErrBudget]).
func Generate(ctx context.Context, n, d, q int, seed uint64) (x []float32, y []int32, err error) {
	s, err := New(n, d, q, seed)
	if err != nil {
		return nil, nil, err
	}
	if err := s.room(memory.Product(n, d, 4)); err != nil {
		return nil, nil, err
	}
	x, y = make([]float32, n*d), make([]int32, n)
	err = s.each(ctx, "synthetic data", func(i int) { y[i] = s.example(x[i*d : (i+1)*d]) })
	if err != nil {
		return nil, nil, err
	}
	return x, y, nil
}

// each calls do for each example from the first on, until ctx ends.
func (s *Source) each(ctx context.Context, name string, do func(i int)) error {
	_, task := progress.Begin(ctx, progress.Work{Name: name, Unit: "example", Total: int64(s.n)})
	defer task.End()
	s.begin()
	for i := range s.n {
		if i%(1+atATime/s.d) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			task.Reach(int64(i))
		}
		do(i)
	}
	s.next = s.n
	return nil
}

// Source makes the examples of Generate a few at a time, so that they need not fit in memory.
type Source struct {
	n, d, q int
	seed    uint64

	draws   *rand.PCG
	centres []float64
	next    int // example that the draws make
}

// New returns the source of the examples that Generate returns for these arguments. The errors are
// the same as Generate's, except that the examples need not fit in memory.
func New(n, d, q int, seed uint64) (*Source, error) {
	if n < 0 || d < 1 || q < 2 || q > math.MaxInt32 {
		return nil, fmt.Errorf("synthetic data: size: got %d examples × %d features in %d classes, want "+
			"n ≥ 0, d ≥ 1 and 2 ≤ q < 2³¹", n, d, q)
	}
	s := &Source{n: n, d: d, q: q, seed: seed}
	if err := s.room(0); err != nil {
		return nil, err
	}
	s.begin()
	return s, nil
}

// room returns an error unless labels, centres and more bytes fit in memory.
func (s *Source) room(more int64) error {
	need := memory.Sum(more, memory.Product(s.n, 4), memory.Product(s.q, s.d, 8))
	return memory.Check(need,
		fmt.Sprintf("a set of %d synthetic examples × %d features in %d classes", s.n, s.d, s.q))
}

func (s *Source) begin() {
	s.draws = rand.NewPCG(s.seed, 0x73796e7468) // "synth": apart from other uses of the same seed
	s.centres = centres(s.draws, s.d, s.q)
	s.next = 0
}

// Labels returns the true classes of all examples.
func (s *Source) Labels(ctx context.Context) ([]int32, error) {
	y := make([]int32, s.n)
	err := s.each(ctx, "synthetic labels", func(i int) {
		y[i] = s.class()
		for range noiseDraws * s.d {
			s.draws.Uint64()
		}
	})
	if err != nil {
		return nil, err
	}
	return y, nil
}

// Rows fills x with the rows of examples from first on. They continue the rows of the last call, or
// begin with the first example. It fits file.WriteOptions.
func (s *Source) Rows(x []float32, first int) error {
	if first == 0 {
		s.begin()
	}
	if first != s.next || len(x)%s.d != 0 || len(x)/s.d > s.n-first {
		return fmt.Errorf("synthetic data: rows: got %d values from example %d on, want whole rows of "+
			"the %d left from example %d on", len(x), first, s.n-s.next, s.next)
	}
	for at := 0; at < len(x); at += s.d {
		s.example(x[at : at+s.d])
	}
	s.next += len(x) / s.d
	return nil
}

// class draws the class of the next example.
func (s *Source) class() int32 {
	// The high word of u·q is a class in [0, q).
	class, _ := bits.Mul64(s.draws.Uint64(), uint64(s.q))
	return int32(class)
}

// example draws the next example, and returns its class.
func (s *Source) example(row []float32) int32 {
	class := s.class()
	centre := s.centres[int(class)*s.d:][:s.d]
	for j := range row {
		row[j] = thousandths(centre[j] + noise(s.draws))
	}
	return class
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

// noiseDraws is how many numbers of the generator noise takes.
const noiseDraws = 4

// noise returns a sum of twelve uniform numbers less its mean: variance 1 and
// nearly a Gaussian (Irwin-Hall). Integers until the last, exact scaling: unlike
// a logarithm or an exponential it cannot differ between processors.
func noise(src *rand.PCG) float64 {
	const width = 21 // bits of one uniform number; a Uint64 holds three
	const mask = 1<<width - 1
	var sum int64
	for range noiseDraws {
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
