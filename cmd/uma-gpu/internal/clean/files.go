package clean

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// write writes all files or none.
func (o *Options) write(ctx context.Context, d *dataset.Dataset, f *clean.Result, r *Report) error {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	var files osfile.Group
	defer files.Discard()
	put := func(name string, write func(io.Writer) error) error {
		path := filepath.Join(o.Folder, name)
		err := files.Write(path, write)
		if err == nil {
			r.Files = append(r.Files, path)
		}
		return err
	}
	err := put("rows.csv", func(w io.Writer) error { return writeRows(w, d, f) })
	if err == nil {
		err = o.writeTable(ctx, d, f, put)
	}
	if err == nil {
		err = put("model.npz", f.Model.Write)
	}
	if err != nil {
		return err
	}
	page, err := o.page(d, f)
	if err != nil {
		return err
	}
	if err := put("report.json", page.WriteJSON); err != nil {
		return err
	}
	if err := put("report.html", func(w io.Writer) error {
		return page.WriteHTML(w, "report.json")
	}); err != nil {
		return err
	}
	return files.Commit()
}

func (o *Options) writeTable(ctx context.Context, d *dataset.Dataset, f *clean.Result,
	put func(string, func(io.Writer) error) error) error {
	corrected := slices.Clone(d.Y)
	for i, is := range f.Issues {
		if is.Wrong {
			corrected[i] = is.Likely
		}
	}
	return o.Data.WriteCopy(ctx, filepath.Join(o.Folder, "cleaned.csv"), d,
		file.Copy{Options: o.Data.Options(), Y: corrected, Skipped: true},
		file.WriteOptions{Format: "csv", Put: func(_ string, write func(io.Writer) error) error {
			return put("cleaned.csv", write)
		}})
}

// writeRows writes a line for each row of the input, in its order. The line of a row that was
// skipped when the table was read has its number alone.
func writeRows(out io.Writer, d *dataset.Dataset, f *clean.Result) error {
	next := make([]string, d.N)
	for k, i := range f.Next {
		next[i] = strconv.Itoa(k + 1)
	}
	header := []string{"row", "label", "wrong", "wrong_probability", "suggested_label",
		"suggested_probability", "check_next"}
	if d.IDs != nil {
		header = append([]string{cmp.Or(d.ID, "id")}, header...)
	}
	w := csv.NewWriter(out) // which keeps its first error
	w.Write(header)
	short := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	truth := map[bool]string{false: "False", true: "True"}
	i := 0
	for row := range d.N + len(d.SkippedAt) {
		fields, id := make([]string, 7), ""
		if i < d.N && d.SourceRow(i) == row {
			is := f.Issues[i]
			fields = []string{"", d.Classes[d.Y[i]], truth[is.Wrong], short(1 - is.Quality),
				d.Classes[is.Likely], short(is.Sure), next[i]}
			if d.IDs != nil {
				id = d.IDs[i]
			}
			i++
		}
		if fields[0] = strconv.Itoa(row + 1); d.IDs != nil {
			fields = append([]string{id}, fields...)
		}
		w.Write(fields)
	}
	w.Flush()
	return w.Error()
}

// page returns the report on the model and the labels.
func (o *Options) page(d *dataset.Dataset, f *clean.Result) (*report.Report, error) {
	p := &report.Report{Command: o.Command(), Classes: d.Classes,
		Model: report.NewModel(filepath.Join(o.Folder, "model.npz"), f.Model.Model)}
	var noise *confusion.Matrix
	if f.Noise != nil {
		noise = &f.Noise.Matrix
		p.Noise = &report.Noise{Source: "estimated from the labels",
			Checked: f.Checked, Matrix: app.Rows(noise.P, noise.Q()),
			Errors: app.Rows(noise.Error, noise.Q())}
	}
	predicted := engine.Predicted(f.True, len(d.Classes))
	j, err := judgement.Of(d.Y, predicted, f.True, d.Classes, noise)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	p.Judged = j.Judged(d.Path, clean.DefaultFolds)
	p.Judged.Hardest(d.Classes)
	for _, i := range f.Next {
		p.CheckNext = append(p.CheckNext, strconv.Itoa(d.SourceRow(i)+1))
	}
	rows := training.IssueRows(d, f.Issues, dataset.Firsts(d.Examples))
	p.Suspects, p.Issues = training.Suspects(rows)
	p.Conclude()
	return p, nil
}
