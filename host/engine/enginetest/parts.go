package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// parts is a data set that is also loaded in two parts, with the fixed-point format of the
// whole: counts and class sums of the parts add up to the whole's, and update vectors of
// the added sums have its bits.
type parts struct {
	name    string
	n, d, q int
	first   int // examples of the first part
	sparse  bool
	narrow  int
	coarse  int  // bits that the format has fewer than it could
	times   int  // so many times more examples than there are, by the format
	spread  bool // the largest value is in the second part, far above the first's
}

func partCases() []Case {
	var all []Case
	for _, p := range []parts{
		{name: "parts", n: 130, d: 19, q: 4, first: 70, times: 1},
		{name: "parts, sparse", n: 130, d: 300, q: 4, first: 33, times: 1, sparse: true},
		{name: "parts of bytes", n: 130, d: 19, q: 4, first: 70, times: 1, narrow: 1},
		{name: "parts of many examples", n: 1600, d: 9, q: 3, first: 800, times: 1},
		{name: "parts of very different values", n: 90, d: 40, q: 3, first: 45, times: 1, spread: true},
		{name: "parts of a larger set, in a coarse format", n: 90, d: 40, q: 3, first: 16, times: 1000,
			coarse: 21},
		{name: "parts of a set as large as can be", n: 50, d: 7, q: 3, first: 25,
			times: numerics.MostExamples / 50},
	} {
		all = append(all, Case{p.name, p.check})
	}
	return append(all, Case{"errors of fixed-point formats", checkFormats})
}

// draw makes the examples of both parts.
func (k parts) draw(rng *rand.Rand) dataset.Stored {
	x := dataset.Examples{N: k.n, D: k.d, X: make([]float32, k.n*k.d)}.Stored()
	for i := range x.X {
		x.X[i] = normal(rng)
		if k.spread && i < k.first*k.d {
			x.X[i] *= 0x1p-30
		}
	}
	if k.narrow != 0 {
		x = narrowed(x.Examples, k.narrow, rng)
	}
	return x
}

func (k parts) check(e engine.Engine) (err error) {
	rng := rand.New(rand.NewPCG(uint64(k.n), uint64(k.first)))
	x := k.draw(rng)
	y := make([]int32, k.n)
	for i := range y {
		y[i] = int32(rng.IntN(k.q))
	}
	inv := make([]float32, k.q*k.q)
	for i := range inv {
		inv[i] = normal(rng)
	}
	v := newNaive(x.Examples, y, k.q)
	v.total *= k.times
	v.s = v.format() - k.coarse
	f := numerics.FixedPoint{S: v.s, N: v.total}
	if m, err := engine.MaxAbs(x); err != nil || numerics.NewFixedPoint(m, f.N).S != f.S+k.coarse {
		return fmt.Errorf("format of the largest value %v: %v, want s = %d", m, err, f.S+k.coarse)
	}
	var loaded []engine.Cells
	defer func() {
		for _, r := range loaded {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, part := range [][2]int{{0, k.n}, {0, k.first}, {k.first, k.n}} {
		form := x.Rows(part[0], part[1])
		if k.sparse {
			form = form.Compressed().Stored()
		}
		r, err := e.LoadCells(form, y[part[0]:part[1]], k.q, f)
		if err != nil {
			return err
		}
		loaded = append(loaded, r)
		if r.FixedPoint() != f {
			return fmt.Errorf("fixed point %+v, want %+v", r.FixedPoint(), f)
		}
	}
	w, all := engine.NewWeights(k.q, k.d), make([]int, k.q)
	for c := range all {
		all[c] = c
	}
	for range 3 {
		v.rescore(w, all)
		want := v.assign(0)
		var got [3]engine.Assignment
		for i, r := range loaded {
			if err := r.Rescore(w, all); err != nil {
				return err
			}
			if got[i], err = r.Assign(0); err != nil {
				return err
			}
		}
		added := engine.Assignment{
			Regions: add(got[1].Regions, got[2].Regions), Predicted: add(got[1].Predicted, got[2].Predicted),
			Moved: got[1].Moved + got[2].Moved,
		}
		if err := errors.Join(sameAssignment(got[0], want), sameAssignment(added, want)); err != nil {
			return err
		}
		if err := k.vectors(loaded, v, f, inv); err != nil {
			return err
		}
		for j := range w.W {
			w.W[j] += normal(rng)
		}
	}
	return nil
}

// vectors compares class sums, norms and update vectors of the whole with those of the
// added parts, and all of them with the functions of class sums.
func (k parts) vectors(loaded []engine.Cells, v *naive, f numerics.FixedPoint,
	inv []float32) error {
	norms := make([][]float32, len(loaded))
	for i, r := range loaded {
		norms[i] = make([]float32, k.q*k.q)
		if err := r.Norms(norms[i], inv); err != nil {
			return err
		}
	}
	for p := range k.q {
		sums := make([][]int64, len(loaded))
		for i, r := range loaded {
			sums[i] = make([]int64, k.q*k.d)
			if err := r.ClassSums(sums[i], p); err != nil {
				return err
			}
		}
		want := v.classSums(p)
		err := errors.Join(same("class sums of the whole", sums[0], want),
			same("added class sums", add(sums[1], sums[2]), want))
		if err != nil {
			return err
		}
		for i, r := range loaded {
			from := make([]float32, k.q)
			z, has := make([]float32, k.d), make([]float32, k.d)
			for c := range k.q {
				engine.UpdateVector(z, sums[i], inv[c*k.q:(c+1)*k.q], f)
				from[c] = numerics.Dot(z, z)
				if err := r.UpdateVectors(has, []engine.Pair{{P: p, Q: c}}, inv); err != nil {
					return err
				}
				if err := sameFloats(fmt.Sprintf("z of (%d,%d) of part %d", p, c, i), has, z); err != nil {
					return err
				}
				if i == 0 {
					if err := sameFloats("z of the contract", z, v.updateVector(want, c, inv)); err != nil {
						return err
					}
				}
			}
			what := fmt.Sprintf("norms of region %d of part %d", p, i)
			if err := sameFloats(what, norms[i][p*k.q:(p+1)*k.q], from); err != nil {
				return err
			}
		}
	}
	return nil
}

func add(a, b []int64) []int64 {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// checkFormats gives formats that cannot hold the examples.
func checkFormats(e engine.Engine) error {
	x, y := small() // the largest value is 6, so s is at most 62 - 2 - 3
	for _, f := range []numerics.FixedPoint{
		{S: 58, N: 3}, {S: 57, N: 4}, {S: 57, N: 2}, {S: -127, N: 3}, {S: 57}, {S: 3, N: -3},
		{S: 1, N: numerics.MostExamples + 1}, {S: 6, N: numerics.MostExamples},
	} {
		if r, err := e.LoadCells(x, y, 2, f); !errors.Is(err, engine.ErrShape) || r != nil {
			return fmt.Errorf("format %+v: %v, want %v", f, err, engine.ErrShape)
		}
	}
	for _, f := range []numerics.FixedPoint{
		{}, {S: 57, N: 3}, {S: 56, N: 4}, {S: -126, N: 3}, {S: 5, N: numerics.MostExamples},
	} {
		r, err := e.LoadCells(x, y, 2, f)
		if err != nil {
			return err
		}
		if f == (numerics.FixedPoint{}) {
			f = numerics.FixedPoint{S: 57, N: 3}
		}
		if got := r.FixedPoint(); got != f {
			return fmt.Errorf("fixed point %+v, want %+v", got, f)
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}
