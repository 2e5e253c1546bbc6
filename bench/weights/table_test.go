package main

import (
	"math"
	"strings"
	"testing"
)

func TestRank(t *testing.T) {
	for _, c := range []struct {
		errors []float64
		want   []float64
	}{
		{[]float64{.3, .1, .2, 0}, []float64{3, 1, 2}},
		{[]float64{.1, .1, .2, 0}, []float64{1.5, 1.5, 3}},
		{[]float64{.3, .1, .3, .3}, []float64{2.5, 1, 2.5}},
		{[]float64{.2, .2, .2, .2}, []float64{2, 2, 2}},
	} {
		for way, want := range c.want {
			if got := (cell{errors: c.errors}).rank(way); got != want {
				t.Errorf("errors %v: way %d has rank %v, want %v", c.errors, way, got, want)
			}
		}
	}
}

func TestLine(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		errors []float64
		want   string
	}{
		{[]float64{.3, .1, .2, .05}, "| set | 30.0 | **10.0** | 20.0 | 5.0 |\n"},
		{[]float64{.1004, .1001, .2, .1}, "| set | **10.0** | **10.0** | 20.0 | 10.0 |\n"}, // equal as printed
		{[]float64{nan, nan, nan, nan}, "| set | refused | | | |\n"},
	} {
		if got := (cell{errors: c.errors}).line("set"); got != c.want {
			t.Errorf("errors %v: found %q, want %q", c.errors, got, c.want)
		}
	}
}

// TestMarkdown checks every computed line of a small table by hand.
func TestMarkdown(t *testing.T) {
	nan := math.NaN()
	got := table{
		steps: 7, ways: []string{"last", "average", "best"},
		sets: []about{{"big", 5000, 500, 64, 10, "l2", 1, false}, {"tiny", 70, 30, 4, 2, "none", 3, true}},
		cells: []cell{
			{"big", noise{"symmetric", 0.2}, []float64{.5, .25, .375, .25}},
			{"big", noise{"random", 0.6}, []float64{nan, nan, nan, nan}},
			{"tiny", noise{"symmetric", 0.2}, []float64{.25, .5, .25, .75}},
		},
	}.markdown()
	for _, want := range []string{
		"at most 7 steps",
		"| big | 5000 | 500 | 64 | 10 | `l2` | 1 |\n| tiny | 70 | 30 | 4 | 2 | `none` | 3, each with its own split |\n",
		"\n## All sets and noises\n\n",
		"| last | 2.25 | 12.50 | 25.0 (big, symmetric 20 %) |\n| average | 2.00 | 12.50 | 25.0 (tiny, symmetric 20 %) " +
			"|\n| best | 1.75 | 6.25 | 12.5 (big, symmetric 20 %) |\n",
		"| last | 3.00 | 25.00 | 25.0 (big, symmetric 20 %) |\n| average | 1.00 | 0.00 | 0.0 (none) |\n" +
			"| best | 2.00 | 12.50 | 12.5 (big, symmetric 20 %) |\n",
		"| symmetric 20 % | 37.5 | 37.5 | **31.2** | 50.0 |\n",
		"| random 60 % | refused | | | |\n",
		"\n## Symmetric 20 %\n\n| set | last | average | best | C = identity |\n|---|--:|--:|--:|--:|\n" +
			"| big | 50.0 | **25.0** | 37.5 | 25.0 |\n| tiny | **25.0** | 50.0 | **25.0** | 75.0 |\n",
		"\n## Random 60 %\n\n| set | last | average | best | C = identity |\n|---|--:|--:|--:|--:|\n" +
			"| big | refused | | | |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks\n%s\nit is\n%s", want, got)
		}
	}
}
