package crowd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// keywords are votes of functions on n examples, of frequent classes first: each function gives one
// class or abstains, and votes rate[t] often in class t. The last two are copies of the first.
func keywords(n int, prior []float64, rates [][]float64, gives []int32, seed uint64) (
	a *dataset.Annotations, right []int32) {
	rng := rand.New(rand.NewPCG(seed, 3))
	a = &dataset.Annotations{Functions: true, Start: []int{0}}
	for k := range prior {
		a.Classes = append(a.Classes, fmt.Sprint(k))
	}
	for j := range len(rates) + 2 {
		a.Names = append(a.Names, fmt.Sprintf("f%02d", j))
	}
	for range n {
		u, class := rng.Float64(), 0
		for u > prior[class] && class < len(prior)-1 {
			u -= prior[class]
			class++
		}
		right = append(right, int32(class))
		first := false
		for j, rate := range rates {
			if rng.Float64() < rate[class] {
				a.By, a.Label = append(a.By, int32(j)), append(a.Label, gives[j])
				first = first || j == 0
			}
		}
		for k := range 2 {
			if first {
				a.By, a.Label = append(a.By, int32(len(rates)+k)), append(a.Label, gives[0])
			}
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a, right
}

// Three classes, three functions of each: the copied one is often wrong.
func threeClasses(n int) (*dataset.Annotations, []int32, [][]float64) {
	var rates [][]float64
	var gives []int32
	for j := range 9 {
		rate := []float64{0.05, 0.05, 0.05}
		rate[j%3] = 0.35
		if j == 0 {
			rate = []float64{0.3, 0.15, 0.15}
		}
		rates, gives = append(rates, rate), append(gives, int32(j%3))
	}
	a, right := keywords(n, []float64{0.34, 0.33, 0.33}, rates, gives, 1)
	return a, right, rates
}

func TestFunctions(t *testing.T) {
	a, right, rates := threeClasses(4000)
	found, err := FitFunctions(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	byModel, byVote, voted := 0, 0, 0
	votes := a.Votes(1)
	for i, class := range found.Consensus {
		if class == dataset.Unlabelled {
			continue
		}
		voted++
		if class == right[i] {
			byModel++
		}
		if votes[i] == right[i] {
			byVote++
		}
	}
	if byModel < byVote+voted/20 || found.ByVote || found.Known {
		t.Errorf("right: %d by the model, %d by the vote, of %d; %v %v, wanted five in a hundred more",
			byModel, byVote, voted, found.ByVote, found.Known)
	}
	if len(found.Functions) != 11 {
		t.Fatalf("%d functions, wanted 11", len(found.Functions))
	}
	for j, f := range found.Functions {
		if copied := j == 0 || j > 8; copied != (f.Copies == 2) {
			t.Errorf("function %s has %d copies", f.Name, f.Copies)
		}
		for c := range 3 {
			sum := 0.0
			for k := range 4 {
				sum += f.Confusion[k][c]
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("function %s: votes and abstaining in class %d sum to %v", f.Name, c, sum)
			}
			if j < 9 && math.Abs(f.Confusion[j%3][c]-rates[j][c]) > 0.08 {
				t.Errorf("function %s votes %.3f of class %d, wanted %.2f", f.Name, f.Confusion[j%3][c], c,
					rates[j][c])
			}
		}
		if f.Coverage < f.Overlap || f.Overlap < f.Conflict || f.Conflict == 0 {
			t.Errorf("function %s: coverage %v, overlap %v, conflict %v", f.Name, f.Coverage, f.Overlap,
				f.Conflict)
		}
	}
	evidence := found.Evidence()
	for i, class := range found.Consensus {
		labelled := class != dataset.Unlabelled
		row, sum := evidence[i*3:(i+1)*3], float32(0)
		for _, v := range row {
			sum += v // classes are alike frequent
		}
		for k, v := range row {
			if p := found.Posterior[i*3+k]; labelled && math.Abs(float64(v/sum-p)) > 1e-6 ||
				!labelled && v != 1 || slices.Max(row) != 1 {
				t.Fatalf("example %d: evidence %v, posterior %v", i, row, found.Posterior[i*3:(i+1)*3])
			}
		}
	}
	again, err := FitFunctions(t.Context(), a)
	if err != nil || !reflect.DeepEqual(again, found) {
		t.Errorf("another fit differs, %v", err)
	}
}

func TestFunctionsFallBack(t *testing.T) {
	// One class has nearly all examples, and functions that vote on nearly all of them: a uniform
	// prior takes one abstaining for a sign of the other class.
	prior := []float64{0.9, 0.05, 0.05}
	var rates [][]float64
	var gives []int32
	for j := range 12 {
		rates = append(rates, []float64{0.3, 0.02, 0.02})
		if gives = append(gives, 0); j > 8 {
			rates[j], gives[j] = []float64{0.002, 0.1, 0.1}, int32(j%2+1)
		}
	}
	a, right := keywords(3000, prior, rates, gives, 2)
	found, err := FitFunctions(t.Context(), a)
	if err != nil || !found.ByVote {
		t.Fatalf("%v, wanted the vote", err)
	}
	votes := a.Votes(1)
	for i, class := range found.Consensus {
		labelled := class != dataset.Unlabelled
		row := found.Posterior[i*3 : (i+1)*3]
		if labelled && row[votes[i]] != slices.Max(row) {
			t.Fatalf("example %d has %v, and the vote %d", i, row, votes[i])
		}
	}
	// A model of features learns the shares of the votes, in which ties are ties.
	for i, row := range slices.Collect(slices.Chunk(found.Evidence(), 3)) {
		_, label := a.Of(i)
		for k, v := range row {
			want := shareOf(label, int32(k), 3)
			if len(label) == 0 {
				want = 1
			}
			if math.Abs(float64(v)-want) > 1e-6 {
				t.Fatalf("example %d with votes %v: evidence %v", i, label, row)
			}
		}
	}
	// Some right labels set the prior, and the model is kept.
	withRight := &dataset.Annotations{Classes: a.Classes, Names: append(slices.Clone(a.Names),
		"right"),
		Functions: true, Right: make([]bool, len(a.Names)+1), Start: []int{0}}
	withRight.Right[len(a.Names)] = true
	for i := range a.N() {
		by, label := a.Of(i)
		withRight.By, withRight.Label = append(withRight.By, by...), append(withRight.Label, label...)
		if i%30 == 0 {
			withRight.By = append(withRight.By, int32(len(a.Names)))
			withRight.Label = append(withRight.Label, right[i])
		}
		withRight.Start = append(withRight.Start, len(withRight.By))
	}
	found, err = FitFunctions(t.Context(), withRight)
	if err != nil || found.ByVote || !found.Known || !(found.Prior[0] > 0.8) {
		t.Errorf("by vote %v, prior %v, %v", found.ByVote, found.Prior, err)
	}
	if len(found.Functions) != len(a.Names) {
		t.Errorf("%d functions, wanted %d without the right labels", len(found.Functions), len(a.Names))
	}
}
