// Package report is the command that reports on a model and its labels.
package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/page"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Judged           `json:"input"`
	Request    umagpu.ReportRequest `json:"request,omitzero"`
	Output     Output               `json:"output"`
	Device     app.Device           `json:"-"`
}

// Output is what the page shows beside numbers, and its file.
type Output struct {
	Page     string `json:"out,omitempty"` // "" for text
	Show     string `json:"show,omitempty"`
	Pictures string `json:"pictures,omitempty"` // WxH
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	out := &o.Output
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
		Flags: app.Flags(o.Input.Flags(&o.Common, "examples to evaluate on",
			"confusion matrix of their labels: `FILE`, CSV or .npy; else the model's"),
			app.ParameterFlags(&o.Request),
			app.Text(&out.Show, "show", "", "`COLUMN` of the data to show with suspicious rows "+
				"(default: the first text)"),
			&cli.StringFlag{Name: "pictures", DefaultText: "of IDX", Destination: &out.Pictures,
				Usage: "examples are pictures of `WxH` pixels, or none"},
			o.Device.Flags(), app.Output(&out.Page, "out",
				"page to write, `FILE`.html, and its numbers, FILE.json; else text"),
			o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run reports on a model.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	m, d, noise, err := o.Input.Open(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	asked := &page.Request{Name: filepath.Base(o.Input.Data.Path), Date: page.Today(),
		Call: o.Command(), Model: o.Input.Model.Path, Spell: umagpu.SpellFlag, Show: o.Output.Show}
	if asked.Picture, err = o.picture(d); err != nil {
		return err
	}
	r := o.Request
	r.Model, r.Data, r.Confusion = m, umagpu.FromDataset(d), noise
	r.Compute = o.Device.Compute(o.Notes, app.Training)
	found, err := umagpu.Report(ctx, &r)
	if err != nil {
		return err
	}
	asked.Again = o.issues(d)
	asked.OfFile(ctx, d, o.Input.Data.Path, o.Input.Data.Options())
	p, err := page.Report(&r, found, asked)
	if err != nil {
		return cmp.Or(app.Interrupted(ctx), err)
	}
	return o.write(ctx, p)
}

func (o *Options) check() error {
	ext := strings.ToLower(filepath.Ext(o.Output.Page))
	if o.Output.Page != "" && ext != ".html" && ext != ".htm" {
		return app.Usage("--out is %q, wanted a name that ends in .html", o.Output.Page)
	}
	_, _, err := o.pictureSize()
	return err
}

func (o *Options) write(ctx context.Context, p *report.Report) error {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	p.Request = o
	if o.Output.Page == "" {
		if o.JSON {
			return p.WriteJSON(o.Out)
		}
		return p.WriteText(o.Out)
	}
	numbers := strings.TrimSuffix(o.Output.Page, filepath.Ext(o.Output.Page)) + ".json"
	var files osfile.Group
	defer files.Discard()
	err := files.Write(numbers, p.WriteJSON)
	if err == nil {
		err = files.Write(o.Output.Page, func(w io.Writer) error {
			return p.WriteHTML(w, filepath.Base(numbers))
		})
	}
	if err == nil {
		err = files.Commit()
	}
	if err != nil {
		return err
	}
	o.Notes.Say("report: %s, its numbers in %s", o.Output.Page, numbers)
	if o.JSON {
		return p.WriteJSON(o.Out)
	}
	return nil
}

// issues returns the command that lists all suspects. It reads the data without the model, so its
// flags describe the columns.
func (o *Options) issues(d *dataset.Dataset) string {
	words := "uma-gpu issues --data " + app.Quoted(o.Input.Data.Path) +
		o.Line(append(app.FlagNames(new(app.Data).FormatFlags(&o.Common)), "confusion",
			"confusion-axes")...)
	if d.Label != "" && !o.Given("label-column") && !o.Given("labels") {
		words += " --label-column " + app.Quoted(d.Label)
	}
	if d.Encoding != nil {
		var texts []string
		for _, c := range d.Encoding.Columns {
			if c.Kind == dataset.KindText {
				texts = append(texts, c.Name)
			}
		}
		if texts != nil {
			words += " --text " + app.Quoted(strings.Join(texts, ","))
		}
	}
	return words + " --out issues.csv"
}

// pictureSize reads --pictures: 0, 0 if it gives no size.
func (o *Options) pictureSize() (width, height int, err error) {
	text := o.Output.Pictures
	if text == "" || text == "none" {
		return 0, 0, nil
	}
	if _, err := fmt.Sscanf(text, "%dx%d", &width, &height); err != nil ||
		fmt.Sprintf("%dx%d", width, height) != text || min(width, height) < 1 ||
		max(width, height) > 1<<12 {
		return 0, 0, app.Usage("--pictures is %q, want a size such as 28x28, or none", text)
	}
	return width, height, nil
}

// picture returns what draws an example; nil for none.
func (o *Options) picture(d *dataset.Dataset) (func(i int) (string, error), error) {
	const least = 7 // pixels of a side that shows something
	width, height, err := o.pictureSize()
	side := int(math.Sqrt(float64(d.D)))
	switch {
	case err != nil || o.Output.Pictures == "none" || d.Prepared != nil:
		return nil, err
	case width > 0 && width*height != d.D:
		return nil, fmt.Errorf("%s: found %d features, wanted %d×%d = %d, the pixels of --pictures",
			d.Path, d.D, width, height, width*height)
	case width == 0 && (d.Format != "idx" || side < least || side*side != d.D):
		return nil, nil
	case width == 0:
		width, height = side, side
	}
	return func(i int) (string, error) {
		return report.Picture(d.Pick([]int{i}).Dense().X, width, height)
	}, nil
}
