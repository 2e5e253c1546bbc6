package features

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// withRoom returns a copy of e with as much room as Read leaves.
func withRoom(e dataset.Examples) dataset.Examples {
	e.X = append(make([]float32, 0, len(e.X)+e.N), e.X...)
	if e.Sparse() {
		e.X = nil
		e.Columns = append(make([]int32, 0, len(e.Columns)+e.N), e.Columns...)
		e.Values = append(make([]float32, 0, len(e.Values)+e.N), e.Values...)
	}
	return e
}

// TestPrepareOver: prepared where they are, examples have the bits, and the errors, of a copy.
func TestPrepareOver(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dense := func(n, d int) dataset.Examples {
		e := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range e.X {
			if random.IntN(3) > 0 {
				e.X[k] = float32(random.IntN(100))
			}
		}
		return e
	}
	for _, raw := range []dataset.Examples{dense(1, 1), dense(7, 3), dense(3*overValues/1000+17, 1000),
		dense(overValues+9, 1), dense(2, overValues+1)} {
		for _, x := range []dataset.Examples{raw, raw.Compressed()} {
			for _, steps := range []string{"none", "bias", "l2", "maxabs,bias,l2", "standardize,bias,l2"} {
				s, err := dataset.ParseSteps(steps)
				if err != nil {
					t.Fatal(err)
				}
				p, err := Fit(s, x)
				if err != nil {
					if x.Sparse() && s.Standardize {
						continue
					}
					t.Fatal(err)
				}
				name := fmt.Sprintf("%d×%d, sparse %v, %s", x.N, x.D, x.Sparse(), steps)
				want, err := Apply(p, x)
				if err != nil {
					t.Fatal(err)
				}
				given := withRoom(x)
				got, err := Apply(p, given, dataset.InPlace)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: other values than in a copy, %v", name, err)
				}
				if !x.Sparse() && &got.X[0] != &given.X[0] {
					t.Errorf("%s: made a copy", name)
				}
			}
		}
	}
}

// The first value that is not finite is named, as of a copy.
func TestPrepareOverFaults(t *testing.T) {
	const n, d = 5 * overValues / 100, 100
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range x.X {
		x.X[k] = 1
	}
	x.X[(n/4)*d+7], x.X[(n/2)*d+9], x.X[n*d-1] = 1e38, 1e38, 1e38
	p := &dataset.Preparation{Steps: dataset.Steps{MaxAbs: true, Bias: true}, D: d,
		A: make([]float32, d), B: make([]float32, d)}
	for j := range p.A {
		p.A[j] = 1e30
	}
	for _, x := range []dataset.Examples{x, x.Compressed()} {
		_, want := Apply(p, x)
		_, got := Apply(p, withRoom(x), dataset.InPlace)
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("sparse %v: found %v, want %v", x.Sparse(), got, want)
		}
	}
}
