package learners

import "github.com/uma-gpu/uma-gpu/host/engine"

// lent is a Scorer that somebody else closes.
type lent struct{ of engine.Scorer }

func (l lent) Shape() (n, d, q int)                          { return l.of.Shape() }
func (l lent) Rescore(w engine.Weights, classes []int) error { return l.of.Rescore(w, classes) }
func (l lent) Scores(dst []float32, from, to int) error      { return l.of.Scores(dst, from, to) }
func (l lent) Predict(dst []int32) error                     { return l.of.Predict(dst) }
func (l lent) Close() error                                  { return nil }
