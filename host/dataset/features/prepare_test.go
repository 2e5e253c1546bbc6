package features

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// The twin of Preparation: clause 2, column by column, on big.Float. Numbers made
// by f53 round every operation to the 53 bits of float64; those made by exact
// keep every bit of one product and one sum, so that single rounds just once.

func f53(x float64) *big.Float    { return new(big.Float).SetPrec(53).SetFloat64(x) }
func exact(x float32) *big.Float  { return new(big.Float).SetPrec(2000).SetFloat64(float64(x)) }
func value(x *big.Float) float64  { v, _ := x.Float64(); return v }
func single(x *big.Float) float32 { v, _ := x.Float32(); return v }

func twinFit(s dataset.Steps, e dataset.Examples) (a, b []float32) {
	if !s.Standardize && !s.MaxAbs {
		return nil, nil
	}
	for j := range e.D {
		if s.MaxAbs {
			most := f53(0)
			for i := range e.N {
				if v := f53(math.Abs(float64(e.X[i*e.D+j]))); v.Cmp(most) > 0 {
					most = v
				}
			}
			if most.Sign() == 0 {
				most = f53(1)
			}
			a, b = append(a, single(f53(0).Quo(f53(1), most))), append(b, 0)
			continue
		}
		n, mean, variance := f53(float64(e.N)), f53(0), f53(0)
		for i := range e.N {
			mean.Add(mean, f53(float64(e.X[i*e.D+j])))
		}
		mean.Quo(mean, n)
		for i := range e.N {
			d := f53(0).Sub(f53(float64(e.X[i*e.D+j])), mean)
			variance.Add(variance, f53(0).Mul(d, d))
		}
		sd := f53(math.Sqrt(value(variance.Quo(variance, n))))
		if sd.Sign() == 0 {
			sd = f53(1)
		}
		a = append(a, single(f53(0).Quo(f53(1), sd)))
		b = append(b, single(f53(0).Quo(f53(0).Neg(mean), sd)))
	}
	return a, b
}

func twinRow(s dataset.Steps, a, b, row []float32) []float32 {
	var out []float32
	for j, v := range row {
		if a != nil {
			x := exact(v)
			v = single(x.Add(x.Mul(x, exact(a[j])), exact(b[j])))
		}
		out = append(out, v)
	}
	if s.Bias {
		out = append(out, 1)
	}
	if !s.L2 {
		return out
	}
	sum := f53(0)
	for _, v := range out {
		sum.Add(sum, f53(0).Mul(f53(float64(v)), f53(float64(v))))
	}
	r := float32(1)
	if sum.Sign() != 0 {
		r = single(f53(0).Quo(f53(1), f53(math.Sqrt(value(sum)))))
	}
	for j, v := range out {
		x := exact(v)
		out[j] = single(x.Mul(x, exact(r)))
	}
	return out
}

func everySteps() []dataset.Steps {
	var all []dataset.Steps
	for k := range 16 {
		s := dataset.Steps{Standardize: k&1 != 0, MaxAbs: k&2 != 0, Bias: k&4 != 0, L2: k&8 != 0}
		if !s.Standardize || !s.MaxAbs {
			all = append(all, s)
		}
	}
	return all
}

func TestPreparationEqualsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, shape := range []struct{ n, d int }{{1, 1}, {2, 3}, {5, 16}, {150, 40}, {300, 65}} {
		e := dataset.Examples{N: shape.n, D: shape.d, X: make([]float32, shape.n*shape.d)}
		for k := range e.X {
			j := k % e.D
			switch {
			case j%7 == 3: // constant, its mean not exact in float32 sums
				e.X[k] = 0.1
			case j%7 == 5: // zero
			case j%7 == 6: // large scale, offset
				e.X[k] = 1e15 + float32(rng.NormFloat64())*1e12
			case j%7 == 2: // small scale
				e.X[k] = float32(rng.NormFloat64()) * 1e-20
			case k/e.D%4 == 1: // zero rows, as far as the columns allow
			default:
				e.X[k] = float32(rng.NormFloat64()*10 + 3)
			}
			e.X[k] = decimal.Flush(e.X[k], new(int))
		}
		test := dataset.Examples{N: 3, D: e.D, X: make([]float32, 3*e.D)}
		for j := range 2 * e.D {
			test.X[j] = float32(rng.NormFloat64())
		}
		before, testBefore := slices.Clone(e.X), slices.Clone(test.X)
		for _, s := range everySteps() {
			p, err := Fit(s, e)
			if err != nil {
				t.Fatal(err)
			}
			a, b := twinFit(s, e)
			equalBits(t, fmt.Sprintf("%v %v: A", s, shape), p.A, a)
			equalBits(t, fmt.Sprintf("%v %v: B", s, shape), p.B, b)
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			var loaded dataset.Preparation
			if err := json.Unmarshal(text, &loaded); err != nil {
				t.Fatal(err)
			}
			for _, x := range []dataset.Examples{e, test} {
				for _, p := range []*dataset.Preparation{p, &loaded} {
					out, err := Apply(p, x)
					if err != nil {
						t.Fatal(err)
					}
					if out.N != x.N || out.D != p.Width() {
						t.Fatalf("%v: got %d×%d", s, out.N, out.D)
					}
					for i := range x.N {
						equalBits(t, fmt.Sprintf("%v %v: row %d", s, shape, i), out.Row(i),
							twinRow(s, a, b, x.Row(i)))
					}
				}
			}
		}
		equalBits(t, "input", e.X, before)
		equalBits(t, "input", test.X, testBefore)
	}
}

func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) || (got == nil) != (want == nil) {
		t.Fatalf("%s: %d values, wanted %d", what, len(got), len(want))
	}
	for j := range got {
		if math.Float32bits(got[j]) != math.Float32bits(want[j]) {
			t.Fatalf("%s: value %d is %v (%08x), wanted %v (%08x)", what, j,
				got[j], math.Float32bits(got[j]), want[j], math.Float32bits(want[j]))
		}
	}
}

func TestApplyNeverShares(t *testing.T) {
	e := examplesOf(2, 1, 2, 3, 4)
	out, err := Apply((&dataset.Preparation{D: 2}), e)
	if err != nil {
		t.Fatal(err)
	}
	out.X[0] = 9
	if e.X[0] != 1 {
		t.Error("Apply gave the caller's own memory")
	}
}

func TestPreparationJSON(t *testing.T) {
	p, err := Fit(dataset.Steps{Standardize: true, Bias: true, L2: true}, examplesOf(2, 0, 5, 2, 5))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"steps":"standardize,bias,l2","features":2,"a":[1,1],"b":[-1,-5]}`; string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	text, err = json.Marshal(dataset.Preparation{Steps: dataset.Steps{L2: true}, D: 3})
	if want := `{"steps":"l2","features":3}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"steps":"l3"}`), p); !facts.Told(err, `"l3"`) {
		t.Errorf("unknown step: %v", err)
	}
}

func TestPreparationBad(t *testing.T) {
	nan := float32(math.NaN())
	good := examplesOf(2, 1, 2, 3, 4)
	fit := func(text string, e dataset.Examples) error {
		s, err := dataset.ParseSteps(text)
		if err == nil {
			_, err = Fit(s, e)
		}
		return err
	}
	apply := func(p dataset.Preparation, e dataset.Examples) error {
		_,
			err := Apply(&p, e)
		return err
	}
	std, l2 := dataset.Steps{Standardize: true}, dataset.Steps{L2: true}
	wide := dataset.Examples{N: 500, D: 1, X: make([]float32, 500)}
	wide.X[300], wide.X[450] = 1e-45, nan
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"no example", fit("standardize", dataset.Examples{D: 2}), "standardize example"},
		{"shape", fit("l2", dataset.Examples{N: 1, D: 2}), "shape 1×2 0 values"},
		{"both", func() error {
			_, err := Fit(dataset.Steps{Standardize: true, MaxAbs: true},
				good)
			return err
		}(), "standardize maxabs"},
		{"tiny column", fit("standardize", examplesOf(2, 1, 1e-45, 2, 0)),
			"standardize column 2 1 finite v·+Inf"},
		{"tiny maximum", fit("maxabs", examplesOf(1, 1e-45)), "column 1 1"},
		{"nan column", fit("standardize", examplesOf(1, nan)), "column 1 1 finite"},
		{"nan maximum", fit("maxabs", examplesOf(1, nan, 1)), "column 1 1 finite"},
		{"width", apply(dataset.Preparation{Steps: l2, D: 3}, good), "l2 2 features 3"},
		{"apply shape", apply(dataset.Preparation{Steps: l2, D: 3}, dataset.Examples{N: 2, D: 3}),
			"shape 2×3 0 values"},
		{"overflow", apply(dataset.Preparation{Steps: std, D: 2, A: []float32{1, 2}, B: []float32{0, 0}},
			examplesOf(2, 0, 1, 1, -3e38)), "standardize row 2 column 2 1 -Inf finite"},
		{"tiny row", apply(dataset.Preparation{Steps: l2, D: 1}, wide), "l2 row 301 column 1 1 +Inf"},
		{"nan", apply(dataset.Preparation{D: 2}, examplesOf(2, 0, 1, nan, 3)),
			"row 2 column 1 1 NaN"},
		{"factors missing", apply(dataset.Preparation{Steps: std, D: 2}, good), "0 factors 0 offsets 2"},
		{"offsets missing", apply(dataset.Preparation{Steps: std, D: 2, A: []float32{1, 1}}, good),
			"2 factors 0 offsets 2"},
		{"factors too many", apply(dataset.Preparation{Steps: l2, D: 2, A: []float32{1, 1},
			B: []float32{1, 1}}, good), "2 factors 2 offsets 0"},
		{"steps", apply(dataset.Preparation{Steps: dataset.Steps{Standardize: true, MaxAbs: true}},
			dataset.Examples{}), "standardize maxabs"},
		{"negative width", apply(dataset.Preparation{Steps: l2, D: -1}, dataset.Examples{}),
			"-1 features"},
	} {
		if c.err == nil || !facts.Told(c.err, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.what, c.err, c.want)
		}
	}
}

func examplesOf(d int, x ...float32) dataset.Examples {
	return dataset.Examples{N: len(x) / d, D: d, X: x}
}

func TestRowsRefuseWhatIsNotFinite(t *testing.T) {
	p := &dataset.Preparation{Steps: dataset.Steps{MaxAbs: true}, D: 1, A: []float32{2},
		B: []float32{0}}
	rows := rowsOf(p, dataset.Examples{N: 2, D: 1, X: []float32{1, math.MaxFloat32}})
	if err := rows(make([]float32, 1), 1); !facts.Told(err, "row 2 column 1") {
		t.Errorf("a prepared value that is not finite: %v", err)
	}
}
