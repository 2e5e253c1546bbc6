// Package kernelmean is the command about the mean classifier.
package kernelmean

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// New returns the command.
func New() *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:  "kernelmean",
		Usage: "what the mean classifier rests on, and its models",
		Subcommands: []*cli.Command{{
			Name:  "table",
			Usage: "which losses are immune to symmetric label noise, and why",
			Description: "With labels flipped at rate s the expected loss of a score v is (1-2s)·loss + " +
				"s·S(v), where\nS(v) is the loss of label 1 plus that of label -1. If S is constant, noise " +
				"moves no " +
				"minimum\n(van Rooyen et al., Sparse robust classification via the kernel mean, Theorem 15). " +
				"S is\ncomputed at scores from -4 to 4.\n\nExample: uma-gpu kernelmean table",
			Flags:  []cli.Flag{o.JSONFlag()},
			Action: app.Action(o, func(context.Context) error { return lossTable(o) }),
		}, newAtoms(), newCombine(), newMargin()},
	}
}

// LossReport is what kernelmean table --json prints of a loss.
type LossReport struct {
	Loss     string  `json:"loss"`
	Formula  string  `json:"formula"`
	Least    float64 `json:"least_sum"`
	Most     float64 `json:"most_sum"`
	Constant float64 `json:"constant_to"` // scores
	Convex   bool    `json:"convex"`
	Immune   bool    `json:"immune"`
}

func lossTable(o *app.Common) error {
	var all []LossReport
	for _, l := range means.Losses {
		i := l.Immunity()
		all = append(all, LossReport{l.Name, l.Formula, i.Least, i.Most, i.Constant, i.Convex, i.Immune})
	}
	if o.JSON {
		return app.PrintJSON(o.Out, all)
	}
	t := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "loss\tof margin m = y·v\tconvex\timmune\tbecause l(1,v) + l(-1,v)")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Loss, r.Formula, yesNo(r.Convex), yesNo(r.Immune),
			r.because())
	}
	return t.Flush()
}

func (r LossReport) because() string {
	switch {
	case r.Immune:
		return fmt.Sprintf("is %.4g everywhere", r.Most)
	case r.Constant > 0:
		return fmt.Sprintf("is %.4g up to |v| = %.4g, then goes to %.4g", r.Least, r.Constant, r.Most)
	}
	return fmt.Sprintf("goes from %.4g to %.4g", r.Least, r.Most)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
