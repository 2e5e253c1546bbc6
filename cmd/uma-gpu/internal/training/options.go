// Package training reads the files of commands that train: examples, and what is known of their
// labels.
package training

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// NoisyFlags returns the flags of examples with noisy labels, of texts in them and of the noise.
func (in *Input) NoisyFlags(o *app.Common) []cli.Flag {
	return app.Flags(in.Data.Flags(o, "examples with noisy labels"), in.TextFlag(),
		in.Noise.Flags("confusion matrix of the label noise: `FILE`, CSV or .npy"))
}

// ReadExamples reads the data, for a training that goes on or begins with a model so that they
// match.
func (in *Input) ReadExamples(ctx context.Context, read file.Options, match string,
	base *model.Model) (*dataset.Dataset, error) {
	if base == nil {
		return in.Data.Read(ctx, read)
	}
	d, err := (&app.Model{Match: match}).ReadFor(ctx, &in.Data, read, base)
	if err == nil && d.SHA256 == "" && d.Prepared == nil { // whose columns traded places
		d.SHA256 = d.Hash()
	}
	return d, err
}

// AnnotatorFlags returns the flags of labels by several people.
func (in *Input) AnnotatorFlags() []cli.Flag {
	return app.Flags(
		app.Input(&in.Annotators, "annotators",
			"labels of several people instead of the data's: `FILE`, a CSV row,worker,label"),
		app.Switch(&in.NoLabels, "no-labels",
			"with --annotators: all columns of the data are features"))
}

// TrustFlag returns the flag of annotators that never err.
func (in *Input) TrustFlag() cli.Flag {
	return app.ListFlag(&in.Trust, "trust",
		"comma list of `WORKERS` of --annotators whose labels are right, as of a checker")
}
