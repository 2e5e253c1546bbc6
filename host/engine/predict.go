package engine

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Predict returns the class of each example by the weights w (clauses 1 and 4). The
// examples are prepared as the examples that w was trained on. Errors: those of Load and Rescore.
func Predict(e Engine, w Weights, rows dataset.Rows) (classes []int32, err error) {
	x := rows.Stored()
	classes = make([]int32, x.N)
	err = score(e, w, x, func(r Scorer) error { return r.Predict(classes) })
	return classes, err
}

// Scores returns the score of each example for each class, x.N×w.Q row-major (clause 1).
// Otherwise it is Predict.
func Scores(e Engine, w Weights, rows dataset.Rows) (scores []float32, err error) {
	x := rows.Stored()
	scores = make([]float32, x.N*w.Q)
	err = score(e, w, x, func(r Scorer) error { return r.Scores(scores, 0, x.N) })
	return scores, err
}

// Predicted returns the class of the largest of each q scores, the first of equal ones (clause 4):
// what Predict says of examples with these Scores.
func Predicted(scores []float32, q int) []int32 {
	classes := make([]int32, len(scores)/q)
	for i := range classes {
		row := scores[i*q : (i+1)*q]
		for r, s := range row {
			if s > row[classes[i]] {
				classes[i] = int32(r)
			}
		}
	}
	return classes
}

// score scores examples for all classes and hands them to read.
func score(e Engine, w Weights, x dataset.Stored, read func(Scorer) error) (err error) {
	if x.N == 0 {
		return nil
	}
	r, err := e.Load(x, w.Q)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	all := make([]int, w.Q)
	for c := range all {
		all[c] = c
	}
	if err := r.Rescore(w, all); err != nil {
		return err
	}
	return read(r)
}
