package app

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// QuietFlag silences notes; warnings and errors stay.
func QuietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "say nothing on stderr but warnings and errors"}
}

func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object instead of text"}
}

func SeedFlag(of string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of " + of}
}

// DataFlags say which file to read and how. usage is the text of --data.
func DataFlags(usage string) []cli.Flag {
	return append([]cli.Flag{
		InputFlag{StringFlag: &cli.StringFlag{Name: "data", Usage: usage + ": `FILE`, - for standard input, or parts: " +
			"'PATTERN*', or FILE,FILE (required)"}},
		&cli.StringFlag{Name: "format", Value: "auto", Usage: "`FORMAT`: " + OrList(dataFormats)},
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
		InputFlag{StringFlag: &cli.StringFlag{Name: "labels", Usage: "second `FILE` with one label per example: IDX, .npy or text"}},
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

// DataOptions checks the flags of dataFlags.
func DataOptions(c *cli.Context) (dataset.Options, error) {
	o := dataset.Options{
		Table: dataset.Table{LabelColumn: c.String("label-column"), IDColumn: c.String("id-column")}, Labels: c.String("labels"),
		XName: c.String("x-name"), YName: c.String("y-name"),
		ZeroBased: c.Bool("zero-based"), MaxErrors: c.Int("max-errors"), SkipBad: c.Bool("skip-bad"),
		Trust: c.Bool("trust-data"), Stdin: c.App.Reader,
	}
	mark, err := OneOf(c, "decimal", "point", ".", "comma", ",")
	if err != nil {
		return o, err
	}
	o.Separator, o.DecimalComma = c.String("separator"), mark == "comma" || mark == ","
	if err := o.CheckSeparator(); err != nil {
		return o, Usagef(c, "--separator: %v", err)
	}
	if list := c.String("ignore-columns"); list != "" {
		o.Ignore = strings.Split(list, ",")
	}
	if o.MaxErrors < 1 {
		return o, Usagef(c, "--max-errors is %d, wanted at least 1", o.MaxErrors)
	}
	if err := columnOptions(c, &o); err != nil {
		return o, err
	}
	if o.Format, err = OneOf(c, "format", dataFormats...); err != nil {
		return o, err
	}
	if o.Storage, err = OneOf(c, "storage", "auto", "dense", "sparse", "narrow"); err != nil {
		return o, err
	}
	o.Header, err = OneOf(c, "header", "auto", "yes", "no")
	return o, err
}

// AxesFlag says which way round a confusion matrix lies in its file.
func AxesFlag() cli.Flag {
	return &cli.StringFlag{Name: "confusion-axes", Value: TrueColumns,
		Usage: "`AXES` of the file: true-columns (they sum to 1) or true-rows"}
}

// TrueRows checks the flag of axesFlag.
func TrueRows(c *cli.Context) (bool, error) {
	axes, err := OneOf(c, "confusion-axes", TrueColumns, InTrueRows)
	return axes == InTrueRows, err
}

// ParseBytes reads a number of bytes with an optional suffix K, M or G, for
// powers of 1024.
func ParseBytes(text string) (int64, error) {
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

// Notes tell the user on stderr what is going on. That stderr cannot be written
// to is no reason to stop.
type Notes struct {
	W     io.Writer
	Quiet bool
}

func NewNotes(c *cli.Context) Notes { return Notes{c.App.ErrWriter, c.Bool("quiet")} }

// Say prints a line, unless quiet.
func (n Notes) Say(format string, args ...any) {
	if !n.Quiet {
		fmt.Fprint(n.W, Legible(fmt.Sprintf(format+"\n", args...)))
	}
}

// Warn prints a line in any case.
func (n Notes) Warn(format string, args ...any) {
	fmt.Fprint(n.W, Legible(fmt.Sprintf("warning: "+format+"\n", args...)))
}

// Watched says whether somebody sees each step of a training.
func (n Notes) Watched() bool {
	m, ok := n.W.(*Meter)
	return ok && m.Watched()
}

// Step prints a line for a step, whose learner's fields may name classes.
func (n Notes) Step(r host.Report, classes []string) {
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
	fmt.Fprintf(n.W, "step %d: %sestimated error %.4f\n", r.Step, b.String(), r.EstimatedError)
}

// ReadData reads a data file; the caller closes what it gets, after all that uses
// its examples.
func ReadData(ctx context.Context, path string, o dataset.Options, n Notes) (*dataset.Dataset, error) {
	files, err := DataFiles(path)
	if err != nil {
		return nil, err
	}
	d, err := dataset.ReadAll(ctx, path, files, o)
	if ctx.Err() != nil {
		if err == nil {
			d.Close() // of what was only read: nothing to lose
		}
		return nil, fmt.Errorf("%w while reading %s; nothing was written", ErrInterrupted, path)
	}
	if err != nil {
		return nil, err
	}
	storage := ""
	if d.Sparse() {
		storage = fmt.Sprintf(", sparse (%.2g %% stored)", 100*float64(d.Size())/(float64(d.N)*float64(d.D)))
	}
	prepared := ""
	if d.Prepared != nil {
		prepared = ", prepared by " + d.Prepared.Steps.String()
	}
	n.Say("data: %s, %d examples × %d features%s%s%s", path, d.N, d.FeatureCount(), ClassesOf(d), storage, prepared)
	if d.Encoding != nil {
		n.Say("data: %s: columns: %s%s", path, d.Encoding, missingText(d.Missing))
	}
	if d.Unchecked() {
		n.Say("data: the file is of a version without checksums; uma-gpu convert writes one that has them")
	}
	for _, note := range d.Notes {
		n.Say("data: %s", note)
	}
	for _, warning := range d.Warnings {
		n.Warn("%s", warning)
	}
	if bad := len(d.Skipped.At); bad > 0 {
		n.Warn("%d bad examples were skipped, at %s", bad, Places(d.Skipped.At))
		for _, err := range d.Skipped.First {
			n.Warn("%v", err)
		}
	}
	if d.Subnormals > 0 {
		n.Say("data: %d numbers smaller than float32 holds in full became 0", d.Subnormals)
	}
	return d, nil
}

// Together has a data file take its place with the other files of a command.
func Together(files *atomicfile.Group, o dataset.WriteOptions) dataset.WriteOptions {
	o.Put = files.Write
	return o
}

// WriteData writes a data file. Files that a command wrote before it stay.
func WriteData(ctx context.Context, path string, d *dataset.Dataset, o dataset.WriteOptions) error {
	err := dataset.Write(ctx, path, d, o)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w while writing %s; nothing was changed there", ErrInterrupted, path)
	}
	return err
}

// Interrupted returns an error if the context is cancelled. Nothing must have
// been written yet.
func Interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w; nothing was written", ErrInterrupted)
	}
	return nil
}

func ClassesOf(d *dataset.Dataset) string {
	if d.Y == nil {
		return ", no labels"
	}
	return fmt.Sprintf(", %d classes", len(d.Classes))
}

// Places lists where bad examples stand, the first few of many.
func Places(at []int) string {
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

// Visible says whether a flag is the command's own, and not one of a learner.
func Visible(c *cli.Context, name string) bool {
	return slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool {
		v, ok := f.(cli.VisibleFlag)
		return ok && f.Names()[0] == name && v.IsVisible()
	})
}

// FlagNames are the first names of flags.
func FlagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// NoLabelsFlag reads data without labels.
func NoLabelsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-labels", Usage: "all columns are features; LIBSVM's labels are passed over"}
}

// WholeOptions is dataOptions for commands that take a file as it is.
func WholeOptions(c *cli.Context) (dataset.Options, error) {
	o, err := DataOptions(c)
	o.NoLabels = c.Bool("no-labels")
	return o, err
}

// ReadWhole is readData for commands that read every value anyway: it makes sure
// that a binary file has the content that it was written with, and that the
// content hash is known.
func ReadWhole(ctx context.Context, path string, o dataset.Options, n Notes) (*dataset.Dataset, error) {
	d, err := ReadData(ctx, path, o, n)
	if err != nil {
		return nil, err
	}
	err = d.Verify(ctx)
	if ctx.Err() != nil {
		err = Interrupted(ctx)
	}
	if err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, err
	}
	if d.SHA256 == "" && d.Prepared == nil {
		d.SHA256 = d.Hash()
	}
	return d, nil
}

// The values of --axes and --confusion-axes.
const (
	TrueColumns = "true-columns"
	InTrueRows  = "true-rows"
)

// PrintedAxesFlag says which way round confusion matrices are printed.
func PrintedAxesFlag() cli.Flag {
	return &cli.StringFlag{Name: "axes", Value: TrueColumns,
		Usage: "`AXES` of printed matrices: true-columns or true-rows"}
}

// PrintedAxes checks the flag of printedAxesFlag.
func PrintedAxes(c *cli.Context) (axes string, err error) {
	return OneOf(c, "axes", TrueColumns, InTrueRows)
}
