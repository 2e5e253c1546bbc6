package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// ParseBytes reads a number of bytes with an optional suffix K, M or G, for powers of 1024.
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

// ReadData reads a data file and describes it in notes. The caller closes it when its examples are
// no longer used.
func ReadData(ctx context.Context, path string, o file.Options, n Notes,
) (*dataset.Dataset, error) {
	d, err := file.Read(ctx, path, o)
	if ctx.Err() != nil {
		if err == nil {
			d.Close() // only read
		}
		return nil, interruptedReading(path)
	}
	if err != nil {
		return nil, err
	}
	about := ClassesOf(d)
	if d.Sparse() {
		about += fmt.Sprintf(", sparse (%.2g %% stored)",
			100*float64(d.Size())/(float64(d.N)*float64(d.D)))
	}
	if d.Prepared != nil {
		about += ", prepared by " + d.Prepared.Steps.String()
	}
	n.Say("data: %s, %d examples × %d features%s", path, d.N, d.FeatureCount(), about)
	if !d.Encoding.Plain() {
		n.Say("data: %s: columns: %s%s", path, d.Encoding, missingText(d.Missing))
	}
	if !n.Described {
		for _, note := range d.Notes {
			n.Say("data: %s", note)
		}
	}
	for _, warning := range d.Warnings {
		n.Warn("%s", warning)
	}
	if bad := len(d.SkippedAt); bad > 0 {
		n.Warn("%d bad examples were skipped, at %s", bad, Places(d.SkippedAt))
		for _, err := range d.SkippedErrs {
			n.Warn("%v", err)
		}
	}
	if d.Subnormals > 0 {
		n.Say("data: %d numbers smaller than float32 holds in full became 0", d.Subnormals)
	}
	return d, nil
}

// missingText lists the columns that lack values.
func missingText(missing []dataset.MissingCount) string {
	const most = 5
	text := First(missing, most, func(m dataset.MissingCount) string {
		return fmt.Sprintf("%d in %s", m.Values, m.Column)
	})
	switch {
	case text == "":
		return ""
	case len(missing) > most:
		text += fmt.Sprintf(" (%d columns in all)", len(missing))
	}
	return "; missing values: " + text
}

// ClassesOf returns the number of classes as text.
func ClassesOf(d *dataset.Dataset) string {
	if d.Y == nil {
		return ", no labels"
	}
	return fmt.Sprintf(", %d classes", len(d.Classes))
}

// Places lists the places of bad examples, at most 20.
func Places(at []int) string {
	return First(at, 20, strconv.Itoa)
}

// First joins the texts of at most the first most of a list.
func First[T any](list []T, most int, text func(T) string) string {
	var words []string
	for _, one := range list[:min(most, len(list))] {
		words = append(words, text(one))
	}
	if len(list) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// SourceRows returns the rows of the input, from 1, that are some examples of d.
func SourceRows(d *dataset.Dataset, some []int32) []int {
	rows := []int{}
	for _, i := range some {
		rows = append(rows, d.SourceRow(int(i))+1)
	}
	return rows
}

// CheckRaw refuses prepared data for commands that need raw features.
func CheckRaw(d *dataset.Dataset, what string) error {
	if d.Prepared == nil {
		return nil
	}
	return fmt.Errorf("%s: found examples prepared by %s, wanted raw ones: %s", d.Path,
		d.Prepared.Steps, what)
}

// Interrupted returns an error if ctx is cancelled. Call it only before anything is written.
func Interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w; nothing was written", ErrInterrupted)
	}
	return nil
}

func interruptedReading(path string) error {
	return fmt.Errorf("%w while reading %s; nothing was written", ErrInterrupted, path)
}

// Awaited returns read(path), or an error as soon as ctx ends: opening a pipe without a writer
// blocks for ever. The abandoned read continues in its goroutine, without effect.
func Awaited[T any](ctx context.Context, path string, read func(path string) (T, error)) (T,
	error) {
	var value T
	ended := make(chan error, 1)
	go func() {
		var err error
		value, err = read(path)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || ctx.Err() == nil {
			return value, err
		}
	case <-ctx.Done():
	}
	var none T
	return none, interruptedReading(path)
}

// ReadRight is labels.Right that ctx can interrupt; nil for no file.
func ReadRight(ctx context.Context, path string, d *dataset.Dataset) ([]int32, error) {
	if path == "" {
		return nil, nil
	}
	return Awaited(ctx, path, func(path string) ([]int32, error) { return labels.Right(ctx, path, d) })
}

// ReadProbabilities is labels.Probabilities that ctx can interrupt.
func ReadProbabilities(ctx context.Context, path string, d *dataset.Dataset) ([]float32, error) {
	return Awaited(ctx, path, func(path string) ([]float32, error) {
		return labels.Probabilities(ctx, path, d)
	})
}

// Together has a data file replaced together with the other files of a command.
func Together(files *osfile.Group, o file.WriteOptions) file.WriteOptions {
	o.Put = files.Write
	return o
}

// WriteData writes a data file. Files that a command wrote before it stay.
func WriteData(ctx context.Context, path string, d *dataset.Dataset, o file.WriteOptions) error {
	return writing(ctx, path, file.Write(ctx, path, d, o))
}

// writing returns the error of writing a data file.
func writing(ctx context.Context, path string, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w while writing %s; nothing was changed there", ErrInterrupted, path)
	}
	return err
}

// IDsLeftOut notes that a format, "" for the one that the name implies, cannot hold the ids of d.
func (n Notes) IDsLeftOut(d *dataset.Dataset, out, format string) {
	if format = cmp.Or(format, file.FormatOfName(out)); d.IDs != nil && format != "csv" {
		n.Say("%s: ids are left out, since %s has no place for them", out, format)
	}
}

// CopyOptions returns how to write a copy of d in its own format, unless the name implies another.
func CopyOptions(out string, d *dataset.Dataset) file.WriteOptions {
	var o file.WriteOptions
	name := strings.ToLower(out)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	// no more than a habit of CSV files
	if file.FormatOfName(out) == "" || strings.HasSuffix(name, ".data") {
		switch d.Format {
		case "csv", "parquet", "xlsx":
			o.Format = "csv"
		case "libsvm":
			o.Format = "libsvm"
		default: // the arrays of npy, npz and idx; only .npz has a place for labels
			o.Format = "npz"
		}
	}
	// else columns have become several, and the label goes last
	if d.LabelColumn > 0 && d.Encoding.Plain() {
		// Fewer columns may be left of the original's, if some were ignored.
		o.LabelColumn = strconv.Itoa(min(d.LabelColumn, file.TableWidth(d)))
	}
	return o
}

// CheckLabels refuses, before anything is read, a format that has no place for labels if there
// will be some.
func CheckLabels(format string, noLabels bool) error {
	if format == "npy" && !noLabels {
		return Usage("an .npy file has no place for the labels; write .npz")
	}
	return nil
}

// PackedText names the compression that a file name implies, "" for none.
func PackedText(path string) string {
	return map[string]string{".gz": "gzip of ", ".zst": "zstd of "}[strings.ToLower(
		filepath.Ext(path))]
}

// ClassNames returns the names 0, 1, … of q classes.
func ClassNames(q int) ([]string, error) {
	// A string and, with what it leaves of an allocation, its digits.
	if err := memory.Check(memory.Product(q, 32), fmt.Sprintf("a list of %d classes", q)); err != nil {
		return nil, err
	}
	names := make([]string, q)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names, nil
}

// Rows cuts a row-major q×q table into rows that share its memory.
func Rows[T any](table []T, q int) [][]T { return slices.Collect(slices.Chunk(table, max(q, 1))) }

// MostClasses is the largest matrix that is printed for people.
const MostClasses = 30

// PrintMatrix prints a square table with the same names at its rows and columns, right-aligned;
// entry (i,j) is cell(i, j). Of more than MostClasses names it prints how many there are.
func PrintMatrix(w io.Writer, names []string, cell func(i, j int) string) error {
	if len(names) > MostClasses {
		_, err := fmt.Fprintf(w, "%d classes, more than fit here; --json has all\n", len(names))
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", Shorten(name))
	}
	for i, name := range names {
		fmt.Fprintf(t, "\n%s\t", Shorten(name))
		for j := range names {
			fmt.Fprintf(t, "%s\t", cell(i, j))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// PrintEstimated prints a matrix with the standard errors of its entries; nil for none.
func PrintEstimated(w io.Writer, names []string, p, errors [][]float64) error {
	return PrintMatrix(w, names, func(i, j int) string {
		if errors == nil {
			return fmt.Sprintf("%.3f", p[i][j])
		}
		return fmt.Sprintf("%.3f±%.3f", p[i][j], errors[i][j])
	})
}

// PrintAnnotators prints the best annotators and the worst, the best first.
func PrintAnnotators(w io.Writer, list []umagpu.Annotator) error {
	const most = 5 // of the best, and of the worst
	list = slices.SortedStableFunc(slices.Values(list), func(a, b umagpu.Annotator) int {
		return cmp.Compare(b.Right, a.Right)
	})
	fmt.Fprintln(w, "\nannotators, by how often each is right if all classes are as frequent")
	return Table(w, func(row Row) {
		for k, a := range list {
			if k < most || k >= len(list)-most {
				gain := ""
				if a.Gain != nil {
					gain = fmt.Sprintf(", which correct %.1f", *a.Gain)
				}
				row("%s\t%.1f %%\t%d labels%s", a.Name, 100*a.Right, a.Labels, gain)
			} else if k == most {
				row("… %d more", len(list)-2*most)
			}
		}
	})
}
