package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

// print prints the report as JSON or for people, as the flags ask.
func (r trainReport) print(c *cli.Context) error {
	w := c.App.Writer
	if c.Bool("json") {
		return printJSON(w, r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", r.Model)
	fmt.Fprintf(t, "device\t%s %s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(t, "steps\t%d (%s)\n", r.Steps, r.Stop)
	fmt.Fprintf(t, "estimated error\t%.4f\n", r.EstimatedError)
	s := r.Seconds
	kernel := ""
	if s.Kernel > 0 {
		kernel = fmt.Sprintf(", kernel %.3f", s.Kernel)
	}
	fmt.Fprintf(t, "seconds\t%.3f: read %.3f, prepare %.3f, open device %.3f%s, upload %.3f, train %.3f\n",
		s.Total, s.Read, s.Prepare, s.Open, kernel, s.Upload, s.Train)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Classes) > mostClasses {
		return nil
	}
	fmt.Fprintf(w, "\nestimated confusion of the predictions, %%: column = true class, row = predicted\n")
	return printMatrix(w, "", r.Classes, func(i, j int) string {
		return fmt.Sprintf("%.1f", 100*r.EstimatedConfusion[i][j])
	})
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil { // never: what FormatFloat writes ParseFloat reads
		return v
	}
	return rounded
}
