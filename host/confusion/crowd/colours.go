package crowd

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// colours are numbers of examples, annotators and classes that depend on who labelled what, and on
// neither names nor order: what looks random is drawn by them. Examples with the same labels have
// the same colour (Weisfeiler and Leman's refinement).
type colours struct{ items, annotators, classes []uint64 }

// colour finds the colours of annotations.
func colour(a *dataset.Annotations) colours {
	n, m, q := a.N(), len(a.Names), len(a.Classes)
	c := colours{make([]uint64, n), make([]uint64, m), make([]uint64, q)}
	counts := make([]uint64, q)
	for _, k := range a.Label {
		counts[k]++
	}
	for k, v := range counts {
		c.classes[k] = mixed(v)
	}
	for range 3 {
		items, annotators := make([]uint64, n), make([]uint64, m)
		for i := range n {
			by, label := a.Of(i)
			for k, who := range by {
				class := c.classes[label[k]]
				items[i] += mixed(c.annotators[who] ^ class)
				annotators[who] += mixed(c.items[i] + class)
			}
		}
		for i, v := range items {
			c.items[i] = mixed(v)
		}
		for who, v := range annotators {
			c.annotators[who] = mixed(v + 1)
		}
	}
	return c
}

// mixed spreads the bits of a number (Steele, Lea and Flood's splitmix64).
func mixed(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// part holds one of heldFolds parts of the labels out: it returns the others, and this part.
// Examples of one colour are alike, and take turns.
func (c colours) part(a *dataset.Annotations, fold int) (rest, held *dataset.Annotations) {
	empty := func() *dataset.Annotations {
		return &dataset.Annotations{Classes: a.Classes, Names: a.Names, Right: a.Right,
			Start: make([]int, 1, a.N()+1)}
	}
	rest, held = empty(), empty()
	turn := make(map[uint64]uint64)
	for i := range a.N() {
		by, label := a.Of(i)
		for k, who := range by {
			draw := mixed(c.items[i]+c.annotators[who]^c.classes[label[k]]) + turn[c.items[i]]
			into := rest
			if draw%heldFolds == uint64(fold) && (a.Right == nil || !a.Right[who]) {
				into = held
			}
			into.By, into.Label = append(into.By, who), append(into.Label, label[k])
		}
		turn[c.items[i]]++
		rest.Start, held.Start = append(rest.Start, len(rest.By)), append(held.Start, len(held.By))
	}
	return rest, held
}

// splitter draws how the examples of each class are split into subtypes at first: uniformly from
// all splits, by the colours.
type splitter struct {
	items, classes []uint64
	seed           uint64
}

// of returns the shares of the subtypes of a class for example i.
func (s splitter) of(i, class, each int) []float64 {
	shares := make([]float64, each)
	if each == 1 {
		shares[0] = 1
		return shares
	}
	state, total := mixed(s.items[i]^mixed(s.classes[class]+s.seed)), 0.0
	for k := range shares {
		state = mixed(state)
		shares[k] = -float64(numerics.Log(float32(float64(state>>11|1) * 0x1p-53)))
		total += shares[k]
	}
	for k := range shares {
		shares[k] /= total
	}
	return shares
}
