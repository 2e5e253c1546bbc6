package host

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrClasses marks a confusion matrix, annotations or a model with classes other than the data, or
// in another order.
var ErrClasses = errors.New("classes differ")

// NoSteps is the value of Options.MaxSteps that makes no step.
const NoSteps = -1

// Options of Train. Engine is required; the other fields may keep their zero values.
type Options struct {
	Engine *engine.Engine // on which to compute: simd.New(), or what gpu.Open returns
	// Open returns the engine, in place of Engine, when the examples are prepared and their size is
	// known. The caller closes the engine.
	Open        func(Work) (*engine.Engine, error)
	Learner     learners.Params  // uma.Defaults(), for instance; nil for the first of package catalog
	Preparation string           // steps for dataset.ParseSteps; "" for the defaults of Prepare
	Kernel      *fitting.Options // to be nonlinear in the features; nil to be linear
	MaxSteps    int              // 0 for the learner's default, NoSteps for none
	// Time is how long Train may take, from its call; 0 for no limit. When it is over, the step under
	// way is the last, and one is always made: reading, preparing and mapping are not cut short. A
	// learner that searches for parameters ends that after half of it. How far the training gets
	// depends on the machine, and so do its weights.
	Time    time.Duration
	Weights learners.Rule // "" for the learner's default
	Seed    uint64        // of all random choices
	// share of the examples to keep from the training, in Trained.HeldOut; 0 for none
	HoldOut float64
	Memory  []dataset.Memory // how the memory of the data may be used; nil to only read them
	// Trial says that the weights alone count: there are no temperature, doubts and hash of the data.
	Trial bool

	// Annotations are labels by several annotators, in place of the labels of the data and of noise;
	// nil for none. Only some learners can use them.
	Annotations *dataset.Annotations

	// From is a model to begin with: its weights, preparation and kernel map; nil to begin with W =
	// 0.
	From *model.Model
	// Resume is an unfinished training to continue: a checkpoint, or the model of a run that was
	// interrupted or out of time; nil for none. The result has the bits of a training without a break.
	// Data and noise must be those with which it began. Learner, Weights and Seed must too, or have
	// their zero values. MaxSteps may differ.
	Resume *model.Model
	// Checkpoint says where and how often to write the training so far.
	Checkpoint Checkpoint

	Tool  string // name of the version of the program, for the model file
	Watch Watch
}

// Watch holds functions that Train calls as it runs; each may be nil.
type Watch struct {
	Note  func(format string, args ...any) // something worth knowing
	Phase func(Phase)                      // a phase has ended
	Step  func(Report)                     // a step was made
}

// Phase is a part of a training, named by its end.
type Phase int

// The phases, in order.
const (
	Prepared Phase = iota // the features are prepared
	Mapped                // the kernel map has mapped them; skipped without one
	Loaded                // the examples are on the engine
	Learned               // the weights are learned
)

// Work is what a learner reads: the size of it decides which engine suits.
type Work struct {
	Data       *dataset.Dataset // prepared, and not mapped; not to be changed
	Components int              // columns after the kernel map; 0 without a map
	Classes    int
	Condition  float64 // number of the confusion matrix, 1 or more
}

// Seen returns how many columns a learner sees, and how many values of them are stored.
func (w Work) Seen() (columns, values int) {
	if w.Components > 0 {
		return w.Components, w.Data.N * w.Components
	}
	return w.Data.D, w.Data.Size()
}

// Trained is a model, and the run that its weights come from.
type Trained struct {
	*model.Model
	Run Result
	// C⁻¹ of the given matrix; Run.Inverse belongs to a learned one, if there is one
	Given *confusion.Inverse
	// Doubts speak against the confusion matrix or the result. Watch.Note has been told them.
	Doubts []learners.Doubt
	// the share Options.HoldOut of the data, not prepared by this training; nil for none
	HeldOut *dataset.Dataset
}

// holdOut divides the data into those to learn from and those held out, nil for none.
func (o *Options) holdOut(data *dataset.Dataset) (fit, held *dataset.Dataset, err error) {
	switch share := o.HoldOut; {
	case share == 0:
		return data, nil, nil
	case !(share > 0 && share < 1):
		return nil, nil, fmt.Errorf("train: share to hold out: got %v, want above 0 and below 1", share)
	case o.Annotations != nil:
		return nil, nil, errors.New("train: share to hold out: got annotations, want labels to judge by")
	}
	parts, err := dataset.SplitFractions(data, []float64{1 - o.HoldOut, o.HoldOut}, o.Seed,
		o.Memory...)
	if err != nil {
		return nil, nil, fmt.Errorf("train: hold out: %w", err)
	}
	fit, held = parts[0], parts[1]
	if held, err = labelled(held); err != nil {
		return nil, nil, fmt.Errorf("train: hold out: %w", err)
	}
	if o.inPlace() { // parts are copies
		if err := data.Close(); err != nil {
			return nil, nil, err
		}
		data.Examples = dataset.Examples{}
	}
	o.note("validate: %d examples to learn from, %d to judge by", fit.N, held.N)
	return fit, held, nil
}

// inPlace reports whether the training may write to the data.
func (o *Options) inPlace() bool { return slices.Contains(o.Memory, dataset.InPlace) }

// checkOwnMap says what of the options means nothing to a learner with a kernel map of its own.
func (o *Options) checkOwnMap() error {
	if o.Learner.Definition().FitMap == nil {
		return nil
	}
	found := ""
	switch k := o.Kernel; {
	case o.From != nil && o.From.Projection != nil:
		found = "a model with a kernel map to begin with"
	case k == nil:
	case k.Components != 0:
		found = "a number of components"
	case k.Landmarks != 0:
		found = "landmarks"
	case k.Steps != nil:
		found = "a preparation of components"
	}
	if found == "" {
		return nil
	}
	return fmt.Errorf("found %s, wanted none: learner %s has a kernel map of its own", found,
		o.Learner.Definition().Name)
}

// Prepare fits a preparation to raw data and puts the prepared features in the place of the raw
// ones. steps are read by dataset.ParseSteps; "" or "auto" stand for Dataset.DefaultSteps, or for
// dataset.DefaultStepsKernel if dense data go to a kernel function. Data that were prepared before
// stay as they are, and it is an error to ask for other steps.
func Prepare(d *dataset.Dataset, steps string, kernel bool, how ...dataset.Memory) error {
	s, prepared, err := stepsFor(d, steps, kernel)
	if prepared || err != nil {
		return err
	}
	return features.Prepare(d, s, how...)
}

// PrepareRows is Prepare of data that are to be written to an .npz, with linear learners in
// mind, and need not fit in memory once more: if what it returns is not nil, it is for
// file.WriteOptions.Rows, and d has been left with the shape of the examples alone. See
// dataset.Dataset.PrepareRows.
func PrepareRows(d *dataset.Dataset, steps string) (func(dst []float32, first int) error, error) {
	s, prepared, err := stepsFor(d, steps, false)
	if prepared || err != nil {
		return nil, err
	}
	return features.PrepareRows(d, s)
}

// stepsFor returns the steps by which d is to be prepared, unless it was before.
func stepsFor(d *dataset.Dataset, steps string, kernel bool) (s dataset.Steps, prepared bool,
	err error) {
	auto := steps == "" || steps == "auto"
	if auto && d.Prepared != nil {
		return s, true, nil
	}
	if auto {
		steps = d.DefaultSteps()
		if kernel && steps == dataset.DefaultSteps {
			steps = dataset.DefaultStepsKernel
		}
	}
	if s, err = dataset.ParseSteps(steps); err != nil || d.Prepared == nil {
		return s, false, err
	}
	if s != d.Prepared.Steps {
		return s, false, d.Errorf("found examples that were prepared by %s before, wanted %s; ask for "+
			"no preparation, or give the original data", d.Prepared.Steps, s)
	}
	return s, true, nil
}
