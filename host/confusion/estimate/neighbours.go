package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Parameters of ByNeighbours: the two nearest neighbours form triples of labels, and
// NearestForNeighbours neighbours measure the purity of neighbourhoods.
const (
	NearestForNeighbours = 20
	mostRounds           = 300
	used                 = 3     // triples per label, which makes them dependent
	jackknife            = 10    // parts, each left out in turn
	simulated            = 4000  // neighbourhoods, of all classes
	enough               = 10000 // neighbourhoods sampled for purity
)

// ByNeighbours estimates C from the labels of each example and its two nearest neighbours, treated
// as three labels of one item (Zhu, Song and Liu, Clusterability as an alternative to anchor points
// when learning with noisy labels, ICML 2021, with the likelihood of Dawid and Skene instead of
// moments). near has the k ≥ 2 nearest neighbours of each example, row-major, the nearest first.
//
// Standard errors combine the jackknife with the impurity of neighbourhoods beyond what C predicts
// for pure ones, as overlapping classes look like more noise. No class is identified if neighbours
// have another label distribution.
func ByNeighbours(classes []string, y []int32, near []int32, k int) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	if err := confusion.CheckLabels("labels of neighbours", y, q); err != nil {
		return nil, err
	}
	if k < 2 || len(near) != len(y)*k {
		return nil, fmt.Errorf("labels of neighbours: got %d neighbours of %d examples, want %d, at "+
			"least two of each", len(near), len(y), len(y)*k)
	}
	t := newTriples(y, near, k, q, -1)
	start := newNeighbourNoise(q)
	one := t.fit(start, true, mostRounds)
	copy(m.P, one.own)
	m.Error = make([]float64, q*q)
	var parts [][]float64
	for part := range jackknife {
		parts = append(parts, newTriples(y, near, k, q, part).fit(one, true, mostRounds/8).own)
	}
	mixed := one.mixed(y, near, k)
	for at := range m.P {
		mean, squares := 0.0, 0.0
		for _, p := range parts {
			mean += p[at] / jackknife
		}
		for _, p := range parts {
			squares += float64((p[at] - mean) * (p[at] - mean))
		}
		m.Error[at] = min(1, math.Sqrt(float64(squares*(jackknife-1)*used)/jackknife+
			float64(mixed[at]*mixed[at])))
	}
	e := &Estimate{Matrix: *m, Method: "labels of neighbours",
		Assumes: "in each class the right label is the most frequent, noise depends on the class " +
			"alone, and an example and its two nearest neighbours share a class"}
	e.identify()
	two := t.fit(one, false, mostRounds)
	// By chance, twice the gain of a second matrix is about its number of entries.
	free := float64(q * (q - 1))
	if gain := 2 * (two.likelihood - one.likelihood); gain > free+4*math.Sqrt(2*free) {
		e.IdentifyNone("neighbours have another label distribution, so they are of other classes")
	}
	return e, e.Check()
}

// triples are the distinct label triples of an example and its two nearest neighbours.
type triples struct {
	q      int
	labels [][3]int32
	count  []float64
}

// newTriples counts the triples of all examples outside a part, of jackknife parts.
func newTriples(y, near []int32, k, q, without int) *triples {
	var all [][3]int32
	for i := range y {
		if i%jackknife != without {
			all = append(all, [3]int32{y[i], y[near[i*k]], y[near[i*k+1]]})
		}
	}
	slices.SortFunc(all, func(a, b [3]int32) int { return slices.Compare(a[:], b[:]) })
	t := &triples{q: q}
	for i, l := range all {
		if i == 0 || l != all[i-1] {
			t.labels, t.count = append(t.labels, l), append(t.count, 0)
		}
		t.count[len(t.count)-1]++
	}
	return t
}

// neighbourNoise is the model of triples: class frequencies, and Q×Q matrices for the labels of
// examples and of neighbours.
type neighbourNoise struct {
	before     []float64
	own, near  []float64
	likelihood float64 // log, of the triples
}

// newNeighbourNoise returns the initial model.
func newNeighbourNoise(q int) *neighbourNoise {
	const right = 0.7
	n := &neighbourNoise{before: slices.Repeat([]float64{1 / float64(q)}, q),
		own: slices.Repeat([]float64{(1 - right) / float64(q-1)}, q*q)}
	for t := range q {
		n.own[t*q+t] = right
	}
	n.near = n.own
	return n
}

// fit runs EM from a start, with one matrix for all labels if tied.
func (t *triples) fit(start *neighbourNoise, tied bool, rounds int) *neighbourNoise {
	const still = 1e-6
	n, q := start, t.q
	for moved := 1.0; rounds > 0 && moved > still; rounds-- {
		next, _ := t.step(n, tied)
		moved = 0
		for k, v := range next.own {
			moved = max(moved, math.Abs(v-n.own[k]), math.Abs(next.near[k]-n.near[k]))
		}
		n = next
	}
	_, n.likelihood = t.step(n, tied)
	for k := range q {
		n.before[k] = max(n.before[k], math.SmallestNonzeroFloat64)
	}
	return n
}

// step returns the model after one round of EM from n, and the log-likelihood of n.
func (t *triples) step(n *neighbourNoise, tied bool) (next *neighbourNoise, likelihood float64) {
	q := t.q
	next = &neighbourNoise{before: make([]float64, q), own: make([]float64, q*q)}
	next.near = next.own
	if !tied {
		next.near = make([]float64, q*q)
	}
	belief, total := make([]float64, q), 0.0
	for k, l := range t.labels {
		a, b, c := n.own[int(l[0])*q:], n.near[int(l[1])*q:], n.near[int(l[2])*q:]
		sum := 0.0
		for s := range belief {
			belief[s] = float64(float64(n.before[s]*a[s]) * float64(b[s]*c[s]))
			sum += belief[s]
		}
		likelihood += float64(t.count[k] * float64(numerics.Log(float32(max(sum, 0x1p-100)))))
		if sum == 0 {
			continue
		}
		total += t.count[k]
		for s, v := range belief {
			v = float64(v/sum) * t.count[k]
			next.before[s] += v
			next.own[int(l[0])*q+s] += v
			next.near[int(l[1])*q+s] += v
			next.near[int(l[2])*q+s] += v
		}
	}
	for s := range q {
		next.before[s] /= total
	}
	normalise(next.own, q)
	if !tied {
		normalise(next.near, q)
	}
	return next, likelihood
}

// normalise divides columns by their sums; an empty column gets right labels.
func normalise(c []float64, q int) {
	for t := range q {
		if columnSum(c, q, t) == 0 {
			c[t*q+t] = 1
		}
	}
	numerics.NormaliseColumns(c, q)
}

// mixed bounds the bias of each entry by neighbours of other classes: the impurity of
// neighbourhoods beyond simulated pure ones.
func (n *neighbourNoise) mixed(y, near []int32, k int) []float64 {
	q, most := len(n.before), min(k, NearestForNeighbours)
	found := newMixture(q, n.own)
	for i := 0; i < len(y); i += max(1, len(y)/enough) {
		found.add(1, most, func(r int) int32 { return y[near[i*k+r]] })
	}
	pure := newMixture(q, n.own)
	rng := rand.New(rand.NewPCG(1, uint64(q)))
	for t := range q {
		for range max(1, simulated/q) {
			pure.add(n.before[t], most, func(int) int32 {
				left := rng.Float64()
				for p := range q {
					if left -= n.own[p*q+t]; left < 0 {
						return int32(p)
					}
				}
				return int32(t)
			})
		}
	}
	a, b := found.shares(), pure.shares()
	off := make([]float64, q*q)
	for t := range q {
		away := 0.0
		for s := range q {
			if s == t {
				continue
			}
			more := a[t*q+s]
			if q > 2 { // with two classes, impurity and noise are indistinguishable
				more = max(0, more-b[t*q+s])
			}
			away += more
			for p := range q {
				off[p*q+t] += float64(more * n.own[p*q+s])
			}
		}
		for p := range q {
			off[p*q+t] = max(off[p*q+t], float64(away*n.own[p*q+t]))
		}
	}
	return off
}

// mixture accumulates the class composition of neighbourhoods.
type mixture struct {
	q      int
	noise  []float64
	counts []float32
	pairs  []float64 // Q×Q: weight of class s in neighbourhoods of t
}

func newMixture(q int, noise []float64) *mixture {
	return &mixture{q, noise, make([]float32, q), make([]float64, q*q)}
}

// add adds a neighbourhood of k labels, with a weight.
func (m *mixture) add(weight float64, k int, label func(int) int32) {
	clear(m.counts)
	for r := range k {
		m.counts[label(r)] += 1 / float32(k)
	}
	Unmix(m.counts, m.noise, m.q)
	for t, v := range m.counts {
		for s, w := range m.counts {
			m.pairs[t*m.q+s] += float64(weight * float64(float64(v)*float64(w)))
		}
	}
}

// shares returns the mean neighbourhood of each class, one per row.
func (m *mixture) shares() []float64 {
	for t := range m.q {
		row := m.pairs[t*m.q : (t+1)*m.q]
		sum := lists.Sum(row)
		for s := range row {
			row[s] /= max(sum, math.SmallestNonzeroFloat64)
		}
	}
	return m.pairs
}

// unmixRounds are the rounds of Unmix.
const unmixRounds = 30

// Unmix estimates P(true) in place from P(noisy), n×q row-major, and the noise, q×q, by rounds of
// EM:
//
//	t[k]  ←  t[k] · Σ_y p[y]·C[y][k] / (C·t)[y]
//
// The time is in proportion to the entries of C that are above the least of their column.
func Unmix(p []float32, noise []float64, q int) {
	least := slices.Clone(noise[:q])
	for at, v := range noise {
		least[at%q] = min(least[at%q], v)
	}
	// C is least in each row, and more in these places.
	starts, columns, more := make([]int, 1, q+1), []int(nil), []float64(nil)
	for y := range q {
		for k, v := range noise[y*q : (y+1)*q] {
			if v > least[k] {
				columns, more = append(columns, k), append(more, v-least[k])
			}
		}
		starts = append(starts, len(columns))
	}
	parallel.Ranges(len(p)/q, 16, func(from, to int) {
		t, next := make([]float64, q), make([]float64, q)
		for row := range slices.Chunk(p[from*q:to*q], q) {
			for k := range t {
				t[k] = 1 / float64(q)
			}
			for range unmixRounds {
				clear(next)
				floor, weights := 0.0, 0.0
				for k, v := range least {
					floor += float64(v * t[k])
				}
				for y, v := range row {
					some, above := columns[starts[y]:starts[y+1]], more[starts[y]:starts[y+1]]
					sum := floor
					for at, k := range some {
						sum += float64(above[at] * t[k])
					}
					if sum == 0 || v == 0 {
						continue
					}
					w := float64(v) / sum
					weights += w
					for at, k := range some {
						next[k] += float64(w * above[at])
					}
				}
				for k, v := range next {
					t[k] *= v + float64(weights*least[k])
				}
			}
			sum := lists.Sum(t)
			for k, f := range t {
				row[k] = float32(f / max(sum, 0x1p-60))
			}
		}
	})
}
