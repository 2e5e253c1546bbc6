package estimate

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Report is what confusion estimate --json prints.
type Report struct {
	Method  string   `json:"method"`
	Classes []string `json:"classes"`
	// [p][q] = P(noisy = p | true = q)
	Confusion [][]float64 `json:"confusion"`
	Error     [][]float64 `json:"standard_error,omitempty"` // absent where nothing tells
	Assumes   string      `json:"assumes"`
	Notes     []string    `json:"notes,omitempty"`
	// true classes whose columns the labels do not tell
	Unidentified []string               `json:"not_identified,omitempty"`
	Candidates   []clean.NoiseCandidate `json:"candidates,omitempty"` // of auto
	Annotators   []app.Annotator        `json:"annotators,omitempty"`
	*Votes                              // of labelling functions

	matrix *confusion.Matrix
}

func newReport(m *estimate.Estimate) *Report {
	q := m.Q()
	r := &Report{matrix: &m.Matrix, Method: m.Method, Classes: m.Classes, Confusion: app.Rows(m.P, q),
		Error: app.Rows(m.Error, q), Assumes: m.Assumes, Notes: m.Notes}
	for _, t := range m.Unidentified {
		r.Unidentified = append(r.Unidentified, m.Classes[t])
	}
	return r
}

func (r *Report) text(w io.Writer) error {
	what := ""
	if r.Error != nil {
		what = ", ± standard error"
	}
	fmt.Fprintf(w, "%s: P(noisy = row | true = column)%s\n", r.Method, what)
	if len(r.Classes) > app.MostClasses {
		fmt.Fprintf(w, "%d classes, more than fit here; --out and --json have all\n", len(r.Classes))
	} else if err := app.PrintEstimated(w, r.Classes, r.Confusion, r.Error); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nassumes that %s\n", r.Assumes)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	if r.Candidates != nil {
		if err := app.Table(w, func(row app.Row) {
			row("\ncontest\tloss\tahead of the identity")
			for _, k := range r.Candidates {
				row("%s\t%.5f\t%s", k.Method, k.Loss, k.Lead())
			}
		}); err != nil {
			return err
		}
	}
	if r.Votes != nil {
		return r.Votes.text(w)
	}
	if r.Annotators == nil {
		return nil
	}
	return app.PrintAnnotators(w, r.Annotators)
}

// writeConsensus writes a CSV with the consensus on each item that has one, and how likely it is.
func writeConsensus(path string, found *crowd.Result) error {
	q := len(found.Classes)
	return osfile.Write(path, func(w io.Writer) error {
		rows := [][]string{{"item", "label", "probability"}}
		if found.Items == nil {
			rows[0][0] = "row" // from 1
		}
		for i, k := range found.Consensus {
			if k == dataset.Unlabelled {
				continue
			}
			p := strconv.FormatFloat(float64(found.Posterior[i*q+int(k)]), 'g', -1, 32)
			name := strconv.Itoa(i + 1)
			if found.Items != nil {
				name = found.Items[i]
			}
			rows = append(rows, []string{name, found.Classes[k], p})
		}
		return csv.NewWriter(w).WriteAll(rows)
	})
}
