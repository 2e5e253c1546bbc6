package estimate

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// The slack and the least threshold of the rule.
const (
	confidentSlack = 1e-6
	confidentLeast = 2e-6
)

// ConfidentJoint estimates C from out-of-fold probabilities of noisy labels, p n×Q row-major, by
// confident learning (Northcutt, Jiang and Chuang, Confident learning: estimating uncertainty in
// dataset labels, JAIR 70, 2021, Section 3.1), as cleanlab does: an example counts as class t if
// its probability of t reaches t's threshold, the mean probability of t among examples labelled t;
// among several such classes the most likely one, and with none it is not counted. Rows are then
// scaled to the number of their labels.
//
// A class without a counted example gets correct labels and a note. y are the noisy labels. Unless
// heldOut, probabilities that agree with every label, as in-sample predictions do, are an error.
func ConfidentJoint(classes []string, y []int32, p []float32, heldOut bool) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	if err := confusion.CheckLabels("confident joint: labels", y, q); err != nil {
		return nil, err
	}
	if len(p) != len(y)*q {
		return nil, fmt.Errorf("confident joint: found %d probabilities for %d labels, wanted %d for "+
			"each", len(p), len(y), q)
	}
	counted, agree, err := countConfident(y, p, q)
	if err != nil {
		return nil, err
	}
	if agree && !heldOut {
		return nil, errors.New("confident joint: the probabilities agree with every label, as " +
			"in-sample predictions do: pass out-of-fold probabilities")
	}
	joint := calibrated(counted, y, q)
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: "confident joint",
		Assumes: "out-of-fold predictions are confident in the true class, or labels of other examples " +
			"are wrong as often as of confident ones"}
	for t := range q {
		sum, n := columnSum(joint, q, t), columnSum(counted, q, t)
		for k := range q {
			v := 0.0
			switch {
			case sum > 0:
				v = joint[k*q+t] / sum
			case k == t:
				v = 1
			}
			e.P[k*q+t], e.Error[k*q+t] = v, math.Sqrt(spread(v, n)/(n+1))
		}
		switch {
		case sum == 0:
			e.Notes = append(e.Notes,
				fmt.Sprintf("label %.60q is never given, and no example counts as that class: its noise is "+
					"unknown", classes[t]))
		case n < FewExamples:
			e.Notes = append(e.Notes,
				fmt.Sprintf("%v examples count as class %.60q: its column is unreliable", n, classes[t]))
		}
	}
	e.Notes = some(e.Notes)
	return e, nil
}

// countConfident counts the confident examples by noisy label k and estimated class t, at [k*q+t],
// and reports whether every label is the most likely class.
func countConfident(y []int32, p []float32, q int) (counted []float64, agree bool, err error) {
	thresholds, labels := make([]float64, q), make([]float64, q)
	for i, k := range y {
		v := float64(p[i*q+int(k)])
		if !(v >= 0 && v <= 1+confidentSlack) {
			return nil, false, fmt.Errorf("confident joint: example %d (counted from 0) has the "+
				"probability %v of its label, wanted a number from 0 to 1", i, v)
		}
		thresholds[k] += v
		labels[k]++
	}
	for k, n := range labels {
		if thresholds[k] = max(thresholds[k]/n, confidentLeast); n == 0 {
			thresholds[k] = math.Inf(1)
		}
	}
	counted, agree = make([]float64, q*q), true
	for i, k := range y {
		row := p[i*q : (i+1)*q]
		likeliest, class, n := lists.Largest(row), 0, 0
		for t, v := range row {
			if float64(v) >= thresholds[t]-confidentSlack {
				class = t
				n++
			}
		}
		if agree = agree && likeliest == int(k); n > 1 {
			class = likeliest
		}
		if n > 0 {
			counted[int(k)*q+class]++
		}
	}
	return counted, agree, nil
}

// calibrated returns the counts scaled so that each row sums to the number of its labels, with at
// least one example on the diagonal.
func calibrated(counted []float64, y []int32, q int) []float64 {
	joint, labels := make([]float64, q*q), make([]float64, q)
	for _, k := range y {
		labels[k]++
	}
	for k := range q {
		row := joint[k*q : (k+1)*q]
		copy(row, counted[k*q:])
		row[k] = max(row[k], 1)
		sum := lists.Sum(row)
		for t, v := range row {
			row[t] = v / sum * labels[k]
		}
	}
	return joint
}
