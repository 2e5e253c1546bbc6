package clean

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/page"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	pages "github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// writer writes the files of a cleaning.
type writer struct {
	*Options
	d       *dataset.Dataset
	request *umagpu.CleanRequest
	found   *umagpu.CleanResult
	group   osfile.Group
	paths   []string
	cleaned *pages.Cleaned // set by write
}

// write writes all files or none, and returns their paths.
func (w *writer) write(ctx context.Context) ([]string, error) {
	if err := app.Interrupted(ctx); err != nil {
		return nil, err
	}
	defer w.group.Discard()
	report, review, err := page.Clean(ctx, w.request, w.found, w.page(ctx))
	if err != nil {
		return nil, cmp.Or(app.Interrupted(ctx), err)
	}
	w.cleaned = report.Cleaned
	err = w.put("rows.csv", w.rows)
	if err == nil {
		err = w.table(ctx)
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"model.npz", w.found.Model.Host().Write},
		{"report.json", report.WriteJSON},
		{"report.html", func(out io.Writer) error { return report.WriteHTML(out, "report.json") }},
		{"review.html", review.WriteHTML},
	} {
		if err == nil {
			err = w.put(f.name, f.write)
		}
	}
	if err != nil {
		return nil, err
	}
	return w.paths, w.group.CommitFolder(w.Output.Folder)
}

func (w *writer) put(name string, write func(io.Writer) error) error {
	path := filepath.Join(w.Output.Folder, name)
	w.paths = append(w.paths, path)
	return w.group.Write(path, write)
}

// page returns what the pages are asked for.
func (w *writer) page(ctx context.Context) *page.Request {
	o := &page.Request{Name: filepath.Base(w.d.Path), Date: page.Today(), Call: w.Command(),
		Again: w.Command(), Show: w.Output.Show, Model: filepath.Join(w.Output.Folder, "model.npz"),
		Review: "review.html", Spell: umagpu.SpellFlag}
	o.OfFile(ctx, w.d, w.Input.Data.Path, w.Input.Options())
	if w.Input.Checked == "" {
		o.Again += " --checked checked.csv"
	}
	return o
}

// table writes the table with corrected labels, named as the table is.
func (w *writer) table(ctx context.Context) error {
	path, _ := file.SplitSheet(w.d.Path)
	base := filepath.Base(path)
	name := "cleaned" + filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst"))
	if w.d.Format != "csv" && w.d.Format != "xlsx" || name == "cleaned" {
		name = "cleaned.csv"
	}
	y := slices.Clone(w.found.Cleaned)
	for i, k := range y {
		if k < 0 {
			y[i] = w.d.Y[i] // which keeps a row without a label as it is
		}
	}
	return w.Input.WriteCopy(ctx, filepath.Join(w.Output.Folder, name), w.d,
		file.Copy{Options: w.Input.Options(), Y: y, Skipped: true},
		file.WriteOptions{Format: "csv", Put: func(_ string, write func(io.Writer) error) error {
			return w.put(name, write)
		}})
}

// rows writes a line for each row of the input, in its order. The line of a row that was skipped
// when the table was read has its number alone. The last column has the true labels that are known:
// with more of them the file is one for --checked.
func (w *writer) rows(out io.Writer) error {
	d, f := w.d, w.found
	next := make([]string, d.N)
	for k, i := range f.Review {
		next[i] = strconv.Itoa(k + 1)
	}
	header := []string{"row", "given_label", "wrong", "wrong_probability", "suggested_label",
		"suggested_probability", "check_next", "reason", "true"}
	columns := len(header)
	if d.IDs != nil {
		header = append([]string{cmp.Or(d.ID, "id")}, header...)
	}
	lines := csv.NewWriter(out) // which keeps its first error
	lines.Write(w.Output.Safe.Of(header))
	short := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	truth := map[bool]string{false: "False", true: "True"}
	i := 0
	for row := range d.Rows {
		fields, id := make([]string, columns), ""
		if i < d.N && d.SourceRow(i) == row {
			fields = []string{"", "", truth[f.Wrong[i]], short(f.WrongProbability[i]),
				d.Classes[f.Suggested[i]], short(f.Sure[i]), next[i], "", ""}
			if k := dataset.LabelOf(d, i); k >= 0 {
				fields[1] = d.Classes[k]
			}
			if f.Reasons != nil {
				fields[7] = f.Reasons[i]
			}
			if known := w.request.Checked; known != nil && known[i] >= 0 {
				fields[8] = d.Classes[known[i]]
			}
			if d.IDs != nil {
				id = d.IDs[i]
			}
			i++
		}
		if fields[0] = strconv.Itoa(row + 1); d.IDs != nil {
			fields = append([]string{id}, fields...)
		}
		lines.Write(w.Output.Safe.Of(fields))
	}
	lines.Flush()
	return lines.Error()
}
