package active

import (
	"cmp"
	"slices"
)

// window is how many times as many examples as are asked about may be part of a batch.
const window = 10

// batch returns the K examples to ask about: the first is worth most, and each other one costs
// least of the best 10·K, by its rank among these, by the largest cosine with those chosen before,
// and by how many labels its predicted class has or would have by then.
func (p *Pool) batch(o Options, w worth) []int {
	order := make([]int, len(w.which))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.value[b], w.value[a]), cmp.Compare(w.tie[b], w.tie[a]))
	})
	order = order[:min(len(order), window*o.K)]
	chosen := make([]int, 0, o.K)
	if o.Diversity == 0 && o.Balance == 0 {
		for _, k := range order[:o.K] {
			chosen = append(chosen, w.which[k])
		}
		return chosen
	}
	counts, _ := p.counts()
	alike := make([]float64, len(order)) // the largest cosine with a chosen one
	lengths := make([]float64, len(order))
	for at, k := range order {
		lengths[at] = p.length(w.which[k])
	}
	done := make([]bool, len(order))
	for range o.K {
		best, least, most := -1, 0.0, float64(max(1, slices.Max(counts)))
		for at, k := range order {
			if done[at] {
				continue
			}
			cost := float64((1 - o.Diversity) * float64(at) / float64(len(order)))
			cost += float64(o.Diversity * alike[at])
			cost += float64(o.Balance * float64(counts[w.predicted[k]]) / most)
			if best < 0 || cost < least {
				best, least = at, cost
			}
		}
		done[best] = true
		i := w.which[order[best]]
		chosen = append(chosen, i)
		counts[w.predicted[order[best]]]++
		if o.Diversity == 0 {
			continue
		}
		for at, k := range order {
			if !done[at] {
				alike[at] = max(alike[at], p.inner(w.which[k], i)/float64(lengths[at]*lengths[best]))
			}
		}
	}
	return chosen
}
