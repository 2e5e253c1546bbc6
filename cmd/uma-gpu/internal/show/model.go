package show

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// ModelReport is what confusion show --json prints of a model.
type ModelReport struct {
	Classes    []string          `json:"classes"`
	Given      [][]float64       `json:"given,omitempty"`          // [p][q] = P(noisy = p | true = q)
	Learned    [][]float64       `json:"learned,omitempty"`        // the same, found by the training
	Error      [][]float64       `json:"standard_error,omitempty"` // of learned
	Annotators []annotatorReport `json:"annotators,omitempty"`     // the best first
}

// annotatorReport tells of one annotator.
type annotatorReport struct {
	Name      string      `json:"name"`
	Labels    int         `json:"labels"`
	Right     float64     `json:"right"`     // the mean of the diagonal
	Confusion [][]float64 `json:"confusion"` // as learned
}

// isModel reports whether a regular file begins as a model does.
func isModel(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe is read once
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	var first [4]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && bytes.Equal(first[:], []byte("PK\x03\x04"))
}

// showModel prints the matrices of a model.
func (o *Options) showModel(path string) error {
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	q, r := m.Q, ModelReport{Classes: m.Meta.Classes}
	if m.Confusion != nil {
		r.Given = app.Rows(m.Confusion, q)
	}
	if l := m.Learned; l != nil {
		r.Learned, r.Error = app.Rows(l.Confusion, q), app.Rows(l.Error, q)
		for k, a := range l.Annotators {
			one := confusion.Annotator{P: l.Matrices[k*q*q : (k+1)*q*q]}
			r.Annotators = append(r.Annotators, annotatorReport{a.Name, a.Labels, one.Right(q),
				app.Rows(one.P, q)})
		}
		slices.SortStableFunc(r.Annotators, func(a, b annotatorReport) int {
			return cmp.Compare(b.Right, a.Right)
		})
	}
	return o.Print(r, r.print)
}

// print prints the report for people.
func (r ModelReport) print(w io.Writer) error {
	if r.Given == nil && r.Learned == nil {
		_, err := fmt.Fprintln(w, "no confusion matrix: the labels were taken to be right")
		return err
	}
	if r.Given != nil {
		fmt.Fprintf(w, "given: P(noisy = row | true = column)\n")
		if err := app.PrintMatrix(w, "", r.Classes, func(i, j int) string {
			return strconv.FormatFloat(r.Given[i][j], 'g', 4, 64)
		}); err != nil {
			return err
		}
	}
	if r.Learned == nil {
		return nil
	}
	if r.Given != nil {
		fmt.Fprintln(w)
	}
	of := "noisy"
	if r.Annotators != nil {
		of = "vote of the annotators"
	}
	fmt.Fprintf(w, "learned: P(%s = row | true = column), ± standard error\n", of)
	if err := app.PrintMatrix(w, "", r.Classes, func(i, j int) string {
		return fmt.Sprintf("%.3f±%.3f", r.Learned[i][j], r.Error[i][j])
	}); err != nil || r.Annotators == nil {
		return err
	}
	fmt.Fprintf(w, "\nannotators, by how often each is right if all classes are as frequent\n")
	const most = 5 // of the best, and of the worst
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for k, a := range r.Annotators {
		switch {
		case k < most || k >= len(r.Annotators)-most:
			fmt.Fprintf(t, "%s\t%.1f %%\t%d labels\n", a.Name, 100*a.Right, a.Labels)
		case k == most:
			fmt.Fprintf(t, "… %d more\n", len(r.Annotators)-2*most)
		}
	}
	return t.Flush()
}
