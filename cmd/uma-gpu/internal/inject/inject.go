// Package inject is the command that corrupts labels by a confusion matrix.
package inject

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Options have one of Noise.Path and the rates.
type Options struct {
	app.Common
	Data                        app.Data
	Noise                       app.Noise // the matrix of a file
	Symmetric, Pairwise, Random float64   // rates of a matrix that is made
	Seed                        uint64
	Out                         string
	Keep                        string // file for the matrix, "" for none
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "inject",
		Usage: "write a copy of the data with labels corrupted at random by a confusion matrix",
		Description: `The copy has the format and the label column of the original, unless its name (.csv,
.tsv, .svm, .libsvm, .svmlight, .npz, and .gz or .zst behind it) asks for another format. The same
seed corrupts the same labels. Rates and shares are from 0 to 1.

Example: uma-gpu confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv \
           --write-confusion C.csv`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples with right labels"),
			o.Noise.Flags("confusion matrix in a `FILE`, CSV or .npy"),
			rate(&o.Symmetric, "symmetric", "RATE",
				"labels are wrong at this rate, all wrong classes alike"),
			rate(&o.Pairwise, "pairwise", "RATE",
				"class q becomes q+1, the last one the first, at this rate"),
			rate(&o.Random, "random", "SHARE", "this share of a random matrix, the rest of the identity"),
			app.SeedFlag(&o.Seed, "the corruption and of --random"),
			app.Required(app.Output(&o.Out, "out", "copy to write, `FILE` (required)")),
			app.Output(&o.Keep, "write-confusion", "also write the confusion matrix, `FILE`.csv"),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

func rate(into *float64, name, value, sentence string) cli.Flag {
	return app.Flag(into, umagpu.Parameter{Name: name, Value: value, Sentence: sentence,
		Range: umagpu.Range{Most: 1}})
}

// Run writes the copy and the matrix.
func Run(ctx context.Context, o *Options) error {
	matrix, err := o.matrix(ctx)
	if err != nil {
		return err
	}
	if err := o.Data.CheckOutput(o.Out); err != nil {
		return err
	}
	options := o.Data.Options()
	d, err := o.Data.Read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := app.CheckRaw(d, "a model would name the data without the changed labels; corrupt the "+
		"original data"); err != nil {
		return err
	}
	m, err := matrix(d.Classes)
	if err != nil {
		return err
	}
	labelled := lists.Where(d.N, func(i int) bool { return dataset.LabelOf(d, i) >= 0 })
	drawn, err := m.Inject(lists.At(d.Y, labelled), o.Seed)
	if err != nil {
		return err
	}
	noisy, changed := slices.Clone(d.Y), 0 // of rows without a label, which stay so
	for k, i := range labelled {
		if noisy[i] = drawn[k]; drawn[k] != d.Y[i] {
			changed++
		}
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	var files osfile.Group
	defer files.Discard()
	if o.Keep != "" {
		if err := files.Write(o.Keep, m.Write); err != nil {
			return err
		}
	}
	layout := app.CopyOptions(o.Out, d)
	if err := o.Data.WriteCopy(ctx, o.Out, d, file.Copy{Options: options, Y: noisy},
		app.Together(&files, layout)); err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	o.Notes.IDsLeftOut(d, o.Out, layout.Format)
	o.Notes.Say("changed %d of %d labels (%.1f %%), written to %s", changed, len(labelled),
		100*float64(changed)/float64(len(labelled)), o.Out)
	return nil
}

// matrix returns what makes or reads the one confusion matrix that the flags ask for.
func (o *Options) matrix(ctx context.Context,
) (matrix func(classes []string) (*confusion.Matrix, error), err error) {
	given := 0
	if o.Noise.Path != "" {
		given++
		matrix = func(classes []string) (*confusion.Matrix, error) { return o.Noise.Read(ctx, classes) }
	}
	for _, made := range []struct {
		flag   string
		rate   float64
		matrix func(classes []string, rate float64) (*confusion.Matrix, error)
	}{
		{"symmetric", o.Symmetric, confusion.Symmetric}, {"pairwise", o.Pairwise, confusion.Pairwise},
		{"random", o.Random, func(classes []string, rate float64) (*confusion.Matrix, error) {
			return confusion.Random(classes, rate, o.Seed)
		}},
	} {
		if !o.Given(made.flag) {
			continue
		}
		given++
		matrix = func(classes []string) (*confusion.Matrix, error) {
			return made.matrix(classes, made.rate)
		}
	}
	if given != 1 {
		return nil, app.Usage("found %d confusion matrices, wanted exactly one of --confusion, "+
			"--symmetric, --pairwise and --random", given)
	}
	return matrix, nil
}
