package lanes

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// values are of all sizes, 0, -0 and subnormal ones too.
func values(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch rng.IntN(6) {
		case 0:
			v[i] = float32(math.Copysign(0, rng.Float64()-0.5))
		case 1:
			v[i] = float32(rng.NormFloat64() * 1e-25)
		default:
			v[i] = float32(rng.NormFloat64())
		}
	}
	return v
}

// stored returns the columns and values of row that are not 0, and some that are.
func stored(rng *rand.Rand, row []float32) Row {
	x := Row{Columns: []int32{}, Values: []float32{}}
	for j, v := range row {
		if v != 0 || rng.IntN(9) == 0 {
			x.Columns, x.Values = append(x.Columns, int32(j)), append(x.Values, v)
		}
	}
	return x
}

// TestLanes has every level score and add rows of all sizes around what a kernel could like, dense
// and sparse, beside the loops that define it.
func TestLanes(t *testing.T) {
	for _, k := range available() {
		t.Run(k.level, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range []int{1, 2, 4, 5, 8, 9, 13, 17, 20, 28, 40} {
				for _, d := range []int{1, 3, 4, 7, 8, 31, 255, 256, 257, 511, 512, 784, 1023, 1024, 1025, 1300,
					2100} {
					check(judge(k, q, d))
				}
			}
			for _, d := range []int{1, 7, 63, 64, 65, 200, 785} {
				for _, q := range []int{3, 4, 13, 20} {
					check(judgeLate(k, q, d))
				}
			}
		})
	}
}

// judge compares one level at one size with rows that are kept one after another: weights for
// dense and for sparse examples: some take their own sort and others both in turns.
func judge(k *kernels, q, d int) error {
	rng := rand.New(rand.NewPCG(uint64(q), uint64(d)))
	rows := values(rng, q*d)
	var all []*Weights
	for i := range 4 {
		w := newWeights(q, d, i%2 == 1, k)
		if w.Set(rows); i >= 2 {
			w.Copy(all[i-2])
		}
		all = append(all, w)
	}
	for step := range 6 {
		row := values(rng, d)
		want, tau := make([]float32, q), values(rng, q)
		for r := range want {
			want[r] = numerics.Dot(row, rows[r*d:(r+1)*d])
		}
		if step == 3 {
			clear(tau[:min(q, most)])
		}
		for r, t := range tau {
			for j, v := range row {
				rows[r*d+j] = numerics.FMA(t, v, rows[r*d+j])
				if rows[r*d+j] == 0 { // or -0
					rows[r*d+j] = 0
				}
			}
		}
		x := []Row{{Values: row}, stored(rng, row)}
		for i, w := range all {
			one := x[i%2]
			if i >= 2 {
				one = x[step%2]
			}
			what := fmt.Sprintf("weights %d, step %d", i, step)
			got, after := make([]float32, q), make([]float32, q*d)
			w.Scores(got, one)
			if err := same(what+", scores", q, d, got, want); err != nil {
				return err
			}
			w.Add(tau, one)
			if step%3 != 0 { // else the next scores find an example that waits
				w.Get(after)
				if err := same(what, q, d, after, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// judgeLate compares the sums of q classes: one takes more terms than may wait, two some,
// the others none, of dense, sparse and both sorts of examples, by rows and by columns.
func judgeLate(k *kernels, q, d int) error {
	rng := rand.New(rand.NewPCG(5, uint64(d)))
	x := Row{Values: values(rng, d)}
	s := stored(rng, x.Values)
	sums := make([]float64, q*d)
	want := func(byColumns, dense, sparse bool) error {
		clear(sums)
		late := newLate(q, d, byColumns, k)
		for step := range mostWaiting + 3 {
			seen, tau := float64(step*1000), make([]float32, q)
			tau[0] = float32(rng.NormFloat64())
			if step%30 == 1 {
				tau[1], tau[q-1] = 0.3, -0.7
			}
			for r, v := range tau {
				for j, f := range x.Values {
					sums[r*d+j] += float64(float64(seen*float64(v)) * float64(f))
				}
			}
			one := x
			if sparse && (!dense || step%7 == 5) {
				one = s
			}
			late.Add(seen, tau, one)
		}
		got, again, copied := make([]float64, q*d), make([]float64, q*d), newLate(q, d, byColumns, k)
		copied.Copy(late)
		copied.Get(got)
		late.Set(got)
		late.Get(again)
		for j, v := range sums {
			if got[j] != v || again[j] != v {
				return fmt.Errorf("%d×%d, by columns %v: sum %d is %v and %v, wanted %v", q, d, byColumns, j,
					got[j], again[j], v)
			}
		}
		return nil
	}
	var errs []error
	for _, byColumns := range []bool{false, true} {
		errs = append(errs, want(byColumns, true, false), want(byColumns, false, true), want(byColumns,
			true, true))
	}
	return errors.Join(errs...)
}

func same(what string, q, d int, got, want []float32) error {
	for i, v := range got {
		if math.Float32bits(v) != math.Float32bits(want[i]) {
			return fmt.Errorf("%d×%d, %s: number %d is %v (%08x), wanted %v (%08x)", q, d, what, i, v,
				math.Float32bits(v), want[i], math.Float32bits(want[i]))
		}
	}
	return nil
}
