package dataset

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSortClasses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"10 9 2 -1 0", "-1 0 2 9 10"},
		{"10 9 x", "10 9 x"},
		{"b a B", "B a b"},
		{"1 01 001 +1", "+1 001 01 1"},
		{"-2 -10 -02 3", "-10 -02 -2 3"},
		{"-0 0 1 -1", "-1 -0 0 1"},
		{"99999999999999999999999 100000000000000000000000 5",
			"5 99999999999999999999999 100000000000000000000000"},
		{"1.0 10 9", "1.0 10 9"},
	} {
		got := strings.Fields(c.in)
		SortClasses(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("SortClasses(%s) = %v, wanted %s", c.in, got, c.want)
		}
	}
}

// Counting with a table of texts gives the same.
func TestDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		d := &Dataset{Examples: Examples{N: 1 + rng.IntN(600), D: 1 + rng.IntN(4)}, Classes: []string{"a",
			"b"}}
		for range d.N * d.D {
			d.X = append(d.X, float32(rng.IntN(3)))
		}
		first, duplicates, conflicting := map[string]int{}, 0, 0
		var firsts []int32
		for i := range d.N {
			d.Y = append(d.Y, int32(rng.IntN(2)))
			text, err := json.Marshal(d.Row(i))
			if err != nil {
				t.Fatal(err)
			}
			at, known := first[string(text)]
			if !known {
				at = i
				first[string(text)] = i
			} else {
				duplicates++
				if d.Y[at] != d.Y[i] {
					conflicting++
				}
			}
			firsts = append(firsts, int32(at))
		}
		sparse := &Dataset{Examples: d.Compressed(), Y: d.Y, Classes: d.Classes}
		for _, d := range []*Dataset{d, sparse} {
			if a, b := countDuplicates(d); a != duplicates || b != conflicting {
				t.Fatalf("%d×%d, sparse %v: found %d, %d, want %d, %d", d.N, d.D, d.Sparse(), a, b, duplicates,
					conflicting)
			}
			if got := Firsts(d.Examples); !slices.Equal(got, firsts) {
				t.Fatalf("%d×%d, sparse %v: got %v, want %v", d.N, d.D, d.Sparse(), got, firsts)
			}
		}
	}
}
