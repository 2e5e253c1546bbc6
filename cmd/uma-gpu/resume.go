package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// checkpointOf checks --checkpoint and --every.
func checkpointOf(c *cli.Context) (host.Checkpoint, error) {
	k := host.Checkpoint{Path: c.String("checkpoint")}
	if k.Path == "" && c.IsSet("every") {
		return k, usagef(c, "--every is given without --checkpoint")
	}
	text := c.String("every")
	var err error
	if k.Steps, err = strconv.Atoi(text); err != nil {
		k.Every, err = time.ParseDuration(text)
	}
	if err != nil || k.Steps < 0 || k.Every < 0 || k.Steps == 0 && k.Every == 0 {
		return k, usagef(c, "--every is %q, wanted a time above 0 such as 30s or 5m, or a number of steps of at least 1", text)
	}
	return k, nil
}

// base is the model that the training begins with or goes on from; nil for none.
func (t *training) base() *model.Model {
	if t.Resume != nil {
		return t.Resume
	}
	return t.From
}

// continueFrom reads the file of --resume or --from, and takes over from it what the flags
// leave open. It returns the parameters of the learner to go on with, nil for none.
func (t *training) continueFrom(c *cli.Context) (learners.Params, error) {
	resume, from := c.String("resume"), c.String("from")
	switch {
	case resume != "" && from != "":
		return nil, usagef(c, "--resume and --from exclude each other")
	case from != "":
		for _, name := range append([]string{"kernel", "normalize"}, flagNames(kernelFlags())...) {
			if c.IsSet(name) {
				return nil, usagef(c, "--%s is given with --from, whose model has a preparation and kernel of its own", name)
			}
		}
		var err error
		t.From, err = model.Load(from)
		return nil, err
	case resume == "":
		if c.IsSet("match-features") {
			return nil, usagef(c, "--match-features is given without --resume or --from")
		}
		return nil, nil
	}
	m, err := model.Load(resume)
	if err != nil {
		return nil, err
	}
	if m.State == nil {
		return nil, fmt.Errorf("%s: found a model whose training had ended (%s after %d steps), wanted a checkpoint or the model of an interrupted run; "+
			"--from begins with its weights", resume, m.Meta.Stop, m.Meta.Steps)
	}
	if err := t.checkPrepared(c, m); err != nil {
		return nil, err
	}
	params, err := catalog.Parse(m.Meta.Learner, m.Meta.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resume, err)
	}
	t.Resume, t.Kernel = m, nil
	t.Weights, t.MaxSteps = learners.Rule(m.Meta.Weights), m.Meta.MaxSteps
	if t.MaxSteps == 0 {
		t.MaxSteps = host.NoSteps
	}
	if !c.IsSet("seed") {
		t.Seed = m.Meta.Seed
	}
	t.notes.say("resume: %s, after %d steps", resume, m.Meta.Steps)
	return params, nil
}

// checkPrepared compares flags of the preparation and kernel, which a command that is
// given once more may have, with those of the training to go on with.
func (t *training) checkPrepared(c *cli.Context, m *model.Model) error {
	if t.steps != "auto" {
		steps, err := dataset.ParseSteps(t.steps)
		if err != nil {
			return err
		}
		if steps != m.Meta.Preparation.Steps {
			return usagef(c, "--normalize is %s, wanted %s as the training to go on with began", t.steps, m.Meta.Preparation.Steps)
		}
	}
	kind, then := c.String("kernel"), ""
	if m.Meta.Kernel != nil {
		if then = m.Meta.Kernel.Function.Kind; m.Meta.Kernel.Cosine {
			then = cosine
		}
	}
	if c.IsSet("kernel") && kind != then {
		return usagef(c, "--kernel is %q, wanted %q as the training to go on with began", kind, then)
	}
	return nil
}
