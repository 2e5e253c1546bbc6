package neighbours_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// examples have small whole numbers, so that many distances are equal, and some zeros.
func examples(seed uint64, n, d int) dataset.Examples {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range x.X {
		if rng.IntN(3) > 0 {
			x.X[i] = float32(rng.IntN(5)) - 1
		}
	}
	clear(x.X[:d])
	return x
}

// naive sorts all distances.
func naive(x, y dataset.Examples, k int, metric string, same bool) *neighbours.Graph {
	distance := func(a, b []float32) float64 {
		return max(float64(numerics.Dot(a, a))+float64(numerics.Dot(b, b))-
			2*float64(numerics.Dot(a, b)), 0)
	}
	if metric == neighbours.Cosine {
		x, y = unit(x), unit(y)
		distance = func(a, b []float32) float64 { return max(1-float64(numerics.Dot(a, b)), 0) }
	}
	g, all := &neighbours.Graph{N: x.N, K: k}, make([]float64, y.N)
	for i := range x.N {
		var others []int32
		for j := range y.N {
			if all[j] = distance(x.Row(i), y.Row(j)); !same || i != j {
				others = append(others, int32(j))
			}
		}
		slices.SortStableFunc(others, func(a, b int32) int { return cmp.Compare(all[a], all[b]) })
		for _, j := range others[:k] {
			g.Index, g.Distance = append(g.Index, j), append(g.Distance, all[j])
		}
	}
	return g
}

func unit(x dataset.Examples) dataset.Examples {
	x.X = slices.Clone(x.X)
	for i := range x.N {
		row := x.Row(i)
		if length := math.Sqrt(float64(numerics.Dot(row, row))); length > 0 {
			for c, v := range row {
				row[c] = float32(float64(v) / length)
			}
		}
	}
	return x
}

func equal(t *testing.T, what string, got, want *neighbours.Graph) {
	t.Helper()
	for i, v := range want.Index {
		if got.Index[i] != v || got.Distance[i] != want.Distance[i] {
			t.Fatalf("%s: neighbour %d of example %d: got %d at %v, want %d at %v", what, i%want.K,
				i/want.K, got.Index[i], got.Distance[i], v, want.Distance[i])
		}
	}
}

func TestAgainstSorting(t *testing.T) {
	for name, e := range everyengine.Open(t) {
		for _, metric := range []string{neighbours.Euclidean, neighbours.Cosine} {
			for _, shape := range [][3]int{{2, 1, 1}, {70, 5, 7}, {300, 33, 64}, {1030, 3, 3}} {
				x := examples(uint64(shape[0]), shape[0], shape[1])
				want := naive(x, x, shape[2], metric, true)
				for _, form := range []string{"dense", "sparse"} {
					own := x
					if form == "sparse" {
						own = x.Compressed()
					}
					what := fmt.Sprintf("engine %d, %s, %v, %s", name, metric, shape, form)
					got, err := neighbours.Of(context.Background(), e, own, shape[2], metric)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, what, got, want)
				}
			}
		}
	}
}

// The tiles of a large graph, each used for both of its examples, find what sorting finds.
func TestTiles(t *testing.T) {
	x, e := examples(3, 9300, 6), simd.New()
	got, err := neighbours.Of(context.Background(), e, x, 11, neighbours.Euclidean)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < x.N; i += 61 {
		all := naive(x.Part(i, i+1), x, 12, neighbours.Euclidean, false)
		want := slices.DeleteFunc(all.Index, func(j int32) bool { return int(j) == i })[:11]
		if found := got.Index[i*11 : (i+1)*11]; !slices.Equal(found, want) {
			t.Fatalf("example %d: got neighbours %v, want %v", i, found, want)
		}
	}
}

// The neighbours of some examples among all are those of the graph of all.
func TestAmong(t *testing.T) {
	for _, form := range []string{"dense", "sparse"} {
		d := &dataset.Dataset{Examples: examples(5, 9000, 6)}
		if form == "sparse" {
			d.Examples = d.Compressed()
		}
		e, some := simd.New(), []int{8999, 3, 4500, 3}
		all, err := neighbours.OfDataset(t.Context(), e, d, lists.UpTo[int](d.N), 5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := neighbours.Among(t.Context(), e, d, some, 5)
		if err != nil {
			t.Fatal(err)
		}
		want := &neighbours.Graph{N: len(some), K: 5}
		for _, i := range some {
			want.Index = append(want.Index, all.Index[i*5:i*5+5]...)
			want.Distance = append(want.Distance, all.Distance[i*5:i*5+5]...)
		}
		equal(t, form, got, want)
	}
}

func TestBadInput(t *testing.T) {
	x, e := examples(1, 10, 3), simd.New()
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		x      dataset.Examples
		k      int
		metric string
	}{
		"no neighbour":   {x, 0, neighbours.Cosine},
		"too many":       {x, 10, neighbours.Cosine},
		"above the most": {examples(1, 100, 3), 65, neighbours.Cosine},
		"metric":         {x, 1, "manhattan"},
	} {
		if _, err := neighbours.Of(context.Background(), e, c.x, c.k, c.metric); !errors.Is(err,
			neighbours.ErrInput) {
			t.Errorf("%s: got error %v, want %v", name, err, neighbours.ErrInput)
		}
	}
	if _, err := neighbours.Of(ended, e, x, 1, neighbours.Cosine); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: got %v", err)
	}
}
