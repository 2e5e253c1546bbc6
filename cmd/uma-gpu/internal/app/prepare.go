package app

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// normalizeUsage says what --normalize takes, normalizeHelp what the default is.
const (
	NormalizeUsage = "comma list of `STEPS`: standardize, maxabs, bias, l2; or none"
	NormalizeHelp  = "--normalize auto prepares by " + dataset.DefaultSteps +
		", with a kernel function by " +
		host.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
		"texts with other columns beside them by " + dataset.DefaultStepsText + "."
)

// CheckSteps refuses a value of --normalize that is neither auto nor a list of steps.
func CheckSteps(steps string) error {
	if steps != "auto" {
		if _, err := dataset.ParseSteps(steps); err != nil {
			return Usage("--normalize: %v", err)
		}
	}
	return nil
}

// CheckRaw refuses prepared data where their preparation would not suit what
// comes out.
func CheckRaw(d *dataset.Dataset, what string) error {
	if d.Prepared == nil {
		return nil
	}
	return fmt.Errorf("%s: found examples prepared by %s, wanted raw ones: %s", d.Path,
		d.Prepared.Steps, what)
}
