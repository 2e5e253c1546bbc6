package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/model"
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

// begin reads the model of --resume or --from. Its settings hold, so no flag may give others.
func begin(o *Options) (err error) {
	flag, path := "resume", o.Resume
	switch {
	case o.Resume != "" && o.From != "":
		return app.Usage("--resume and --from exclude each other")
	case o.From != "":
		flag, path = "from", o.From
	case o.Resume == "" && o.Given("match-features"):
		return app.Usage("--match-features is given without --resume or --from")
	case o.Resume == "":
		return nil
	}
	settled := append(slices.Clone(app.KernelDetails), "kernel", "normalize")
	if flag == "resume" {
		settled = append(settled, append(o.Learner.Parameters, "learner", "weights", "seed")...)
	}
	for _, name := range settled {
		if o.Given(name) {
			return app.Usage("--%s is given with --%s, whose model has its own; leave it out", name, flag)
		}
	}
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if flag == "from" {
		o.Train.From = m
		return nil
	}
	if m.State == nil {
		return fmt.Errorf("%s: found a model whose training had ended (%s after %d steps), wanted a "+
			"checkpoint or the model of an interrupted run; --from begins with its weights", path,
			m.Meta.Stop, m.Meta.Steps)
	}
	if o.Given("max-steps") && o.MaxSteps < m.Meta.Steps {
		return app.Usage("--max-steps is %d, wanted at least %d, the steps that the training has made",
			o.MaxSteps, m.Meta.Steps)
	}
	o.Train.Resume = m
	o.Notes.Say("resume: %s, after %d steps", path, m.Meta.Steps)
	return nil
}

// adviseResume adds to an error of going on with another training what to do.
func adviseResume(o *Options, err error) error {
	if errors.Is(err, host.ErrSaved) {
		return fmt.Errorf("%w; train --resume %s with the same data goes on, to the same bytes, on this "+
			"device or another, such as --device cpu", err, o.Train.Checkpoint.Path)
	}
	if !errors.Is(err, host.ErrResume) {
		return err
	}
	return fmt.Errorf("%s: %w; give what the training began with, or --from %[1]s to begin anew with "+
		"its weights", o.Resume, err)
}
