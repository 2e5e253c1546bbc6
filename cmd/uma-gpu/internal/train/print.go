package train

import (
	"fmt"
	"io"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// seconds is where the time went. Total is all of it, from the check of the flags to the model on
// disk.
type seconds struct {
	Read    float64 `json:"read"`    // data and confusion matrix
	Prepare float64 `json:"prepare"` // fitting and applying
	Open    float64 `json:"open"`    // the device, with compiling and the self-test
	Kernel  float64 `json:"kernel"`  // fitting kernel PCA and projecting
	Upload  float64 `json:"upload"`  // examples to the device
	Train   float64 `json:"train"`
	Total   float64 `json:"total"`
}

// clock measures the seconds of the parts of a training.
type clock struct {
	seconds
	began, lap time.Time
}

func (c *clock) start() { c.began, c.lap = time.Now(), time.Now() }

func (c *clock) passed() time.Duration { return time.Since(c.began) }

// mark stores the seconds since the last mark.
func (c *clock) mark(seconds *float64) {
	*seconds = time.Since(c.lap).Seconds()
	c.lap = time.Now()
}

// phase is host.Watch.Phase.
func (c *clock) phase(p host.Phase) {
	switch p {
	case host.Mapped:
		c.mark(&c.Kernel)
	case host.Loaded:
		c.mark(&c.Upload)
	case host.Learned:
		c.mark(&c.Train)
	}
}

// Report is what train --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.TrainResult
	Model   string  `json:"model"`
	Seconds seconds `json:"seconds"`
}

// text prints the report for people, with the tables of classes if tables.
func (r *Report) text(w io.Writer, tables bool) error {
	if r.WrongShare != nil {
		return r.textOfEstimate(w)
	}
	kernel, s := "", r.Seconds
	if s.Kernel > 0 {
		kernel = fmt.Sprintf(", kernel %.3f", s.Kernel)
	}
	if err := app.Table(w, func(row app.Row) {
		row("model\t%s\nlearner\t%s", r.Model, r.Learner)
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("steps\t%d (%s)", r.Steps, r.Stop)
		row("training error\t%.4f, of its own examples; cv judges by others",
			min(max(r.EstimatedError, 0), 1))
		row("seconds\t%.3f: read %.3f, prepare %.3f, open device %.3f%s, upload %.3f, train %.3f",
			s.Total, s.Read, s.Prepare, s.Open, kernel, s.Upload, s.Train)
	}); err != nil {
		return err
	}
	if r.Validation == nil {
		return nil
	}
	fmt.Fprintf(w, "\nOn the examples held out, which were not learned from:\n\n")
	return app.PrintJudgement(w, r.Validation, tables)
}

// textOfEstimate prints the report on a model that an estimated confusion matrix chose.
func (r *Report) textOfEstimate(w io.Writer) error {
	return app.Table(w, func(row app.Row) {
		row("model\t%s\nlearner\tthe mixture of models that clean learns", r.Model)
		row("wrong labels\t%s", report.Share(*r.WrongShare).Percent())
		row("evidence\t%s", r.Evidence)
		if text := report.Identify[int](r.NotIdentified, nil); text != "" {
			row("not identified\t%s; clean names rows to check", text)
		}
		row("expected error\t%.4f, by the models' own probabilities", r.EstimatedError)
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("seconds\t%.3f", r.Seconds.Total)
	})
}
