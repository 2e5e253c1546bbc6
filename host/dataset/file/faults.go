package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// BadExamples is the error of several bad examples, in the order of the file (Options.MaxErrors).
type BadExamples struct {
	Errs []error
	// Stopped says that reading ended at the last of Errs.
	Stopped bool
}

// Error lists every error on a line of its own.
func (e *BadExamples) Error() string {
	var b strings.Builder
	for _, err := range e.Errs {
		b.WriteString(err.Error())
		b.WriteByte('\n')
	}
	if e.Stopped {
		fmt.Fprintf(&b, "found %d bad examples and stopped; there may be more", len(e.Errs))
	} else {
		fmt.Fprintf(&b, "found %d bad examples in all", len(e.Errs))
	}
	fmt.Fprintf(&b, "; correct them, or skip malformed ones (%s)", option.Named("skip-bad"))
	return b.String()
}

// Unwrap returns the single errors.
func (e *BadExamples) Unwrap() []error { return e.Errs }

// faults decides what becomes of bad examples: end, list, or pass over.
type faults struct {
	most       int  // errors to list before reading ends, at least 1
	skip       bool // pass over bad examples
	unlabelled bool // pass over examples without a label
	errs       []error
	// of examples that were passed over: all places, and the first errors
	skippedAt   []int
	skippedErrs []error
}

// defaultListed is how many errors Skipped keeps unless MaxErrors says more.
const defaultListed = 10

func newFaults(o Options) faults {
	return faults{most: max(1, o.MaxErrors), skip: o.SkipBad, unlabelled: o.lenient()}
}

// unlabelled is what is wrong with an example whose label is empty.
type unlabelled string

func (u unlabelled) Error() string { return string(u) }

// fieldFault returns the error of a field; it is unlabelled if that is an empty label.
func fieldFault(fault string) error {
	switch fault {
	case emptyLabel, nullLabel, noNumber:
		return unlabelled(fault)
	}
	return errors.New(fault)
}

// advised adds to the error of a malformed example how to skip it.
func advised(err error) error {
	if errors.As(err, new(unlabelled)) || errors.Is(err, features.ErrMissing) {
		return err // it is not malformed
	}
	return fmt.Errorf("%w; correct the row, or skip malformed ones (%s)", err,
		option.Named("skip-bad"))
}

// listed is how many errors of skipped examples are kept.
func (f *faults) listed() int { return max(f.most, defaultListed) }

// reject takes the error of a bad example; it returns the error that ends reading, if any.
func (f *faults) reject(err error, place int) error {
	if f.skip || f.unlabelled && errors.As(err, new(unlabelled)) {
		f.skippedAt = append(f.skippedAt, place)
		if len(f.skippedErrs) < f.listed() {
			f.skippedErrs = append(f.skippedErrs, err)
		}
		return nil
	}
	f.errs = append(f.errs, err)
	if len(f.errs) < f.most {
		return nil
	}
	if f.most == 1 {
		return advised(err)
	}
	return &BadExamples{Errs: f.errs, Stopped: true}
}

// end returns the error of a file that was read to its end.
func (f *faults) end() error {
	switch len(f.errs) {
	case 0:
		return nil
	case 1:
		return advised(f.errs[0])
	}
	return &BadExamples{Errs: f.errs}
}

// fatal returns err, together with what was wrong before.
func (f *faults) fatal(err error) error {
	if len(f.errs) == 0 {
		return err
	}
	return &BadExamples{Errs: append(f.errs, err), Stopped: true}
}
