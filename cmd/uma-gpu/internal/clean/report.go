package clean

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Report is what clean --json prints.
type Report struct {
	Table      string        `json:"table"`
	Examples   int           `json:"examples"`
	Checked    int           `json:"checked"`
	Wrong      *share        `json:"wrong_labels"` // nil: unknown
	Corrected  int           `json:"corrected"`
	Candidates []candidate   `json:"candidates"`
	Chosen     string        `json:"chosen"`
	Error      share         `json:"expected_error"` // of the model
	Noise      [][]float64   `json:"confusion"`      // nil: no label is changed
	Pairs      []pair        `json:"pairs"`          // the most frequent first
	Next       []int         `json:"check_next"`     // rows of the input, from 1
	Files      []string      `json:"files"`
	Device     engine.Device `json:"device"`

	chosen candidate
	plain  *candidate // the best that trusts the labels
	first  string     // the first of Next, as ids if there are any
}

// share is a share of the rows with a 95 % interval; without checked rows the interval is nil.
type share struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// candidate is a model of the contest and its result on held-out rows.
type candidate struct {
	Name    string   `json:"name"`
	Loss    *float64 `json:"loss"` // of noisy labels; nil if it does not predict them
	Wrong   int      `json:"wrong"`
	Checked int      `json:"checked"`
	Share   float64  `json:"share"` // of the model
}

// pair counts the corrected rows of a pair of labels.
type pair struct {
	From string `json:"given_label"`
	To   string `json:"right_label"`
	Rows int    `json:"rows"`
}

func newReport(d *dataset.Dataset, f *clean.Result) *Report {
	r := &Report{Table: d.Path, Examples: d.N, Checked: f.Checked, Next: []int{}, Pairs: []pair{}}
	if f.Wrong.Known {
		s := shareOf(f.Wrong)
		r.Wrong = &s
	}
	r.Error = shareOf(f.Error)
	for k, c := range f.Candidates {
		one := candidate{Name: c.Name, Wrong: c.Wrong, Checked: c.Checked, Share: c.Share}
		if !math.IsNaN(c.Loss) {
			one.Loss = &c.Loss
		}
		r.Candidates = append(r.Candidates, one)
		if k == f.Chosen {
			r.Chosen, r.chosen = c.Name, one
		}
		if k == f.Plain {
			r.plain = &one
		}
	}
	if f.Noise != nil {
		r.Noise = app.Rows(f.Noise.P, len(d.Classes))
	}
	pairs := map[pair]int{}
	for i, is := range f.Issues {
		if is.Wrong {
			r.Corrected++
			pairs[pair{From: d.Classes[d.Y[i]], To: d.Classes[is.Likely]}]++
		}
	}
	for p, n := range pairs {
		p.Rows = n
		r.Pairs = append(r.Pairs, p)
	}
	slices.SortFunc(r.Pairs, func(a, b pair) int {
		return cmp.Or(-cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var first []string
	for k, i := range f.Next {
		row := d.SourceRow(i) + 1
		if r.Next = append(r.Next, row); k >= 10 {
			continue
		}
		if first = append(first, strconv.Itoa(row)); d.IDs != nil {
			first[k] = app.Brief(d.IDs[i])
		}
	}
	if r.first = strings.Join(first, ", "); d.IDs == nil {
		r.first = "rows " + r.first
	}
	return r
}

func shareOf(s clean.Share) share {
	if !s.Known {
		return share{Value: s.Value}
	}
	return share{s.Value, &s.Low, &s.High}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func (s share) String() string {
	if s.Low == nil {
		return percent(s.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(s.Value), percent(*s.Low), percent(*s.High))
}

// text prints at most a dozen lines for people.
func (r *Report) text(w io.Writer) error {
	return app.Table(w, func(row app.Row) {
		row("rows\t%d, %d checked", r.Examples, r.Checked)
		switch {
		case r.Noise == nil && r.Wrong != nil:
			row("wrong labels\t%s, estimated from checked rows; none is changed", r.Wrong)
		case r.Noise == nil:
			row("wrong labels\tunknown: no evidence of wrong labels, so none is changed")
		default:
			row("wrong labels\t%s; %d corrected", r.Wrong, r.Corrected)
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
			row("model error\t%s, on checked rows", r.Error)
		} else {
			row("model error\tabout %s by its own probabilities, not verified", r.Error)
		}
		if len(r.Next) > 0 {
			row("check next\t%s (%d marked in rows.csv)", r.first, len(r.Next))
		}
		for k, f := range r.Files {
			heading := ""
			if k == 0 {
				heading = "written"
			}
			row("%s\t%s", heading, f)
		}
	})
}

// model names the candidates that the model combines, the largest share first.
func (r *Report) model() string {
	if r.chosen.Share == 1 {
		return r.Chosen
	}
	parts := slices.Clone(r.Candidates)
	slices.SortStableFunc(parts, func(a, b candidate) int { return -cmp.Compare(a.Share, b.Share) })
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
	switch c, p := r.chosen, r.plain; {
	case p == nil || p.Name == c.Name:
	case c.Checked >= clean.LeastRight && c.Wrong < p.Wrong:
		return fmt.Sprintf("%s is wrong on %d of %d checked rows, trusting the labels on %d", c.Name,
			c.Wrong, c.Checked, p.Wrong)
	case c.Checked < clean.LeastRight && *c.Loss < *p.Loss:
		return fmt.Sprintf("lower loss on held-out labels: %.4f, trusting the labels %.4f", *c.Loss,
			*p.Loss)
	}
	return ""
}
