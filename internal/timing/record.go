package timing

import (
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
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

// recorded is a data set on any engine that notes when its operations run.
type recorded struct {
	engine.Resident
	note note
}

func (r recorded) Rescore(w engine.Weights, classes []int) error {
	defer r.note.since(rescoreSpan)()
	return r.Resident.Rescore(w, classes)
}

func (r recorded) Assign(alpha float32) (engine.Assignment, error) {
	defer r.note.since(assignSpan)()
	return r.Resident.Assign(alpha)
}

func (r recorded) Norms(dst, inv []float32) error {
	defer r.note.since(normsSpan)()
	return r.Resident.Norms(dst, inv)
}

func (r recorded) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	defer r.note.since(updateVectorsSpan)()
	return r.Resident.UpdateVectors(dst, pairs, inv)
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
