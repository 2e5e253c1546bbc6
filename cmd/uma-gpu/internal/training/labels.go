package training

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// checkAnnotators checks the flags of annotators, whose labels take the place of the data's.
func checkAnnotators(o *Options) error {
	switch {
	case o.Annotators == "" && o.Evidence.Functions == "":
		if o.Trust != "" {
			return app.Usage("--trust is given without --annotators or --functions")
		}
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

// ReadAnnotations reads the annotators' labels, and gives d their classes, or the classes of the
// training to go on with, and the votes as labels. Examples without a label leave d.
func ReadAnnotations(ctx context.Context, o *Options, d *dataset.Dataset) error {
	a, err := readAnnotations(ctx, o, o.Annotators, d, labels.Options{})
	if err != nil {
		return err
	}
	if which := a.Labelled(); len(which) < d.N {
		o.Notes.Say("annotators: %d of %d examples have no label, and are left out", d.N-len(which), d.N)
		if len(which) == 0 {
			return fmt.Errorf("%s: found no label", o.Annotators)
		}
		labelled, err := d.Choose(which)
		if err != nil {
			return err
		}
		d.Examples, d.Source, d.IDs = labelled.Examples, labelled.Source, labelled.IDs
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
	a, err := readAnnotations(ctx, o, path, d, labels.Options{Functions: true})
	if err == nil {
		o.Notes.Say("functions: %s, %d votes of %d functions on %d examples, %d classes", path,
			len(a.Label), len(a.Names), a.N(), len(a.Classes))
	}
	return a, err
}

// readAnnotations reads a table of labels. A resumed training keeps its classes.
func readAnnotations(ctx context.Context, o *Options, path string, d *dataset.Dataset,
	options labels.Options) (*dataset.Annotations, error) {
	options.Right = app.List(o.Trust)
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
		var err error
		if a, err = readAnnotations(ctx, o, o.Annotators, nil, labels.Options{}); err != nil {
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

// Evidence are the flags of labels that are more or less than one class (docs/labels.md).
type Evidence struct {
	RowWeights    string // file of a number per example
	Probabilities string // file of a number per class and example
	Functions     string // file of the votes of labelling functions
}

// EvidenceFlags returns these flags, for data with them.
func EvidenceFlags(o *Options) []cli.Flag {
	e := &o.Evidence
	return []cli.Flag{
		app.Text(&o.Data.WeightColumn, "weight-column", "",
			"`COLUMN` of how much an example counts, 2 as twice: a name or a position from 1"),
		app.Input(&e.RowWeights, "row-weights",
			"second `FILE` with a weight per example: .npy, or a text of a number per line"),
		app.Input(&e.Probabilities, "label-probabilities",
			"second `FILE` with a probability of each class per example, .npy or CSV, as labels"),
		app.Input(&e.Functions, "functions", "votes of labelling functions instead of labels: `FILE`, a "+
			"column for each in a CSV (empty or -1: no vote), or an .npy"),
		app.Text(&o.Data.Between, "candidates", "",
			"labels may have several candidate classes, with this `MARK` between, such as |"),
		app.Text(&o.Data.UnknownLabel, "unknown-label", "",
			"the label `TEXT` means no label, such as -1, as an empty one does"),
	}
}

// checkEvidence checks these flags, and has the data read by them.
func checkEvidence(o *Options) error {
	var given []string
	for _, name := range []string{"label-probabilities", "functions", "candidates", "annotators"} {
		if o.Given(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return app.Usage("%s and %s exclude each other: each says what labels are", given[0], given[1])
	}
	if o.Data.WeightColumn != "" && o.Evidence.RowWeights != "" {
		return app.Usage("--weight-column and --row-weights exclude each other")
	}
	o.Read.Unlabelled = !o.Read.NoLabels
	return nil
}

// ReadEvidence gives d what the flags say of its labels, and tells of it.
func ReadEvidence(ctx context.Context, o *Options, d *dataset.Dataset) error {
	e, q := &o.Evidence, len(d.Classes)
	known := dataset.Evidence{}
	if d.Evidence != nil {
		known = *d.Evidence
	}
	if e.RowWeights != "" {
		numbers, err := readNumbers(ctx, o, d, e.RowWeights, 1)
		if err != nil {
			return err
		}
		known.Weight = lists.As[float64](numbers.X)
		if err := dataset.CheckWeights(known.Weight, d.N); err != nil {
			return fmt.Errorf("%s: %w", e.RowWeights, err)
		}
	}
	if e.Probabilities != "" {
		numbers, err := readNumbers(ctx, o, d, e.Probabilities, q)
		if err != nil {
			return err
		}
		if known.Classes, err = byClass(o, d, numbers); err != nil {
			return err
		}
		q = len(d.Classes)
	}
	if e.Functions != "" {
		if err := voted(ctx, o, d, &known); err != nil {
			return err
		}
		q = len(d.Classes)
	}
	if known.Weight != nil || known.Classes != nil {
		if err := d.SetEvidence(&known); err != nil {
			path := cmp.Or(e.Probabilities, e.Functions, e.RowWeights, d.Path)
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if known.Weight != nil {
		o.Notes.Say("weights: %d examples count as %.6g", d.N, lists.Sum(known.Weight))
	}
	sets, all, distributions := known.Sets(q)
	if distributions > 0 {
		o.Notes.Say("labels: %d of %d examples have probabilities of classes", distributions, d.N)
	}
	if sets > all && !known.Likely {
		o.Notes.Say("labels: %d of %d examples have several candidate classes", sets-all, d.N)
	}
	if l, ok := o.Train.Learner.(learners.Probabilistic); ok && all > 0 && l.Unlabelled() {
		o.Notes.Say("labels: %d of %d examples have none; their classes are learned", all, d.N)
	}
	return nil
}

// voted reads the votes of functions, which give d its classes.
func voted(ctx context.Context, o *Options, d *dataset.Dataset, known *dataset.Evidence) error {
	path := o.Evidence.Functions
	a, err := ReadFunctions(ctx, o, path, d)
	if err != nil {
		return err
	}
	found, err := crowd.FitFunctions(ctx, a)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	d.Classes, known.Classes, known.Likely = a.Classes, found.Evidence(), !found.ByVote
	if found.ByVote {
		o.Notes.Say("functions: labels are the shares of the votes, as a model of the functions would " +
			"overrule too many")
	}
	return nil
}

// readNumbers reads a file of numbers for each example of d, width of them, any number if 0.
func readNumbers(ctx context.Context, o *Options, d *dataset.Dataset, path string, width int,
) (*dataset.Dataset, error) {
	if len(d.SkippedAt) > 0 {
		return nil, fmt.Errorf("%s: %d examples of %s were passed over, so the files do not go "+
			"together; correct the data", path, len(d.SkippedAt), d.Path)
	}
	read := file.Options{NoLabels: true, Storage: "dense", Stdin: o.In}
	if width == 1 {
		read.Features = 1
	}
	numbers, err := file.Read(ctx, path, read)
	if err != nil {
		return nil, err
	}
	if numbers.N != d.N || width > 0 && numbers.D != width {
		err = fmt.Errorf("%s: found %d rows of %d numbers, wanted %d of %d, a row for each example", path,
			numbers.N, numbers.D, d.N, max(width, numbers.D))
	}
	return numbers, err
}

// byClass returns probabilities in the order of the classes of d, by name if their file has names.
// Data without labels get their classes from it.
func byClass(o *Options, d, numbers *dataset.Dataset) ([]float32, error) {
	names := numbers.Features
	if d.Classes == nil {
		if d.Classes = slices.Clone(names); names == nil {
			for k := range numbers.D {
				d.Classes = append(d.Classes, strconv.Itoa(k))
			}
		}
		if len(d.Classes) < 2 {
			return nil, fmt.Errorf("%s: found a column, wanted one for each of at least two classes",
				o.Evidence.Probabilities)
		}
	}
	if names == nil || slices.Equal(names, d.Classes) {
		return numbers.Examples.Dense().X, nil
	}
	at := make([]int, len(d.Classes))
	for k, class := range d.Classes {
		if at[k] = slices.Index(names, class); at[k] < 0 {
			return nil, fmt.Errorf("%s: found columns %.80q, wanted one named %.40q as the class",
				o.Evidence.Probabilities, strings.Join(names, ","), class)
		}
	}
	p := make([]float32, 0, d.N*len(at))
	for i := range d.N {
		p = append(p, lists.At(numbers.Row(i), at)...)
	}
	return p, nil
}
