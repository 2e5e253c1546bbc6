package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// quietFlag silences notes; warnings and errors stay.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "say nothing on stderr but warnings and errors"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object on stdout instead of text"}
}

func seedFlag(of string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of " + of + ", 0 to 2^64-1; the same seed gives the same bytes"}
}

// dataFlags say which file to read and how. usage is the text of --data.
func dataFlags(usage string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "data", Usage: usage + ": `FILE` in CSV or LIBSVM format, plain or gzip (required)"},
		&cli.StringFlag{Name: "format", Value: "auto", Usage: "`FORMAT` of the data: auto (by name and first lines), csv or libsvm"},
		&cli.StringFlag{Name: "label-column", Value: "last", Usage: "`COLUMN` of a CSV that holds the label: a name in the header, a position counted from 1, first or last"},
		&cli.StringFlag{Name: "header", Value: "auto", Usage: "`WHETHER` a CSV begins with a header: auto (found out from the first line), yes or no"},
	}
}

// dataOptions checks the flags of dataFlags.
func dataOptions(c *cli.Context) (dataset.Options, error) {
	format, err := oneOf(c, "format", "auto", "csv", "libsvm")
	if err != nil {
		return dataset.Options{}, err
	}
	header, err := oneOf(c, "header", "auto", "yes", "no")
	if err != nil {
		return dataset.Options{}, err
	}
	return dataset.Options{Format: format, LabelColumn: c.String("label-column"), Header: header}, nil
}

// checkTarget makes sure, before any work, that the file of an output flag can be
// written and is none of those that the input flags name.
func checkTarget(c *cli.Context, output string, inputs ...string) error {
	path := c.String(output)
	for _, input := range inputs {
		if sameFile(path, c.String(input)) {
			return usagef(c, "--%s is the same file as --%s; give another name", output, input)
		}
	}
	return atomicfile.CheckWritable(path)
}

// sameFile reports whether both paths lead to one file that exists.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// axesFlag says which way round a confusion matrix lies in its file.
func axesFlag() cli.Flag {
	return &cli.StringFlag{Name: "confusion-axes", Value: "true-columns",
		Usage: "`AXES` of the matrix in its file: true-columns (columns sum to 1) or true-rows (its transpose, as scikit-learn prints)"}
}

// trueRows checks the flag of axesFlag.
func trueRows(c *cli.Context) (bool, error) {
	axes, err := oneOf(c, "confusion-axes", "true-columns", "true-rows")
	return axes == "true-rows", err
}

// parseBytes reads a number of bytes with an optional suffix K, M or G, for
// powers of 1024.
func parseBytes(text string) (int64, error) {
	digits, unit := text, int64(1)
	if text != "" {
		if k := strings.IndexByte("KMG", text[len(text)-1]&^0x20); k >= 0 {
			digits, unit = text[:len(text)-1], 1<<(10*(k+1))
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, fmt.Errorf("found %q, wanted a number of bytes such as 65536, 64K, 256M or 2G", text)
	}
	return int64(n) * unit, nil
}

// notes tell the user on stderr what is going on. That stderr cannot be written
// to is no reason to stop.
type notes struct {
	w     io.Writer
	quiet bool
}

func newNotes(c *cli.Context) notes { return notes{c.App.ErrWriter, c.Bool("quiet")} }

// say prints a line, unless quiet.
func (n notes) say(format string, args ...any) {
	if !n.quiet {
		fmt.Fprintf(n.w, format+"\n", args...)
	}
}

// warn prints a line in any case.
func (n notes) warn(format string, args ...any) { fmt.Fprintf(n.w, "warning: "+format+"\n", args...) }

// readData reads a data file. An interrupt does not wait for its end.
func readData(ctx context.Context, path string, o dataset.Options, n notes) (*dataset.Dataset, error) {
	type result struct {
		d   *dataset.Dataset
		err error
	}
	done := make(chan result, 1)
	go func() {
		d, err := dataset.Read(path, o)
		done <- result{d, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w while reading %s; nothing was written", errInterrupted, path)
	case r := <-done:
		if r.err != nil {
			return nil, r.err
		}
		n.say("data: %s, %d examples × %d features%s", path, r.d.N, r.d.D, classesOf(r.d))
		if r.d.Subnormals > 0 {
			n.say("data: %d numbers smaller than float32 holds in full became 0", r.d.Subnormals)
		}
		return r.d, nil
	}
}

// interrupted returns an error if the context is cancelled. Nothing must have
// been written yet.
func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w; nothing was written", errInterrupted)
	}
	return nil
}

func classesOf(d *dataset.Dataset) string {
	if d.Y == nil {
		return ", no labels"
	}
	return fmt.Sprintf(", %d classes", len(d.Classes))
}
