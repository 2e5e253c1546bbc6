package training

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/learners"
)

// TrainReport is what train --json prints.
type TrainReport struct {
	Learner        string  `json:"learner"`
	Steps          int     `json:"steps"`
	Stop           string  `json:"stop"`
	EstimatedError float64 `json:"estimated_error"`
	// Stream says that the estimates are of the predictions of each example before it was learned
	// from.
	Stream bool `json:"stream,omitempty"`
	// Passes are what online learners told of each pass, by the names that --verbose prints.
	Passes []map[string]any `json:"passes,omitempty"`
	// P(predicted = row | true = column) as far as noisy labels tell.
	EstimatedConfusion [][]float64   `json:"estimated_confusion"`
	Classes            []string      `json:"classes"`
	Examples           int           `json:"examples"`
	Features           int           `json:"features"`
	Condition          float64       `json:"condition_number"`
	Device             engine.Device `json:"device"`
	Model              string        `json:"model"`
	Seconds            trainSeconds  `json:"seconds"`
	Axes               string        `json:"axes"` // of the matrices
	// what was warned of; none is an empty list
	Doubts     []learners.Doubt     `json:"doubts"`
	Validation *judgement.Judgement `json:"validation,omitempty"`
	// CompressionSet are the examples, counted from 0, of which W is a sum, of a learner that tells.
	CompressionSet []int `json:"compression_set,omitempty"`
	// Traffic is between ranks, if there are several.
	Traffic *ranks.Traffic `json:"traffic,omitempty"`
}

// passReport is what --json says of a pass.
func passReport(r host.Report) map[string]any {
	pass := map[string]any{"step": r.Step, "estimated_error": r.EstimatedError}
	for _, f := range r.Fields {
		pass[strings.ReplaceAll(f.Name, " ", "_")] = f.Value
	}
	return pass
}

// print prints the report as JSON or for people, as the flags ask, with matrices of these axes.
func (r TrainReport) print(c *cli.Context, axes string) error {
	w := c.App.Writer
	if r.Axes = axes; axes == app.InTrueRows {
		r.EstimatedConfusion = judgement.Transposed(r.EstimatedConfusion)
	}
	if r.Validation != nil {
		r.Validation.Warn(app.NewNotes(c))
		r.Validation.Turn(axes)
	}
	if c.Bool("json") {
		return app.PrintJSON(w, r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", r.Model)
	fmt.Fprintf(t, "learner\t%s\n", r.Learner)
	fmt.Fprintf(t, "device\t%s %s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(t, "steps\t%d (%s)\n", r.Steps, r.Stop)
	before := ""
	if r.Stream {
		before = ", of each example before it was learned from"
	}
	fmt.Fprintf(t, "estimated error\t%.4f%s\n", r.EstimatedError, before)
	s := r.Seconds
	kernel := ""
	if s.Kernel > 0 {
		kernel = fmt.Sprintf(", kernel %.3f", s.Kernel)
	}
	fmt.Fprintf(t, "seconds\t%.3f: read %.3f, prepare %.3f, open device %.3f%s, upload %.3f, train "+
		"%.3f\n", s.Total, s.Read, s.Prepare, s.Open, kernel, s.Upload, s.Train)
	if a := r.Traffic; a != nil {
		fmt.Fprintf(t, "traffic\t%s summed and %s broadcast in %d calls, %.3f s\n",
			app.BytesText(a.Summed), app.BytesText(a.Broadcast), a.Calls, a.Seconds)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Classes) <= app.MostClasses {
		fmt.Fprintf(w, "\nestimated confusion of the predictions, %%: %s\n", judgement.Heading(axes))
		err := app.PrintMatrix(w, "", r.Classes, func(i, j int) string {
			return fmt.Sprintf("%.1f", 100*r.EstimatedConfusion[i][j])
		})
		if err != nil {
			return err
		}
	}
	if r.Validation == nil {
		return nil
	}
	fmt.Fprintf(w, "\nOn the examples held out, which were not learned from:\n\n")
	return r.Validation.Print(w)
}
