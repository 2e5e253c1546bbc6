package neighbours

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Survey is what the nearest neighbours of examples, none equal to another, tell of all of them.
// Each check raises a false alarm in about one of twenty sets of independent examples.
type Survey struct {
	// Near has sets of near duplicates, each in increasing order: nearer to each other than chance
	// would bring one pair among all, given how far their other neighbours are.
	Near [][]int
	// Outliers are far from all others, the farthest first: beyond a gap in the distances.
	Outliers []int
	// Distance is the mean distance to the neighbours, in units of the median of all examples.
	Distance []float64
	// OrderP is the share of random orders in which neighbours lie as unevenly as in this one.
	OrderP float64
	// Groups are regions that have more of the marked examples than chance puts anywhere, the largest
	// first.
	Groups []Group
}

// Group is a region of examples.
type Group struct {
	Examples []int // in increasing order
	Center   int   // the one with the most marked ones around
}

// FewestForSurvey is the number of examples below which nothing can be told.
const FewestForSurvey = 30

const (
	falseAlarms   = 0.05
	nearest       = 0.5     // of the distance to the last neighbour, at most, is a near duplicate's
	leastGap      = 1.25    // between an outlier's distance and the next one
	leastLocal    = 1.5     // between an outlier's distance and its neighbours' distances
	orders, marks = 199, 99 // random ones
)

// Survey looks at the graph. marked are examples, such as wrong predictions; nil for no groups.
func (g *Graph) Survey(marked []bool) *Survey {
	s := &Survey{Near: g.near(), OrderP: g.orderP()}
	s.Outliers, s.Distance = g.outliers()
	if marked != nil {
		s.Groups = g.groups(marked)
	}
	return s
}

// far returns the distances of i's neighbours, not squared.
func (g *Graph) far(i int) []float64 {
	d := make([]float64, g.K)
	for k, square := range g.Distance[i*g.K : (i+1)*g.K] {
		d[k] = math.Sqrt(square)
	}
	return d
}

// dimension returns the median of the examples' estimates of the dimension that distances have
// (Levina and Bickel, NIPS 2004).
func (g *Graph) dimension() float64 {
	var all []float64
	for i := range g.N {
		d := g.far(i)
		sum := 0.0
		for _, r := range d[:g.K-1] {
			sum += math.Log(d[g.K-1] / r)
		}
		if d[0] > 0 && sum > 0 {
			all = append(all, float64(g.K-2)/sum)
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return max(1, all[len(all)/2])
}

// near finds sets of near duplicates. Where examples lie evenly around one, the share of its
// neighbours' ball that the nearest one leaves empty is the least of k-1 random numbers.
func (g *Graph) near() [][]int {
	dimension := g.dimension()
	sets := forest(lists.UpTo[int](g.N))
	for i := range g.N {
		d := g.far(i)
		for k, r := range d {
			last := d[g.K-1]
			u := math.Pow(r/last, dimension)
			chance := -math.Expm1(float64(g.K-1) * math.Log1p(-u))
			if !(r < nearest*last && chance*float64(g.N) < falseAlarms) {
				break
			}
			sets.join(i, int(g.Index[i*g.K+k]))
		}
	}
	return sets.all()
}

// forest has sets of examples: each names an earlier one of its set, the first itself.
type forest []int

// first returns the first example of the set of i.
func (f forest) first(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

func (f forest) join(i, j int) {
	i, j = f.first(i), f.first(j)
	f[max(i, j)] = min(i, j)
}

// all returns the sets of more than one example.
func (f forest) all() (sets [][]int) {
	at := make([]int, len(f)) // where the set of a first example is, from 1
	for i := range f {
		first := f.first(i)
		switch {
		case first == i:
		case at[first] == 0:
			sets = append(sets, []int{first, i})
			at[first] = len(sets)
		default:
			sets[at[first]-1] = append(sets[at[first]-1], i)
		}
	}
	return sets
}

// outliers finds the examples beyond the lowest gap among the largest distances that is too wide.
// The spacings of the logarithms of the largest ones, times their rank, are alike and exponential
// if the tail is a power, and smaller above if it falls faster.
func (g *Graph) outliers() (found []int, distance []float64) {
	distance = make([]float64, g.N)
	for i := range distance {
		for _, r := range g.far(i) {
			distance[i] += r / float64(g.K)
		}
	}
	order := lists.UpTo[int](g.N)
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(distance[a], distance[b]) })
	median := distance[order[g.N/2]]
	if median == 0 {
		return nil, distance
	}
	most := max(1, g.N/20)
	bulk := min(g.N-1, max(most+5, g.N/5))
	spacing := make([]float64, bulk)
	for j := range spacing {
		spacing[j] = float64(j+1) * math.Log(distance[order[j]]/distance[order[j+1]])
	}
	for j := most - 1; j >= 0; j-- {
		mean := 0.0
		for _, s := range spacing[j+1:] {
			mean += s / float64(bulk-j-1)
		}
		if !(spacing[j] > mean*math.Log(float64(most)/falseAlarms)) ||
			spacing[j] < float64(j+1)*math.Log(leastGap) {
			continue
		}
		for _, i := range order[:j+1] {
			if distance[i] >= leastLocal*g.around(distance, i) {
				found = append(found, i)
			}
		}
		if found != nil {
			break
		}
	}
	for i := range distance {
		distance[i] /= median
	}
	return found, distance
}

// around returns the median of the neighbours' values.
func (g *Graph) around(of []float64, i int) float64 {
	values := lists.At(of, g.Index[i*g.K:(i+1)*g.K])
	slices.Sort(values)
	return (values[(g.K-1)/2] + values[g.K/2]) / 2
}

// orderP compares how far neighbours are from each other in the order with random orders, by the
// largest difference of the distributions (Kolmogorov and Smirnov).
func (g *Graph) orderP() float64 {
	place, count := lists.UpTo[int32](g.N), make([]int, g.N)
	unevenness := func() (most float64) {
		clear(count)
		for i := range g.N {
			for _, j := range g.Index[i*g.K : (i+1)*g.K] {
				apart := place[i] - place[j]
				count[max(apart, -apart)]++
			}
		}
		n := float64(g.N)
		seen, want := 0, 0.0
		for apart, c := range count[1:] {
			seen += c
			want += 2 * (n - float64(apart+1)) / (n * (n - 1))
			most = max(most, math.Abs(float64(seen)/(n*float64(g.K))-want))
		}
		return most
	}
	own, as := unevenness(), 1
	rng := rand.New(rand.NewPCG(0, 0x6f72646572)) // "order"
	for range orders {
		rng.Shuffle(g.N, func(a, b int) { place[a], place[b] = place[b], place[a] })
		if unevenness() >= own {
			as++
		}
	}
	return float64(as) / (orders + 1)
}

// groups finds where more examples are marked among neighbours, and theirs, than anywhere if the
// marks are given to examples at random.
func (g *Graph) groups(marked []bool) (found []Group) {
	share := make([]float64, g.N)
	for i, m := range marked {
		if m {
			share[i] = 1
		}
	}
	once, twice := make([]float64, g.N), make([]float64, g.N)
	spread := func(to, of []float64) {
		for i := range to {
			to[i] = of[i]
			for _, j := range g.Index[i*g.K : (i+1)*g.K] {
				to[i] += of[j]
			}
			to[i] /= float64(g.K + 1)
		}
	}
	densest := func() float64 {
		spread(once, share)
		spread(twice, once)
		return slices.Max(twice)
	}
	densest()
	own := slices.Clone(twice)
	chance := make([]float64, marks)
	rng := rand.New(rand.NewPCG(0, 0x67726f757073)) // "groups"
	for k := range chance {
		rng.Shuffle(g.N, func(a, b int) { share[a], share[b] = share[b], share[a] })
		chance[k] = densest()
	}
	slices.Sort(chance)
	least := chance[marks-int(falseAlarms*(marks+1))]
	sets := forest(lists.UpTo[int](g.N))
	for i := range g.N {
		for _, j := range g.Index[i*g.K : (i+1)*g.K] {
			if own[i] > least && own[j] > least {
				sets.join(i, int(j))
			}
		}
	}
	for _, s := range sets.all() {
		center := slices.MaxFunc(s, func(a, b int) int { return cmp.Compare(own[a], own[b]) })
		found = append(found, Group{s, center})
	}
	slices.SortStableFunc(found, func(a, b Group) int {
		return cmp.Compare(len(b.Examples), len(a.Examples))
	})
	return found
}
