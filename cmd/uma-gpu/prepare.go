package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// normalizeUsage says what --normalize takes, normalizeHelp what the default is.
const (
	normalizeUsage = "comma list of `STEPS`: standardize, maxabs, bias, l2; or none"
	normalizeHelp  = "--normalize auto prepares by " + dataset.DefaultSteps + ", with a kernel function by " +
		host.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
		"texts with other columns beside them by " + dataset.DefaultStepsText + "."
)

// normalizeSteps checks the flag --normalize and returns its value.
func normalizeSteps(c *cli.Context) (string, error) {
	steps := c.String("normalize")
	if steps != "auto" {
		if _, err := dataset.ParseSteps(steps); err != nil {
			return "", usagef(c, "--normalize: %v", err)
		}
	}
	return steps, nil
}

// prepare fits the preparation that --normalize asks for to d and applies it, for the
// device where. The raw features are given up, for they and the prepared ones may not
// fit in memory for long. Data that were prepared before stay as they are, and
// --normalize must not ask for anything else. Auto depends on whether there is a kernel
// function.
func prepare(steps string, kernel bool, d *dataset.Dataset, where *device, how ...dataset.Memory) error {
	if err := host.Prepare(d, steps, kernel, memoryFor(where, d, how)...); err != nil {
		return err
	}
	return d.CheckNarrow()
}

// memoryFor adds to how that codes are kept, if they pay on the device where.
func memoryFor(where *device, d *dataset.Dataset, how []dataset.Memory) []dataset.Memory {
	if where != nil && where.wantsNarrow(d) {
		how = append(how, dataset.WithCodes)
	}
	return how
}

// checkRaw refuses prepared data where their preparation would not suit what
// comes out.
func checkRaw(d *dataset.Dataset, what string) error {
	if d.Prepared == nil {
		return nil
	}
	return fmt.Errorf("%s: found examples prepared by %s, wanted raw ones: %s", d.Path, d.Prepared.Steps, what)
}
