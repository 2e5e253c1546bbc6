// Package export has the commands that exchange models with other programs.
package export

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/exchange"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common
	Model app.Model
	Out   string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "export",
		Usage: "write a model for other programs, as ONNX",
		Description: `The ONNX model takes raw features as input X, N×d, or one input per column of a table,
N×1 numbers or strings. Its outputs are label and probabilities, named as by skl2onnx (scores if the
model has no temperature). Kernel models are included. Other programs round differently, so scores
differ in their last bits. In Python, numpy.load("m.npz") reads a model.

Example: uma-gpu export --model m.npz --out m.onnx`,
		Flags: []cli.Flag{
			o.Model.Flag(),
			app.Required(app.Output(&o.Out, "out", "`FILE`.onnx to write (required)")),
			o.QuietFlag(),
		},
		Action: app.Action(o, run),
	}
}

// Run writes the model.
func Run(_ context.Context, o *Options) error {
	out, path := o.Out, o.Model.Path
	if strings.ToLower(filepath.Ext(out)) != ".onnx" {
		return app.Usage("--out is %s, wanted a name that ends in .onnx", out)
	}
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if err := osfile.Write(out, func(w io.Writer) error {
		return exchange.WriteONNX(w, m)
	}); err != nil {
		return fmt.Errorf("model file %s: %w", path, err)
	}
	if exchange.Columns(m) {
		o.Notes.Say("%s has an input for each column of the table: numbers, NaN where one is missing, "+
			"and strings, empty where one is missing", out)
	} else if !m.Meta.Features.Encoding.Plain() {
		o.Notes.Say("the model encodes the columns of a table as %d features; %s takes these features, "+
			"as uma-gpu convert --encoding %s writes them", m.Meta.Features.Count, out, path)
	}
	if m.Meta.Temperature == 0 {
		o.Notes.Say("the model has no temperature, so the second output is scores; uma-gpu calibrate " +
			"fits one")
	}
	return nil
}
