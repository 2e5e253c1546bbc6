package app

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

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
func ReadData(ctx context.Context, path string, o file.Options, n Notes,
) (*dataset.Dataset, error) {
	files, err := DataFiles(path)
	if err != nil {
		return nil, err
	}
	d, err := file.ReadAll(ctx, path, files, o)
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
		storage = fmt.Sprintf(", sparse (%.2g %% stored)",
			100*float64(d.Size())/(float64(d.N)*float64(d.D)))
	}
	prepared := ""
	if d.Prepared != nil {
		prepared = ", prepared by " + d.Prepared.Steps.String()
	}
	n.Say("data: %s, %d examples × %d features%s%s%s", path, d.N, d.FeatureCount(), ClassesOf(d),
		storage, prepared)
	if d.Encoding != nil {
		n.Say("data: %s: columns: %s%s", path, d.Encoding, missingText(d.Missing))
	}
	if file.Unchecked(d) {
		n.Say("data: the file is of a version without checksums; uma-gpu convert writes one that has " +
			"them")
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
func Together(files *atomicfile.Group, o file.WriteOptions) file.WriteOptions {
	o.Put = files.Write
	return o
}

// WriteData writes a data file. Files that a command wrote before it stay.
func WriteData(ctx context.Context, path string, d *dataset.Dataset, o file.WriteOptions) error {
	err := file.Write(ctx, path, d, o)
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
	for _, p := range at[:min(most+1, len(at))] {
		list = append(list, strconv.Itoa(p))
	}
	return First(list, most)
}

// First joins the first words of a list, at most so many.
func First(words []string, most int) string {
	if len(words) > most {
		words = append(slices.Clone(words[:most]), "…")
	}
	return strings.Join(words, ", ")
}

// ReadWhole is readData for commands that read every value anyway: it makes sure
// that a binary file has the content that it was written with, and that the
// content hash is known.
func ReadWhole(ctx context.Context, path string, o file.Options, n Notes,
) (*dataset.Dataset, error) {
	d, err := ReadData(ctx, path, o, n)
	if err != nil {
		return nil, err
	}
	err = file.Verify(ctx, d)
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
