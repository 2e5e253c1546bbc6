package query

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// cannotTell is the answer of an expert who cannot tell the class.
const cannotTell = "?"

// input is what is known before a choice.
type input struct {
	labelled *dataset.Dataset // nil for none
	pool     *dataset.Dataset
	all      *dataset.Dataset // labelled, then pool
	labels   []int32          // of all: a class, active.Unknown or active.Aside
	shown    string           // the column that is shown; "" for none
	texts    []string         // of that column, of each row of the pool's file
}

// Close frees the data that were read.
func (in *input) Close() {
	if in.labelled != nil {
		in.labelled.Close()
	}
	in.pool.Close()
}

// first returns the place of the pool's first example in all.
func (in *input) first() int { return in.all.N - in.pool.N }

// row describes example i of all.
func (in *input) row(i int) row {
	i -= in.first()
	r := row{Row: in.pool.SourceRow(i) + 1}
	if in.pool.IDs != nil {
		r.ID = in.pool.IDs[i]
	}
	if in.texts != nil {
		r.Shown = in.texts[in.pool.SourceRow(i)]
	}
	return r
}

// writeRows writes a CSV of rows with an empty column label.
func (in *input) writeRows(w io.Writer, rows []row) error {
	names := []string{"row"}
	if in.pool.IDs != nil {
		names = append(names, "id")
	}
	if in.texts != nil {
		names = append(names, in.shown)
	}
	lines := [][]string{append(names, "label")}
	for _, r := range rows {
		line := []string{strconv.Itoa(r.Row)}
		if in.pool.IDs != nil {
			line = append(line, r.ID)
		}
		if in.texts != nil {
			line = append(line, r.Shown)
		}
		lines = append(lines, append(line, ""))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// read reads the labelled rows, the pool and the answers.
func (o *Options) read(ctx context.Context) (in *input, err error) {
	in = &input{shown: o.Shown}
	options, err := o.readOptions(ctx, o.Data.Path)
	if err != nil {
		return nil, err
	}
	classes := app.List(o.Classes)
	for k, name := range classes {
		if classes[k] = strings.TrimSpace(name); classes[k] == "" || slices.Contains(classes[:k],
			classes[k]) {
			return nil, app.Usage("--classes is %q, wanted different names", o.Classes)
		}
	}
	if o.Labelled != "" {
		own, err := o.readOptions(ctx, o.Labelled)
		if err != nil {
			return nil, err
		}
		own.Classes = classes
		if in.labelled, err = app.ReadData(ctx, o.Labelled, own, o.Notes); err != nil {
			return nil, fmt.Errorf("%w (of --labelled; --classes names classes that it has no row of)", err)
		}
		if classes = in.labelled.Classes; in.labelled.Encoding == nil {
			options.Encode = nil
		}
		options.Encoding, options.FeatureNames = in.labelled.Encoding, in.labelled.Features
		if in.labelled.Format != "libsvm" {
			// A last column too many is a label, which does not count.
			options.Features = in.labelled.FeatureCount()
			options.LabelColumn = cmp.Or(options.LabelColumn, "last")
		}
	}
	if len(classes) < 2 {
		return nil, app.Usage("--classes is %q, wanted two classes or more", o.Classes)
	}
	options.NoLabels, options.Labels = true, ""
	if in.pool, err = app.ReadData(ctx, o.Data.Path, options, o.Notes); err != nil {
		return nil, fmt.Errorf("%w (of --pool, wanted the features of --labelled; --label-column names "+
			"its label column)", err)
	}
	if err := in.join(classes); err != nil {
		return nil, err
	}
	if o.Shown != "" {
		if in.texts, err = file.ReadTexts(ctx, o.Data.Path, o.Shown,
			in.pool.N+len(in.pool.SkippedAt), o.Read); err != nil {
			return nil, err
		}
		if slices.Contains([]string{"row", "id", "label"}, o.Shown) {
			in.shown += "_shown" // the other columns have these names
		}
	}
	return in, o.readAnswers(ctx, in)
}

// readOptions returns the options to read a file without the columns that are for people.
func (o *Options) readOptions(ctx context.Context, path string) (file.Options, error) {
	options := o.Read
	options.Ignore = slices.Clone(options.Ignore)
	pool := path == o.Data.Path
	if !pool {
		options.IDColumn = ""
	}
	for _, name := range []string{o.Shown, o.Data.IDColumn} {
		isID := name == o.Data.IDColumn
		if name == "" || pool && isID || slices.Contains(options.Ignore, name) ||
			options.Encode != nil && slices.Contains(options.Encode.Text.Columns, name) {
			continue // a text may be shown and learned from
		}
		switch has, err := file.HasColumn(ctx, path, name, options); {
		case err != nil:
			return options, err
		case has:
			options.Ignore = append(options.Ignore, name)
		case pool:
			return options, fmt.Errorf("%s: found no header with a column %q, wanted one for --show; the "+
				"pool must be a CSV", path, name)
		}
	}
	return options, nil
}

// join makes one data set of the labelled rows and the pool, of one width and storage.
func (in *input) join(classes []string) error {
	all := *in.pool
	all.Y, all.Classes = nil, classes
	if l := in.labelled; l != nil {
		width := max(l.D, in.pool.D)
		var parts [2]dataset.Examples
		for k, d := range []*dataset.Dataset{l, in.pool} {
			if d.D < width && d.Format != "libsvm" {
				return fmt.Errorf("%s: found %d features, wanted %d as in the other file; --ignore-columns "+
					"leaves out columns, and --label-column names the label's", d.Path, d.D, width)
			}
			if parts[k] = d.Dense(); in.pool.Sparse() || d.D < width {
				parts[k] = d.Compressed()
				parts[k].D = width
			}
			if !in.pool.Sparse() {
				parts[k] = parts[k].Dense()
			}
		}
		joined, err := dataset.Join(parts[0], parts[1])
		if err != nil {
			return fmt.Errorf("%s and %s: %w", l.Path, in.pool.Path, err)
		}
		all.Examples, all.Features, all.Encoding = joined, l.Features, l.Encoding
		in.labels = slices.Clone(l.Y)
	}
	in.all = &all
	in.labels = append(in.labels, slices.Repeat([]int32{active.Unknown}, in.pool.N)...)
	for _, d := range []*dataset.Dataset{in.labelled, in.pool} {
		if d == nil {
			continue
		}
		if err := app.CheckRaw(d, "give the original data"); err != nil {
			return err
		}
	}
	return nil
}

// readAnswers takes the labels of --answers into in.
func (o *Options) readAnswers(ctx context.Context, in *input) error {
	d := in.pool
	byID, byRow := map[string]int{}, map[string]int{} // examples of the pool
	for i := range d.N {
		byRow[strconv.Itoa(d.SourceRow(i)+1)] = i
		if d.IDs == nil {
			continue
		}
		if k, twice := byID[d.IDs[i]]; twice {
			return fmt.Errorf("%s: found the id %q in rows %d and %d, wanted a different one in each row",
				o.Data.Path, d.IDs[i], d.SourceRow(k)+1, d.SourceRow(i)+1)
		}
		byID[d.IDs[i]] = i
	}
	answered := 0
	for _, path := range o.Answers.Value() {
		text, err := app.Awaited(ctx, path, osfile.Read)
		if err != nil {
			return fmt.Errorf("%s: cannot read the answers: %w", path, err)
		}
		n, err := in.take(string(text), byID, byRow)
		if bad := (*answerError)(nil); errors.As(err, &bad) {
			return fmt.Errorf("%s:%d: %w", path, bad.line, bad.err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		answered += n
	}
	if len(o.Answers.Value()) > 0 {
		o.Notes.Say("answers: %d rows of the pool have one", answered)
	}
	return nil
}

// answerError is a fault in a line of answers.
type answerError struct {
	line int
	err  error
}

func (e *answerError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// take takes the answers of a CSV with a header, and returns how many there are.
func (in *input) take(text string, byID, byRow map[string]int) (answered int, err error) {
	text = strings.TrimPrefix(text, "\ufeff") // spreadsheets begin so
	r := csv.NewReader(strings.NewReader(text))
	if header, _, _ := strings.Cut(text, "\n"); !strings.Contains(header, ",") {
		r.Comma = ';' // of spreadsheets where a comma is the decimal point
	}
	header, err := r.Read()
	if err == io.EOF {
		return 0, errors.New("found an empty file, wanted a CSV with the columns row or id, and label")
	}
	label, key, named := slices.Index(header, "label"), slices.Index(header, "row"), byRow
	if k := slices.Index(header, "id"); k >= 0 && in.pool.IDs != nil {
		key, named = k, byID
	}
	if err == nil && min(key, label) < 0 {
		return 0, &answerError{1, fmt.Errorf("found the columns %.80q, wanted a header with row or id, "+
			"and label", header)}
	}
	for err == nil {
		var fields []string
		if fields, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		wrong := func(format string, args ...any) (int, error) {
			return 0, &answerError{line, fmt.Errorf(format, args...)}
		}
		class, name := strings.TrimSpace(fields[label]), strings.TrimSpace(fields[key])
		if class == "" {
			continue // no answer yet
		}
		y := int32(slices.Index(in.all.Classes, class))
		if class == cannotTell {
			y = active.Aside
		} else if y < 0 {
			return wrong("found the label %.60q, wanted one of %.200q, or %s where the expert cannot tell",
				class, in.all.Classes, cannotTell)
		}
		i, known := named[name]
		if !known {
			return wrong("found %s %.60q, wanted a row of the pool", header[key], name)
		}
		switch at := &in.labels[in.first()+i]; {
		case *at == active.Unknown:
			*at = y
			answered++
		case *at != y:
			return wrong("found the label %.60q of %s %.60q, which has another one before; keep one of them",
				class, header[key], name)
		}
	}
	if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
		return 0, &answerError{bad.Line, fmt.Errorf("column %d: %w; wanted a CSV with the columns row "+
			"or id, and label", bad.Column, bad.Err)}
	}
	if err != io.EOF {
		return 0, err
	}
	return answered, nil
}
