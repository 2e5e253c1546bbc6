// Package dataset holds labelled examples, dense or sparse, in memory or mapped; it matches,
// splits, hashes and describes them.
//
// Package file below it reads and writes them; package features fits and applies preparations, and
// makes features of columns of categories, texts and missing values.
package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Dataset is labelled examples, raw or prepared. After a change of Y, ask for a new Hash.
type Dataset struct {
	// Examples are raw values: the float32 nearest to the text, finite, never subnormal; -0 stays.
	Examples
	// Prepared is the preparation that made the Examples, which have its Width; nil if they are raw.
	Prepared *Preparation

	// Y[i] in 0..len(Classes)-1 is the class of example i; nil without labels.
	Y []int32
	// Evidence is what else is known of the labels; nil if nothing is. SetEvidence sets it.
	Evidence *Evidence
	// Classes are the names of the classes, in the order of SortClasses or of Options.Classes.
	Classes []string
	// Features are the names of the D features; nil without a header.
	Features []string
	// IDs[i] is the name of example i; nil without Table.IDColumn.
	IDs []string
	// Source[i] is the data row of the input, counted from 0 over all its files, that holds example
	// i; nil if example i is row i.
	Source []int
	// Encoding says what the Features were made of; nil if each is a column of numbers.
	Encoding *Encoding
	// Rest[i] is a hash of what example i lost where its numbers were rounded to float32, 0 if
	// nothing; nil if no example did, or without Options.Exact of package file.
	Rest []uint64
	// Found is what Read says of the file.
	Found

	// Home has the memory of the Examples, a mapped file or temporary files; nil if d owns it.
	Home io.Closer
	// ReadOnly says that nobody may write to the Examples, as in a mapped file.
	ReadOnly bool
}

// Close gives back memory that d does not own; close an engine that has the Examples first. Twice
// is fine.
func (d *Dataset) Close() error {
	home := d.Home
	if home == nil {
		return nil
	}
	d.Home = nil
	d.Examples = Examples{N: d.N, D: d.D} // which nobody can read by mistake
	return home.Close()
}

// Guard returns the error of f, or of a read of a mapped file that was shortened or lost. It covers
// f and package parallel's workers, no goroutine of f's own.
func Guard(f func() error) error { return osfile.Guard(f) }

// FileError is what is wrong with the examples of a file.
type FileError struct {
	Path string // as Found.Path
	Err  error
}

func (e *FileError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// Errorf returns the FileError of d with a text like that of fmt.Errorf.
func (d *Dataset) Errorf(format string, args ...any) error {
	return &FileError{d.Path, fmt.Errorf(format, args...)}
}

// Found is what Read says of a file besides its examples.
type Found struct {
	// Path is the file as it was named, Format one of Options.Format; "" if no file was read.
	Path, Format string
	// SHA256 is the Hash of the raw data in hexadecimal, "" if it is not known.
	SHA256 string
	// Label and ID are the header's names of these columns, LabelColumn and IDColumn their positions
	// from 1; "" and 0 without.
	Label, ID             string
	LabelColumn, IDColumn int
	// Missing says which columns lack how many values; none do unless Encoding fills them in.
	Missing []MissingCount
	// Rows is how many data rows the input has, skipped ones included; 0 if no file was read.
	Rows int
	// SkippedAt are the lines, in text formats, or the numbers from 1 of the malformed rows that were
	// skipped, as Options.SkipBad allows. SkippedErrs are the errors of the first ten.
	SkippedAt   []int
	SkippedErrs []error
	// Notes say what is worth knowing; Warnings what is likely a mistake, and what helps.
	Notes, Warnings []string
	// Subnormals counts the numbers that were subnormal in float32 and became +0 (clause 2).
	Subnormals int
}

// Unlabelled is the class of an example without a label.
const Unlabelled = int32(-1)

// LabelOf returns the class of example i, or Unlabelled if nothing is known of it.
func LabelOf(d *Dataset, i int) int32 {
	if d.Y == nil || d.Evidence != nil && d.Evidence.Unknown(i, len(d.Classes)) {
		return Unlabelled
	}
	return d.Y[i]
}

// WithoutLabel returns the examples that lack a label, increasing; nil if none does, or all do.
func WithoutLabel(d *Dataset) []int {
	if d.Y == nil || d.Evidence == nil || d.Evidence.Classes == nil {
		return nil
	}
	return lists.Where(d.N, func(i int) bool { return LabelOf(d, i) == Unlabelled })
}

// SourceRow returns the data row of the input, counted from 0, that holds example i.
func (d *Dataset) SourceRow(i int) int {
	if d.Source == nil {
		return i
	}
	return d.Source[i]
}

// ExamplesByRow returns the example that each data row of the input holds, -1 for rows that were
// skipped or left out.
func ExamplesByRow(d *Dataset) []int {
	if d.Source == nil {
		return lists.UpTo[int](d.N)
	}
	examples := slices.Repeat([]int{-1}, max(d.Rows, slices.Max(d.Source)+1))
	for i, row := range d.Source {
		examples[row] = i
	}
	return examples
}

// FeatureCount returns the number of features before preparation.
func (d *Dataset) FeatureCount() int {
	if d.Prepared != nil {
		return d.Prepared.D
	}
	return d.D
}

// CheckAll returns an error unless the parts of d fit together and all values are finite.
func (d *Dataset) CheckAll(ctx context.Context) error {
	if err := d.Examples.Check(); err != nil {
		return err
	}
	if err := d.Validate(); err != nil {
		return err
	}
	const block = 1 << 20 // values between two looks at ctx
	for i, left := 0, 0; i < d.N; i++ {
		columns, values := d.Entries(i)
		if left -= len(values) + 1; left < 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			left = block
		}
		for k, v := range values {
			if decimal.Finite(v) {
				continue
			}
			if columns != nil {
				k = int(columns[k])
			}
			return fmt.Errorf("dataset: example %d, column %d is %v, want a finite number (both counted "+
				"from 1)", i+1, k+1, v)
		}
	}
	return nil
}

// Validate returns an error unless labels, ids, names, preparation and encoding fit the shape of d.
// It looks at no value.
func (d *Dataset) Validate() error {
	if d.D == 0 {
		return fmt.Errorf("dataset: examples without any feature")
	}
	if d.Y != nil && len(d.Y) != d.N {
		return fmt.Errorf("dataset: %d labels for %d examples", len(d.Y), d.N)
	}
	if d.IDs != nil && len(d.IDs) != d.N {
		return fmt.Errorf("dataset: %d ids for %d examples", len(d.IDs), d.N)
	}
	if d.Source != nil && len(d.Source) != d.N {
		return fmt.Errorf("dataset: %d source rows for %d examples", len(d.Source), d.N)
	}
	if p := d.Prepared; p != nil {
		if err := p.Check(); err != nil {
			return err
		}
		if p.Width() != d.D {
			return fmt.Errorf("dataset: examples of %d columns, wanted %d as normalization %s of %d "+
				"features gives", d.D, p.Width(), p.Steps, p.D)
		}
	}
	if d.Features != nil && len(d.Features) != d.FeatureCount() {
		return fmt.Errorf("dataset: %d feature names for %d features", len(d.Features), d.FeatureCount())
	}
	if e := d.Encoding; e != nil {
		if err := e.Check(); err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		if e.Width() != d.FeatureCount() {
			return fmt.Errorf("dataset: an encoding of %d features for %d", e.Width(), d.FeatureCount())
		}
	}
	for _, c := range d.Classes {
		if fault := NameFault(c); fault != "" {
			return fmt.Errorf("dataset: class name %s %s", quote.Text(c), fault)
		}
	}
	if c, twice := lists.Repeated(d.Classes); twice {
		return fmt.Errorf("dataset: class name %s occurs twice", quote.Text(c))
	}
	for i, y := range d.Y {
		if y < 0 || int(y) >= len(d.Classes) {
			return fmt.Errorf("dataset: label %d of example %d is outside 0..%d", y, i, len(d.Classes)-1)
		}
	}
	return nil
}
