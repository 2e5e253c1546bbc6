package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// What --write-clean does with labels that are likely wrong.
const (
	filterRows  = "filter"
	relabelRows = "relabel"
)

func issuesCommand() *cli.Command {
	output := []cli.Flag{
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "also write all rows, ranked, to `FILE`: .csv, .json or .parquet"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "write-clean",
			Usage: "also write the data, cleaned, to `FILE`"}},
		&cli.StringFlag{Name: "clean-by", Value: filterRows,
			Usage: "`HOW` to clean rows of wrong labels: filter or relabel"},
		app.JSONFlag(), app.QuietFlag(),
	}
	flags := append(training.NoisyDataFlags(), training.AnnotatorFlags()...)
	flags = append(flags, training.FoldFlags()...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "issues",
		Usage: "find the rows whose label is likely wrong",
		Description: "Trains without each part of the data in turn, as cv does, and ranks the rows by " +
			"how likely their\n" +
			"label is by the model that has not seen them and by C. A label is an issue if it is more " +
			"likely wrong than\n" +
			"right. Rows of equal features are judged together. Prints how many there are, by class and " +
			"by pair of\n" +
			"classes, and the worst 20; the JSON object has all that are wrong.\n\n" +
			"--out writes every row, the least likely label first, with the columns that cleanlab has, " +
			"is_label_issue,\n" +
			"label_quality (the probability that the label is right), given_label, predicted_label (the " +
			"most likely\n" +
			"class), and with example, the row's number from 1 in the order read; predicted_quality, the " +
			"probability\n" +
			"of the predicted label; duplicate_of, the number of the first row with equal features, 0 " +
			"for none before\n" +
			"it; and conflict, whether equal rows have other labels. --id-column adds id, and " +
			"--write-clean keeps that\n" +
			"column in a CSV.\n\n" +
			"With --annotators, labels of several people, the given label is what most of them say, and " +
			"the predicted\n" +
			"one the consensus of all, each believed by the matrix that was learned without the row, and " +
			"the model.\n" +
			"--clean-by relabel writes that consensus.\n\n" +
			"Without --confusion C is learned from the labels first, as confusion estimate --method em " +
			"does.\n\n" +
			"Example: uma-gpu issues --data noisy.csv --confusion C.csv --kernel rbf --out issues.csv\n" +
			"Example: uma-gpu issues --data noisy.csv --confusion C.csv --write-clean clean.csv " +
			"--clean-by relabel\n" +
			"Example: uma-gpu issues --data pictures.csv --annotators labels.csv --out consensus.csv",
		Flags:  flags,
		Action: issues,
	}
}

// issuesReport is what issues --json prints.
type issuesReport struct {
	Learner       string              `json:"learner"`
	Folds         int                 `json:"folds"`
	Examples      int                 `json:"examples"`
	EstimatedBy   string              `json:"confusion_estimated_by,omitempty"` // method; "" if C was given
	Issues        int                 `json:"issues"`
	ExpectedWrong float64             `json:"expected_wrong"` // labels, by the probabilities
	Duplicates    int                 `json:"duplicates"`     // rows with the features of an earlier one
	Conflicts     int                 `json:"conflicts"`      // rows of which an equal one has another label
	PerClass      []classIssues       `json:"per_class"`
	Pairs         []pairIssues        `json:"pairs"` // the most frequent first
	Rows          []training.IssueRow `json:"rows"`  // those that are issues, the worst first
	Device        engine.Device       `json:"device"`
}

// classIssues counts the issues of a noisy label.
type classIssues struct {
	Class         string  `json:"class"`
	Examples      int     `json:"examples"`
	Issues        int     `json:"issues"`
	ExpectedWrong float64 `json:"expected_wrong"`
}

// pairIssues counts the issues of a pair of classes.
type pairIssues struct {
	Given     string `json:"given_label"`
	Predicted string `json:"predicted_label"`
	Issues    int    `json:"issues"`
}

func issues(c *cli.Context) error {
	how, err := app.OneOf(c, "clean-by", filterRows, relabelRows)
	if err != nil {
		return err
	}
	out, clean := c.String("out"), c.String("write-clean")
	format, err := issueFormat(c, out)
	if err != nil {
		return err
	}
	if clean == "" && c.IsSet("clean-by") {
		return app.Usagef(c, "--clean-by is given without --write-clean")
	}
	if clean != "" {
		if err := app.CheckFormat(c, clean); err != nil {
			return err
		}
	}
	o, err := training.NewOutOfFold(c, true, "data")
	if err != nil {
		return err
	}
	defer o.Close()
	if clean != "" {
		if err := app.CheckRaw(o.Data,
			"a model would name the data without the changes; clean the original data"); err != nil {
			return err
		}
	}
	found, same, err := o.Issues()
	if err != nil {
		return err
	}
	rows := training.IssueRows(o.Data, found, same)
	report := newIssuesReport(o.Data.Classes, rows)
	report.Learner, report.Folds, report.Device = o.Learner.Definition().Name, c.Int("folds"), o.Device
	report.EstimatedBy = string(o.EstimatedBy)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	var files atomicfile.Group
	defer files.Discard()
	if out != "" {
		if err := files.Write(out, writeIssues(format, rows)); err != nil {
			return err
		}
	}
	cleaned := ""
	if clean != "" {
		if cleaned, err = writeClean(c.Context, o, &files, clean, how, found); err != nil {
			return err
		}
	}
	if err := files.Commit(); err != nil {
		return err
	}
	if out != "" {
		o.Notes.Say("issues: %d rows, ranked, written to %s", len(rows), out)
	}
	if clean != "" {
		o.Notes.Say("%s", cleaned)
		o.Notes.IDsLeftOut(o.Data, clean, app.CopyOptions(clean, o.Data).Format)
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, report)
	}
	return report.print(c)
}

// newIssuesReport sums up ranked rows.
func newIssuesReport(classes []string, rows []training.IssueRow) issuesReport {
	r := issuesReport{Examples: len(rows), Rows: []training.IssueRow{}, Pairs: []pairIssues{}}
	at, pairs := map[string]int{}, map[[2]string]int{}
	for k, name := range classes {
		at[name] = k
		r.PerClass = append(r.PerClass, classIssues{Class: name})
	}
	for _, row := range rows {
		class := &r.PerClass[at[row.Given]]
		class.Examples++
		class.ExpectedWrong += 1 - row.Quality
		r.ExpectedWrong += 1 - row.Quality
		if row.Duplicate > 0 {
			r.Duplicates++
		}
		if row.Conflict {
			r.Conflicts++
		}
		if row.Wrong {
			class.Issues++
			r.Issues++
			pairs[[2]string{row.Given, row.Predicted}]++
			r.Rows = append(r.Rows, row)
		}
	}
	for pair, n := range pairs {
		r.Pairs = append(r.Pairs, pairIssues{pair[0], pair[1], n})
	}
	slices.SortFunc(r.Pairs, func(a, b pairIssues) int {
		return cmp.Or(-cmp.Compare(a.Issues, b.Issues), cmp.Compare(at[a.Given], at[b.Given]),
			cmp.Compare(at[a.Predicted], at[b.Predicted]))
	})
	return r
}

// print prints the report for people, the first of long lists.
func (r issuesReport) print(c *cli.Context) error {
	const most = 20
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "examples\t%d\n", r.Examples)
	if r.EstimatedBy != "" {
		fmt.Fprintf(t, "C estimated by\t%s\n", r.EstimatedBy)
	}
	fmt.Fprintf(t, "likely wrong labels\t%d\n", r.Issues)
	fmt.Fprintf(t, "expected wrong labels\t%.1f\n", r.ExpectedWrong)
	fmt.Fprintf(t, "duplicates\t%d, with conflicting labels %d\n\n", r.Duplicates, r.Conflicts)
	fmt.Fprintf(t, "label\texamples\tlikely wrong\texpected wrong\n")
	for _, p := range r.PerClass {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\n", app.Brief(p.Class), p.Examples, p.Issues, p.ExpectedWrong)
	}
	if len(r.Pairs) > 0 {
		fmt.Fprintf(t, "\nlabel\tlikely class\texamples\n")
	}
	for _, p := range r.Pairs[:min(most, len(r.Pairs))] {
		fmt.Fprintf(t, "%s\t%s\t%d\n", app.Brief(p.Given), app.Brief(p.Predicted), p.Issues)
	}
	if len(r.Rows) > 0 {
		id := ""
		if r.Rows[0].ID != nil {
			id = "id\t"
		}
		fmt.Fprintf(t, "\nexample\t%slabel\tlikely class\tlabel quality\n", id)
	}
	for _, row := range r.Rows[:min(most, len(r.Rows))] {
		id := ""
		if row.ID != nil {
			id = app.Brief(*row.ID) + "\t"
		}
		fmt.Fprintf(t, "%d\t%s%s\t%s\t%.3g\n", row.Example, id, app.Brief(row.Given),
			app.Brief(row.Predicted), row.Quality)
	}
	return t.Flush()
}

// errNothingLeft is about data all of whose labels are likely wrong.
var errNothingLeft = errors.New("all labels are likely wrong, so no row is left to write; " +
	"check the confusion matrix, or use --clean-by relabel")
