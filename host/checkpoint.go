package host

import (
	"time"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// DefaultEvery is how often a checkpoint is written unless Checkpoint says otherwise.
const DefaultEvery = 30 * time.Second

// Checkpoint says where and how often Train writes the training so far: a model file that
// predicts, from which Options.Resume goes on to the result of a training that nothing
// stopped. It is written before the first step and then whenever it is due; a file is
// complete at any moment, so a killed program leaves the last one.
type Checkpoint struct {
	Path  string        // of the file; "" for no checkpoints
	Steps int           // every so many steps; 0 by time
	Every time.Duration // least time from one to the next; 0 for DefaultEvery
}

// due returns a function that says after which steps a checkpoint is due.
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

// complete chooses what o leaves open of the learner: that of the training to go on with,
// or the catalog's first with its defaults.
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
