package crowd

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// BenchmarkDawidSkene is a round of EM on a million labels of a thousand annotators, ten classes.
func BenchmarkDawidSkene(b *testing.B) {
	a := crowdLabels(200_000, 5, 1000, 10, 0.6)
	m, err := newEM(a, DawidSkene, 1)
	if err != nil {
		b.Fatal(err)
	}
	m.count(false)
	for b.Loop() {
		m.rates()
		m.count(false)
	}
}

// crowdLabels are labels, about the share of them right, by annotators who are not alike good.
func crowdLabels(items, each, annotators, q int, share float64) *dataset.Annotations {
	a := &dataset.Annotations{Classes: names(q), Start: make([]int, 1, items+1)}
	for k := range annotators {
		a.Names = append(a.Names,
			string(rune('a'+k/26/26))+string(rune('a'+k/26%26))+string(rune('a'+k%26)))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range items {
		first := rng.IntN(annotators - each + 1)
		for k := range each {
			label := i % q
			if rng.Float64() > share+0.3*float64((first+k)%7-3)/3 {
				label = rng.IntN(q)
			}
			a.By, a.Label = append(a.By, int32(first+k)), append(a.Label, int32(label))
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a
}
