package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
)

// BenchmarkDawidSkene measures ten iterations of Dawid-Skene.
func BenchmarkDawidSkene(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		a := crowdOf(n/5, 5, 1000, 10)
		b.Run(fmt.Sprintf("%d_labels", n), func(b *testing.B) {
			for b.Loop() {
				c, err := crowd.Fit(b.Context(), a, 1, crowd.Options{Rounds: 10})
				if err != nil || c.Rounds != 10 {
					b.Fatalf("%v", err)
				}
			}
		})
	}
}

// crowdOf returns labels by annotators who are right about 60 % of the time.
func crowdOf(items, each, annotators, q int) *crowd.Annotations {
	a := &crowd.Annotations{Start: make([]int, 1, items+1)}
	for k := range q {
		a.Classes = append(a.Classes, fmt.Sprintf("%02d", k))
	}
	for k := range annotators {
		a.Names = append(a.Names, fmt.Sprintf("%06d", k))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range items {
		t := rng.IntN(q)
		first := rng.IntN(annotators - each)
		for k := range each {
			label := t
			if rng.Float64() > 0.3+0.6*float64((first+k)%7)/7 {
				label = rng.IntN(q)
			}
			a.By, a.Label = append(a.By, int32(first+k)), append(a.Label, int32(label))
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a
}
