// Package show has the commands that print the confusion matrix of a file or of a model, and check
// whether one helps.
package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

type Options struct {
	app.Common
	Noise   app.Noise
	Classes string // comma list
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:      "show",
		Usage:     "print the confusion matrix of a file or of a model",
		ArgsUsage: "FILE",
		Description: `FILE is a CSV table or a .npy file, checked as by train. Class names come from the
header, from --classes, or are 0, 1, .... The exit code is 1 if train would refuse the matrix. For a
model, FILE.npz, it prints the given and the learned matrix, with standard errors, and the best and
worst annotators.

Example: uma-gpu confusion show C.csv`,
		Flags: []cli.Flag{
			o.Noise.AxesFlag(),
			app.Text(&o.Classes, "classes", "",
				"comma list of class `NAMES`, in the order of the matrix"),
			o.JSONFlag(),
		},
		Action: app.Action(o, run),
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
		return app.Usage("unexpected argument %q after %s; flags come before the file", o.Args[1], path)
	}
	if strings.EqualFold(filepath.Ext(path), ".npz") {
		return o.showModel(path)
	}
	var classes []string // nil for the file's
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
	err = o.Print(r, func(w io.Writer) error {
		fmt.Fprintln(w, "P(noisy = row | true = column)")
		err := printMatrix(w, r.Classes, r.Confusion)
		fmt.Fprintf(w, "\ncondition number %.4g\n", condition)
		return err
	})
	if problem != nil { // after the report
		problem = fmt.Errorf("%s: %w", path, problem)
	}
	return errors.Join(err, problem)
}

func printMatrix(w io.Writer, classes []string, c [][]float64) error {
	return app.PrintMatrix(w, classes, func(i, j int) string {
		return strconv.FormatFloat(c[i][j], 'g', 4, 64)
	})
}

// ModelReport is what confusion show --json prints of a model.
type ModelReport struct {
	Classes    []string           `json:"classes"`
	Given      [][]float64        `json:"given,omitempty"`          // [p][q] = P(noisy = p | true = q)
	Learned    [][]float64        `json:"learned,omitempty"`        // the same, found by the training
	Error      [][]float64        `json:"standard_error,omitempty"` // of learned
	Annotators []umagpu.Annotator `json:"annotators,omitempty"`     // the best first
}

func (o *Options) showModel(path string) error {
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	q := m.Q
	r := ModelReport{Classes: m.Meta.Classes, Given: app.Rows(m.Confusion, q)}
	if l := m.Learned; l != nil {
		r.Learned, r.Error = app.Rows(l.Confusion, q), app.Rows(l.Error, q)
		for k, a := range m.Meta.Annotators {
			one := confusion.Annotator{P: l.Matrices[k*q*q : (k+1)*q*q]}
			r.Annotators = append(r.Annotators, umagpu.Annotator{Name: a.Name, Labels: a.Labels,
				Right: one.Right(q), Confusion: app.Rows(one.P, q)})
		}
		slices.SortStableFunc(r.Annotators, func(a, b umagpu.Annotator) int {
			return cmp.Compare(b.Right, a.Right)
		})
	}
	return o.Print(r, r.print)
}

func (r ModelReport) print(w io.Writer) error {
	if r.Given == nil && r.Learned == nil {
		_, err := fmt.Fprintln(w, "no confusion matrix: the labels were trusted")
		return err
	}
	if r.Given != nil {
		fmt.Fprintln(w, "given: P(noisy = row | true = column)")
		if err := printMatrix(w, r.Classes, r.Given); err != nil || r.Learned == nil {
			return err
		}
		fmt.Fprintln(w)
	}
	labels := "noisy"
	if r.Annotators != nil {
		labels = "vote of the annotators"
	}
	fmt.Fprintf(w, "learned: P(%s = row | true = column), ± standard error\n", labels)
	err := app.PrintEstimated(w, r.Classes, r.Learned, r.Error)
	if err != nil || r.Annotators == nil {
		return err
	}
	return app.PrintAnnotators(w, r.Annotators)
}
