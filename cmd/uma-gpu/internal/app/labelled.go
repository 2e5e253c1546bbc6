package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Labelled are the files of a command that trains: examples, and what is known of their labels.
type Labelled struct {
	Data
	Noise
	Annotators    string   `json:"annotators,omitempty"`
	Trust         []string `json:"trust,omitempty"`       // annotators
	RowWeights    string   `json:"row_weights,omitempty"` // a number per example
	Probabilities string   `json:"label_probabilities,omitempty"`
	Functions     string   `json:"functions,omitempty"` // votes of labelling functions
}

// LabelReader reads files of labels.
type LabelReader struct {
	Input *Labelled
	Notes Notes
	In    io.Reader
	Seed  uint64
	Base  *model.Model // whose classes the training keeps; nil for none
	// Learner is the one that learns from the labels; nil if none is known.
	Learner   learners.Params
	Estimated bool // the confusion matrix is
}

// Check checks the flags, and returns how to read the data by them.
func (in *Labelled) Check() (read file.Options, err error) {
	read = in.Data.Options()
	var given []string
	for _, f := range []struct{ name, value string }{{"label-probabilities", in.Probabilities},
		{"functions", in.Functions}, {"candidates", in.Between}, {"annotators", in.Annotators}} {
		if f.value != "" {
			given = append(given, "--"+f.name)
		}
	}
	voted := in.Annotators != "" || in.Functions != ""
	switch {
	case !voted && in.Trust != nil:
		return read, Usage("--trust is given without --annotators or --functions")
	case !voted && in.NoLabels && in.Probabilities == "":
		return read, Usage("--no-labels is given without --annotators, --functions or " +
			"--label-probabilities")
	case in.Annotators != "" && in.Noise.Path != "":
		return read, Usage("--annotators and --confusion exclude each other: a matrix of each " +
			"annotator is learned")
	case len(given) > 1:
		return read, Usage("%s and %s exclude each other: each says what labels are", given[0],
			given[1])
	case in.WeightColumn != "" && in.RowWeights != "":
		return read, Usage("--weight-column and --row-weights exclude each other")
	}
	if voted {
		if read.Labels = ""; !read.NoLabels {
			read.LabelColumn = cmp.Or(read.LabelColumn, "last") // never a feature
		}
		read.NoLabels = true
	}
	return read, nil
}

// Annotations reads the annotators' labels, and gives d their classes, or the classes of the
// training to go on with, and the votes as labels. Examples without a label leave d. d is nil
// without data.
func (r *LabelReader) Annotations(ctx context.Context, d *dataset.Dataset) (*dataset.Annotations,
	error) {
	a, err := r.votes(ctx, r.Input.Annotators, d, false)
	if err != nil {
		return nil, err
	}
	if d == nil {
		r.Notes.Say("annotators: %s, %d labels of %d annotators for %d examples, %d classes",
			r.Input.Annotators, len(a.Label), len(a.Names), a.N(), len(a.Classes))
		return a, nil
	}
	if which := a.Labelled(); len(which) < d.N {
		r.Notes.Say("annotators: %d of %d examples have no label, and are left out", d.N-len(which), d.N)
		if len(which) == 0 {
			return nil, fmt.Errorf("%s: found no label", r.Input.Annotators)
		}
		labelled, err := d.Choose(which)
		if err != nil {
			return nil, err
		}
		d.Examples, d.Source, d.IDs = labelled.Examples, labelled.Source, labelled.IDs
		d.Evidence = labelled.Evidence
		d.SHA256 = d.Hash()
		a = a.Pick(which)
	}
	if count := a.Repeats(); count > 0 {
		r.Notes.Say("annotators: %d labels are further ones of an annotator for the same example; all "+
			"count", count)
	}
	d.Classes, d.Y = a.Classes, a.Votes(cmp.Or(r.Seed, 1))
	r.Notes.Say("annotators: %s, %d labels of %d annotators, %d classes", r.Input.Annotators,
		len(a.Label), len(a.Names), len(a.Classes))
	return a, nil
}

// CheckRequest checks a request before its labels, which are nil, are read: annotators do not suit
// all learners.
func CheckRequest(in *Labelled, check func() error, l **umagpu.Labels) error {
	if in.Annotators != "" {
		*l = &umagpu.Labels{Votes: &umagpu.Votes{}}
		defer func() { *l = nil }()
	}
	return check()
}

// Known reads the confusion matrix and the label files, and reports both. The labels are nil where
// d has its own.
func (r *LabelReader) Known(ctx context.Context, d *dataset.Dataset) (labels *umagpu.Labels,
	noise *umagpu.Confusion, err error) {
	if r.Input.Annotators != "" {
		a, err := r.Annotations(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		labels = LabelsOf(a)
	}
	if err := r.Evidence(ctx, d); err != nil {
		return nil, nil, err
	}
	if labels != nil && d.Evidence != nil { // labels take the place of what d knows
		labels.Weights = d.Evidence.Weight
	}
	noise, err = r.Input.Noise.Confusion(ctx, d.Classes)
	if err != nil && labels == nil && d.Evidence == nil && r.Base == nil && r.addClasses(ctx, d) {
		noise, err = r.Input.Noise.Confusion(ctx, d.Classes)
	}
	if err != nil || noise != nil {
		return labels, noise, err
	}
	switch {
	case r.Base != nil && r.Base.State != nil && r.Base.Confusion != nil || r.Estimated:
	case labels != nil:
		r.Notes.Say("confusion matrix: none given; it is learned")
	default:
		r.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	return labels, noise, nil
}

// addClasses gives d the classes of the confusion matrix that none of its labels is, and reports
// whether it could, for it has all others: a part of data may lack a class.
func (r *LabelReader) addClasses(ctx context.Context, d *dataset.Dataset) bool {
	noise, err := r.Input.Noise.Read(ctx, nil)
	if err != nil || noise == nil || len(noise.Classes) <= len(d.Classes) {
		return false
	}
	had := d.Classes
	for _, name := range had {
		if !slices.Contains(noise.Classes, name) {
			return false
		}
	}
	d.Classes = slices.Clone(noise.Classes)
	dataset.SortClasses(d.Classes)
	y := make([]int32, len(d.Y))
	for i, k := range d.Y {
		y[i] = int32(slices.Index(d.Classes, had[k]))
	}
	d.Y = y
	r.Notes.Say("labels: %d of %d classes of the confusion matrix have no example",
		len(d.Classes)-len(had), len(d.Classes))
	return true
}

// LabelsOf returns annotations as a request has them; nil for none.
func LabelsOf(a *dataset.Annotations) *umagpu.Labels {
	if a == nil {
		return nil
	}
	v := &umagpu.Votes{Names: a.Names, By: a.By, Codes: a.Label, Functions: a.Functions}
	for i := range a.N() {
		for range a.Start[i+1] - a.Start[i] {
			v.Rows = append(v.Rows, int32(i))
		}
	}
	for k, right := range a.Right {
		if right {
			v.Trust = append(v.Trust, a.Names[k])
		}
	}
	return &umagpu.Labels{Classes: a.Classes, Votes: v}
}

// Voted reads the votes of labelling functions on the examples of d, nil for none.
func (r *LabelReader) Voted(ctx context.Context, path string, d *dataset.Dataset,
) (*dataset.Annotations, error) {
	a, err := r.votes(ctx, path, d, true)
	if err == nil {
		r.Notes.Say("functions: %s, %d votes of %d functions on %d examples, %d classes", path,
			len(a.Label), len(a.Names), a.N(), len(a.Classes))
	}
	return a, err
}

// votes reads a table of labels. A resumed training keeps its classes.
func (r *LabelReader) votes(ctx context.Context, path string, d *dataset.Dataset, functions bool,
) (*dataset.Annotations, error) {
	o := labels.Options{Functions: functions, Right: r.Input.Trust}
	if r.Base != nil && d != nil {
		o.Classes = r.Base.Meta.Classes
	}
	return Awaited(ctx, path, func(path string) (*dataset.Annotations, error) {
		return labels.Annotations(ctx, path, d, o)
	})
}

// EvidenceFlags returns the flags of labels that are more or less than one class (docs/labels.md).
func EvidenceFlags(in *Labelled) []cli.Flag {
	return []cli.Flag{
		Text(&in.WeightColumn, "weight-column", "",
			"`COLUMN` of how much an example counts, 2 as twice: a name or a position from 1"),
		Input(&in.RowWeights, "row-weights",
			"second `FILE` with a weight per example: .npy, or a text of a number per line"),
		Input(&in.Probabilities, "label-probabilities",
			"second `FILE` with a probability of each class per example, .npy or CSV, as labels"),
		Input(&in.Functions, "functions", "votes of labelling functions instead of labels: `FILE`, a "+
			"column for each in a CSV (empty or -1: no vote), or an .npy"),
		Text(&in.Between, "candidates", "",
			"labels may have several candidate classes, with this `MARK` between, such as |"),
		Text(&in.UnknownLabel, "unknown-label", "",
			"the label `TEXT` means no label, such as -1, as an empty one does"),
	}
}

// Evidence gives d what the flags say of its labels, and tells of it.
func (r *LabelReader) Evidence(ctx context.Context, d *dataset.Dataset) error {
	q := len(d.Classes)
	known := dataset.Evidence{}
	if d.Evidence != nil {
		known = *d.Evidence
	}
	if r.Input.RowWeights != "" {
		numbers, err := r.numbers(ctx, d, r.Input.RowWeights, 1)
		if err != nil {
			return err
		}
		known.Weight = lists.As[float64](numbers.X)
	}
	if r.Input.Probabilities != "" {
		numbers, err := r.numbers(ctx, d, r.Input.Probabilities, q)
		if err != nil {
			return err
		}
		if known.Classes, err = r.byClass(d, numbers); err != nil {
			return err
		}
		q = len(d.Classes)
	}
	if r.Input.Functions != "" {
		if err := r.voted(ctx, d, &known); err != nil {
			return err
		}
		q = len(d.Classes)
	}
	if known.Weight != nil || known.Classes != nil {
		if err := d.SetEvidence(&known); err != nil {
			path := cmp.Or(r.Input.Probabilities, r.Input.Functions, r.Input.RowWeights, d.Path)
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if known.Weight != nil {
		r.Notes.Say("weights: %d examples count as %.6g", d.N, lists.Sum(known.Weight))
	}
	sets, all, distributions := known.Sets(q)
	if distributions > 0 {
		r.Notes.Say("labels: %d of %d examples have probabilities of classes", distributions, d.N)
	}
	if sets > all && !known.Likely {
		r.Notes.Say("labels: %d of %d examples have several candidate classes", sets-all, d.N)
	}
	if l, ok := r.Learner.(learners.Probabilistic); ok && all > 0 && l.Unlabelled() {
		r.Notes.Say("labels: %d of %d examples have none; their classes are learned", all, d.N)
	}
	return nil
}

// voted reads the votes of functions, which give d its classes.
func (r *LabelReader) voted(ctx context.Context, d *dataset.Dataset,
	known *dataset.Evidence) error {
	path := r.Input.Functions
	a, err := r.Voted(ctx, path, d)
	if err != nil {
		return err
	}
	found, err := crowd.FitFunctions(ctx, a)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	d.Classes, known.Classes, known.Likely = a.Classes, found.Evidence(), !found.ByVote
	if found.ByVote {
		r.Notes.Say("functions: labels are the shares of the votes, as a model of the functions would " +
			"overrule too many")
	}
	return nil
}

// numbers reads a file of numbers for each row of the data, width of them, any number if 0, and
// returns the numbers of the examples of d.
func (r *LabelReader) numbers(ctx context.Context, d *dataset.Dataset, path string, width int,
) (*dataset.Dataset, error) {
	read := file.Options{NoLabels: true, Storage: "dense", SkipBad: -1, Stdin: r.In}
	if width == 1 {
		read.Features = 1
	}
	numbers, err := file.Read(ctx, path, read)
	if err != nil {
		return nil, err
	}
	rows := max(d.Rows, d.N)
	if numbers.N != rows || width > 0 && numbers.D != width {
		return nil, fmt.Errorf("%s: found %d rows of %d numbers, wanted %d of %d, a row for each row of "+
			"the data", path, numbers.N, numbers.D, rows, max(width, numbers.D))
	}
	if width == 1 {
		if err := dataset.CheckWeights(lists.As[float64](numbers.X), rows); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if d.Source != nil {
		numbers.Examples = numbers.Examples.Pick(d.Source)
	}
	return numbers, nil
}

// byClass returns probabilities in the order of the classes of d, by name if their file has names.
// Data without labels get their classes from it.
func (r *LabelReader) byClass(d, numbers *dataset.Dataset) ([]float32, error) {
	names := numbers.Features
	if d.Classes == nil {
		if d.Classes = slices.Clone(names); names == nil {
			for k := range numbers.D {
				d.Classes = append(d.Classes, strconv.Itoa(k))
			}
		}
		if len(d.Classes) < 2 {
			return nil, fmt.Errorf("%s: found a column, wanted one for each of at least two classes",
				r.Input.Probabilities)
		}
	}
	if names == nil || slices.Equal(names, d.Classes) {
		return numbers.Examples.Dense().X, nil
	}
	at := make([]int, len(d.Classes))
	for k, class := range d.Classes {
		if at[k] = slices.Index(names, class); at[k] < 0 {
			return nil, fmt.Errorf("%s: found columns %.80q, wanted one named %.40q as the class",
				r.Input.Probabilities, strings.Join(names, ","), class)
		}
	}
	p := make([]float32, 0, d.N*len(at))
	for i := range d.N {
		p = append(p, lists.At(numbers.Row(i), at)...)
	}
	return p, nil
}

// NoisyFlags returns the flags of examples with noisy labels, of texts in them and of the noise.
func NoisyFlags(in *Labelled, o *Common) []cli.Flag {
	return Flags(in.Data.Flags(o, "examples with noisy labels"),
		ParameterFlags(&in.TableOptions, "text"),
		in.Noise.Flags("confusion matrix of the label noise: `FILE`, CSV or .npy"))
}

// ReadExamples reads the data, for a training that goes on or begins with a model so that they
// match.
func ReadExamples(ctx context.Context, in *Labelled, read file.Options, match string,
	base *model.Model) (*dataset.Dataset, error) {
	if base == nil {
		return in.Data.Read(ctx, read)
	}
	d, err := readFor(ctx, &Model{Match: match}, &in.Data, read, base)
	if err == nil && d.SHA256 == "" && d.Prepared == nil { // whose columns traded places
		d.SHA256 = d.Hash()
	}
	return d, err
}

// AnnotatorFlags returns the flags of labels by several people.
func AnnotatorFlags(in *Labelled) []cli.Flag {
	return Flags(
		Input(&in.Annotators, "annotators",
			"labels of several people instead of the data's: `FILE`, a CSV row,worker,label"),
		Switch(&in.NoLabels, "no-labels",
			"with --annotators: all columns of the data are features"))
}

// TrustFlag returns the flag of annotators that never err.
func TrustFlag(in *Labelled) cli.Flag {
	return Flag(&in.Trust, umagpu.Parameter{Name: "trust", Value: "WORKERS",
		Sentence: "comma list of --annotators whose labels are right, as of a checker"})
}
