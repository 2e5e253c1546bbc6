package training

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/learners"
)

// PlanReport is what train --dry-run --json prints.
type PlanReport struct {
	Device   engine.Device `json:"device"`
	Examples int           `json:"examples"`
	Features int           `json:"features"` // of the prepared examples
	Classes  int           `json:"classes"`
	Storage  string        `json:"storage"`
	Plan     engine.Plan   `json:"plan"`
	Memory   hostMemory    `json:"memory"`
	Estimate passEstimate  `json:"estimate"`
	Seconds  trainSeconds  `json:"seconds"` // that the dry run took; nothing is uploaded or trained
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

// learningTakes returns how much host memory examples with this plan take, once they are prepared:
// what the device has there, and up to half of them again, for samples and for bounds by which
// passes read less of them.
func learningTakes(p engine.Plan) hostMemory {
	m := hostMemory{Taken: memory.Peak(), More: p.Examples/2 + Garbage}
	if p.InPlace {
		m.More += p.Scores + p.ClassSums + p.Scratch
	}
	return m
}

// linearDryRun prints what training would take, without doing it.
func (t *Training) linearDryRun(c *cli.Context, e engine.Engine, x dataset.Stored, y []int32,
	classes int) error {
	plan := func() (engine.Plan, error) { return e.Plan(x, y, classes) }
	switch t.Learner.Definition().Loads {
	case learners.LoadsScorer:
		plan = func() (engine.Plan, error) { return e.Plan(x, nil, classes) }
	case learners.LoadsEvaluator:
		plan = func() (engine.Plan, error) { return e.PlanEvaluator(x, classes) }
	}
	needs, err := plan()
	if err != nil {
		return app.AdviseMemory(err)
	}
	reopen := func(limit int64) (engine.Engine, error) { return t.Device.Reopen(e.Device().ID, limit) }
	taken := learningTakes(needs) // before anything is measured, which takes memory too
	guess, err := Expect(c.Context, e, needs, x.Examples, classes, reopen)
	if err != nil {
		return app.AdviseMemory(err)
	}
	t.seconds.Total = time.Since(t.start).Seconds()
	r := PlanReport{
		Device: e.Device(), Examples: x.N, Features: x.D, Classes: classes, Storage: "dense",
		Plan: needs, Memory: taken, Estimate: guess, Seconds: t.seconds,
	}
	if x.Sparse() {
		r.Storage = "sparse"
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	return r.print(c.App.Writer)
}

func (r PlanReport) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	p := r.Plan
	line("device", "%s %s", r.Device.ID, r.Device.Name)
	line("data", "%d examples × %d features, %d classes, %s", r.Examples, r.Features, r.Classes,
		r.Storage)
	line("examples", "%s", app.BytesText(p.Examples))
	if p.Aside > 0 {
		how := "streamed to the device in every pass"
		if p.InPlace {
			how = "used in place"
		}
		line("  of them aside", "%s in host memory, %s", app.BytesText(p.Aside), how)
	}
	line("scores", "%s", app.BytesText(p.Scores))
	line("class sums", "%s", app.BytesText(p.ClassSums))
	line("scratch", "%s", app.BytesText(p.Scratch))
	limit := "no limit"
	if p.Limit > 0 {
		limit = "of " + app.BytesText(p.Limit)
	}
	line("in all", "%s, %s", app.BytesText(p.Examples-p.Aside+p.Scores+p.ClassSums+p.Scratch), limit)
	line("memory", "%s", r.Memory)
	line("tiles", "%d, of which aside %d", p.Tiles, p.TilesAside)
	m := r.Estimate
	line("expected pass", "%.3g s, at %.3g GB/s measured on %d examples", m.SecondsPerPass,
		m.Measured.BytesPerSecond/1e9, m.Measured.Examples)
	if s := m.Streamed; s != nil {
		line("", "and %.3g GB/s streamed, measured on %d", s.BytesPerSecond/1e9, s.Examples)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w,
		"\nA pass reads all examples and scores two classes. Every step makes one, and besides moves "+
			"examples\nbetween class sums, which can take several times as long and depends on the labels.")
	return err
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

// kernelDryRun prints what the fit of kernel PCA would take, which goes before training.
func (t *Training) kernelDryRun(c *cli.Context, where engine.Device, d *dataset.Dataset) error {
	o := t.Kernel.PCA(d.N, d.D, t.Seed)
	plan, err := pca.NewPlan(d, o)
	if err != nil {
		return app.AdviseKernel(err)
	}
	r := kernelPlan{Device: where, Examples: d.N, Features: d.D, Landmarks: o.Landmarks,
		Components: o.Components, Plan: plan, Bytes: 4 * int64(d.N) * int64(o.Components)}
	if r.Landmarks == 0 {
		r.Landmarks = d.N
	}
	r.Memory = hostMemory{memory.Peak(), plan.Vectors + plan.Basis + r.Bytes + r.Bytes/2 + Garbage}
	if plan.Kept {
		r.Memory.More += plan.Kernel
	}
	components := strconv.Itoa(r.Components)
	if r.Components == 0 {
		components = fmt.Sprintf("as many as have %v of the variance", o.Variance)
	}
	kept := "kept"
	if !plan.Kept {
		kept = "computed for each product"
	}
	return r.print(c, [][2]string{
		{"kernel PCA", fmt.Sprintf("%d landmarks, components: %s", r.Landmarks, components)},
		{"kernel values", app.BytesText(plan.Kernel) + ", " + kept},
		{"vectors", "about " + app.BytesText(plan.Vectors)},
		{"basis", app.BytesText(plan.Basis)},
		{"components", app.BytesText(r.Bytes)},
		{"memory", r.Memory.String()},
	})
}

// ownMapDryRun prints what the kernel map of the learner's own would take.
func (t *Training) ownMapDryRun(c *cli.Context, where engine.Device, d *dataset.Dataset) error {
	q := len(d.Classes)
	r := kernelPlan{Device: where, Examples: d.N, Features: d.D, Landmarks: d.N, Components: q,
		Plan: pca.Plan{Basis: 4 * int64(d.N) * int64(q)}, Bytes: 4 * int64(d.N) * int64(q)}
	r.Memory = hostMemory{memory.Peak(), r.Plan.Basis + r.Bytes + r.Bytes/2 + Garbage}
	return r.print(c, [][2]string{
		{"kernel means", fmt.Sprintf("%d means of %d atoms", r.Components, r.Landmarks)},
		{"weights of atoms", app.BytesText(r.Plan.Basis)},
		{"means at examples", app.BytesText(r.Bytes)},
		{"memory", r.Memory.String()},
	})
}

// print prints the plan, for people with these lines, each a name and a text.
func (r kernelPlan) print(c *cli.Context, lines [][2]string) error {
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "device\t%s %s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(w, "data\t%d examples × %d features\n", r.Examples, r.Features)
	for _, line := range lines {
		fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
	}
	return w.Flush()
}
