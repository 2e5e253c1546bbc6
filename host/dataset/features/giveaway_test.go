package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// A column that alone tells nearly all labels is named, if no other one does, and labels differ.
func TestGiveAway(t *testing.T) {
	const n = 600
	for want, of := range map[string][3]func(y, random float32) float32{ // columns a, b and c
		"b": {noise, func(y, _ float32) float32 { return 7 - 2*y }, noise},
		"c": {noise, noise, func(y, random float32) float32 { return 10*y + random }},
		"":  {noise, func(y, random float32) float32 { return y + random }, noise},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		d := &dataset.Dataset{Features: []string{"a", "b", "c"}, Classes: []string{"no", "so", "yes"}}
		d.N, d.D = n, len(of)
		for i := range n {
			y := i * 7 % 3
			d.Y = append(d.Y, int32(y))
			for _, value := range of {
				d.X = append(d.X, value(float32(y), random.Float32()*3))
			}
		}
		if got, share := GiveAway(d); got != want || want != "" && share < 0.99 {
			t.Errorf("got column %q, which tells %v, want %q", got, share, want)
		}
		if of[0] = noise; want == "b" {
			d.Y = slices.Repeat([]int32{1}, n)
			if got, _ := GiveAway(d); got != "" {
				t.Errorf("of one class: got column %q", got)
			}
		}
	}
}

func noise(_, random float32) float32 { return random }
