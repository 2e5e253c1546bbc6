// Package metric says how well a classifier predicts: by labels that are known to be right, or
// by noisy ones through their confusion matrix.
package metric

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Report is the quality of n predictions over Q classes. Its JSON form is what
// `uma-gpu eval --json` prints.
type Report struct {
	Examples  int     `json:"examples"`   // n ≥ 1
	ErrorRate float64 `json:"error_rate"` // share of examples predicted wrong, in [0, 1]

	// Two norms of the Q×Q matrix Ĉ[p][q] = P(predicted = p | true = q) with its diagonal set to 0;
	// a class without examples has a column of zeros. Unlike the error rate they weigh rare classes
	// like common ones (Louche & Ralaivola, Machine Learning 99, 2015).
	ConfusionRate float64 `json:"confusion_rate"` // ‖Ĉ‖_F / √Q, in [0, 1]
	OperatorNorm  float64 `json:"operator_norm"`  // largest singular value, in [0, √Q]

	// As scikit-learn's f1_score(average="macro"), balanced_accuracy_score and
	// cohen_kappa_score: the mean F1 of the classes that occur or are predicted, the mean
	// recall of classes that occur, and (a - c) / (1 - c) of the accuracy a and the c that chance
	// would have, from -1 to 1, nil (null) where c is 1.
	MacroF1          float64  `json:"macro_f1"`
	BalancedAccuracy float64  `json:"balanced_accuracy"`
	Kappa            *float64 `json:"kappa"`

	PerClass  []classReport `json:"per_class"` // in the order of the class indices
	Confusion [][]int64     `json:"confusion"` // Q×Q counts: [p][q] predicted p, truly q
}

// classReport is the quality of the predictions of one class.
type classReport struct {
	Class    string   `json:"class"`
	Examples int64    `json:"examples"` // examples truly of the class
	Recall   *float64 `json:"recall"`   // share of them predicted so; nil (null) if there are none
	// share of those predicted so that are; nil (null) if there are none
	Precision *float64 `json:"precision"`
	// harmonic mean of both; nil (null) if there are none of either
	F1 *float64 `json:"f1"`
}

// Evaluate compares predicted with truth, the class indices in 0..Q-1 of the same examples, where Q
// = len(classes). The report shares no memory with its arguments.
//
// The error is about no class, no example, slices of different lengths, or the
// first example with a label out of range.
func Evaluate(truth, predicted []int32, classes []string) (Report, error) {
	n, q := len(truth), len(classes)
	switch {
	case q == 0:
		return Report{}, fmt.Errorf("evaluate: no class, wanted 1 or more")
	case len(predicted) != n:
		return Report{}, fmt.Errorf("evaluate: %d predictions for %d true labels, wanted one for each",
			len(predicted), n)
	case n == 0:
		return Report{}, fmt.Errorf("evaluate: no example, wanted 1 or more")
	}
	counts := make([]int64, q*q)
	wrong := 0
	for i, t := range truth {
		p := predicted[i]
		if t < 0 || int(t) >= q {
			return Report{}, fmt.Errorf("evaluate: example %d (counted from 0) has true label %d, wanted 0 "+
				"to %d", i, t, q-1)
		}
		if p < 0 || int(p) >= q {
			return Report{}, fmt.Errorf("evaluate: example %d (counted from 0) has predicted label %d, "+
				"wanted 0 to %d", i, p, q-1)
		}
		counts[int(p)*q+int(t)]++
		if p != t {
			wrong++
		}
	}
	r := Report{Examples: n, ErrorRate: float64(wrong) / float64(n)}
	predictedAs, trulyOf := sums(counts, q)
	m := meansOf(lists.As[float64](counts), lists.As[float64](predictedAs),
		lists.As[float64](trulyOf))
	r.MacroF1, r.BalancedAccuracy, r.Kappa = *m.macroF1, *m.balanced, m.kappa // of some class at least
	for c, name := range classes {
		hits := counts[c*q+c]
		r.PerClass = append(r.PerClass, classReport{
			Class:     name,
			Examples:  trulyOf[c],
			Recall:    share(hits, trulyOf[c]),
			Precision: share(hits, predictedAs[c]),
			F1:        m.f1[c],
		})
		r.Confusion = append(r.Confusion, counts[c*q:(c+1)*q:(c+1)*q])
	}
	c := confusions(counts, trulyOf)
	r.ConfusionRate = rate(c, q)
	var ok bool
	if r.OperatorNorm, ok = LargestSingular(c, q); !ok {
		return Report{}, fmt.Errorf("evaluate: the singular value decomposition of the %d×%d confusion "+
			"matrix did not converge", q, q)
	}
	return r, nil
}

// LargestSingular returns the largest singular value of the q×q matrix c, which it overwrites;
// false if the decomposition does not converge. It spares programs package gonum/mat, which has the
// same.
func LargestSingular(c []float64, q int) (float64, bool) {
	var l lapackgo.Implementation
	s, work, unused := make([]float64, q), make([]float64, 1), make([]float64, 1)
	l.Dgesvd(lapack.SVDNone, lapack.SVDNone, q, q, c, q, s, unused, 1, unused, 1, work, -1)
	work = make([]float64, int(work[0]))
	ok := l.Dgesvd(lapack.SVDNone, lapack.SVDNone, q, q, c, q, s, unused, 1, unused, 1, work,
		len(work))
	return s[0], ok
}

// share returns part/whole, or nil for a whole of 0.
func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}

// confusions returns Ĉ with a diagonal of zeros, row-major, from the counts and their column sums.
func confusions(counts, columns []int64) []float64 {
	q := len(columns)
	c := make([]float64, q*q)
	for p := range q {
		for t := range q {
			if p != t && columns[t] > 0 {
				c[p*q+t] = float64(counts[p*q+t]) / float64(columns[t])
			}
		}
	}
	return c
}

// rate returns the Frobenius norm of the q×q matrix c over √q.
func rate(c []float64, q int) float64 {
	sum := 0.0
	for _, v := range c {
		sum += float64(v * v)
	}
	return math.Sqrt(sum / float64(q))
}

// means are the values that weigh rare classes like common ones, as scikit-learn computes them.
type means struct {
	f1       []*float64 // of each class; nil of one that neither occurs nor is predicted
	macroF1  *float64   // their mean; nil if there is none
	balanced *float64   // mean recall of the classes that occur; nil if none does
	kappa    *float64   // nil if prediction and truth are one class throughout
}

// meansOf returns them of the examples joint[p*q+t] that are predicted p and truly t, whose sums
// are given: numbers, or estimates of them.
func meansOf(joint, predicted, truly []float64) means {
	q := len(truly)
	m := means{f1: make([]*float64, q)}
	var f1, recall []float64
	hits, chance, n := 0.0, 0.0, 0.0
	for k, of := range truly {
		hit := joint[k*q+k]
		if both := predicted[k] + of; both > 0 {
			v := 2 * hit / both
			m.f1[k] = &v
			f1 = append(f1, v)
		}
		if of > 0 {
			recall = append(recall, hit/of)
		}
		hits += hit
		chance += float64(predicted[k] * of)
		n += of
	}
	m.macroF1, m.balanced = meanOf(f1), meanOf(recall)
	if agree := chance / n; agree < n {
		v := (hits - agree) / (n - agree)
		m.kappa = &v
	}
	return m
}

// meanOf returns the mean of numbers, nil of none.
func meanOf(list []float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	v := lists.Sum(list) / float64(len(list))
	return &v
}

// sums returns the sums of the rows and of the columns of a q×q table.
func sums[T int64 | float64](table []T, q int) (rows, columns []T) {
	rows, columns = make([]T, q), make([]T, q)
	for p := range q {
		for t, v := range table[p*q : (p+1)*q] {
			rows[p] += v
			columns[t] += v
		}
	}
	return rows, columns
}
