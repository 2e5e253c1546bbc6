package host

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// DefaultStepsKernel is the preparation of dense data before a kernel function unless
// another is asked for: features of one range, but none that is nearly constant blown up,
// and lengths kept (docs/kernel.md).
const DefaultStepsKernel = "maxabs"

// Prepare fits a preparation to raw data and applies it; the raw features are given up.
// steps are those of dataset.ParseSteps; "" or "auto" stand for dataset.DefaultStepsFor,
// or for DefaultStepsKernel if dense data go to a kernel function. Data that were prepared
// before stay as they are, and it is an error to ask for other steps.
func Prepare(d *dataset.Dataset, steps string, kernel bool) error {
	auto := steps == "" || steps == "auto"
	if auto && d.Prepared != nil {
		return nil
	}
	if auto {
		steps = dataset.DefaultStepsFor(d.Examples)
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
