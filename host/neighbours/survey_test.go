package neighbours_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
)

// draws are independent examples of several kinds.
var draws = map[string]func(rng *rand.Rand, x []float32){
	"normal": func(rng *rand.Rand, x []float32) {
		for j := range x {
			x[j] = float32(rng.NormFloat64())
		}
	},
	"even": func(rng *rand.Rand, x []float32) {
		for j := range x {
			x[j] = rng.Float32()
		}
	},
	"long tails": func(rng *rand.Rand, x []float32) {
		for j := range x {
			x[j] = float32(rng.ExpFloat64())
		}
	},
	"two clusters": func(rng *rand.Rand, x []float32) {
		wide, at := 1.0, 3.0
		if rng.IntN(2) == 0 {
			wide, at = 0.2, -3
		}
		for j := range x {
			x[j] = float32(wide*rng.NormFloat64() + at)
		}
	},
}

func drawn(rng *rand.Rand, kind string, n, d int) dataset.Examples {
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range n {
		draws[kind](rng, x.Row(i))
	}
	return x
}

func survey(t *testing.T, x dataset.Examples, marked []bool) *neighbours.Survey {
	t.Helper()
	g, err := neighbours.Of(context.Background(), simd.New(), x, 10, neighbours.Euclidean)
	if err != nil {
		t.Fatal(err)
	}
	return g.Survey(marked)
}

// TestSurveyOfNothing: each check of independent examples in random order, with marks at random,
// finds something in about one of twenty draws, over all kinds and dimensions.
func TestSurveyOfNothing(t *testing.T) {
	const times = 10
	var near, far, order, groups, all int
	for kind := range draws {
		rng := rand.New(rand.NewPCG(uint64(len(kind)), 1))
		for _, d := range []int{2, 5, 20, 100} {
			for range times {
				x := drawn(rng, kind, 300, d)
				marked := make([]bool, x.N)
				for i := range marked {
					marked[i] = rng.IntN(5) == 0
				}
				s := survey(t, x, marked)
				all++
				near += min(1, len(s.Near))
				far += min(1, len(s.Outliers))
				groups += min(1, len(s.Groups))
				if s.OrderP <= 0.05 {
					order++
				}
			}
		}
	}
	t.Logf("of %d: near duplicates %d, outliers %d, order %d, groups %d", all, near, far, order,
		groups)
	most := all/20 + int(2*math.Sqrt(float64(all)/20)) // two standard deviations
	if max(near, far, order, groups) > most {
		t.Errorf("more than %d of %d", most, all)
	}
}

// TestSurveyFinds: what was planted is found, and nothing else.
func TestSurveyFinds(t *testing.T) {
	for kind := range draws {
		for _, d := range []int{5, 20} {
			rng := rand.New(rand.NewPCG(3, uint64(d)))
			x := drawn(rng, kind, 400, d)
			marked := make([]bool, x.N)
			for j := range d {
				x.Row(17)[j] = 40 + float32(j%3)
				x.Row(300)[j] = float32(-60 * (j % 2))
				x.Row(50)[j] = x.Row(200)[j] + 0.001*float32(rng.NormFloat64())
				x.Row(51)[j] = x.Row(200)[j] + 0.001*float32(rng.NormFloat64())
			}
			near, err := neighbours.Of(context.Background(), simd.New(), x, 40, neighbours.Euclidean)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range near.Index[100*40 : 101*40] {
				marked[j] = rng.IntN(4) > 0
			}
			for i := range marked {
				marked[i] = marked[i] || rng.IntN(20) == 0
			}
			s := survey(t, x, marked)
			if !slices.EqualFunc(s.Near, [][]int{{50, 51, 200}}, slices.Equal) {
				t.Errorf("%s, %d: near duplicates %v", kind, d, s.Near)
			}
			if slices.Sort(s.Outliers); !slices.Equal(s.Outliers, []int{17, 300}) {
				t.Errorf("%s, %d: outliers %v", kind, d, s.Outliers)
			}
			if len(s.Groups) == 0 || !slices.Contains(s.Groups[0].Examples, 100) {
				t.Errorf("%s, %d: groups %v", kind, d, s.Groups)
			}
			order := make([]int, x.N)
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int {
				return int(math.Copysign(1, float64(x.Row(a)[0]-x.Row(b)[0])))
			})
			if s := survey(t, x.Pick(order), nil); s.OrderP > 0.01 {
				t.Errorf("%s, %d: in order of a feature: p %v", kind, d, s.OrderP)
			}
		}
	}
}

// TestSurveyOnEveryEngine: the same from each engine.
func TestSurveyOnEveryEngine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := drawn(rng, "long tails", 200, 7)
	copy(x.Row(9), x.Row(3))
	x.Row(9)[0] += 1e-4
	marked := make([]bool, x.N)
	marked[3], marked[9], marked[20] = true, true, true
	want := survey(t, x, marked)
	for _, e := range everyengine.Open(t) {
		g, err := neighbours.Of(context.Background(), e, x, 10, neighbours.Euclidean)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Survey(marked); !alike(got, want) {
			t.Errorf("%s: found %+v, wanted %+v", e.Device().ID, got, want)
		}
	}
}

func alike(a, b *neighbours.Survey) bool {
	return a.OrderP == b.OrderP && slices.Equal(a.Distance, b.Distance) &&
		slices.Equal(a.Outliers, b.Outliers) && slices.EqualFunc(a.Near, b.Near, slices.Equal) &&
		slices.EqualFunc(a.Groups, b.Groups, func(a, b neighbours.Group) bool {
			return a.Center == b.Center && slices.Equal(a.Examples, b.Examples)
		})
}

// TestOneGraph: one SHA-256 of the neighbours over engines and their tiles, over dense, sparse and
// mapped examples, and over ranks that share them.
func TestOneGraph(t *testing.T) {
	ctx := context.Background()
	sum := func(g *neighbours.Graph, err error) (s [sha256.Size]byte) {
		t.Helper()
		if err != nil {
			t.Error(err)
			return s
		}
		h := sha256.New()
		binary.Write(h, binary.LittleEndian, g.Index) // which never fails
		binary.Write(h, binary.LittleEndian, g.Distance)
		return [sha256.Size]byte(h.Sum(nil))
	}
	x := drawn(rand.New(rand.NewPCG(8, 8)), "long tails", 1100, 21)
	all := make([]int, x.N)
	for i := range all {
		all[i] = i
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	plain := &dataset.Dataset{Examples: x}
	if err := file.Write(ctx, path, plain, file.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*dataset.Dataset{"raw": plain,
		"prepared": {Examples: x, Prepared: &dataset.Preparation{D: x.D}}} {
		want := sum(neighbours.OfDataset(ctx, simd.New(), d, all, 10))
		for _, e := range everyengine.Open(t) {
			if sum(neighbours.OfDataset(ctx, e, d, all, 10)) != want {
				t.Errorf("%s, %s: another graph", name, e.Device().ID)
			}
			if name == "prepared" && sum(neighbours.Of(ctx, e, x.Compressed(), 10,
				neighbours.Euclidean)) != want {
				t.Errorf("sparse, %s: another graph", e.Device().ID)
			}
		}
	}
}
