package kernelmean

import (
	"context"
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/kernel/meanmodel"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Combine are the options of kernelmean combine.
type Combine struct {
	app.Common
	Models cli.StringSlice // the parts
	Out    string
}

func newCombine() *cli.Command {
	o := new(Combine)
	return &cli.Command{
		Name:  "combine",
		Usage: "make one model of the mean classifiers of parts of the examples",
		Description: "Say --model once for each part, in the order of the examples. The models have to " +
			"be those of\nlearner kernelmean with the same kernel function, preparation (none, or files " +
			"that convert " +
			"prepared)\nand C. The result of exact models is that of all examples to the bit; with fewer " +
			"atoms a mean is " +
			"no\nfarther from the exact one than those of the parts are, weighed as they have examples. " +
			"The atoms of\nall are kept: uma-gpu compress makes them fewer.\n\n" +
			"Example: uma-gpu kernelmean combine --model a.npz --model b.npz --out all.npz",
		Flags: []cli.Flag{
			app.InputsFlag{StringSliceFlag: &cli.StringSliceFlag{Name: "model", Destination: &o.Models,
				Usage: "model of a part, `FILE`.npz (required, once for each)"}},
			app.Required(app.Output(&o.Out, "out", "model to write, `FILE`.npz (required)")),
			o.QuietFlag(),
		},
		Action: app.Action(&o.Common, o.run),
	}
}

// run writes the model of all parts.
func (o *Combine) run(ctx context.Context) error {
	if len(o.Models.Value()) == 0 {
		return app.Missing("model")
	}
	var parts []*model.Model
	for _, path := range o.Models.Value() {
		m, err := model.Load(path)
		if err != nil {
			return err
		}
		parts = append(parts, m)
	}
	m, err := meanmodel.Combine(parts)
	if err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err := m.Save(o.Out); err != nil {
		return err
	}
	examples := int64(0)
	for _, n := range m.Meta.Kernel.Examples {
		examples += n
	}
	o.Notes.Say("%s has %d atoms, the means of %d examples; probabilities want uma-gpu calibrate",
		o.Out, m.Projection.Landmarks.N, examples)
	return nil
}
