package app

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// normalizeUsage says what --normalize takes, normalizeHelp what the default is.
const (
	NormalizeUsage = "comma list of `STEPS`: standardize, maxabs, bias, l2; or none"
	NormalizeHelp  = "--normalize auto prepares by " + dataset.DefaultSteps + ", with a kernel function by " +
		host.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
		"texts with other columns beside them by " + dataset.DefaultStepsText + "."
)

// NormalizeSteps checks the flag --normalize and returns its value.
func NormalizeSteps(c *cli.Context) (string, error) {
	steps := c.String("normalize")
	if steps != "auto" {
		if _, err := dataset.ParseSteps(steps); err != nil {
			return "", Usagef(c, "--normalize: %v", err)
		}
	}
	return steps, nil
}

// CheckRaw refuses prepared data where their preparation would not suit what
// comes out.
func CheckRaw(d *dataset.Dataset, what string) error {
	if d.Prepared == nil {
		return nil
	}
	return fmt.Errorf("%s: found examples prepared by %s, wanted raw ones: %s", d.Path, d.Prepared.Steps, what)
}
