package crowd

import (
	"fmt"
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// ballots returns votes of v voters on q classes: a row for each example, below 0 without a vote.
func ballots(q int, rows [][]int32) *dataset.Annotations {
	a := &dataset.Annotations{Start: []int{0}}
	for k := range q {
		a.Classes = append(a.Classes, fmt.Sprint(k))
	}
	for k := range rows[0] {
		a.Names = append(a.Names, fmt.Sprintf("%02d", k))
	}
	for _, row := range rows {
		for who, k := range row {
			if k >= 0 {
				a.By, a.Label = append(a.By, int32(who)), append(a.Label, k)
			}
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a
}

// The published examples of each statistic.
func TestAgreement(t *testing.T) {
	const o = -1
	krippendorff := [][]int32{{0, 0, o, 0}, {1, 1, 2, 1}, {2, 2, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 1},
		{0, 1, 2, 3}, {3, 3, 3, 3}, {0, 0, 1, 0}, {1, 1, 1, 1}, {o, 4, 4, 4}, {o, o, 0, 0}, {o, 2, o, o}}
	var fleiss, cohen [][]int32
	for _, counts := range [][]int32{{0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2},
		{2, 2, 8, 1, 1}, {7, 7}, {3, 2, 6, 3}, {2, 5, 3, 2, 2}, {6, 5, 2, 1}, {0, 2, 2, 3, 7}} {
		var row []int32
		for k, n := range counts {
			for range n {
				row = append(row, int32(k))
			}
		}
		fleiss = append(fleiss, row)
	}
	for _, cell := range [][3]int32{{0, 0, 20}, {0, 1, 5}, {1, 0, 10}, {1, 1, 15}} {
		for range cell[2] {
			cohen = append(cohen, cell[:2])
		}
	}
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"Krippendorff 2011": {Agree(ballots(5, krippendorff), make([]int32, 12)).Alpha, 0.743},
		"Fleiss 1971":       {Agree(ballots(5, fleiss), make([]int32, 10)).Fleiss, 0.210},
		"Cohen's kappa":     {Agree(ballots(2, cohen), make([]int32, 50)).Pairs[0].Kappa, 0.4},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 5e-4 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	a := Agree(ballots(5, krippendorff), []int32{0, 1, 2, 2, 1, 0, 3, 0, 1, 4, 0, o})
	if a.Fleiss != nil || len(a.Pairs) != 6 || a.Pairs[0].Examples != 10 {
		t.Errorf("got %+v", a)
	}
	third := a.Voters[2]
	if third.Votes != 10 || *third.Right != 0.7 || *third.ByClass[0] != 1./3 {
		t.Errorf("third voter: got %+v, %v, %v", third, *third.Right, *third.ByClass[0])
	}
	if one := Agree(ballots(2, [][]int32{{0, 0}, {0, 0}}), []int32{0, 0}); one.Alpha != nil ||
		one.Fleiss != nil || one.Pairs[0].Kappa != nil {
		t.Errorf("votes for one class: got %+v, want no statistics", one)
	}
}
