package dataset

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// numbered returns n examples whose first feature is their number, of classes of
// the given sizes in random order.
func numbered(rng *rand.Rand, sizes ...int) *Dataset {
	d := &Dataset{Features: []string{"number", "zero", "one"},
		Found: Found{Label: "kind", LabelColumn: 2, Path: "d.csv", Notes: []string{"read"}}}
	for q, size := range sizes {
		d.Classes = append(d.Classes, string(rune('a'+q)))
		for range size {
			d.Y = append(d.Y, int32(q))
		}
	}
	rng.Shuffle(len(d.Y), func(a, b int) { d.Y[a], d.Y[b] = d.Y[b], d.Y[a] })
	d.N, d.D = len(d.Y), 3
	for i := range d.N {
		d.X = append(d.X, float32(i), 0, 1)
	}
	return d
}

// counts returns how many examples of each class d has.
func classCounts(d *Dataset) []int {
	counts := make([]int, len(d.Classes))
	for _, y := range d.Y {
		counts[y]++
	}
	return counts
}

// wantSplit fails unless parts are disjoint, in file order, with right labels,
// and stratified: each class within one example of its exact share.
func wantSplit(t *testing.T, d *Dataset, parts []*Dataset) {
	t.Helper()
	seen := make([]bool, d.N)
	sizes := classCounts(d)
	for k, p := range parts {
		if err := p.CheckAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := -1
		for i := range p.N {
			number := int(p.Dense().Row(i)[0])
			if number <= last || seen[number] || p.Y[i] != d.Y[number] {
				t.Fatalf("part %d has example %d after %d, seen %v, label %d, want %d",
					k, number, last, seen[number], p.Y[i], d.Y[number])
			}
			last, seen[number] = number, true
		}
		for q, n := range classCounts(p) {
			if exact := float64(sizes[q]) * float64(p.N) / float64(d.N); math.Abs(float64(n)-exact) >= 1 {
				t.Errorf("part %d of %d examples has %d of the %d of class %d, want about %.2f", k, p.N, n,
					sizes[q], q, exact)
			}
		}
		if !slices.Equal(p.Classes, d.Classes) || !slices.Equal(p.Features, d.Features) ||
			p.Label != d.Label ||
			p.LabelColumn != d.LabelColumn || p.Path != d.Path || p.Notes != nil || p.SHA256 != p.Hash() {
			t.Errorf("part %d: %+v", k, p)
		}
	}
}

func TestSplit(t *testing.T) {
	d := numbered(rand.New(rand.NewPCG(1, 2)), 70, 20, 9, 1)
	for name, c := range map[string]struct {
		fractions []float64
		counts    []int
		want      []int // sizes of the parts
	}{
		"two":            {fractions: []float64{0.7, 0.3}, want: []int{70, 30}},
		"three":          {fractions: []float64{0.7, 0.2, 0.1}, want: []int{70, 20, 10}},
		"thirds":         {fractions: []float64{1. / 3, 1. / 3, 1. / 3}, want: []int{34, 33, 33}},
		"not all":        {fractions: []float64{0.25, 0.1}, want: []int{25, 10}},
		"all":            {fractions: []float64{1}, want: []int{100}},
		"rounded":        {fractions: []float64{0.015, 0.985}, want: []int{2, 98}},
		"counts":         {counts: []int{33, 12}, want: []int{33, 12}},
		"all in counts":  {counts: []int{99, 1}, want: []int{99, 1}},
		"rest last":      {counts: []int{10, 20, Rest}, want: []int{10, 20, 70}},
		"rest first":     {counts: []int{Rest, 1}, want: []int{99, 1}},
		"only the rest":  {counts: []int{Rest}, want: []int{100}},
		"smallest parts": {counts: []int{1, 1, 1, 1}, want: []int{1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			do := func(d *Dataset, seed uint64) []*Dataset {
				t.Helper()
				parts, err := SplitCounts(d, c.counts, seed)
				if c.counts == nil {
					parts, err = SplitFractions(d, c.fractions, seed)
				}
				if err != nil {
					t.Fatal(err)
				}
				return parts
			}
			parts := do(d, 1)
			var sizes []int
			for _, p := range parts {
				sizes = append(sizes, p.N)
			}
			if !slices.Equal(sizes, c.want) {
				t.Errorf("found parts of %d, want %d", sizes, c.want)
			}
			wantSplit(t, d, parts)
			if again := do(d, 1); !reflect.DeepEqual(again, parts) {
				t.Error("the same seed splits otherwise")
			}
			if other := do(d, 2); parts[0].N < d.N && reflect.DeepEqual(other, parts) {
				t.Error("another seed splits alike")
			}
			// Sparse examples are split alike.
			sparse := *d
			sparse.Examples = d.Compressed()
			for k, p := range do(&sparse, 1) {
				if !p.Sparse() || p.SHA256 != parts[k].SHA256 {
					t.Errorf("part %d: sparse %v, hash %s, want %s", k, p.Sparse(), p.SHA256, parts[k].SHA256)
				}
			}
		})
	}
}

// The parts own what they have, and nothing happens to the whole.
func TestSplitSharesNothing(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		d := numbered(rand.New(rand.NewPCG(1, 2)), 5, 5)
		if sparse {
			d.Examples = d.Compressed()
		}
		before := d.Hash()
		parts, err := SplitCounts(d, []int{Rest}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if parts[0].SHA256 != before {
			t.Error("the part of all examples has another hash")
		}
		clear(parts[0].Y)
		clear(parts[0].X)
		clear(parts[0].Values)
		if d.Hash() != before {
			t.Error("the parts share memory with the whole")
		}
	}
}

// The largest part goes over all examples if it may: the same parts, and nothing of them lies in
// another.
func TestSplitOver(t *testing.T) {
	d := numbered(rand.New(rand.NewPCG(5, 5)), 70, 30, 21)
	want, err := SplitCounts(d, []int{20, Rest, 10}, 3)
	if err != nil {
		t.Fatal(err)
	}
	all := d.X
	parts, err := SplitCounts(d, []int{20, Rest, 10}, 3, InPlace)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range parts {
		over := &p.X[0] == &all[0]
		if !reflect.DeepEqual(p, want[k]) || over != (k == 1) {
			t.Errorf("part %d is another, or lies where all examples do: %v", k, over)
		}
	}
	if d.X != nil || d.N != 121 {
		t.Errorf("found %d values of %d examples left, wanted none of 121", len(d.X), d.N)
	}
}

func TestSplitWithoutLabels(t *testing.T) {
	d := numbered(rand.New(rand.NewPCG(1, 2)), 10)
	d.Y, d.Classes, d.LabelColumn, d.Label = nil, nil, 0, ""
	parts, err := SplitFractions(d, []float64{0.5, 0.5}, 1)
	if err != nil || parts[0].N != 5 || parts[1].N != 5 || parts[0].Y != nil ||
		parts[0].Classes != nil {
		t.Errorf("found %+v, %v", parts, err)
	}
}

func TestSplitErrors(t *testing.T) {
	d := numbered(rand.New(rand.NewPCG(1, 2)), 6, 4)
	for _, c := range []struct {
		fractions []float64
		counts    []int
		want      string
	}{
		{[]float64{0.5, 0}, nil, "split 2 0 0 1"},
		{[]float64{math.NaN()}, nil, "fraction 1 NaN"},
		{[]float64{-0.1}, nil, "fraction 1 -0.1"},
		{[]float64{1.5}, nil, "fraction 1 1.5"},
		{[]float64{0.7, 0.7}, nil, "fractions 1.4 1"},
		{[]float64{0.99, 0.01}, nil, "2 2 0 10 examples"},
		{nil, nil, "no part"},
		{nil, []int{0}, "1 1 0 10 examples 1"},
		{nil, []int{3, -2}, "part 2 2 -2"},
		{nil, []int{8, 3}, "2 2 3 examples 2 10"},
		{nil, []int{Rest, 3, Rest}, "parts 1 3"},
		{nil, []int{Rest, 10}, "parts 1"},
	} {
		parts, err := SplitCounts(d, c.counts, 1)
		if c.fractions != nil {
			parts, err = SplitFractions(d, c.fractions, 1)
		}
		if !facts.Told(err, c.want) || parts != nil {
			t.Errorf("%v %v: found %v, want %q", c.fractions, c.counts, err, c.want)
		}
	}
	d.Y = d.Y[1:]
	if _, err := SplitCounts(d, []int{1}, 1); !facts.Told(err, "9 labels 10 examples") {
		t.Errorf("a damaged data set: %v", err)
	}
}

// Shares are rounded and sums kept, for any sizes.
func TestApportion(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	most := 0
	for range 3000 {
		parts := make([]int, 1+rng.IntN(6))
		sizes := make([]int, 1+rng.IntN(12))
		n := 1 + rng.IntN(60)
		for range n {
			parts[rng.IntN(len(parts))]++
			sizes[rng.IntN(len(sizes))]++
		}
		table := apportion(sizes, parts)
		sums := make([]int, len(parts))
		for q, shares := range table {
			sum := 0
			for k, share := range shares {
				low := sizes[q] * parts[k] / n
				high := (sizes[q]*parts[k] + n - 1) / n
				if share < low || share > high {
					t.Fatalf("%d among %d: class %d, part %d has %d, want %d or %d", sizes, parts, q, k, share,
						low, high)
				}
				sum += share
				sums[k] += share
			}
			if sum != sizes[q] {
				t.Fatalf("%d among %d: class %d has %d", sizes, parts, q, sum)
			}
		}
		if !slices.Equal(sums, parts) {
			t.Fatalf("%d among %d: parts have %d", sizes, parts, sums)
		}
		most = max(most, len(parts)*len(sizes))
	}
	if most < 50 {
		t.Errorf("the largest table has %d shares", most)
	}
	if got, want := apportion([]int{70, 20, 9, 1}, []int{50, 50}),
		[][]int{{35, 35}, {10, 10}, {5, 4}, {0, 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %d, want %d", got, want)
	}
	// 2^31 examples do not overflow.
	if got, want := apportion([]int{1 << 30, 1<<30 - 1}, []int{1<<30 - 1, 1 << 30}),
		[][]int{{1 << 29, 1 << 29}, {1<<29 - 1, 1 << 29}}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %d, want %d", got, want)
	}
}
