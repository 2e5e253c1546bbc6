package timing

import (
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// hostTrack is the track of what the host does or waits for.
const hostTrack = "host"

// The names of the spans of a run. A step holds the others; choose is the
// learner's part and holds norms and update vectors.
const (
	stepSpan          = "step"
	assignSpan        = "assign"
	chooseSpan        = "choose"
	normsSpan         = "norms"
	updateVectorsSpan = "update vectors"
	rescoreSpan       = "rescore"
)

// note adds a span to the trace.
type note func(name string, start, end time.Time)

// since is for defer: it notes what began when since was called.
func (n note) since(name string) func() {
	start := time.Now()
	return func() { n(name, start, time.Now()) }
}

// recorded is a data set on any engine that notes when its operations run. It spells out
// every method, so that a new one is noticed here.
type recorded struct {
	r    engine.Cells
	note note
}

func (r recorded) Shape() (n, d, q int)            { return r.r.Shape() }
func (r recorded) FixedPoint() numerics.FixedPoint { return r.r.FixedPoint() }
func (r recorded) Close() error                    { return r.r.Close() }

func (r recorded) Rescore(w engine.Weights, classes []int) error {
	defer r.note.since(rescoreSpan)()
	return r.r.Rescore(w, classes)
}

// Scores, Predict and ClassSums are no part of a step.
func (r recorded) Scores(dst []float32, from, to int) error { return r.r.Scores(dst, from, to) }
func (r recorded) Predict(dst []int32) error                { return r.r.Predict(dst) }
func (r recorded) ClassSums(dst []int64, p int) error       { return r.r.ClassSums(dst, p) }

func (r recorded) Assign(alpha float32) (engine.Assignment, error) {
	defer r.note.since(assignSpan)()
	return r.r.Assign(alpha)
}

func (r recorded) Norms(dst, inv []float32) error {
	defer r.note.since(normsSpan)()
	return r.r.Norms(dst, inv)
}

func (r recorded) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	defer r.note.since(updateVectorsSpan)()
	return r.r.UpdateVectors(dst, pairs, inv)
}

// recordedLearner notes when its learner is at work.
type recordedLearner struct {
	learners.Learner
	note note
}

func (l recordedLearner) Step(s learners.State) (learners.Update, error) {
	defer l.note.since(chooseSpan)()
	return l.Learner.Step(s)
}

// lastStep keeps the weights before and after the last step of a run, and which
// classes that step changed.
type lastStep struct {
	learners.Learner
	before, after engine.Weights
	changed       []int
}

func (l *lastStep) Step(s learners.State) (learners.Update, error) {
	before := s.W.Clone()
	u, err := l.Learner.Step(s)
	if err == nil && !u.Converged {
		l.before, l.changed = before, u.Changed
	}
	return u, err
}
