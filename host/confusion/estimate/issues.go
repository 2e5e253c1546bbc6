package estimate

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Issue is the judgement of a noisy label.
type Issue struct {
	// Quality is the probability that the label is right, in [0, 1].
	Quality float64
	// Likely is the most likely true class, the first of ties.
	Likely int32
	// Sure is the probability that Likely is the true class, in [0, 1].
	Sure float64
	// Wrong reports that the label is more likely wrong than right.
	Wrong bool
}

// FindIssues judges the noisy labels y of n examples with confusion matrix noise. p, n×Q row-major,
// are out-of-fold probabilities of the true classes; in-sample, nearly every label looks right. The
// result has n entries. A label of -1 is none: it says nothing, and its Quality is 1.
//
// By Bayes' rule P(true = t) ∝ p[t]·C[y][t]: a label can be right although the model prefers
// another class, if that class never has this label. same[i], nil for none, is the first example
// equal to i, as from dataset.Firsts; equal examples share one true class, with
// probability ∝ the mean of their p[t] times C[y][t] for each of their labels.
//
// Without noise, p are probabilities of noisy labels: Quality is p[y], Likely the argmax, Sure its
// p, and Wrong reports that y is another class; same is ignored.
//
// Arithmetic is float64 in order, so that bits are the same everywhere.
func FindIssues(p []float32, y, same []int32, q int, noise *confusion.Matrix) ([]Issue, error) {
	if err := checkIssues(p, y, same, q, noise); err != nil {
		return nil, err
	}
	issues := make([]Issue, len(y))
	if noise == nil {
		for i, k := range y {
			row := p[i*q : (i+1)*q]
			most := lists.Largest(row)
			issues[i] = Issue{Quality: 1, Likely: int32(most), Sure: float64(row[most])}
			if k >= 0 {
				issues[i].Quality, issues[i].Wrong = float64(row[k]), most != int(k)
			}
		}
		return issues, nil
	}
	f := issueFinder{p: p, y: y, q: q, evidence: func(i int, use func([]float64)) {
		if y[i] >= 0 {
			use(noise.P[int(y[i])*q : (int(y[i])+1)*q])
		}
	}}
	return f.all(same), nil
}

// FindCrowdIssues is FindIssues for labels of several annotators: y are the labels to judge, such
// as votes, and each label of an example counts by the matrix of its annotator. by(i) returns a
// matrix for each of a.Names, learned without example i. Likely is the consensus of annotators and
// model.
//
// It assumes that annotators err independently of each other and of the features given the true
// class.
func FindCrowdIssues(
	p []float32, a *dataset.Annotations, y, same []int32, by func(i int) []confusion.Annotator,
) ([]Issue, error) {
	q := len(a.Classes)
	if err := a.Check(len(y), q); err != nil {
		return nil, fmt.Errorf("label issues: %w", err)
	}
	if err := checkIssues(p, y, same, q, nil); err != nil {
		return nil, err
	}
	for i := range y {
		if m := by(i); len(m) != len(a.Names) || len(m[0].P) != q*q {
			return nil, fmt.Errorf("label issues: example %d (counted from 0) has matrices of %d "+
				"annotators, wanted %d of %d×%d", i, len(m), len(a.Names), q, q)
		}
	}
	f := issueFinder{p: p, y: y, q: q, evidence: func(i int, use func([]float64)) {
		who, labels := a.Of(i)
		matrices := by(i)
		for n, k := range labels {
			use(matrices[who[n]].P[int(k)*q : (int(k)+1)*q])
		}
	}}
	return f.all(same), nil
}

// issueFinder is the state of FindIssues or FindCrowdIssues.
type issueFinder struct {
	p []float32
	y []int32
	q int
	// evidence calls use with the likelihood of each label of example i for every true class.
	evidence     func(i int, use func([]float64))
	belief, next []float64 // of q classes
}

// all judges all labels.
func (f *issueFinder) all(same []int32) []Issue {
	issues := make([]Issue, len(f.y))
	f.belief, f.next = make([]float64, f.q), make([]float64, f.q)
	for i := range f.y {
		if same == nil || int(same[i]) == i {
			f.judge(issues, []int{i})
		}
	}
	for _, group := range groupsOf(same) {
		f.judge(issues, group)
	}
	return issues
}

// judge judges the labels of examples that share one true class.
func (f *issueFinder) judge(issues []Issue, group []int) {
	for t := range f.belief {
		sum := 0.0
		for _, i := range group {
			sum += float64(f.p[i*f.q+t])
		}
		f.belief[t] = sum / float64(len(group))
	}
	possible := false // labels of probability 0 are ignored
	for _, i := range group {
		f.evidence(i, func(row []float64) {
			sum := 0.0
			for t, v := range f.belief {
				f.next[t] = float64(v * row[t])
				sum += f.next[t]
			}
			if sum == 0 {
				return
			}
			possible = true
			for t, v := range f.next {
				f.belief[t] = v / sum
			}
		})
	}
	likely := int32(lists.Largest(f.belief))
	for _, i := range group {
		quality := 1.0
		if f.y[i] >= 0 {
			quality = f.belief[f.y[i]]
			if !possible && len(group) == 1 {
				quality = 0
			}
		}
		issues[i] = Issue{Quality: quality, Likely: likely, Sure: f.belief[likely], Wrong: quality < 0.5}
	}
}

// groupsOf returns the groups of equal examples, each in increasing order, ordered by their first.
func groupsOf(same []int32) [][]int {
	at := map[int32]int{} // of the first in groups
	var groups [][]int
	for i, first := range same {
		if int(first) == i {
			continue
		}
		g, known := at[first]
		if !known {
			g = len(groups)
			at[first] = g
			groups = append(groups, []int{int(first)})
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// checkIssues checks the arguments.
func checkIssues(p []float32, y, same []int32, q int, noise *confusion.Matrix) error {
	n := len(y)
	if q < 2 || len(p) != n*q {
		return fmt.Errorf("label issues: found %d probabilities for %d labels, wanted %d for each",
			len(p), n, q)
	}
	if noise != nil && (noise.Q() != q || len(noise.P) != q*q) {
		return fmt.Errorf("label issues: found a confusion matrix of %d classes, wanted %d", noise.Q(), q)
	}
	if same != nil && len(same) != n {
		return fmt.Errorf("label issues: found %d numbers of equal examples for %d labels, wanted one "+
			"for each", len(same), n)
	}
	for i, k := range y {
		if k < dataset.Unlabelled || int(k) >= q {
			return fmt.Errorf("label issues: example %d (counted from 0) has label %d, wanted -1 (for "+
				"none) to %d", i, k, q-1)
		}
	}
	for i, first := range same {
		if first < 0 || int(first) > i {
			return fmt.Errorf("label issues: example %d (counted from 0) equals example %d first, wanted 0 "+
				"to %d", i, first, i)
		}
	}
	for i, v := range p {
		if !(v >= 0 && v <= 1+1e-5) { // what rounding may have added
			return fmt.Errorf("label issues: example %d (counted from 0) has the probability %v, wanted 0 "+
				"to 1", i/q, v)
		}
	}
	return nil
}
