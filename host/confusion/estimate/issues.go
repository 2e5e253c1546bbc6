package estimate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Issue says of an example whether its noisy label is likely to be wrong.
type Issue struct {
	// Quality is the probability that the label is right, in [0, 1].
	Quality float64
	// Likely is the most likely true class, the first of equally likely ones.
	Likely int32
	// Sure is the probability that Likely is the true class, in [0, 1].
	Sure float64
	// Wrong says that the label is more likely wrong than right.
	Wrong bool
}

// FindIssues judges the noisy labels y of n examples, whose confusion matrix is noise. p, n×q
// row-major, are the probabilities of the true classes by a model that has not seen the example:
// by one that has, nearly every label looks right. What is returned has n entries.
//
// The probability of true class t is in proportion to p[t]·C[y][t] (Bayes): a label can be right
// though the model prefers another class, if that class is never labelled so. same[i], nil for
// none, is the first example equal to i, as dataset.Examples.Firsts finds them: equal ones have
// one true class, whose probability is in proportion to the mean of their p[t] times C[y][t] of
// each of their labels.
//
// Without noise, p are the probabilities of noisy labels. Quality is then p[y], Likely the
// largest, Sure its p, and Wrong says that y is another class; same does not count.
//
// Products, sums and divisions are of float64 in order, so that their bits are the same everywhere.
func FindIssues(p []float32, y, same []int32, q int, noise *confusion.Matrix) ([]Issue, error) {
	if err := checkIssues(p, y, same, q, noise); err != nil {
		return nil, err
	}
	issues := make([]Issue, len(y))
	if noise == nil {
		for i, k := range y {
			row := p[i*q : (i+1)*q]
			most := lists.Largest(row)
			issues[i] = Issue{Quality: float64(row[k]), Likely: int32(most), Sure: float64(row[most]),
				Wrong: most != int(k)}
		}
		return issues, nil
	}
	f := issueFinder{p: p, y: y, q: q, evidence: func(i int, of func([]float64)) {
		of(noise.P[int(y[i])*q : (int(y[i])+1)*q])
	}}
	return f.all(same), nil
}

// FindCrowdIssues is FindIssues where several annotators have labelled the examples, and errs as
// it does: y are the labels to judge, such as their votes, and all labels of an example count,
// each by the matrix of its annotator. by(i), for example i, has a matrix for each of a.Names,
// learned without that example. Likely is then the consensus of the annotators and the model.
//
// The annotators err independently of each other and of the features, as far as the true class
// does not explain it: so says the product.
func FindCrowdIssues(
	p []float32, a *crowd.Annotations, y, same []int32, by func(i int) []confusion.Annotator,
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
	f := issueFinder{p: p, y: y, q: q, evidence: func(i int, of func([]float64)) {
		who, labels := a.Of(i)
		matrices := by(i)
		for n, k := range labels {
			of(matrices[who[n]].P[int(k)*q : (int(k)+1)*q])
		}
	}}
	return f.all(same), nil
}

// LeastSure brings some examples into the order in which a further label of each tells most: by how
// sure its likeliest class is, and of equally sure ones how likely its label.
func LeastSure(some []int, found []Issue) {
	slices.SortStableFunc(some, func(a, b int) int {
		return cmp.Or(cmp.Compare(found[a].Sure, found[b].Sure),
			cmp.Compare(found[a].Quality, found[b].Quality))
	})
}

// issueFinder is a call of FindIssues or FindCrowdIssues.
type issueFinder struct {
	p []float32
	y []int32
	q int
	// evidence hands each label of example i to of: how likely the label is with each true class.
	evidence     func(i int, of func([]float64))
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

// judge judges the labels of examples that have one true class.
func (f *issueFinder) judge(issues []Issue, group []int) {
	for t := range f.belief {
		sum := 0.0
		for _, i := range group {
			sum += float64(f.p[i*f.q+t])
		}
		f.belief[t] = sum / float64(len(group))
	}
	possible := false // a label whose probability is 0 tells nothing of the others
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
		quality := f.belief[f.y[i]]
		if !possible && len(group) == 1 {
			quality = 0
		}
		issues[i] = Issue{Quality: quality, Likely: likely, Sure: f.belief[likely], Wrong: quality < 0.5}
	}
}

// groupsOf returns the examples that equal another one, in groups of equal ones, each in
// increasing order, ordered by their first.
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

// checkIssues judges the arguments.
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
	if err := labelfile.CheckLabels("label issues", y, q); err != nil {
		return err
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
