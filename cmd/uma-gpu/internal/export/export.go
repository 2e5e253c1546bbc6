// Package export is the command that writes a model for other programs.
package export

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/exchange"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

type Options struct {
	app.Common
	Model  app.Model
	Format string
	Out    string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "export",
		Usage: "write a model for other programs: ONNX or LIBLINEAR",
		Description: `onnx takes raw features as input X, N×d, or one input per column of a table,
N×1 numbers or strings. Its outputs are label and probabilities, named as by skl2onnx (scores if the
model has no temperature). Kernel models are included. liblinear is the text that liblinear-predict
reads, for linear models: preparation is folded into the weights, there are no probabilities, and
labels are 0, 1, … unless all classes are integers. Other programs round differently, so scores
differ in their last bits. In Python, numpy.load("m.npz") reads a model.

Example: uma-gpu export --model m.npz --out m.onnx`,
		Flags: []cli.Flag{
			o.Model.Flag(),
			app.Choice(&o.Format, "format", "auto",
				"`FORMAT`: auto (the name of --out says), onnx or liblinear", "auto", "onnx", "liblinear"),
			app.Required(app.Output(&o.Out, "out",
				"`FILE` to write: .onnx or, for LIBLINEAR, .model (required)")),
			o.QuietFlag(),
		},
		Action: app.Action(o, run),
	}
}

// Run writes the model.
func Run(_ context.Context, o *Options) error {
	format, out, path := o.Format, o.Out, o.Model.Path
	if format == "auto" {
		switch strings.ToLower(filepath.Ext(out)) {
		case ".onnx":
			format = "onnx"
		case ".model":
			format = "liblinear"
		default:
			return app.Usage("--out is %s, wanted a name that ends in .onnx or .model, or --format", out)
		}
	}
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	write := exchange.Writers[format]
	if err := atomicfile.Write(out, func(w io.Writer) error { return write(w, m) }); err != nil {
		return fmt.Errorf("model file %s: %w", path, err)
	}
	switch encoding := m.Meta.Features.Encoding; {
	case format == "onnx" && exchange.Columns(m):
		o.Notes.Say("%s has an input for each column of the table: numbers, NaN where one is missing, "+
			"and strings, empty where one is missing", out)
	case encoding != nil:
		o.Notes.Say("the model encodes the columns of a table as %d features; %s takes these features, "+
			"as uma-gpu convert --encoding %s writes them", m.Meta.Features.Count, out, path)
	}
	switch labels, named := exchange.Labels(m); {
	case format == "liblinear" && !named:
		classes := m.Meta.Classes
		o.Notes.Say("labels: %s: LIBLINEAR's are integers", app.First(classes, app.MostClasses,
			func(class string) string {
				return fmt.Sprintf("%d is %q", labels[slices.Index(classes, class)], app.Shorten(class))
			}))
	case format == "onnx" && m.Meta.Temperature == 0:
		o.Notes.Say("the model has no temperature, so the second output is scores; uma-gpu calibrate " +
			"fits one")
	}
	return nil
}
