package clean

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// Report is what clean --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.CleanResult
	Table    string   `json:"table"`
	Examples int      `json:"examples"`
	Next     []int    `json:"check_next"`            // rows of the input, from 1
	Identify []int    `json:"to_identify,omitempty"` // likewise
	Files    []string `json:"files"`

	cleaned *report.Cleaned
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// text prints at most a dozen lines for people.
func (r *Report) text(w io.Writer, d *dataset.Dataset) error {
	return app.Table(w, func(row app.Row) {
		row("rows\t%d, %d checked", r.Examples, r.CheckedRows)
		row("wrong labels\t%s; %d corrected", r.cleaned.Wrong.Percent(), r.Corrected)
		row("evidence\t%s", r.Evidence)
		if len(r.Pairs) > 0 {
			p := r.Pairs[0]
			row("most often\t%s instead of %s: %d rows", app.Brief(p.From), app.Brief(p.To), p.Rows)
		}
		row("judged by\t%s", r.judges())
		if text := report.Identify(r.NotIdentified, r.cleaned.ToIdentify); text != "" {
			row("not identified\t%s", text)
		}
		row("right\t%s of their predictions, %s", r.cleaned.Right().Percent(), r.cleaned.Basis())
		if len(r.Next) > 0 {
			row("check next\t%s (%d in review.html)", r.first(d), len(r.Next))
		}
		var names []string
		for _, path := range r.Files {
			names = append(names, filepath.Base(path))
		}
		row("written\t%s: %s", r.Request.Output.Folder, strings.Join(names, ", "))
	})
}

// first names the first rows to check, by their ids if there are any.
func (r *Report) first(d *dataset.Dataset) string {
	var names []string
	for _, i := range r.Review[:min(10, len(r.Review))] {
		if d.IDs != nil {
			names = append(names, app.Brief(d.IDs[i]))
		} else {
			names = append(names, strconv.Itoa(d.SourceRow(int(i))+1))
		}
	}
	if d.IDs == nil {
		return "rows " + strings.Join(names, ", ")
	}
	return strings.Join(names, ", ")
}

// judges names the models whose mixture judges, and the matrix that it believes most.
func (r *Report) judges() string {
	var names []string
	for _, b := range r.Bases {
		if b.Share >= 0.05 {
			names = append(names, fmt.Sprintf("%s (%s)", b.Name, percent(b.Share)))
		}
	}
	text := strings.Join(names, ", ")
	if r.Hypotheses == nil { // of a given matrix
		return text
	}
	most := slices.MaxFunc(r.Hypotheses, func(a, b umagpu.Hypothesis) int {
		return cmp.Compare(a.Weight, b.Weight)
	})
	return fmt.Sprintf("%s; noise: %s (%s)", text, most.Method, percent(most.Weight))
}
