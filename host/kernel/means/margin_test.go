package means_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// TestMargins: scores that are less off than a margin leave what it promises, and some that are
// more off do not.
func TestMargins(t *testing.T) {
	const n, q = 200, 3
	rng := rand.New(rand.NewPCG(1, 7))
	scores, y := make([]float32, n*q), make([]int32, n)
	for i := range scores {
		scores[i] = float32(rng.NormFloat64())
	}
	right := 0
	for i := range y {
		y[i] = int32(rng.IntN(q))
		right += isRight(scores[i*q:(i+1)*q], y[i])
	}
	shares := []float64{0, 0.01, 0.1, 1}
	margins, err := means.Margins(scores, y, q, shares)
	if err != nil || !math.IsInf(margins[3], 1) {
		t.Fatal(margins, err)
	}
	for k, share := range shares[:3] {
		for _, off := range []float64{0.999, 1.001} { // against the label, which is the worst
			left := 0
			for i := range y {
				row := append([]float32(nil), scores[i*q:(i+1)*q]...)
				for r := range row {
					if r == int(y[i]) {
						row[r] -= float32(off * margins[k])
					} else {
						row[r] += float32(off * margins[k])
					}
				}
				left += isRight(row, y[i])
			}
			if kept := right-left <= int(share*n); kept != (off < 1) {
				t.Errorf("share %v: scores %v of %v off lose %d examples", share, off, margins[k], right-left)
			}
		}
	}
	if _, err := means.Margins(scores, y[1:], q, shares); !errors.Is(err, engine.ErrShape) {
		t.Errorf("too few labels: %v", err)
	}
	if _, err := means.Margins(scores[:q], []int32{q}, q, shares); !errors.Is(err, engine.ErrLabel) {
		t.Errorf("a label too large: %v", err)
	}
}

func isRight(row []float32, y int32) int {
	for r, v := range row {
		if r != int(y) && v >= row[y] {
			return 0
		}
	}
	return 1
}

// TestNoiseStood: with labels of the noise that a margin promises to tolerate, and with the same
// number turned at once, the mean keeps the margin's promise.
func TestNoiseStood(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := dataset.Examples{N: 2000, D: 1}, make([]int32, 2000)
	for i := range y {
		y[i] = int32(i % 2)
		x.X = append(x.X, float32(3*float64(y[i])+rng.NormFloat64()/4))
	}
	e := simd.New()
	scores := func(labels []int32) []float32 {
		p, err := means.Exact(x, labels, 2, rbf)
		if err != nil {
			t.Fatal(err)
		}
		sizes := [2]float64{}
		for _, k := range labels {
			sizes[k]++
		}
		for k := range 2 {
			for l := range p.Axes.Row(k) {
				p.Axes.Row(k)[l] *= float32(sizes[k] / float64(x.N))
			}
		}
		s := make([]float32, 2*x.N)
		if err := e.Project(s, x, p); err != nil {
			t.Fatal(err)
		}
		return s
	}
	clean := scores(y)
	const share = 0.01
	margins, err := means.Margins(clean, y, 2, []float64{share})
	if err != nil {
		t.Fatal(err)
	}
	noise, turned := means.NoiseStood(margins[0], 1, int64(x.N), 2), means.LabelsStood(margins[0], 1)
	if noise < 0.2 || noise > 0.5 || turned < 0.1 || turned > 0.5 {
		t.Fatalf("margin %v: noise %v, labels %v", margins[0], noise, turned)
	}
	if more := means.NoiseStood(margins[0], 1, 100*int64(x.N), 2); more <= noise {
		t.Errorf("100 times the examples stand %v, wanted more than %v", more, noise)
	}
	for _, worst := range []bool{false, true} {
		labels, changed := append([]int32(nil), y...), 0
		for i := range labels {
			if !worst && rng.Float64() < noise || worst && y[i] == 0 && changed < int(turned*float64(x.N)) {
				labels[i] = 1 - y[i]
				changed++
			}
		}
		got, lost := scores(labels), 0
		for i, k := range y {
			lost += isRight(clean[2*i:2*i+2], k) - isRight(got[2*i:2*i+2], k)
		}
		if lost > int(share*float64(x.N)) {
			t.Errorf("worst %v: %d labels turned lose %d examples", worst, changed, lost)
		}
	}
}
