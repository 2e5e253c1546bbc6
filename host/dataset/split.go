package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Rest, among the counts of SplitCounts, stands for all examples that other parts leave.
const Rest = -1

// splitStream separates a split's random numbers from other uses of a seed.
const splitStream = 0x73706c6974

// SplitFractions is SplitCounts of the PartSizes of fractions.
func SplitFractions(d *Dataset, fractions []float64, seed uint64, how ...Memory,
) ([]*Dataset, error) {
	counts, err := PartSizes(d.N, fractions)
	if err != nil {
		return nil, err
	}
	return SplitCounts(d, counts, seed, how...)
}

// PartSizes returns fractions of n, above 0 and together at most 1, rounded by largest remainder.
func PartSizes(n int, fractions []float64) ([]int, error) {
	sum := 0.0
	for k, f := range fractions {
		if !(f > 0 && f <= 1) {
			return nil, fmt.Errorf("split: fraction %d is %v, wanted a number above 0, at most 1", k+1, f)
		}
		sum += f
	}
	const rounding = 1e-9 // 0.7 + 0.2 + 0.1 is not 1
	if sum > 1+rounding {
		return nil, fmt.Errorf("split: the fractions sum to %.6g, wanted at most 1", sum)
	}
	left := []float64{0}
	if sum < 1-rounding {
		left[0] = 1 - sum
	}
	counts := make([]int, len(fractions)+1)
	remainders := make([]float64, len(counts))
	rest := n
	for k, f := range slices.Concat(fractions, left) {
		exact := float64(f * float64(n))
		counts[k], remainders[k] = int(exact), exact-math.Floor(exact)
		rest -= counts[k]
	}
	for ; rest > 0; rest-- {
		most := lists.Largest(remainders)
		counts[most]++
		remainders[most]--
	}
	return counts[:len(fractions)], nil
}

// SplitCounts divides d at random, by seed, into parts of these counts; one may be Rest.
// It is stratified: each class is shared by size, rounded by largest remainder. Examples keep their
// order; parts keep classes, preparation, names and path, and share no memory with d, which InPlace
// may empty.
func SplitCounts(d *Dataset, counts []int, seed uint64, how ...Memory) ([]*Dataset, error) {
	examples, err := Divide(d, counts, seed)
	if err != nil {
		return nil, err
	}
	split := make([]*Dataset, len(examples))
	last := 0 // that of the most examples, which may go over all when the others have theirs
	for k := range split {
		if len(examples[k]) > len(examples[last]) {
			last = k
		}
	}
	for k := range split {
		if k != last {
			if split[k], err = d.Choose(lists.As[int](examples[k])); err != nil {
				return nil, err
			}
		}
	}
	split[last], err = pick(d, lists.As[int](examples[last]), slices.Contains(how, InPlace))
	return split, err
}

// Divide returns the numbers of the examples, increasing, of each part that SplitCounts makes.
func Divide(d *Dataset, counts []int, seed uint64) ([][]int32, error) {
	if err := d.CheckAll(context.Background()); err != nil {
		return nil, err
	}
	counts, err := resolveCounts(d.N, counts)
	if err != nil {
		return nil, err
	}
	// The tables of apportion, and copies of all that goes into parts.
	need := memory.Sum(memory.Product(len(counts), len(d.Classes), 64), memory.Product(d.N, 24),
		memory.Product(len(d.X)+len(d.Columns)+len(d.Values), 4))
	what := fmt.Sprintf("a division of %d examples in %d parts", d.N, len(counts)-1)
	if err := memory.Check(need, what); err != nil {
		return nil, err
	}
	members := members(d)
	sizes := make([]int, len(members))
	for q, m := range members {
		sizes[q] = len(m)
	}
	rng := rand.New(rand.NewPCG(seed, splitStream))
	examples := make([][]int32, len(counts))
	for q, shares := range apportion(sizes, counts) {
		m := members[q]
		rng.Shuffle(len(m), func(a, b int) { m[a], m[b] = m[b], m[a] })
		for k, share := range shares {
			examples[k] = append(examples[k], m[:share]...)
			m = m[share:]
		}
	}
	examples = examples[:len(counts)-1] // examples in no part stay behind
	for _, part := range examples {
		slices.Sort(part)
	}
	return examples, nil
}

// resolveCounts returns the counts with Rest filled in, and the number left out.
func resolveCounts(n int, counts []int) ([]int, error) {
	if len(counts) == 0 {
		return nil, fmt.Errorf("split: no part is asked for, wanted at least one")
	}
	resolved, left, rest := slices.Clone(counts), n, -1
	for k, c := range counts {
		switch {
		case c == Rest && rest >= 0:
			return nil, fmt.Errorf("split: parts %d and %d both ask for the rest, wanted one", rest+1, k+1)
		case c == Rest:
			rest = k
		case c < 1:
			return nil, fmt.Errorf("split: part %d of %d would have %d of the %d examples, wanted at least "+
				"1", k+1, len(counts), c, n)
		case c > left:
			return nil, fmt.Errorf("split: part %d of %d asks for %d examples, and only %d of %d are left",
				k+1, len(counts), c, left, n)
		default:
			left -= c
		}
	}
	if rest >= 0 {
		if left == 0 {
			return nil, fmt.Errorf("split: the other parts leave no example for part %d, the rest", rest+1)
		}
		resolved[rest], left = left, 0
	}
	return append(resolved, left), nil
}

// members lists the examples of each class, increasing, and behind them those without a label.
func members(d *Dataset) [][]int32 {
	if d.Y == nil {
		all := lists.UpTo[int32](d.N)
		return [][]int32{all}
	}
	members := make([][]int32, len(d.Classes))
	for i, y := range d.Y {
		members[y] = append(members[y], int32(i))
	}
	if none := WithoutLabel(d); none != nil {
		for q, class := range members {
			members[q] = lists.Keep(class, func(i int32) bool { return LabelOf(d, int(i)) >= 0 })
		}
		members = append(members, lists.As[int32](none))
	}
	return members
}

// Choose returns the examples that which names, in that order, as a data set of its own.
func (d *Dataset) Choose(which []int) (*Dataset, error) { return pick(d, which, false) }

// pick is Choose; over allows the memory of d if numbers increase.
func pick(d *Dataset, which []int, over bool) (*Dataset, error) {
	p := &Dataset{
		Classes: slices.Clone(d.Classes), Features: slices.Clone(d.Features),
		Found: Found{Label: d.Label, LabelColumn: d.LabelColumn, Path: d.Path, Format: d.Format,
			Rows: d.Rows},
		Prepared: d.Prepared,
		Encoding: d.Encoding,
	}
	if d.Y != nil {
		p.Y = lists.At(d.Y, which)
	}
	if d.IDs != nil {
		p.ID, p.IDColumn, p.IDs = d.ID, d.IDColumn, lists.At(d.IDs, which)
	}
	for _, i := range which {
		p.Source = append(p.Source, d.SourceRow(i))
	}
	p.Evidence = d.Evidence.Pick(which, len(d.Classes))
	switch {
	case over && d.Home == nil && !d.Sparse():
		p.Examples = Examples{N: len(which), D: d.D, X: d.X[:len(which)*d.D]}
		for k, i := range which {
			copy(p.Row(k), d.Row(i)) // i is at least k
		}
		d.Examples = Examples{N: d.N, D: d.D}
	default:
		p.Examples = d.Examples.Pick(which)
	}
	if d.Prepared == nil { // else the hash of the raw part is not known
		p.SHA256 = p.Hash()
	}
	return p, nil
}

// apportion returns, at [q][k], the examples of class q for part k: the exact share rounded up or
// down, with all sums kept. Largest remainders are rounded up first; in a dead end, an augmenting
// path moves one (a flow with whole bounds has a whole solution).
func apportion(sizes, parts []int) [][]int {
	a := apportionment{left: slices.Clone(parts)}
	n := lists.Sum(parts)
	table, missing := make([][]int, len(sizes)), slices.Clone(sizes)
	type cell struct {
		remainder   int64
		class, part int
	}
	var cells []cell
	for q, size := range sizes {
		table[q] = make([]int, len(parts))
		a.open, a.up = append(a.open, make([]bool, len(parts))), append(a.up, make([]bool, len(parts)))
		for k, c := range parts {
			product := int64(size) * int64(c)
			table[q][k] = int(product / int64(n))
			missing[q] -= table[q][k]
			a.left[k] -= table[q][k]
			if r := product % int64(n); r > 0 {
				a.open[q][k] = true
				cells = append(cells, cell{r, q, k})
			}
		}
	}
	slices.SortStableFunc(cells, func(x, y cell) int { return cmp.Compare(y.remainder, x.remainder) })
	for _, c := range cells {
		if missing[c.class] > 0 && a.left[c.part] > 0 {
			a.up[c.class][c.part] = true
			missing[c.class]--
			a.left[c.part]--
		}
	}
	for q := range sizes {
		for ; missing[q] > 0; missing[q]-- {
			a.place(q, make([]bool, len(parts)))
		}
	}
	for q := range sizes { // when all is settled
		for k, up := range a.up[q] {
			if up {
				table[q][k]++
			}
		}
	}
	return table
}

// apportionment is which shares are rounded up so far.
type apportionment struct {
	open [][]bool // [q][k]: the share is not whole, so it may be rounded up
	up   [][]bool // [q][k]: it is
	left []int    // examples that each part still lacks
}

// place rounds one more share of class q up, moving another class's where needed; seen were tried.
func (a *apportionment) place(q int, seen []bool) bool {
	for k := range a.left {
		if !a.open[q][k] || a.up[q][k] || seen[k] {
			continue
		}
		seen[k] = true
		if a.left[k] > 0 {
			a.left[k]--
			a.up[q][k] = true
			return true
		}
		for other := range a.up {
			if a.up[other][k] && a.place(other, seen) {
				a.up[other][k], a.up[q][k] = false, true
				return true
			}
		}
	}
	return false
}
