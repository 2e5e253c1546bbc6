package train

import (
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
	switch {
	case o.OwnMap():
		return o.planOwnMap(d)
	case o.Train.Kernel != nil:
		return o.planKernel(d)
	}
	return o.planLinear(ctx, d.Examples, d.Y, len(d.Classes))
}

func (o *Options) planLinear(ctx context.Context, x dataset.Examples, y []int32,
	classes int) error {
	e := o.Train.Engine
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

// kernelPlan returns what all plans of kernel maps have.
func (o *Options) kernelPlan(d *dataset.Dataset, landmarks, components int, p pca.Plan) kernelPlan {
	r := kernelPlan{Device: o.Train.Engine.Device(), Examples: d.N, Features: d.D,
		Landmarks: landmarks, Components: components, Plan: p,
		Bytes: 4 * int64(d.N) * int64(components)}
	r.Memory = hostMemory{memory.Peak(), p.Total() + r.Bytes + r.Bytes/2 + Garbage}
	return r
}

// planKernel prints what the fit of kernel PCA would take, which goes before training.
func (o *Options) planKernel(d *dataset.Dataset) error {
	asked := *o.Train.Kernel
	asked.Coordinates = o.Train.Learner.Definition().Rotates
	k := asked.PCA(d.N, d.D, o.Train.Seed)
	plan, err := pca.NewPlan(d.Examples, k)
	if err != nil {
		return app.AdviseKernel(err)
	}
	landmarks, count := k.Landmarks, k.Components
	components := fmt.Sprintf("components: %d", count)
	if landmarks == 0 {
		landmarks = d.N
	}
	switch {
	case k.Coordinates:
		count, components = landmarks, "their coordinates"
	case k.Components == 0:
		components = fmt.Sprintf("components: enough for %v of the variance", k.Variance)
	}
	r := o.kernelPlan(d, landmarks, count, plan)
	return o.printKernel(r, func(row app.Row) {
		row("kernel map\t%d landmarks, %s", landmarks, components)
		row("kernel values\t%s", app.BytesText(plan.Kernel))
		row("vectors\tabout %s", app.BytesText(plan.Vectors))
		row("basis\t%s\ncomponents\t%s", app.BytesText(plan.Basis), app.BytesText(r.Bytes))
	})
}

// planOwnMap prints what the kernel map of the learner's own would take.
func (o *Options) planOwnMap(d *dataset.Dataset) error {
	q := len(d.Classes)
	r := o.kernelPlan(d, d.N, q, pca.Plan{Basis: 4 * int64(d.N) * int64(q)})
	return o.printKernel(r, func(row app.Row) {
		row("kernel means\t%d means of %d atoms", q, d.N)
		row("weights of atoms\t%s\nmeans at examples\t%s", app.BytesText(r.Plan.Basis),
			app.BytesText(r.Bytes))
	})
}

// printKernel prints the plan, for people with the rows of its kernel.
func (o *Options) printKernel(r kernelPlan, fill func(app.Row)) error {
	return o.PrintTable(r, func(row app.Row) {
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("data\t%d examples × %d features", r.Examples, r.Features)
		fill(row)
		row("memory\t%s", r.Memory)
	})
}
