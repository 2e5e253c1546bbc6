package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// key says what a result is of.
type key struct {
	Set   string `json:"set"`
	Noise string `json:"noise"`
	Seed  int    `json:"seed"`
	How   string `json:"how"` // choice.how
	Blind bool   `json:"blind,omitempty"`
}

func (k key) id() key { return k }

// result is what one training led to.
type result struct {
	key
	shape
	Wrong   float64 `json:"wrong"`            // share of the training labels
	Error   float64 `json:"error"`            // on right test labels, in [0, 1]
	Seconds float64 `json:"seconds"`          // of processor time, to learn
	Steps   int     `json:"steps"`            // made
	Failed  string  `json:"failed,omitempty"` // why there is no error rate

	// Held is the accuracy on examples held out, of their noisy labels through C.
	Held *float64 `json:"held_out,omitempty"`
}

// whole says whether parts have been held out too, or nothing was learned.
func (r result) whole() bool { return r.Held != nil || r.Failed != "" }

// shape is the shape of a set.
type shape struct {
	Train       int    `json:"train"`
	Test        int    `json:"test"`
	Features    int    `json:"features"`
	Classes     int    `json:"classes"`
	Preparation string `json:"preparation"`
}

// job is a measurement under way.
type job struct {
	plan
	engine  engine.Engine
	hold    bool // parts out as well, as compare does
	dir     string
	results *results[key, result]
	note    func(format string, args ...any)
}

// measure measures what is missing of the sets, one seed of all before the next. A set whose
// files are not there is passed over, with a note.
func (j job) measure(ctx context.Context) error {
	absent := map[string]bool{}
	for seed := 1; seed <= j.seeds; seed++ {
		for _, s := range j.sets {
			if absent[s.name] {
				continue
			}
			err := j.set(ctx, s, seed)
			if errors.Is(err, os.ErrNotExist) {
				absent[s.name] = true
				j.note("%s is left out: %v", s.name, err)
			} else if err != nil {
				return fmt.Errorf("set %s, seed %d: %w", s.name, seed, err)
			}
		}
		if len(absent) == len(j.sets) {
			return fmt.Errorf("found none of the sets in %s, wanted at least one", j.dir)
		}
	}
	return nil
}

// key returns that of the result of a way.
func (p plan) key(s set, o noise, w choice, seed int) key {
	// Where labels are right there is no C to be told.
	return key{Set: s.name, Noise: o.name, Seed: seed, How: w.how, Blind: w.blind &&
		o.name != right.name}
}

// set measures what is missing of a set with one seed.
func (j job) set(ctx context.Context, s set, seed int) error {
	var train, test *dataset.Dataset
	for _, o := range s.noises {
		var noisy *dataset.Dataset
		var c *confusion.Matrix
		for _, w := range j.ways {
			k := j.key(s, o, w, seed)
			r, found := j.results.found[k]
			if found && (!j.hold || o.name == right.name || r.whole()) {
				continue
			}
			var err error
			if train == nil {
				if train, test, err = s.read(ctx, j.dir, uint64(seed)); err != nil {
					return err
				}
				if j.rows > 0 && train.N > j.rows {
					train = cut(train, 0, j.rows)
				}
			}
			if noisy == nil {
				d := *train
				if d.Y, c, err = o.labels(ctx, j.dir, train, uint64(seed)); err != nil {
					return fmt.Errorf("%s: %w", o.name, err)
				}
				noisy = &d // its hash says otherwise, and no model is kept that has it
			}
			told := c
			if w.blind {
				told = nil
			}
			if !found {
				r = result{key: k, Wrong: share(train.Y, noisy.Y)}
				if err := j.train(ctx, &r, w, noisy, told, test); err != nil {
					return fmt.Errorf("%s, %s: %w", o.name, w.name, err)
				}
			}
			if j.hold && c != nil && r.Failed == "" {
				held, err := j.heldOut(ctx, w, noisy, told, c, seed)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil { // nothing can be learned without one part, so compare would not choose it
					j.note("%s, %s, seed %d, %s, held out: %v", s.name, o.name, seed, w.name, err)
				}
				r.Held = &held
			}
			if err := j.results.add(r); err != nil {
				return err
			}
			j.note("%s, %s, seed %d, %s: %.4f, %.1f s %s", s.name, o.name, seed, w.name, r.Error,
				r.Seconds, r.Failed)
		}
	}
	return nil
}

// read returns the examples to train and to test on, with right labels.
func (s set) read(ctx context.Context, dir string, seed uint64) (train, test *dataset.Dataset,
	err error) {
	if train, err = s.train.read(ctx, dir, nil); err != nil {
		return nil, nil, err
	}
	if s.test.path == "" {
		return s.divide(train, seed)
	}
	test, err = s.test.read(ctx, dir, train)
	return train, test, err
}

// train trains as a way says and completes the result.
func (j job) train(ctx context.Context, r *result, w choice, noisy *dataset.Dataset,
	c *confusion.Matrix, test *dataset.Dataset) error {
	var start float64
	trained, err := host.Train(ctx, noisy, c, host.Options{Engine: j.engine, Learner: w.params,
		Weights:  w.rule,
		MaxSteps: w.steps, Seed: uint64(r.Seed), Watch: host.Watch{Phase: func(p host.Phase) {
			switch p {
			case host.Prepared:
				start = processorSeconds()
			case host.Learned:
				r.Seconds = processorSeconds() - start
			}
		}}})
	r.shape = shape{Train: noisy.N, Test: test.N, Features: noisy.D, Classes: len(noisy.Classes)}
	// An interrupted run has a model too, but not the one that is measured here.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // of these labels nothing can be learned in this way, which is a result
		r.Failed = err.Error()
		return nil
	}
	r.Preparation, r.Steps = trained.Meta.Preparation.Steps.String(), trained.Run.Steps
	predicted, err := trained.Predict(ctx, j.engine, test.Examples)
	if err != nil {
		return err
	}
	report, err := metric.Evaluate(test.Y, predicted, test.Classes)
	r.Error = report.ErrorRate
	return err
}

// share returns how many labels of y are not those of truth.
func share(truth, y []int32) float64 {
	wrong := 0
	for i, k := range y {
		if k != truth[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(max(len(y), 1))
}
