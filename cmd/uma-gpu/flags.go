package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// quietFlag silences notes; warnings and errors stay.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "say nothing on stderr but warnings and errors"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object instead of text"}
}

func seedFlag(of string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of " + of}
}

// dataFlags say which file to read and how. usage is the text of --data.
func dataFlags(usage string) []cli.Flag {
	return append([]cli.Flag{
		inputFlag{&cli.StringFlag{Name: "data", Usage: usage + ": `FILE`, - for standard input, or parts: " +
			"'PATTERN*', or FILE,FILE (required)"}},
		&cli.StringFlag{Name: "format", Value: "auto", Usage: "`FORMAT`: " + orList(dataFormats)},
		&cli.StringFlag{Name: "label-column", DefaultText: "last",
			Usage: "`COLUMN` of the label: a name, a position from 1, first or last"},
		&cli.StringFlag{Name: "ignore-columns", Usage: "comma `LIST` of columns to leave out, names or positions from 1"},
		&cli.StringFlag{Name: "id-column", Aliases: []string{"id"},
			Usage: "`COLUMN` that names the examples, for what is written about them; no feature"},
		&cli.StringFlag{Name: "header", Value: "auto",
			Usage: "`ANSWER` to whether a CSV begins with a header: auto, yes or no"},
		&cli.StringFlag{Name: "separator", Value: "auto",
			Usage: "`CHARACTER` between the fields of a CSV, or comma, tab, semicolon, blanks"},
		&cli.StringFlag{Name: "decimal", Value: "point", Usage: "decimal `MARK` of a CSV: point or comma"},
		inputFlag{&cli.StringFlag{Name: "labels", Usage: "second `FILE` with one label per example: IDX, .npy or text"}},
		&cli.StringFlag{Name: "x-name", DefaultText: "X, x or the only matrix", Usage: "`NAME` of the features in an .npz"},
		&cli.StringFlag{Name: "y-name", DefaultText: "y or Y", Usage: "`NAME` of the labels in an .npz"},
		&cli.BoolFlag{Name: "zero-based", Usage: "indices of a LIBSVM file begin at 0, not at 1"},
		&cli.StringFlag{Name: "storage", Value: "auto",
			Usage: "`FORM` of the features in memory: auto, dense, sparse or narrow"},
		&cli.IntFlag{Name: "max-errors", Value: 1, Usage: "list the first `N` bad examples"},
		&cli.BoolFlag{Name: "skip-bad", Usage: "pass over bad examples, and say which"},
		&cli.BoolFlag{Name: "trust-data", Usage: "do not compare a .umab file with its checksums before it is used"},
	}, columnFlags()...)
}

// dataFormats are the values of --format.
var dataFormats = []string{"auto", "csv", "libsvm", "npy", "npz", "idx", "parquet", "arff", "binary"}

// dataOptions checks the flags of dataFlags.
func dataOptions(c *cli.Context) (dataset.Options, error) {
	o := dataset.Options{
		Table:  dataset.Table{LabelColumn: c.String("label-column"), IDColumn: c.String("id-column")},
		Labels: c.String("labels"),
		XName:  c.String("x-name"), YName: c.String("y-name"),
		ZeroBased: c.Bool("zero-based"), MaxErrors: c.Int("max-errors"), SkipBad: c.Bool("skip-bad"),
		Trust: c.Bool("trust-data"), Stdin: c.App.Reader,
	}
	mark, err := oneOf(c, "decimal", "point", ".", "comma", ",")
	if err != nil {
		return o, err
	}
	o.Separator, o.DecimalComma = c.String("separator"), mark == "comma" || mark == ","
	if err := o.CheckSeparator(); err != nil {
		return o, usagef(c, "--separator: %v", err)
	}
	if list := c.String("ignore-columns"); list != "" {
		o.Ignore = strings.Split(list, ",")
	}
	if o.MaxErrors < 1 {
		return o, usagef(c, "--max-errors is %d, wanted at least 1", o.MaxErrors)
	}
	if err := columnOptions(c, &o); err != nil {
		return o, err
	}
	if o.Format, err = oneOf(c, "format", dataFormats...); err != nil {
		return o, err
	}
	if o.Storage, err = oneOf(c, "storage", "auto", "dense", "sparse", "narrow"); err != nil {
		return o, err
	}
	o.Header, err = oneOf(c, "header", "auto", "yes", "no")
	return o, err
}

// axesFlag says which way round a confusion matrix lies in its file.
func axesFlag() cli.Flag {
	return &cli.StringFlag{Name: "confusion-axes", Value: trueColumns,
		Usage: "`AXES` of the file: true-columns (they sum to 1) or true-rows"}
}

// trueRows checks the flag of axesFlag.
func trueRows(c *cli.Context) (bool, error) {
	axes, err := oneOf(c, "confusion-axes", trueColumns, inTrueRows)
	return axes == inTrueRows, err
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
		fmt.Fprint(n.w, legible(fmt.Sprintf(format+"\n", args...)))
	}
}

// warn prints a line in any case.
func (n notes) warn(format string, args ...any) {
	fmt.Fprint(n.w, legible(fmt.Sprintf("warning: "+format+"\n", args...)))
}

// watched says whether somebody sees each step of a training.
func (n notes) watched() bool {
	m, ok := n.w.(*meter)
	return ok && m.watched()
}

// step prints a line for a step, whose learner's fields may name classes.
func (n notes) step(r host.Report, classes []string) {
	var b strings.Builder
	for _, f := range r.Fields {
		switch v := f.Value.(type) {
		case engine.Pair:
			fmt.Fprintf(&b, "predicted %q to true %q, ", classes[v.P], classes[v.Q])
		case float64:
			fmt.Fprintf(&b, "%s %.4g, ", f.Name, v)
		default:
			fmt.Fprintf(&b, "%s %v, ", f.Name, v)
		}
	}
	fmt.Fprintf(n.w, "step %d: %sestimated error %.4f\n", r.Step, b.String(), r.EstimatedError)
}

// readData reads a data file; the caller closes what it gets, after all that uses
// its examples.
func readData(ctx context.Context, path string, o dataset.Options, n notes) (*dataset.Dataset, error) {
	files, err := dataFiles(path)
	if err != nil {
		return nil, err
	}
	d, err := dataset.ReadAll(ctx, path, files, o)
	if ctx.Err() != nil {
		if err == nil {
			d.Close() // of what was only read: nothing to lose
		}
		return nil, fmt.Errorf("%w while reading %s; nothing was written", errInterrupted, path)
	}
	if err != nil {
		return nil, err
	}
	storage := ""
	if d.Sparse() {
		storage = fmt.Sprintf(", sparse (%.2g %% stored)", 100*float64(d.Stored())/(float64(d.N)*float64(d.D)))
	}
	prepared := ""
	if d.Prepared != nil {
		prepared = ", prepared by " + d.Prepared.Steps.String()
	}
	n.say("data: %s, %d examples × %d features%s%s%s", path, d.N, d.FeatureCount(), classesOf(d), storage, prepared)
	if d.Encoding != nil {
		n.say("data: %s: columns: %s%s", path, d.Encoding, missingText(d.Missing))
	}
	if d.Unchecked() {
		n.say("data: the file is of a version without checksums; uma-gpu convert writes one that has them")
	}
	for _, note := range d.Notes {
		n.say("data: %s", note)
	}
	for _, warning := range d.Warnings {
		n.warn("%s", warning)
	}
	if bad := len(d.Skipped.At); bad > 0 {
		n.warn("%d bad examples were skipped, at %s", bad, places(d.Skipped.At))
		for _, err := range d.Skipped.First {
			n.warn("%v", err)
		}
	}
	if d.Subnormals > 0 {
		n.say("data: %d numbers smaller than float32 holds in full became 0", d.Subnormals)
	}
	return d, nil
}

// together has a data file take its place with the other files of a command.
func together(files *atomicfile.Group, o dataset.WriteOptions) dataset.WriteOptions {
	o.Put = files.Write
	return o
}

// writeData writes a data file. Files that a command wrote before it stay.
func writeData(ctx context.Context, path string, d *dataset.Dataset, o dataset.WriteOptions) error {
	err := dataset.Write(ctx, path, d, o)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w while writing %s; nothing was changed there", errInterrupted, path)
	}
	return err
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

// places lists where bad examples stand, the first few of many.
func places(at []int) string {
	const most = 20
	var list []string
	for i, p := range at {
		if i == most {
			list = append(list, "…")
			break
		}
		list = append(list, strconv.Itoa(p))
	}
	return strings.Join(list, ", ")
}
