// Package report is the command that reports on a model and its labels.
package report

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
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
	Show     string // column
	Pictures string // WxH
	Out      string // "" for text
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "report",
		Usage: "report on a model and its labels, as one page",
		Description: `Writes a self-contained HTML page and the same numbers as JSON. It starts with the share of wrong
labels, the accuracy, the gain by the confusion matrix, and the next step. Then come the labels most
likely wrong, confused classes and the evidence; calibration, classes and noise are folded. Without
--out, a summary is printed as text.

--judge folds is for the training data: it uses out-of-fold predictions with the model's settings,
with and without C; γ and the number of components are kept. On other data the model
predicts, and labels are trusted unless --confusion is given.

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
			app.Text(&o.Show, "show", "", "text `COLUMN` of the data to show with suspicious rows"),
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
	if o.Data.Path != "" {
		if err := r.judge(ctx); err != nil {
			return err
		}
	}
	return r.write(ctx)
}

func (o *Options) check() error {
	ext := strings.ToLower(filepath.Ext(o.Out))
	switch {
	case o.Out != "" && ext != ".html" && ext != ".htm":
		return app.Usage("--out is %q, wanted a name that ends in .html", o.Out)
	case o.Data.Path == "" && o.Noise.Path != "":
		return app.Usage("--confusion needs --data")
	}
	o.Read = o.Data.Options()
	_, _, err := o.pictureSize()
	return err
}

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
	numbers := strings.TrimSuffix(r.Out, filepath.Ext(r.Out)) + ".json"
	var files osfile.Group
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
