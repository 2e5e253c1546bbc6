package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Plan is what train --dry-run --json prints.
type Plan struct {
	Device   engine.Device `json:"device"`
	Examples int           `json:"examples"`
	Features int           `json:"features"` // of the prepared examples
	Classes  int           `json:"classes"`
	Storage  string        `json:"storage"`
	Plan     engine.Plan   `json:"plan"`
	Memory   hostMemory    `json:"memory"`
	Seconds  seconds       `json:"seconds"` // that the dry run took; nothing is uploaded or trained
}

// hostMemory is the memory of the process, in bytes.
type hostMemory struct {
	// so far: the program, drivers, reading and preparing; 0 if unknown
	Taken int64 `json:"taken_bytes"`
	More  int64 `json:"more_bytes"` // that learning takes at most besides
}

func (m hostMemory) String() string {
	if m.Taken == 0 {
		return "learning takes up to " + app.BytesText(m.More) + " more than reading"
	}
	return fmt.Sprintf("about %s: up to here %s, and learning up to %s more",
		app.BytesText(m.Taken+m.More), app.BytesText(m.Taken), app.BytesText(m.More))
}

// Garbage is about what a training run leaves to the collector besides.
const Garbage = 16 << 20

func (o *Options) plan(ctx context.Context, d *dataset.Dataset) error {
	if o.Train.Kernel != nil {
		return planKernel(o, d)
	}
	e, x, y, classes := o.Train.Engine, d.Examples, d.Y, len(d.Classes)
	plan := func() (engine.Plan, error) { return e.Plan(x, y, classes) }
	switch o.Train.Learner.Definition().Loads {
	case learners.LoadsScorer:
		plan = func() (engine.Plan, error) { return e.Plan(x, nil, classes) }
	case learners.LoadsEvaluator:
		plan = func() (engine.Plan, error) { return e.PlanEvaluator(x, classes) }
	}
	needs, err := plan()
	if err != nil {
		return app.AdviseMemory(err)
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	// What the device has here, and up to half of it again, for samples and for bounds.
	takes := hostMemory{Taken: memory.Peak(), More: needs.Examples/2 + Garbage}
	if needs.InPlace {
		takes.More += needs.Scores + needs.ClassSums + needs.Scratch
	}
	o.seconds.Total = time.Since(o.start).Seconds()
	r := Plan{Device: e.Device(), Examples: x.N, Features: x.D, Classes: classes, Storage: "dense",
		Plan: needs, Memory: takes, Seconds: o.seconds}
	if x.Sparse() {
		r.Storage = "sparse"
	}
	return o.Print(r, r.text)
}

func (r Plan) text(w io.Writer) error {
	p := r.Plan
	how, limit := "streamed to the device in every pass", "no limit"
	if p.InPlace {
		how = "used in place"
	}
	if p.Limit > 0 {
		limit = "of " + app.BytesText(p.Limit)
	}
	return app.Table(w, func(row app.Row) {
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("data\t%d examples × %d features, %d classes, %s", r.Examples, r.Features, r.Classes,
			r.Storage)
		row("examples\t%s", app.BytesText(p.Examples))
		if p.Aside > 0 {
			row("  of them aside\t%s in host memory, %s", app.BytesText(p.Aside), how)
		}
		row("scores\t%s\nclass sums\t%s\nscratch\t%s", app.BytesText(p.Scores),
			app.BytesText(p.ClassSums), app.BytesText(p.Scratch))
		row("in all\t%s, %s", app.BytesText(p.Examples-p.Aside+p.Scores+p.ClassSums+p.Scratch), limit)
		row("memory\t%s", r.Memory)
		row("tiles\t%d, with %d aside", p.Tiles, p.TilesAside)
	})
}

// kernelPlan is what train --kernel --dry-run --json prints.
type kernelPlan struct {
	Device     engine.Device `json:"device"`
	Examples   int           `json:"examples"`
	Features   int           `json:"features"` // of the prepared examples
	Landmarks  int           `json:"landmarks"`
	Components int           `json:"components"` // 0: by --variance
	Plan       pca.Plan      `json:"plan"`
	Memory     hostMemory    `json:"memory"`
	Bytes      int64         `json:"component_bytes"` // of all examples, in host memory
}

// planKernel prints what the fit of the kernel map would take, which goes before training.
func planKernel(o *Options, d *dataset.Dataset) error {
	r := kernelPlan{Device: o.Train.Engine.Device(), Examples: d.N, Features: d.D}
	var about func(row app.Row)
	if o.OwnMap() {
		q := len(d.Classes)
		r.Landmarks, r.Components, r.Plan.Basis = d.N, q, 4*int64(d.N)*int64(q)
		about = func(row app.Row) {
			row("kernel means\t%d means of %d atoms", q, d.N)
			row("weights of atoms\t%s\nmeans at examples\t%s", app.BytesText(r.Plan.Basis),
				app.BytesText(r.Bytes))
		}
	} else {
		asked := *o.Train.Kernel
		asked.Coordinates = o.Train.Learner.Definition().Rotates
		k := asked.PCA(d.N, d.D, o.Train.Seed)
		var err error
		if r.Plan, err = pca.NewPlan(d.Examples, k); err != nil {
			return app.AdviseKernel(err)
		}
		r.Landmarks, r.Components = cmp.Or(k.Landmarks, d.N), k.Components
		components := fmt.Sprintf("components: %d", k.Components)
		switch {
		case k.Coordinates:
			r.Components, components = r.Landmarks, "their coordinates"
		case k.Components == 0:
			components = fmt.Sprintf("components: enough for %v of the variance", k.Variance)
		}
		about = func(row app.Row) {
			row("kernel map\t%d landmarks, %s", r.Landmarks, components)
			row("kernel values\t%s", app.BytesText(r.Plan.Kernel))
			row("vectors\tabout %s", app.BytesText(r.Plan.Vectors))
			row("basis\t%s\ncomponents\t%s", app.BytesText(r.Plan.Basis), app.BytesText(r.Bytes))
		}
	}
	r.Bytes = 4 * int64(d.N) * int64(r.Components)
	r.Memory = hostMemory{memory.Peak(), r.Plan.Total() + r.Bytes + r.Bytes/2 + Garbage}
	return o.PrintTable(r, func(row app.Row) {
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("data\t%d examples × %d features", r.Examples, r.Features)
		about(row)
		row("memory\t%s", r.Memory)
	})
}
