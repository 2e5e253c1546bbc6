package host

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// DefaultStepsKernel is the preparation of dense data before a kernel function unless
// another is asked for. It gives all features one range, does not blow up features that
// are nearly constant, and does not scale examples to one length (docs/kernel.md).
const DefaultStepsKernel = "maxabs"

// Prepare fits a preparation to raw data and puts the prepared features in the place of the raw
// ones. steps are those of dataset.ParseSteps; "" or "auto" stand for Dataset.DefaultSteps, or for
// DefaultStepsKernel if dense data go to a kernel function. Data that were prepared before stay as
// they are, and it is an error to ask for other steps.
func Prepare(d *dataset.Dataset, steps string, kernel bool, how ...dataset.Memory) error {
	s, prepared, err := stepsFor(d, steps, kernel)
	if prepared || err != nil {
		return err
	}
	return features.Prepare(d, s, how...)
}

// PrepareRows is Prepare of data that are to be written to a binary file, with linear learners in
// mind, and need not fit in memory once more: if what it returns is not nil, it is for
// file.WriteOptions.Rows, and d has been left with the shape of the examples alone. See
// dataset.Dataset.PrepareRows.
func PrepareRows(d *dataset.Dataset, steps string) (func(dst []float32, first int) error, error) {
	s, prepared, err := stepsFor(d, steps, false)
	if prepared || err != nil {
		return nil, err
	}
	return features.PrepareRows(d, s)
}

// stepsFor returns the steps by which d is to be prepared, unless it was before.
func stepsFor(d *dataset.Dataset, steps string, kernel bool) (s dataset.Steps, prepared bool,
	err error) {
	auto := steps == "" || steps == "auto"
	if auto && d.Prepared != nil {
		return s, true, nil
	}
	if auto {
		steps = d.DefaultSteps()
		if kernel && !d.Sparse() {
			steps = DefaultStepsKernel
		}
	}
	if s, err = dataset.ParseSteps(steps); err != nil || d.Prepared == nil {
		return s, false, err
	}
	if s != d.Prepared.Steps {
		return s, false, fmt.Errorf("%s: found examples that were prepared by %s before, wanted %s; ask "+
			"for no preparation, or give the original data", d.Path, d.Prepared.Steps, s)
	}
	return s, true, nil
}
