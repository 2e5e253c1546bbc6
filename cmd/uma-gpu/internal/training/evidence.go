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
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Evidence are the flags of labels that are more or less than one class (docs/labels.md).
type Evidence struct {
	RowWeights    string // file of a number per example
	Probabilities string // file of a number per class and example
	Functions     string // file of the votes of labelling functions
}

// EvidenceNames are the names of these flags.
var EvidenceNames = []string{"weight-column", "row-weights", "label-probabilities", "functions",
	"candidates", "unknown-label"}

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
		for _, v := range numbers.X {
			known.Weight = append(known.Weight, float64(v))
		}
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
			return fmt.Errorf("%s: %w", e.path(&o.Data), err)
		}
	}
	if known.Weight != nil {
		sum := 0.0
		for _, v := range known.Weight {
			sum += v
		}
		o.Notes.Say("weights: %d examples count as %.6g", d.N, sum)
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

// path returns the file that evidence comes from.
func (e *Evidence) path(d *app.Data) string {
	switch {
	case e.Probabilities != "" || e.Functions != "":
		return cmp.Or(e.Probabilities, e.Functions)
	case e.RowWeights != "":
		return e.RowWeights
	}
	return d.Path
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
		row := numbers.Row(i)
		for _, j := range at {
			p = append(p, row[j])
		}
	}
	return p, nil
}
