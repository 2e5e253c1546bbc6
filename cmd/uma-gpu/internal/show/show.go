// Package show is the command that prints a confusion matrix, or those of a model.
package show

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Options are the options of the command.
type Options struct {
	app.Common
	Noise   app.Noise
	Classes string // comma list
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:      "show",
		Usage:     "print a confusion matrix and whether it can be used, or those of a model",
		ArgsUsage: "FILE",
		Description: "FILE is a CSV table or a .npy file, checked as train checks it. Class names come " +
			"from the header,\n" +
			"else they are 0, 1, ..., or say them with --classes. The exit code is 1 if train would " +
			"refuse\n" +
			"the matrix. Of a model, FILE.npz, it prints the matrix that was given and the one that was " +
			"learned,\nwith standard errors, and which annotators were best and worst.\n\n" +
			"Example: uma-gpu confusion show C.csv",
		Flags: []cli.Flag{
			o.Noise.AxesFlag(),
			&cli.StringFlag{Name: "classes", Destination: &o.Classes,
				Usage: "comma list of class `NAMES`, in the order of the matrix"},
			o.JSONFlag(),
		},
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Report is what confusion show --json prints.
type Report struct {
	Classes    []string    `json:"classes"`
	Confusion  [][]float64 `json:"confusion"`        // [p][q] = P(noisy = p | true = q)
	Condition  *float64    `json:"condition_number"` // null if singular
	Invertible bool        `json:"invertible"`       // train accepts it
	Problem    string      `json:"problem,omitempty"`
}

// Run prints the matrices. It returns an error if train would refuse the one of a matrix file.
func Run(ctx context.Context, o *Options) (err error) {
	if len(o.Args) == 0 || o.Args[0] == "" {
		return app.Usage("the file of the confusion matrix is missing")
	}
	path := o.Args[0]
	if len(o.Args) > 1 {
		return app.Usage("unexpected argument %q behind %s; flags stand before the file", o.Args[1], path)
	}
	if isModel(path) {
		return o.showModel(path)
	}
	var classes []string // nil for those of the file
	if o.Given("classes") {
		classes = strings.Split(o.Classes, ",")
	}
	o.Noise.Path = path
	m, err := o.Noise.Read(ctx, classes)
	if err != nil {
		return err
	}
	r := Report{Classes: m.Classes, Confusion: app.Rows(m.P, m.Q())}
	condition := math.Inf(1)
	inverse, problem := m.Invert()
	if errors.Is(problem, memory.ErrBudget) {
		return fmt.Errorf("%s: %w", path, problem)
	}
	var inseparable *confusion.InseparableError
	if r.Invertible = problem == nil; r.Invertible {
		condition = inverse.Condition
	} else if r.Problem = problem.Error(); errors.As(problem, &inseparable) {
		condition = inseparable.Condition
	}
	if !math.IsInf(condition, 0) {
		r.Condition = &condition
	}
	w := o.Out
	if problem != nil { // after the report, which is what was asked for
		problem = fmt.Errorf("%s: %w", path, problem)
	}
	if o.JSON {
		return errors.Join(app.PrintJSON(w, r), problem)
	}
	fmt.Fprintf(w, "P(noisy = row | true = column)\n")
	if err := app.PrintMatrix(w, "", r.Classes, func(i, j int) string {
		return strconv.FormatFloat(r.Confusion[i][j], 'g', 4, 64)
	}); err != nil {
		return err
	}
	fmt.Fprintf(w, "\ncondition number %.4g\n", condition)
	return problem
}
