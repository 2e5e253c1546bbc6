package umagpu

import (
	"cmp"
	"context"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// CheckNoiseRequest asks whether a confusion matrix helps, and whether the labels contradict it.
type CheckNoiseRequest struct {
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels
	Settings
	Folds   int     `json:"folds,omitempty"`
	Compute Compute `json:"-"`
}

// CheckNoiseResult compares trainings with the matrix and without.
type CheckNoiseResult struct {
	Request CheckNoiseRequest `json:"request" array:"-"`
	Learner string            `json:"learner"`
	*judge.NoiseCheck
	Notes  []Note        `json:"notes,omitempty"`
	Device engine.Device `json:"device"`
}

// Check returns the fault of options that no data could satisfy.
func (r *CheckNoiseRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	if r.Confusion == nil {
		return invalid("confusion", "none", "the matrix to check")
	}
	_, err := r.Settings.options()
	return err
}

// CheckNoise compares predictions of held-out labels, by trainings with a confusion matrix and
// without. It uses no right label, and reaches a verdict on any matrix.
func CheckNoise(ctx context.Context, r *CheckNoiseRequest) (*CheckNoiseResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	said := notes{to: r.Compute.Note}
	set, err := labelled(ctx, &r.Data, r.Labels, &said)
	if err != nil {
		return nil, fault(ctx, err)
	}
	noise, err := r.Confusion.matrix(set, &said)
	if err != nil {
		return nil, err
	}
	set, _ = withLabel(set)
	o, err := r.Settings.options()
	if err != nil {
		return nil, err
	}
	result := &CheckNoiseResult{Request: *r, Learner: o.Learner.Definition().Name,
		NoiseCheck: judge.WithoutTraining(set.N, noise)}
	result.Request.Data = r.Data.described()
	if result.NoiseCheck != nil {
		result.Notes = said.all
		return result, nil
	}
	err = r.Compute.use(workOn(set), func(e *engine.Engine) error {
		o.Engine, result.Device = e, e.Device()
		o.Watch = host.Watch{Note: said.say}
		var held [2]*judge.HeldOut
		for k, m := range []*confusion.Matrix{noise, nil} {
			if m == nil {
				said.say("the same without the confusion matrix")
			}
			if held[k], err = host.OutOfFold(ctx, set, m, o, cmp.Or(r.Folds, usualFolds)); err != nil {
				return err
			}
		}
		result.NoiseCheck, err = judge.CheckNoise(ctx, set.Y, noise, held[0], held[1])
		return err
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Notes = said.all
	return result, nil
}

// withLabel returns the examples of set that have a label, and which they are.
func withLabel(set *dataset.Dataset) (some *dataset.Dataset, which []int) {
	which = lists.Where(set.N, func(i int) bool { return set.Y[i] >= 0 })
	if len(which) == set.N {
		return set, which
	}
	picked := *set
	if picked.Examples = (dataset.Examples{N: len(which)}); set.D > 0 {
		picked.Examples = set.Pick(which)
	}
	picked.Y, picked.SHA256, picked.Home = lists.At(set.Y, which), "", nil
	return &picked, which
}
