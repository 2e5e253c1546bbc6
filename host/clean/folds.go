package clean

import (
	"cmp"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// stir returns the next value of a hash: a round of splitmix64.
func stir(hash, v uint64) uint64 {
	hash = (hash ^ v) * 0x9e3779b97f4a7c15
	hash = (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
	hash = (hash ^ hash>>27) * 0x94d049bb133111eb
	return hash ^ hash>>31
}

// contents returns a hash of the features of each example. Zeros of sparse ones do not count.
func contents(x dataset.Examples) []uint64 {
	hashes := make([]uint64, x.N)
	parallel.Ranges(x.N, 256, func(from, to int) {
		for i := from; i < to; i++ {
			columns, values := x.Entries(i)
			for k, v := range values {
				if columns != nil {
					hashes[i] = stir(hashes[i], uint64(columns[k]))
				}
				hashes[i] = stir(hashes[i], uint64(math.Float32bits(v)))
			}
		}
	})
	return hashes
}

// draw chooses the examples of the contest, about Most with a label and all of known class, and the
// order of examples and classes, by their content.
func (c *contest) draw() {
	hashes := contents(c.data.Examples)
	if c.Probabilities != nil {
		hashes = suppliedHashes(c)
	}
	labels := c.labels(lists.UpTo[int](c.data.N))
	order := lists.Where(c.data.N, func(i int) bool { return labels[i] >= 0 })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	// Classes are ordered by the sum of the hashes of their examples.
	sums := make([]uint64, c.q)
	for _, i := range order {
		sums[labels[i]] += hashes[i]
	}
	c.classes = lists.UpTo[int](c.q)
	slices.SortStableFunc(c.classes, func(a, b int) int { return cmp.Compare(sums[a], sums[b]) })
	code := make([]int32, c.q)
	for k, class := range c.classes {
		code[class] = int32(k)
	}
	// Of equal examples the class decides the order.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(code[labels[a]], code[labels[b]]))
	})
	if len(order) > c.Most {
		step, drawn := float64(len(order))/float64(c.Most), make([]bool, len(order))
		byLabel := lists.UpTo[int](len(order))
		slices.SortStableFunc(byLabel, func(a, b int) int {
			return cmp.Compare(code[labels[order[a]]], code[labels[order[b]]])
		})
		for k := range c.Most {
			drawn[byLabel[int(float64(k)*step)]] = true
		}
		kept := order[:0]
		for k, i := range order {
			if drawn[k] || c.right[i] >= 0 {
				kept = append(kept, i)
			}
		}
		order = kept
	}
	c.rows, c.hashes = order, lists.At(hashes, order)
	coded := func(y int32) int32 {
		if y < 0 {
			return -1
		}
		return code[y]
	}
	d := pick(c.data, order)
	d.Classes = lists.At(c.data.Classes, c.classes)
	d.Y = make([]int32, len(order))
	for k, i := range order {
		d.Y[k] = code[labels[i]]
		c.given, c.truth = append(c.given, coded(c.data.Y[i])), append(c.truth, coded(c.right[i]))
	}
	c.part = d
}

// pick returns a copy of some examples, with their labels.
func pick(data *dataset.Dataset, some []int) *dataset.Dataset {
	d := *data
	d.Examples = data.Pick(some)
	d.Y, d.Evidence, d.SHA256, d.Home = lists.At(data.Y, some), nil, "", nil
	return &d
}

// folds returns the fold of each example of the contest in a repetition: by content, with the
// examples of each label divided evenly.
func (c *contest) folds(repetition int) []int {
	order := lists.UpTo[int](len(c.rows))
	keys := make([]uint64, len(order))
	for k, hash := range c.hashes {
		keys[k] = stir(hash, uint64(repetition)+1)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.part.Y[a], c.part.Y[b]), cmp.Compare(keys[a], keys[b]))
	})
	fold := make([]int, len(order))
	for at, k := range order {
		fold[k] = at % DefaultFolds
	}
	return fold
}

// outward returns probabilities of the contest's classes, n×Q, with the classes of data.
func outward(c *contest, p []float32) []float32 {
	all := make([]float32, len(p))
	for at := 0; at < len(p); at += c.q {
		for k, class := range c.classes {
			all[at+class] = p[at+k]
		}
	}
	return all
}
