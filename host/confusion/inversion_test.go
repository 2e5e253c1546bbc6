package confusion_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Each rule gives what gonum computes by its formula; pinv and the others do where there is
// no inverse.
func TestInversions(t *testing.T) {
	random := must(confusion.Random([]string{"a", "b", "c", "d"}, 0.6, 3))
	singular := must(confusion.Symmetric([]string{"a", "b", "c", "d"}, 0.75))
	for _, m := range []*confusion.Matrix{random, singular} {
		for text, strength := range map[string]float64{"exact": 0, "pinv": 1e-9, "tikhonov:0.1": 0.1,
			"tikhonov": 0.03, "mix:0.2": 0.2} {
			v, err := confusion.ParseInversion(text)
			if err != nil {
				t.Fatal(err)
			}
			c := *m
			c.Inversion = v
			got, err := c.Invert()
			if m == singular && text == "exact" {
				if !facts.Told(err, `inverse=pinv`) {
					t.Errorf("singular: %v", err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			p := mat.NewDense(4, 4, m.P)
			var want mat.Dense
			switch text {
			case "mix:0.2":
				p = mat.DenseCopyOf(p)
				p.Scale(1-strength, p)
				for k := range 4 {
					p.Set(k, k, p.At(k, k)+strength)
				}
				err = want.Inverse(p)
			case "exact":
				err = want.Inverse(p)
			default:
				var square mat.Dense
				square.Mul(p.T(), p)
				for k := range 4 {
					square.Set(k, k, square.At(k, k)+strength)
				}
				err = want.Solve(&square, p.T())
			}
			if _, ill := err.(mat.Condition); err != nil && !ill {
				t.Fatal(err)
			}
			for i, f := range got.V {
				if w := want.At(i/4, i%4); math.Abs(f-w) > 1e-6*max(1, math.Abs(w)) {
					t.Errorf("%s: entry %d is %v, wanted %v", text, i, f, w)
				}
			}
		}
	}
}

// The exact inverse that a matrix knows is not taken for another.
func TestInversionChanges(t *testing.T) {
	m := must(confusion.Pairwise([]string{"a", "b", "c"}, 0.3))
	exact, err := m.Invert()
	if err != nil {
		t.Fatal(err)
	}
	m.Inversion = "tikhonov:0.5"
	other, err := m.Invert()
	if err != nil || other.V[0] == exact.V[0] {
		t.Errorf("%v, %v", other, err)
	}
}

func TestParseInversion(t *testing.T) {
	for _, text := range []string{"", "exact:1", "tikhonov:", "tikhonov:-1", "tikhonov:NaN", "mix:1",
		"nnls", "pinv:2"} {
		if v, err := confusion.ParseInversion(text); !facts.Told(err, strconv.Quote(text)) &&
			!facts.Told(err, strconv.Quote(text[strings.Index(text, ":")+1:])) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	if v, err := confusion.ParseInversion("mix"); err != nil || v != "mix:0.03" {
		t.Errorf("mix: %v, %v", v, err)
	}
	for _, text := range []string{"exact", "pinv", "tikhonov:0.1", "mix:0.25"} {
		if v, err := confusion.ParseInversion(text); err != nil || v != text {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func must(c *confusion.Matrix, err error) *confusion.Matrix {
	if err != nil {
		panic(err)
	}
	return c
}
