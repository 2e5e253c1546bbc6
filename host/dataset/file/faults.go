package file

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// faults decides what becomes of bad examples: an error, or they are passed over.
type faults struct {
	skip       bool // pass over bad examples
	unlabelled bool // pass over examples without a label
	// of examples that were passed over: all places, and the first errors
	skippedAt   []int
	skippedErrs []error
}

func newFaults(o Options) faults { return faults{skip: o.SkipBad, unlabelled: o.lenient()} }

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

// reject takes the error of a bad example; it returns the error that ends reading, if any.
func (f *faults) reject(err error, place int) error {
	if !f.skip && !(f.unlabelled && errors.As(err, new(unlabelled))) {
		return advised(err)
	}
	const listed = 10
	f.skippedAt = append(f.skippedAt, place)
	if len(f.skippedErrs) < listed {
		f.skippedErrs = append(f.skippedErrs, err)
	}
	return nil
}
