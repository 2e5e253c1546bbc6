package host

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// DefaultStepsKernel is the preparation of dense data before a kernel function unless
// another is asked for. It gives all features one range, does not blow up features that
// are nearly constant, and does not scale examples to one length (docs/kernel.md).
const DefaultStepsKernel = "maxabs"

// Prepare fits a preparation to raw data and puts the prepared features in the place of
// the raw ones. steps are those of dataset.ParseSteps; "" or "auto" stand for Dataset.DefaultSteps,
// or for DefaultStepsKernel if dense data go to a kernel function. Data that were prepared
// before stay as they are, and it is an error to ask for other steps.
func Prepare(d *dataset.Dataset, steps string, kernel bool) error {
	auto := steps == "" || steps == "auto"
	if auto && d.Prepared != nil {
		return nil
	}
	if auto {
		steps = d.DefaultSteps()
		if kernel && !d.Sparse() {
			steps = DefaultStepsKernel
		}
	}
	s, err := dataset.ParseSteps(steps)
	if err != nil {
		return err
	}
	if d.Prepared == nil {
		return d.Prepare(s)
	}
	if s != d.Prepared.Steps {
		return fmt.Errorf("%s: found examples that were prepared by %s before, wanted %s; ask for no preparation, "+
			"or give the original data",
			d.Path, d.Prepared.Steps, s)
	}
	return nil
}
