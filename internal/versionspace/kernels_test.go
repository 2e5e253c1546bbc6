package versionspace

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

func normals(random *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for k := range v {
		v[k] = random.NormFloat64()
	}
	return v
}

// All levels have the bits of the loops in Go, for every number of features, and change nothing
// that lies behind what they are given.
func TestKernelsHaveTheBitsOfGo(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for d := 1; d <= 37; d++ {
		stride := padded(d)
		l := normals(random, (d+1)*stride) // a row more than the kernels are given
		var x [4][]float64
		for k := range x {
			x[k] = normals(random, stride)
		}
		tau := [4]float64(normals(random, 4))
		y := make([]side, d+1)
		for j := range y {
			y[j] = side(normals(random, abreast))
		}
		from := random.IntN(d + 1)
		to := from + random.IntN(d+1-from)
		wantL, wantY := append([]float64(nil), l...), append([]side(nil), y...)
		addFourGo(wantL[:d*stride], stride, from, to, x, tau)
		wantLengths := solveGo(wantY[:d:d], l, stride)
		for _, k := range available() {
			gotL, gotY := append([]float64(nil), l...), append([]side(nil), y...)
			k.addFour(gotL[:d*stride], stride, from, to, x, tau)
			for at, v := range gotL {
				j, m := at/stride, at%stride
				above := from <= j && j < to && j < m && m < padded(j+1)
				if !above && math.Float64bits(v) != math.Float64bits(wantL[at]) {
					t.Fatalf("%s, %d features, rows %d to %d: found %g at %d, %d, wanted %g", k.level, d, from, to,
						v, j, m, wantL[at])
				}
			}
			lengths := k.solve(gotY[:d:d], l, stride)
			if lengths != wantLengths {
				t.Fatalf("%s, %d features: found lengths %v, wanted %v", k.level, d, lengths, wantLengths)
			}
			for j, v := range gotY {
				if v != wantY[j] {
					t.Fatalf("%s, %d features: found %v at %d, wanted %v", k.level, d, v, j, wantY[j])
				}
			}
		}
	}
}

// A function of level AVX2 with a long vector, or one of the upper registers, would die on a
// processor that has none.
func TestLevelsKeepToTheirInstructions(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	long := regexp.MustCompile(`\bZ[0-9]+\b|\b[XY](1[6-9]|2[0-9]|3[01])\b`)
	functions := strings.Split(string(text), "\nTEXT ·")
	if len(functions) != 5 {
		t.Fatalf("found %d functions, wanted 4", len(functions)-1)
	}
	for _, f := range functions {
		name, _, _ := strings.Cut(f, "(")
		if !strings.HasSuffix(name, "AVX512") && long.MatchString(f) {
			t.Errorf("%s uses %s, which AVX2 has not", name, long.FindString(f))
		}
	}
}
