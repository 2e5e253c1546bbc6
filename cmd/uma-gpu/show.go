package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print a confusion matrix and whether it can be used, or those of a model",
		ArgsUsage: "FILE",
		Description: "FILE is a CSV table or a .npy file, checked as train checks it. Class names " +
			"come from the header,\n" +
			"else they are 0, 1, ...; for .npy say them with --classes. The exit code is 1 if train " +
			"would refuse\n" +
			"the matrix. Of a model, FILE.npz, it prints the matrix that was given and the one that was " +
			"learned,\n" +
			"with standard errors, and which annotators were best and worst.\n\n" +
			"Example: uma-gpu confusion show C.csv",
		Flags: []cli.Flag{
			app.AxesFlag(),
			&cli.StringFlag{Name: "classes",
				Usage: "comma list of class `NAMES`, in the order of the matrix"},
			app.JSONFlag(),
		},
		Action: show,
	}
}

// showReport is what confusion show --json prints.
type showReport struct {
	Classes    []string    `json:"classes"`
	Confusion  [][]float64 `json:"confusion"`        // [p][q] = P(noisy = p | true = q)
	Condition  *float64    `json:"condition_number"` // null if singular
	Invertible bool        `json:"invertible"`       // train accepts it
	Problem    string      `json:"problem,omitempty"`
}

func show(c *cli.Context) error {
	path := c.Args().First()
	switch {
	case path == "":
		return app.Usagef(c, "the file of the confusion matrix is missing")
	case c.Args().Len() > 1:
		return app.Usagef(c, "unexpected argument %q behind %s; flags stand before the file",
			c.Args().Get(1), path)
	}
	axes, err := app.TrueRows(c)
	if err != nil {
		return err
	}
	if isModel(path) {
		return showModel(c, path)
	}
	var classes []string
	if c.IsSet("classes") {
		classes = strings.Split(c.String("classes"), ",")
	} else if classes, err = matrixClasses(path); err != nil {
		return err
	}
	m, err := app.ReadMatrix(c.Context, path, confusion.ReadOptions{Classes: classes, TrueRows: axes})
	if err != nil {
		return err
	}
	r := showReport{Classes: m.Classes, Confusion: app.Rows(m.P, m.Q())}
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
	w := c.App.Writer
	if problem != nil { // after the report, which is what was asked for
		problem = fmt.Errorf("%s: %w", path, problem)
	}
	if c.Bool("json") {
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

// matrixClasses returns the class names in a matrix file's header, or 0, 1, ...
// for a bare table. confusion.Read judges the file; here only its first line is
// looked at.
func matrixClasses(path string) ([]string, error) {
	first, err := firstLine(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the confusion matrix: %w", path, fileerr.Cause(err))
	}
	if strings.HasPrefix(first, "\x93NUMPY") {
		return nil, fmt.Errorf("%s: a .npy file has no class names; say them with --classes", path)
	}
	if strings.HasPrefix(strings.TrimPrefix(first, `"`), `noisy\true`) ||
		strings.HasPrefix(strings.TrimPrefix(first, `"`), `true\noisy`) {
		header, err := csv.NewReader(strings.NewReader(first)).Read()
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the header: %w", path, err)
		}
		return header[1:], nil
	}
	fields := strings.FieldsFunc(first, func(r rune) bool {
		return strings.ContainsRune(",; \t\r",
			r)
	})
	names := make([]string, len(fields))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names, nil
}

// openRegular opens a file that is read twice, so that it can be no pipe.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("found %s, wanted a regular file, or the names of the classes with "+
			"--classes",
			fileerr.Kind(info.Mode()))
	}
	return os.Open(path)
}

// firstLine returns the first line of a file, plain or gzip, that is not blank.
func firstLine(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	r := bufio.NewReader(f)
	if magic, _ := r.Peek(2); bytes.Equal(magic, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return "", err
		}
		r = bufio.NewReader(z)
	}
	r = bufio.NewReader(io.LimitReader(r, 1<<20))
	for {
		line, err := r.ReadString('\n')
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line != "" || err == io.EOF {
			return line, nil
		}
		if err != nil {
			return "", err
		}
	}
}
