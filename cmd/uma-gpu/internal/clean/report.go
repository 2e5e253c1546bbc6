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
	"github.com/uma-gpu/uma-gpu/host/clean"
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
		switch {
		case r.Confusion == nil && r.WrongShare != nil:
			row("wrong labels\t%s, estimated from checked rows; none is changed",
				share(r.WrongShare))
		case r.Confusion == nil:
			row("wrong labels\tunknown: no evidence of wrong labels, so none is changed")
		default:
			row("wrong labels\t%s; %d corrected", share(r.WrongShare), r.Corrected)
		}
		if len(r.Pairs) > 0 {
			p := r.Pairs[0]
			row("most often\t%s instead of %s: %d rows", app.Brief(p.From), app.Brief(p.To), p.Rows)
		}
		row("model\t%s", r.model())
		if why := r.why(); why != "" {
			row("why\t%s", why)
		}
		if r.Error.Low != nil {
			row("model error\t%s, on checked rows", share(&r.Error))
		} else {
			row("model error\tabout %s by its own probabilities, not verified",
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

// model names the candidates that the model combines, the largest share first.
func (r *Report) model() string {
	parts := slices.Clone(r.Candidates)
	slices.SortStableFunc(parts, func(a, b umagpu.CleanCandidate) int {
		return -cmp.Compare(a.Share, b.Share)
	})
	if parts[0].Share == 1 {
		return parts[0].Name
	}
	var names []string
	for _, c := range parts {
		if c.Share > 0 {
			names = append(names, fmt.Sprintf("%s (%.0f %%)", c.Name, 100*c.Share))
		}
	}
	return strings.Join(names, "; ")
}

// why compares the chosen candidate with the best that trusts the labels; "" if it is that one.
func (r *Report) why() string {
	named := func(name string) *umagpu.CleanCandidate {
		for k := range r.Candidates {
			if r.Candidates[k].Name == name {
				return &r.Candidates[k]
			}
		}
		return nil
	}
	switch c, p := named(r.Chosen), named(r.Plain); {
	case p == nil || p == c:
	case c.Checked >= clean.LeastRight && c.Wrong < p.Wrong:
		return fmt.Sprintf("%s is wrong on %d of %d checked rows, trusting the labels on %d", c.Name,
			c.Wrong, c.Checked, p.Wrong)
	case c.Checked < clean.LeastRight && *c.Loss < *p.Loss:
		return fmt.Sprintf("lower loss on held-out labels: %.4f, trusting the labels %.4f", *c.Loss,
			*p.Loss)
	}
	return ""
}
