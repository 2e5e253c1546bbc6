package estimate

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// ErrInSample is the error of probabilities that agree with every label, as in-sample predictions
// do.
var ErrInSample = errors.New("the probabilities agree with every label, as in-sample predictions " +
	"do: pass out-of-fold probabilities")

// blocks passes probabilities of n examples for q classes, row-major, to use, in order, in blocks
// of whole rows that are unchanged until use returns. It may be called more than once.
type blocks = func(use func(p []float32) error) error

// joint counts examples by noisy label p and estimated true class t.
type joint struct {
	q          int
	y          []int32
	thresholds []float64 // mean probability of each label where given; +Inf for labels never given
	labels     []int64   // number of each label
	counted    []int64   // Q×Q, row-major: the confident examples at [p*Q+t]
	// calibrated is Q×Q, counted scaled so that each row sums to the number of its labels, with at
	// least one example on the diagonal.
	calibrated []float64
}

// The slack and the least threshold of the rule.
const (
	confidentSlack = 1e-6
	confidentLeast = 2e-6
)

// ConfidentJoint estimates C from out-of-fold probabilities of noisy labels, n×Q, by confident
// learning (Northcutt, Jiang and Chuang, Confident learning: estimating uncertainty in dataset
// labels, JAIR 70, 2021, Section 3.1), as cleanlab does: an example counts as class t if its
// probability of t reaches t's threshold, the mean probability of t among examples labelled t;
// among several such classes the most likely one, and with none it is not counted. Rows are then
// scaled to the number of their labels.
//
// A class without a counted example gets correct labels and a note. y are the noisy labels. Unless
// heldOut, probabilities that agree with every label are refused with ErrInSample. Sums and counts
// are integers, so that the result does not depend on blocks or processors.
func ConfidentJoint(classes []string, y []int32, rows blocks, heldOut bool) (*Estimate, error) {
	e, _, err := confidentJoint(classes, y, rows, heldOut)
	if err != nil {
		return nil, fmt.Errorf("confident joint: %w", err)
	}
	return e, nil
}

func confidentJoint(classes []string, y []int32, rows blocks, heldOut bool,
) (*Estimate, *joint, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, nil, err
	}
	q := m.Q()
	if err := confusion.CheckLabels("labels", y, q); err != nil {
		return nil, nil, err
	}
	j := &joint{q: q, y: y, labels: make([]int64, q), counted: make([]int64, q*q)}
	for _, k := range y {
		j.labels[k]++
	}
	if err := j.findThresholds(rows); err != nil {
		return nil, nil, err
	}
	agree, err := j.count(rows)
	if err != nil {
		return nil, nil, err
	}
	if agree && !heldOut {
		return nil, nil, ErrInSample
	}
	j.calibrate()
	return j.estimate(m), j, nil
}

// inBlocks calls use concurrently for parts of the rows, with the index of the first.
func inBlocks(rows blocks, n, q int, use func(p []float32, first int)) error {
	first := 0
	err := rows(func(p []float32) error {
		if len(p)%q != 0 || first+len(p)/q > n {
			return fmt.Errorf("found probabilities of %d classes and of %d examples or more, wanted %d of "+
				"each of %d", len(p)%q, first+len(p)/q, q, n)
		}
		parallel.Ranges(len(p)/q, 1<<10, func(from, to int) { use(p[from*q:to*q], first+from) })
		first += len(p) / q
		return nil
	})
	if err == nil && first != n {
		err = fmt.Errorf("found probabilities of %d examples, wanted %d as there are labels", first, n)
	}
	return err
}

// thresholdUnit is the fixed-point unit of sums of probabilities.
const thresholdUnit = 1 << 36

func (j *joint) findThresholds(rows blocks) error {
	q, bad := j.q, -1
	sums := make([]int64, q)
	var lock sync.Mutex
	err := inBlocks(rows, len(j.y), q, func(p []float32, first int) {
		own, wrong := make([]int64, q), -1
		for i := range len(p) / q {
			k := j.y[first+i]
			v := p[i*q+int(k)]
			if !(v >= 0 && v <= 1+confidentSlack) && wrong < 0 {
				wrong = first + i
			}
			own[k] += int64(float64(v)*thresholdUnit + 0.5) // a product by a power of two is exact
		}
		lock.Lock()
		defer lock.Unlock()
		lists.Add(sums, own)
		if wrong >= 0 && (bad < 0 || wrong < bad) {
			bad = wrong
		}
	})
	if err == nil && bad >= 0 {
		err = fmt.Errorf("example %d (counted from 0) has no probability of its label, wanted a number "+
			"from 0 to 1", bad)
	}
	j.thresholds = make([]float64, q)
	for k, sum := range sums {
		j.thresholds[k] = math.Inf(1)
		if j.labels[k] > 0 {
			j.thresholds[k] = max(float64(sum)/thresholdUnit/float64(j.labels[k]), confidentLeast)
		}
	}
	return err
}

// count counts the examples and reports whether every label is the most likely class.
func (j *joint) count(rows blocks) (agree bool, err error) {
	q := j.q
	need := memory.Product(q, q, 8, parallel.Workers(len(j.y), 1))
	if err := memory.Check(need, "the counts of pairs of classes"); err != nil {
		return false, err
	}
	// The least float32 that reaches the threshold by a comparison in float64.
	reach := make([]float32, q)
	for k, t := range j.thresholds {
		if reach[k] = float32(t - confidentSlack); float64(reach[k]) < t-confidentSlack {
			reach[k] = math.Nextafter32(reach[k], 2)
		}
	}
	var lock sync.Mutex
	agree = true
	err = inBlocks(rows, len(j.y), q, func(p []float32, first int) {
		own, same := make([]int64, q*q), true
		for i := range len(p) / q {
			row := p[i*q : (i+1)*q]
			k := int(j.y[first+i])
			t, sure := reaches(row, reach)
			if sure > 1 || same {
				most := lists.Largest(row)
				same = same && most == k
				if sure > 1 {
					t = most
				}
			}
			if sure > 0 {
				own[k*q+t]++
			}
		}
		lock.Lock()
		defer lock.Unlock()
		lists.Add(j.counted, own)
		agree = agree && same
	})
	return agree, err
}

// reaches returns the last class that reaches its threshold and the number of such classes.
func reaches(row, reach []float32) (at, n int) {
	reach = reach[:len(row)]
	for k, v := range row {
		if v >= reach[k] {
			at = k
			n++
		}
	}
	return at, n
}

func (j *joint) calibrate() {
	q := j.q
	j.calibrated = make([]float64, q*q)
	for p := range q {
		sum := 0.0
		for t := range q {
			v := float64(j.counted[p*q+t])
			if t == p {
				v = max(v, 1)
			}
			j.calibrated[p*q+t] = v
			sum += v
		}
		for t := range q {
			j.calibrated[p*q+t] = j.calibrated[p*q+t] / sum * float64(j.labels[p])
		}
	}
}

// estimate divides the calibrated joint by its columns' sums.
func (j *joint) estimate(m *confusion.Matrix) *Estimate {
	q := m.Q()
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: "confident joint",
		Assumes: "out-of-fold predictions are confident in the true class, or labels of other examples " +
			"are wrong as often as of confident ones"}
	for t := range q {
		sum, counted := 0.0, 0.0
		for p := range q {
			sum += j.calibrated[p*q+t]
			counted += float64(j.counted[p*q+t])
		}
		for p := range q {
			v := 0.0
			switch {
			case sum > 0:
				v = j.calibrated[p*q+t] / sum
			case p == t:
				v = 1
			}
			e.P[p*q+t], e.Error[p*q+t] = v, math.Sqrt(spread(v, counted)/(counted+1))
		}
		switch {
		case sum == 0:
			e.Notes = append(e.Notes,
				fmt.Sprintf("label %.60q is never given, and no example counts as that class: its noise is "+
					"unknown", m.Classes[t]))
		case counted < FewExamples:
			e.Notes = append(e.Notes,
				fmt.Sprintf("%v examples count as class %.60q: its column is unreliable",
					counted, m.Classes[t]))
		}
	}
	return e
}
