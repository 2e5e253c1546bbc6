package training

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// trusted returns the names that --trust gives, nil for none.
func trusted(o *Options) ([]string, error) {
	switch {
	case o.Trust == "":
		return nil, nil
	case o.Annotators == "" && o.Evidence.Functions == "":
		return nil, app.Usage("--trust is given without --annotators or --functions")
	}
	return strings.Split(o.Trust, ","), nil
}

// checkAnnotators checks the flags of annotators, whose labels take the place of the data's.
func checkAnnotators(o *Options) error {
	if _, err := trusted(o); err != nil {
		return err
	}
	switch {
	case o.Annotators == "" && o.Evidence.Functions == "":
		if o.Data.NoLabels && o.Evidence.Probabilities == "" {
			return app.Usage("--no-labels is given without --annotators, --functions or " +
				"--label-probabilities")
		}
		return nil
	case o.Annotators != "" && o.Noise.Path != "":
		return app.Usage("--annotators and --confusion exclude each other: a matrix of each annotator " +
			"is learned")
	}
	if o.Read.Labels = ""; !o.Read.NoLabels {
		o.Read.LabelColumn = cmp.Or(o.Read.LabelColumn, "last") // never a feature
	}
	o.Read.NoLabels = true
	return nil
}

// ReadAnnotations reads the annotators' labels, and gives d their classes, or those of the training
// to go on with, and the votes as labels. Examples without a label leave d.
func ReadAnnotations(ctx context.Context, o *Options, d *dataset.Dataset) error {
	right, err := trusted(o)
	if err != nil {
		return err
	}
	a, err := readAnnotations(ctx, o, o.Annotators, d, labels.Options{Right: right})
	if err != nil {
		return err
	}
	if which := a.Labelled(); len(which) < d.N {
		o.Notes.Say("annotators: %d of %d examples have no label, and are left out", d.N-len(which), d.N)
		if len(which) == 0 {
			return fmt.Errorf("%s: found no label", o.Annotators)
		}
		d.Examples = d.Pick(which)
		source := make([]int, len(which))
		for k, i := range which {
			source[k] = d.SourceRow(i)
		}
		d.Source = source
		if ids := d.IDs; ids != nil {
			d.IDs = nil
			for _, i := range which {
				d.IDs = append(d.IDs, ids[i])
			}
		}
		d.SHA256 = d.Hash()
		a = a.Pick(which)
	}
	if count := a.Repeats(); count > 0 {
		o.Notes.Say("annotators: %d labels are further ones of an annotator for the same example; all "+
			"count", count)
	}
	o.Train.Annotations, d.Classes, d.Y = a, a.Classes, a.Votes(o.Train.Seed)
	o.Notes.Say("annotators: %s, %d labels of %d annotators, %d classes", o.Annotators,
		len(a.Label), len(a.Names), len(a.Classes))
	return nil
}

// ReadFunctions reads the votes of labelling functions on the examples of d, nil for none.
func ReadFunctions(ctx context.Context, o *Options, path string, d *dataset.Dataset,
) (*dataset.Annotations, error) {
	options := labels.Options{Functions: true}
	if o.Trust != "" {
		options.Right = strings.Split(o.Trust, ",")
	}
	a, err := readAnnotations(ctx, o, path, d, options)
	if err == nil {
		o.Notes.Say("functions: %s, %d votes of %d functions on %d examples, %d classes", path,
			len(a.Label), len(a.Names), a.N(), len(a.Classes))
	}
	return a, err
}

// readAnnotations reads a table of labels, whose classes are those of the training to go on with.
func readAnnotations(ctx context.Context, o *Options, path string, d *dataset.Dataset,
	options labels.Options) (*dataset.Annotations, error) {
	if base := o.Base(); base != nil && d != nil {
		options.Classes = base.Meta.Classes
	}
	return app.Awaited(ctx, path, func(path string) (*dataset.Annotations, error) {
		return labels.Annotations(ctx, path, d, options)
	})
}

// Consensus returns the consensus of the annotators and its confusion matrix. It reads the labels
// unless ReadAnnotations has.
func Consensus(ctx context.Context, o *Options, how crowd.Options,
) (*crowd.Result, *estimate.Estimate, error) {
	a := o.Train.Annotations
	if a == nil {
		right, err := trusted(o)
		if err != nil {
			return nil, nil, err
		}
		a, err = readAnnotations(ctx, o, o.Annotators, nil, labels.Options{Right: right})
		if err != nil {
			return nil, nil, err
		}
		o.Notes.Say("annotators: %s, %d labels of %d annotators for %d examples, %d classes",
			o.Annotators, len(a.Label), len(a.Names), a.N(), len(a.Classes))
	}
	found, err := crowd.Fit(ctx, a, o.Train.Seed, how)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.Annotators, err)
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.Annotators, err)
	}
	return found, noise, nil
}

// JudgeByConsensus gives d the consensus of the annotators as labels, and returns its matrix.
func JudgeByConsensus(ctx context.Context, o *Options, d *dataset.Dataset,
) (*confusion.Matrix, error) {
	found, noise, err := Consensus(ctx, o, crowd.Options{})
	if err != nil {
		return nil, err
	}
	d.Y = found.Consensus
	o.Notes.Say("judged by the consensus of the annotators (%s)", found.Method)
	return &noise.Matrix, nil
}
