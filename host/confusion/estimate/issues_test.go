package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// By hand: noise takes a for b and b for c, never c for anything.
func TestFindIssuesByHand(t *testing.T) {
	noise := &confusion.Matrix{Classes: []string{"a", "b", "c"}, P: []float64{0.5, 0, 0, 0.5, 0.8, 0,
		0, 0.2, 1}}
	p := []float32{
		0.5, 0.5, 0, // labelled b: 0.25 of a and 0.4 of b
		0.75, 0.25, 0, // labelled b: 0.375 of a and 0.2 of b
		0.25, 0.75, 0, // labelled a: nothing else becomes a
		0, 0.25, 0.75, // labelled a: cannot be
		0.25, 0.25, 0.5, // labelled c: 0.05 of b and 0.5 of c
	}
	want := []Issue{{0.4 / 0.65, 1, 0.4 / 0.65, false}, {0.2 / 0.575, 0, 0.375 / 0.575, true}, {1, 0,
		1, false}, {0, 2, 0.75, true}, {0.5 / 0.55, 2, 0.5 / 0.55, false}}
	got, err := FindIssues(p, []int32{1, 1, 0, 0, 2}, nil, 3, noise)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if g := got[i]; math.Abs(g.Quality-w.Quality) > 1e-12 || math.Abs(g.Sure-w.Sure) > 1e-12 ||
			g.Likely != w.Likely || g.Wrong != w.Wrong {
			t.Errorf("example %d: found %+v, wanted %+v", i, g, w)
		}
	}
	// Without noise the model's class decides.
	got, err = FindIssues(p, []int32{1, 1, 0, 0, 2}, nil, 3, nil)
	if err != nil || got[0] != (Issue{0.5, 0, 0.5, true}) || got[1] != (Issue{0.25, 0, 0.75, true}) ||
		got[4] != (Issue{0.5, 2, 0.5, false}) {
		t.Errorf("found %+v, %v", got, err)
	}
}

// By hand: a model that knows nothing, an annotator who is right for eight of ten and one who
// takes a for b.
func TestFindCrowdIssuesByHand(t *testing.T) {
	good := confusion.Annotator{P: []float64{0.8, 0.2, 0.2, 0.8}}
	turned := confusion.Annotator{P: []float64{0.1, 0.9, 0.9, 0.1}}
	a := &dataset.Annotations{Classes: []string{"a", "b"}, Names: []string{"good", "turned"},
		Start: []int{0, 2, 4, 5}, By: []int32{0, 1, 0, 1, 0}, Label: []int32{0, 1, 0, 0, 1}}
	p := []float32{0.5, 0.5, 0.5, 0.5, 0.75, 0.25}
	by := func(i int) []confusion.Annotator { return []confusion.Annotator{good, turned} }
	got, err := FindCrowdIssues(p, a, []int32{1, 0, 1}, nil, by)
	if err != nil {
		t.Fatal(err)
	}
	// Labels a and b: 0.8·0.9 of a and 0.2·0.1 of b; a and a: 0.8·0.1 and 0.2·0.9; b: 0.75·0.2 and
	// 0.25·0.8.
	want := []Issue{{0.02 / 0.74, 0, 0.72 / 0.74, true}, {0.08 / 0.26, 1, 0.18 / 0.26, true},
		{0.2 / 0.35, 1, 0.2 / 0.35, false}}
	for i, w := range want {
		if g := got[i]; math.Abs(g.Quality-w.Quality) > 1e-12 || math.Abs(g.Sure-w.Sure) > 1e-12 ||
			g.Likely != w.Likely || g.Wrong != w.Wrong {
			t.Errorf("example %d: found %+v, wanted %+v", i, g, w)
		}
	}
	// The first two are one picture.
	got, err = FindCrowdIssues(p, a, []int32{1, 0, 1}, []int32{0, 0, 2}, by)
	if one := 0.72 * 0.08 / (0.72*0.08 + 0.02*0.18); err != nil ||
		math.Abs(got[1].Quality-one) > 1e-12 ||
		math.Abs(got[0].Quality-(1-one)) > 1e-12 || got[1].Likely != 0 {
		t.Errorf("found %+v, %v, wanted %v", got, err, one)
	}
	one := func(int) []confusion.Annotator { return by(0)[:1] }
	if _, err := FindCrowdIssues(p, a, []int32{1, 0, 1}, nil, one); !facts.Told(err,
		"example 0 0 1 annotators 2 2×2") {
		t.Errorf("one matrix of two annotators: %v", err)
	}
	if _, err := FindCrowdIssues(p, a, []int32{1, 0}, nil, by); err == nil {
		t.Error("two labels of three examples: no error")
	}
}

// Equal examples are judged together, as by logarithms of their likelihoods; others are not
// touched by them.
func TestFindIssuesOfEqualExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, q = 400, 4
	noise, err := confusion.Random([]string{"a", "b", "c", "d"}, 0.4, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, y, same := make([]float32, n*q), make([]int32, n), make([]int32, n)
	for i := range n {
		y[i], same[i] = rng.Int32N(q), int32(i)
		if i > 50 && rng.IntN(3) > 0 {
			same[i] = same[rng.IntN(50)]
		}
		sum := float32(0)
		for k := range q {
			p[i*q+k] = rng.Float32()
			sum += p[i*q+k]
		}
		for k := range q {
			p[i*q+k] /= sum
		}
	}
	got, err := FindIssues(p, y, same, q, noise)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := FindIssues(p, y, nil, q, noise)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var mean, likelihood [q]float64
		size := 0.0
		for j := range n {
			if same[j] == same[i] {
				size++
				for k := range q {
					mean[k] += float64(p[j*q+k])
					likelihood[k] += math.Log(noise.P[int(y[j])*q+k])
				}
			}
		}
		sum := 0.0
		for k := range q {
			mean[k] *= math.Exp(likelihood[k]) / size
			sum += mean[k]
		}
		quality := mean[y[i]] / sum
		likely := slices.Index(mean[:], slices.Max(mean[:]))
		if g := got[i]; math.Abs(g.Quality-quality) > 1e-9 || int(g.Likely) != likely ||
			g.Wrong != (g.Quality < 0.5) {
			t.Fatalf("example %d of %v equal ones: found %+v, wanted %v, %d", i, size, g, quality, likely)
		}
		if size == 1 && got[i] != alone[i] {
			t.Fatalf("example %d: found %+v, alone %+v", i, got[i], alone[i])
		}
	}
	// Thousands of labels of one example underflow nowhere.
	many := make([]int32, 5000)
	for i := range many {
		many[i] = int32(i % 2)
	}
	one := make([]int32, len(many))
	all, err := FindIssues(slices.Repeat([]float32{0.5, 0.5, 0, 0}, len(many)), many, one, q, noise)
	if err != nil || !(all[0].Quality >= 0 && all[0].Quality <= 1) || math.IsNaN(all[1].Quality) {
		t.Errorf("found %+v, %v", all[:2], err)
	}
}

func TestFindIssuesErrors(t *testing.T) {
	two, _ := confusion.Symmetric([]string{"a", "b"}, 0)
	for _, c := range []struct {
		p       []float32
		y, same []int32
		q       int
		want    string
	}{
		{[]float32{1, 0, 0}, []int32{0}, nil, 2, "3 probabilities 1 labels 2"},
		{[]float32{1, 0}, []int32{2}, nil, 2, "example 0 0 label 2 -1 1"},
		{[]float32{1, 2}, []int32{1}, nil, 2, "example 0 0 2 0 1"},
		{[]float32{1, 0, 0}, []int32{1}, nil, 3, "2 classes 3"},
		{[]float32{1, 0}, []int32{1}, []int32{1}, 2, "example 0 0 example 1 0 0"},
		{[]float32{1, 0}, []int32{1}, []int32{}, 2, "0 numbers 1 labels"},
	} {
		if _, err := FindIssues(c.p, c.y, c.same, c.q, two); !facts.Told(err, c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
