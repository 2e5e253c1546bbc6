package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// print prints the report for people, or as JSON.
func (r *estimateReport) print(c *cli.Context) error {
	w := c.App.Writer
	if c.Bool("json") {
		return app.PrintJSON(w, r)
	}
	what := ""
	if r.Error != nil {
		what = ", ± standard error"
	}
	fmt.Fprintf(w, "%s: P(noisy = row | true = column)%s\n", r.Method, what)
	if len(r.Classes) > app.MostClasses {
		fmt.Fprintf(w, "%d classes, more than fit here; --out and --json have all\n", len(r.Classes))
	} else if err := app.PrintMatrix(w, "", r.Classes, func(i, j int) string {
		if r.Error == nil {
			return fmt.Sprintf("%.3f", r.Confusion[i][j])
		}
		return fmt.Sprintf("%.3f±%.3f", r.Confusion[i][j], r.Error[i][j])
	}); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nassumes that %s\n", r.Assumes)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	if r.Candidates != nil {
		fmt.Fprintln(w)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "contest\tloss\tahead of the identity\n")
		for _, k := range r.Candidates {
			lead := outoffold.NoiseCandidate{Ahead: k.Ahead, Error: k.Error}.Lead()
			fmt.Fprintf(t, "%s\t%.5f\t%s\n", k.Method, k.Loss, lead)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return r.printAnnotators(w)
}

// printAnnotators prints the best and the worst of them.
func (r *estimateReport) printAnnotators(w io.Writer) error {
	if r.Annotators == nil {
		return nil
	}
	list := slices.Clone(r.Annotators)
	slices.SortStableFunc(list, func(a, b estimatedAnnotator) int {
		return cmp.Compare(b.Right, a.Right)
	})
	fmt.Fprintf(w, "\nannotators, by how often each is right if all classes are as frequent\n")
	const most = 5 // of the best, and of the worst
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for k, a := range list {
		switch {
		case k < most || k >= len(list)-most:
			fmt.Fprintf(t, "%s\t%.1f %%\t%d labels\n", a.Name, 100*a.Right, a.Labels)
		case k == most:
			fmt.Fprintf(t, "… %d more\n", len(list)-2*most)
		}
	}
	return t.Flush()
}

// writeConsensus writes a CSV with the consensus on each item and how likely it is.
func writeConsensus(path string, crowd *crowd.Result) error {
	q := len(crowd.Classes)
	return atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		if err := out.Write([]string{"item", "label", "probability"}); err != nil {
			return err
		}
		for i, k := range crowd.Consensus {
			p := strconv.FormatFloat(float64(crowd.Posterior[i*q+int(k)]), 'g', -1, 32)
			if err := out.Write([]string{strconv.Itoa(i), crowd.Classes[k], p}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}
