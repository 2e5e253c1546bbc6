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
)

// Report is what clean --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.CleanResult
	Table    string   `json:"table"`
	Examples int      `json:"examples"`
	Next     []int    `json:"check_next"` // rows of the input, from 1
	Files    []string `json:"files"`
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func share(s *umagpu.Share) string {
	if s.Low == nil {
		return percent(s.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(s.Value), percent(*s.Low), percent(*s.High))
}

// text prints at most a dozen lines for people.
func (r *Report) text(w io.Writer, d *dataset.Dataset) error {
	return app.Table(w, func(row app.Row) {
		row("rows\t%d, %d checked", r.Examples, r.CheckedRows)
		row("wrong labels\t%s; %d corrected", share(&r.WrongShare), r.Corrected)
		row("evidence\t%s", r.evidence())
		if len(r.Pairs) > 0 {
			p := r.Pairs[0]
			row("most often\t%s instead of %s: %d rows", app.Brief(p.From), app.Brief(p.To), p.Rows)
		}
		row("judged by\t%s", r.judges())
		if len(r.NotIdentified) > 0 {
			row("not identified\t%s: their labels are kept", app.First(r.NotIdentified, 5, app.Brief))
		}
		if r.Error.Low != nil {
			row("their error\t%s, on checked rows", share(&r.Error))
		} else {
			row("their error\tabout %s by their own probabilities, not verified",
				percent(r.Error.Value))
		}
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

// evidence says whether labels are wrong, and how surely.
func (r *Report) evidence() string {
	text := "none beyond classes that overlap: what is corrected may be a rare but right label"
	switch {
	case r.CleanResult.Request.Confusion != nil:
		return "the confusion matrix, which was given"
	case r.Shown:
		text = "held-out labels or checked rows show that labels are wrong"
	}
	if r.Unstable() {
		text += fmt.Sprintf("; unstable: so in %d of %d repetitions of the folds", r.Agreeing,
			r.Repetitions)
	}
	return text
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
