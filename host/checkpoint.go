package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// DefaultEvery is the time between checkpoints unless Checkpoint has another.
const DefaultEvery = 30 * time.Second

// Checkpoint says where and how often Train saves the training: in a model file that predicts, and
// from which Options.Resume continues to the same result. It is written before the first step, and
// then whenever it is due. The file is complete at any moment, so a killed program leaves the last
// one.
type Checkpoint struct {
	Path  string        // of the file; "" for no checkpoints
	Steps int           // between checkpoints; 0 for Every
	Every time.Duration // least time between checkpoints; 0 for DefaultEvery
	// Failed keeps the last checkpoint in memory, and writes it if the training fails after some
	// steps. It is not written if an audit found that a device computes wrong.
	Failed bool
}

// Saved is the error of a training that failed after a checkpoint of it was written.
type Saved struct {
	Path  string // of the checkpoint
	Steps int    // of the checkpoint
	Err   error  // of the training
}

// Error returns the error of the training, and the checkpoint.
func (s *Saved) Error() string {
	return fmt.Sprintf("%v; what %d steps have learned is in %s", s.Err, s.Steps, s.Path)
}

// Unwrap returns the error of the training.
func (s *Saved) Unwrap() error { return s.Err }

// due returns a function that returns whether a checkpoint is due after the given steps.
func (c Checkpoint) due() func(steps int) bool {
	if c.Steps > 0 {
		return func(steps int) bool { return steps%c.Steps == 0 }
	}
	every := c.Every
	if every == 0 {
		every = DefaultEvery
	}
	last := time.Now()
	return func(int) bool {
		if time.Since(last) < every {
			return false
		}
		last = time.Now()
		return true
	}
}

// checkpoints has the run with options o write checkpoints, and returns a function that completes
// its error.
func (t *trainer) checkpoints(o *RunOptions) func(error) error {
	if t.Checkpoint.Path == "" {
		return func(err error) error { return err }
	}
	var last Snapshot
	o.Due = t.Checkpoint.due()
	o.Keep = func(s Snapshot) error {
		last = s
		if t.Checkpoint.Failed {
			return nil
		}
		return t.save(s)
	}
	return func(err error) error {
		// nobody knows what was right
		if err == nil || last.Steps == 0 || errors.Is(err, audit.ErrDiffers) {
			return err
		}
		if t.Checkpoint.Failed {
			if failed := t.save(last); failed != nil {
				return errors.Join(err, failed)
			}
		}
		return &Saved{Path: t.Checkpoint.Path, Steps: last.Steps, Err: err}
	}
}

// save writes a checkpoint.
func (t *trainer) save(s Snapshot) error {
	m := t.with(s.Kept, s.EstimatedError, s.Steps, "checkpoint")
	m.State = &s.State
	return m.Save(t.Checkpoint.Path)
}

// complete fills in what o leaves open: from the training to resume, or the first learner of the
// catalog.
func (o *Options) complete() (err error) {
	if r := o.Resume; r != nil {
		if o.Learner == nil {
			if o.Learner, err = catalog.Parse(r.Meta.Learner, r.Meta.Parameters); err != nil {
				return err
			}
		}
		if o.Weights == "" {
			o.Weights = learners.Rule(r.Meta.Weights)
		}
		if o.MaxSteps == 0 {
			if o.MaxSteps = r.Meta.MaxSteps; o.MaxSteps == 0 {
				o.MaxSteps = NoSteps
			}
		}
		if o.TemperatureFolds == 0 {
			o.TemperatureFolds = r.Meta.TemperatureFolds
		}
		if o.Seed == 0 {
			o.Seed = r.Meta.Seed
		}
	}
	if o.Learner == nil {
		o.Learner = catalog.All()[0].New()
	}
	return nil
}
