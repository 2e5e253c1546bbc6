package train

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// checkCheckpoint checks --checkpoint and --every. Without these a training that fails leaves a
// checkpoint next to its model.
func checkCheckpoint(o *Options) (err error) {
	k := &o.Train.Checkpoint
	switch {
	case k.Path == "" && o.Given("every"):
		return app.Usage("--every is given without --checkpoint")
	case k.Path == "":
		*k = host.Checkpoint{Path: strings.TrimSuffix(o.Model, ".npz") + ".checkpoint.npz", Failed: true}
	}
	if k.Path == "" || k.Failed {
		return nil
	}
	if k.Steps, err = app.ParseCount(o.Every); err != nil {
		k.Every, err = time.ParseDuration(o.Every)
	}
	if err != nil || k.Steps < 0 || k.Every < 0 || k.Steps == 0 && k.Every == 0 {
		return app.Usage("--every is %q, wanted a time above 0 such as 30s or 5m, or a number of "+
			"steps of at least 1", o.Every)
	}
	return nil
}

// begin reads the file of --resume or --from. It returns the parameters of the learner to go on
// with, nil for none.
func (o *Options) begin() (_ learners.Params, err error) {
	switch {
	case o.Resume != "" && o.From != "":
		return nil, app.Usage("--resume and --from exclude each other")
	case o.From != "":
		for _, flag := range append(app.KernelFlagNames(), "kernel", "normalize") {
			if o.Given(flag) {
				return nil, app.Usage("--%s is given with --from, whose model has a preparation and kernel "+
					"of its own", flag)
			}
		}
		o.Train.From, err = model.Load(o.From)
		return nil, err
	case o.Resume == "":
		if o.Given("match-features") {
			return nil, app.Usage("--match-features is given without --resume or --from")
		}
		return nil, nil
	}
	m, err := model.Load(o.Resume)
	if err != nil {
		return nil, err
	}
	if m.State == nil {
		return nil, fmt.Errorf("%s: found a model whose training had ended (%s after %d steps), wanted "+
			"a checkpoint or the model of an interrupted run; --from begins with its "+
			"weights", o.Resume, m.Meta.Stop, m.Meta.Steps)
	}
	params, err := catalog.Parse(m.Meta.Learner, m.Meta.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Resume, err)
	}
	o.Train.Resume = m
	return params, nil
}

// asBegun compares the flags with the training to go on with, as far as its model records
// them: not what γ, or the number of components, was found by. The seed becomes that training's.
func asBegun(o *Options) error {
	m, t := o.Train.Resume, &o.Train
	if m == nil {
		return nil
	}
	type given struct {
		flag      string
		is        bool
		now, then any
	}
	flags := []given{{"weights", o.Given("weights"), string(t.Weights), m.Meta.Weights},
		{"seed", o.Given("seed"), t.Seed, m.Meta.Seed}}
	if t.Preparation != "auto" {
		steps, err := dataset.ParseSteps(t.Preparation)
		if err != nil {
			return err
		}
		flags = append(flags, given{"normalize", true, steps.String(), m.Meta.Preparation.Steps.String()})
	}
	switch k, then := t.Kernel, m.Meta.Kernel; {
	case k == nil:
	case then == nil:
		flags = append(flags, given{"kernel", true, o.Kernel.Kind, "none"})
	default:
		kind := then.Function.Kind
		if then.Cosine {
			kind = app.Cosine
		}
		found := k.Function.Kind != kernel.Linear && k.Function.Gamma == 0
		flags = append(flags, given{"kernel", true, o.Kernel.Kind, kind},
			given{"gamma", !found, k.Function.Gamma, then.Function.Gamma},
			given{"coef0", true, k.Function.Coef0, then.Function.Coef0},
			given{"degree", true, k.Function.Degree, then.Function.Degree},
			// There may have been fewer than were asked for.
			given{"components", k.Components > 0, min(k.Components, then.Components), then.Components},
			given{"landmarks", k.Landmarks > 0, min(k.Landmarks, then.Landmarks), then.Landmarks},
			given{"normalize-components", k.Steps != nil, o.Kernel.Normalize,
				then.Preparation.Steps.String()})
	}
	for _, f := range flags {
		if f.is {
			if err := training.AsBegun(f.flag, f.now, f.then); err != nil {
				return err
			}
		}
	}
	if o.Given("max-steps") && o.MaxSteps < m.Meta.Steps {
		return app.Usage("--max-steps is %d, wanted at least %d, the steps that the training has made",
			o.MaxSteps, m.Meta.Steps)
	}
	t.Seed = m.Meta.Seed
	o.Notes.Say("resume: %s, after %d steps", o.Resume, m.Meta.Steps)
	return nil
}

// adviseResume adds to an error of going on with another training what to do.
func adviseResume(o *Options, err error) error {
	if errors.Is(err, host.ErrSaved) {
		return fmt.Errorf("%w; the same command with --resume %s goes on, to the same bytes, on this "+
			"device or another, such as --device cpu", err, o.Train.Checkpoint.Path)
	}
	if !errors.Is(err, host.ErrResume) {
		return err
	}
	return fmt.Errorf("%s: %w; give what the training began with, or --from %[1]s to begin anew with "+
		"its weights", o.Resume, err)
}
