// Package report is the command that reports on a model and its labels.
package report

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// The values of --judge.
const (
	byFolds = "folds"
	byModel = "model"
)

type Options struct {
	training.Options
	Match    app.Model // features
	Model    string
	Judge    string
	History  string // file
	Show     string // column
	ShowFile string
	Pictures string // WxH
	Out      string // "" for text

	// of a training that asks for the report
	Moments []report.Moment
	Phases  []report.Phase
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "report",
		Usage: "report on a model and its labels, as one page",
		Description: `Writes a self-contained HTML page and the same numbers as JSON. It starts with the share of wrong
labels, the accuracy, the gain by the confusion matrix, and the next step. Then come the labels most
likely wrong, confused classes and the evidence; learning curve, calibration, classes and noise are
folded. Without --out, a summary is printed as text.

--judge folds is for the training data: it uses out-of-fold predictions with the model's settings,
with and without C; γ and the number of components are kept. On other data the model
predicts, and labels are trusted unless --confusion is given.

train --report FILE.html trains and reports in one step.

Example: uma-gpu report --model m.npz --data noisy.csv --out report.html`,
		Flags: app.Flags(app.Required(app.Input(&o.Model, "model",
			"model that train wrote: `FILE`.npz (required)")),
			app.Input(&o.Data.Path, "data", "examples to evaluate on: `FILE`"),
			o.Data.FormatFlags(&o.Common), o.Match.MatchFlag(),
			o.Noise.Flags("confusion matrix of their labels: `FILE`, CSV or .npy; else the model's"),
			app.Choice(&o.Judge, "judge", "auto",
				"`METHOD` of prediction: folds (out of fold), model, or auto",
				"auto", byFolds, byModel),
			training.FoldFlag(&o.Options),
			app.Input(&o.History, "history",
				"learning curve: `FILE` written by train --history"),
			app.Text(&o.Show, "show", "", "text `COLUMN` of the data to show with suspicious rows"),
			app.Input(&o.ShowFile, "show-file",
				"`FILE` with a line per example, to show instead"),
			&cli.StringFlag{Name: "pictures", DefaultText: "of IDX", Destination: &o.Pictures,
				Usage: "examples are pictures of `WxH` pixels, or none"},
			o.Device.Flags(),
			app.Output(&o.Out, "out", "page to write, `FILE`.html, and its numbers, FILE.json; else text"),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run reports on a model.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	m, err := model.Load(o.Model)
	if err != nil {
		return err
	}
	r := newReporter(o, m)
	if o.History != "" {
		if r.Report.History, err = app.Awaited(ctx, o.History, training.ReadHistory); err != nil {
			return err
		}
	}
	if o.Data.Path != "" {
		if err := r.judge(ctx, func() (*confusion.Matrix, error) {
			return o.Noise.Read(ctx, m.Meta.Classes)
		}); err != nil {
			return err
		}
	}
	return r.write(ctx)
}

// OfTraining reports on a training that has just ended.
func OfTraining(ctx context.Context, o *Options, trained *host.Trained, noise *confusion.Matrix,
) error {
	o.Judge, o.Folds = byFolds, 5
	r := newReporter(o, trained.Model)
	r.Report.History, r.Report.Phases, r.Doubts = o.Moments, o.Phases, trained.Doubts
	err := r.judge(ctx, func() (*confusion.Matrix, error) { return noise, nil })
	if err != nil {
		return fmt.Errorf("the model was written, but its report was not: %w", err)
	}
	o.JSON = false // train has printed its report
	return r.write(ctx)
}

func (o *Options) check() error {
	if err := CheckPage("out", o.Out); err != nil {
		return err
	}
	switch {
	case o.Show != "" && o.ShowFile != "":
		return app.Usage("--show and --show-file cannot be combined")
	case o.Data.Path == "" && o.Noise.Path != "":
		return app.Usage("--confusion needs --data")
	}
	o.Read = o.Data.Options()
	_, _, err := o.pictureSize()
	return err
}

// CheckPage checks the name of a page that a flag gives.
func CheckPage(flag, page string) error {
	if ext := strings.ToLower(filepath.Ext(page)); page != "" && ext != ".html" && ext != ".htm" {
		return app.Usage("--%s is %q, wanted a name that ends in .html", flag, page)
	}
	return nil
}

// JSONName returns the name of the file with the numbers of a page.
func JSONName(page string) string { return strings.TrimSuffix(page, filepath.Ext(page)) + ".json" }

type reporter struct {
	report.Report
	*Options
	model *model.Model
}

func newReporter(o *Options, m *model.Model) *reporter {
	r := &reporter{Options: o, model: m}
	r.Report.Command = o.Command()
	r.Report.Model, r.Classes = report.NewModel(o.Model, m), m.Meta.Classes
	if m.Confusion != nil {
		r.Report.Noise = &report.Noise{Source: "given to the training",
			Matrix: app.Rows(m.Confusion, m.Q)}
	} else if l := m.Learned; l != nil {
		r.Report.Noise = &report.Noise{Source: "learned from the labels together with the model",
			Matrix: app.Rows(l.Confusion, m.Q), Errors: app.Rows(l.Error, m.Q)}
	}
	return r
}

func (r *reporter) write(ctx context.Context) error {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	r.Conclude()
	if r.Out == "" {
		if r.JSON {
			return r.WriteJSON(r.Common.Out)
		}
		return r.WriteText(r.Common.Out)
	}
	numbers := JSONName(r.Out)
	var files atomicfile.Group
	defer files.Discard()
	err := files.Write(numbers, r.WriteJSON)
	if err == nil {
		err = files.Write(r.Out, func(w io.Writer) error {
			return r.WriteHTML(w, filepath.Base(numbers))
		})
	}
	if err == nil {
		err = files.Commit()
	}
	if err != nil {
		return err
	}
	r.Notes.Say("report: %s, its numbers in %s", r.Out, numbers)
	if r.JSON {
		return r.WriteJSON(r.Common.Out)
	}
	return nil
}
