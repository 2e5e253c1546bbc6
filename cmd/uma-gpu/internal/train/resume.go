package training

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// ifItFails is the checkpoint of a training of which none is asked for: beside the model, and only
// if it fails.
func ifItFails(model string) host.Checkpoint {
	return host.Checkpoint{Path: strings.TrimSuffix(model, ".npz") + ".checkpoint.npz", Failed: true}
}

// checkpointOf checks --checkpoint and --every.
func checkpointOf(c *cli.Context) (host.Checkpoint, error) {
	k := host.Checkpoint{Path: c.String("checkpoint")}
	if k.Path == "" {
		if c.IsSet("every") {
			return k, app.Usagef(c, "--every is given without --checkpoint")
		}
		return k, nil
	}
	text := c.String("every")
	var err error
	if k.Steps, err = app.ParseCount(text); err != nil {
		k.Every, err = time.ParseDuration(text)
	}
	if err != nil || k.Steps < 0 || k.Every < 0 || k.Steps == 0 && k.Every == 0 {
		return k, app.Usagef(c, "--every is %q, wanted a time above 0 such as 30s or 5m, or a number of "+
			"steps of at least 1", text)
	}
	return k, nil
}

// base is the model that the training begins with or goes on from; nil for none.
func (t *Training) base() *model.Model {
	if t.Resume != nil {
		return t.Resume
	}
	return t.From
}

// continueFrom reads the file of --resume or --from, and takes over from it what the flags
// leave open. It returns the parameters of the learner to go on with, nil for none.
func (t *Training) continueFrom(c *cli.Context) (learners.Params, error) {
	resume, from := c.String("resume"), c.String("from")
	switch {
	case resume != "" && from != "":
		return nil, app.Usagef(c, "--resume and --from exclude each other")
	case from != "":
		for _, name := range append([]string{"kernel", "normalize"},
			app.FlagNames(app.KernelFlags())...) {
			if c.IsSet(name) {
				return nil, app.Usagef(c,
					"--%s is given with --from, whose model has a preparation and kernel of its own", name)
			}
		}
		var err error
		t.From, err = model.Load(from)
		return nil, err
	case resume == "":
		if c.IsSet("match-features") {
			return nil, app.Usagef(c, "--match-features is given without --resume or --from")
		}
		return nil, nil
	}
	m, err := model.Load(resume)
	if err != nil {
		return nil, err
	}
	if m.State == nil {
		return nil, fmt.Errorf("%s: found a model whose training had ended (%s after %d steps), wanted "+
			"a checkpoint or the model of an interrupted run; --from begins with its "+
			"weights", resume, m.Meta.Stop, m.Meta.Steps)
	}
	if err := t.checkMapped(c, m); err != nil {
		return nil, err
	}
	params, err := catalog.Parse(m.Meta.Learner, m.Meta.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resume, err)
	}
	t.Resume, t.Kernel = m, nil
	if c.IsSet("seed") {
		if err := asBegun(c, "seed", t.Seed, m.Meta.Seed); err != nil {
			return nil, err
		}
	}
	t.Seed = m.Meta.Seed
	if steps := c.Int("max-steps"); c.IsSet("max-steps") && steps < m.Meta.Steps {
		return nil, app.Usagef(c,
			"--max-steps is %d, wanted at least %d, the steps that the training has made",
			steps, m.Meta.Steps)
	}
	t.Notes.Say("resume: %s, after %d steps", resume, m.Meta.Steps)
	return params, nil
}

// asBegun compares what a flag of a command that is given once more says with what the
// training began with.
func asBegun(c *cli.Context, flag string, now, then any) error {
	if now == then {
		return nil
	}
	return app.Usagef(c, "--%s is %v, wanted %v as the training to go on with began", flag, now, then)
}

// checkMapped compares the flags of the preparation and kernel with those of the training
// to go on with, as far as its model tells them: not what γ, or the number of components,
// was found by.
func (t *Training) checkMapped(c *cli.Context, m *model.Model) error {
	if t.Steps != "auto" {
		steps, err := dataset.ParseSteps(t.Steps)
		if err != nil {
			return err
		}
		if err := asBegun(c, "normalize", steps.String(), m.Meta.Preparation.Steps.String()); err != nil {
			return err
		}
	}
	k := t.Kernel
	if k == nil {
		return nil
	}
	then := m.Meta.Kernel
	if then == nil {
		return asBegun(c, "kernel", c.String("kernel"), "none")
	}
	kind := then.Function.Kind
	if then.Cosine {
		kind = app.Cosine
	}
	if err := asBegun(c, "kernel", c.String("kernel"), kind); err != nil {
		return err
	}
	found := k.Function.Kind != kernel.Linear && k.Function.Gamma == 0
	for _, f := range []struct {
		flag      string
		told      bool
		now, then any
	}{
		{"gamma", !found, k.Function.Gamma, then.Function.Gamma},
		{"coef0", true, k.Function.Coef0, then.Function.Coef0},
		{"degree", true, k.Function.Degree, then.Function.Degree},
		// There may have been fewer than were asked for.
		{"components", k.Components > 0, min(k.Components, then.Components), then.Components},
		{"landmarks", k.Landmarks > 0, min(k.Landmarks, then.Landmarks), then.Landmarks},
		{"normalize-components", k.Steps != nil, c.String("normalize-components"),
			then.Preparation.Steps.String()},
	} {
		if f.told {
			if err := asBegun(c, f.flag, f.now, f.then); err != nil {
				return err
			}
		}
	}
	return nil
}

// adviseResume adds to an error of going on with another training what to do.
func (t *Training) adviseResume(c *cli.Context, err error) error {
	if saved := (*host.Saved)(nil); errors.As(err, &saved) {
		return fmt.Errorf("%w; the same command with --resume %s goes on, to the same bytes, on this "+
			"device or another, such as --device cpu", err, saved.Path)
	}
	if !errors.Is(err, host.ErrResume) {
		return err
	}
	resume := c.String("resume")
	return fmt.Errorf("%s: %w; give what the training began with, or --from %[1]s to begin anew with "+
		"its weights", resume, err)
}
