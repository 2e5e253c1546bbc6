package host

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
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

// ErrSaved marks the error of a training that failed after a checkpoint of it was written.
var ErrSaved = errors.New("the training was saved")

// due returns a function that returns whether a checkpoint is due after the given steps.
func (c Checkpoint) due() func(steps int) bool {
	if c.Steps > 0 {
		return func(steps int) bool { return steps%c.Steps == 0 }
	}
	every := cmp.Or(c.Every, DefaultEvery)
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
	if t.o.Checkpoint.Path == "" {
		return func(err error) error { return err }
	}
	var last Snapshot
	o.Due = t.o.Checkpoint.due()
	o.Keep = func(s Snapshot) error {
		last = s
		if t.o.Checkpoint.Failed {
			return nil
		}
		return t.save(s)
	}
	return func(err error) error {
		return t.failed(err, last.Steps, func() error { return t.save(last) })
	}
}

// failed returns the error of a training that has failed after a checkpoint of some steps, which it
// saves if that is due now.
func (t *trainer) failed(err error, steps int, save func() error) error {
	// nobody knows what was right
	if err == nil || steps == 0 || errors.Is(err, audit.ErrDiffers) {
		return err
	}
	if t.o.Checkpoint.Failed {
		if failed := save(); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return fmt.Errorf("%w; %w: what %d steps have learned is in %s", err, ErrSaved, steps,
		t.o.Checkpoint.Path)
}

// save writes a checkpoint.
func (t *trainer) save(s Snapshot) error {
	m := t.with(s.Kept, s.EstimatedError, s.Steps, "checkpoint")
	m.State = &s.State
	return m.Save(t.o.Checkpoint.Path)
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
		o.Weights = cmp.Or(o.Weights, learners.Rule(r.Meta.Weights))
		o.MaxSteps = cmp.Or(o.MaxSteps, r.Meta.MaxSteps, NoSteps)
		o.Seed = cmp.Or(o.Seed, r.Meta.Seed)
	}
	if o.Learner == nil {
		o.Learner = catalog.All()[0].New()
	}
	return nil
}

// ErrResume marks errors of Options.Resume: a damaged state, or data, noise or options other than
// those with which the training began.
var ErrResume = errors.New("training cannot be resumed")

// base is the model whose preparation and kernel map are taken over; nil for none.
func (o *Options) base() *model.Model {
	if o.Resume != nil {
		return o.Resume
	}
	return o.From
}

// adopt prepares d as the data of base were, to start from its weights or to continue it.
func (t *trainer) adopt(base *model.Model, d *dataset.Dataset) error {
	if !slices.Equal(base.Meta.Classes, t.data.Classes) {
		return fmt.Errorf("train: %w: data: got %.40q, want %.40q as the model of From or Resume",
			ErrClasses, t.data.Classes, base.Meta.Classes)
	}
	if err := features.PrepareBy(d, &base.Meta.Preparation, t.o.Memory...); err != nil {
		return err
	}
	if t.o.From != nil {
		w, err := binary.Append(nil, binary.LittleEndian, base.W)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(w)
		t.model.Meta.From = fmt.Sprintf("%x", hash[:])
		return nil
	}
	t.model.Meta.From = base.Meta.From
	return t.checkSame(base)
}

// checkSame returns an error if the training to resume began in another way.
func (t *trainer) checkSame(base *model.Model) error {
	is, was := &t.model.Meta, &base.Meta
	var parameters bytes.Buffer // as Marshal writes them, whatever the spaces in the file
	if err := json.Compact(&parameters, was.Parameters); err != nil {
		return fmt.Errorf("train: %w: parameters: %w", ErrResume, err)
	}
	matrix := "the same"
	if !slices.Equal(t.model.Confusion, base.Confusion) {
		matrix = "another"
	}
	for _, c := range [][3]string{
		{"contract version", strconv.Itoa(is.ContractVersion), strconv.Itoa(was.ContractVersion)},
		{"learner", is.Learner, was.Learner},
		{"parameters", string(is.Parameters), parameters.String()},
		{"weights", is.Weights, was.Weights},
		{"seed", strconv.FormatUint(is.Seed, 10), strconv.FormatUint(was.Seed, 10)},
		{"data", is.DataSHA256, was.DataSHA256},
		{"annotations", is.AnnotationsSHA256, was.AnnotationsSHA256},
		{"confusion matrix", matrix, "the same"},
	} {
		if c[1] != c[2] {
			return fmt.Errorf("train: %w: %s: got %s, want %s as it began", ErrResume, c[0],
				cmp.Or(c[1], "none"), cmp.Or(c[2], "none"))
		}
	}
	if was.Steps > t.o.MaxSteps {
		return fmt.Errorf("train: %w: most steps: got %d, want at least the %d that it has made",
			ErrResume, t.o.MaxSteps, was.Steps)
	}
	if base.State == nil {
		return fmt.Errorf("train: Resume: got a model whose training had ended (%s after %d steps), "+
			"want a checkpoint or the model of an interrupted run (From begins with its weights)",
			was.Stop, was.Steps)
	}
	return nil
}

// Settings returns the options that repeat the training of m on n examples, such as a part of its
// own, and the confusion matrix that it was given, nil for none. The caller adds Engine and Watch.
// γ and the number of components are as they were found, and a training that began with another
// model's weights begins with 0. Errors come from catalog.Parse.
func Settings(m *model.Model, n int) (Options, *confusion.Matrix, error) {
	meta := &m.Meta
	params, err := catalog.Parse(meta.Learner, meta.Parameters)
	if err != nil {
		return Options{}, nil, fmt.Errorf("settings of a model: %w", err)
	}
	o := Options{Learner: params, Preparation: meta.Preparation.Steps.String(),
		MaxSteps: cmp.Or(meta.MaxSteps, NoSteps),
		Weights:  learners.Rule(meta.Weights), Seed: meta.Seed, Tool: meta.ToolVersion}
	if k := meta.Kernel; k != nil {
		o.Kernel = &fitting.Options{Function: k.Function}
		if params.Definition().FitMap == nil {
			steps := k.Preparation.Steps
			o.Kernel.Steps = &steps
			switch {
			case learners.IsProbabilistic(params) && k.Components == k.Landmarks: // coordinates
				o.Kernel.Landmarks = min(k.Landmarks, n)
			case k.Landmarks >= n:
				o.Kernel.Components, o.Kernel.Landmarks = min(k.Components, n), fitting.AllLandmarks
			default:
				o.Kernel.Components, o.Kernel.Landmarks = k.Components, k.Landmarks
			}
		}
	}
	if m.Confusion == nil {
		return o, nil, nil
	}
	return o, &confusion.Matrix{Classes: meta.Classes, P: m.Confusion}, nil
}
