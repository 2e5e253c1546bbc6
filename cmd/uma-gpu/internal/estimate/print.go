package estimate

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Report is what confusion estimate --json prints.
type Report struct {
	Request *Options `json:"request"`
	Method  string   `json:"method"`
	Classes []string `json:"classes"`
	// [p][q] = P(noisy = p | true = q)
	Confusion [][]float64   `json:"confusion"`
	Error     [][]float64   `json:"standard_error,omitempty"` // absent where nothing tells
	Assumes   string        `json:"assumes"`
	Notes     []umagpu.Note `json:"notes,omitempty"`
	// true classes whose columns the labels do not tell
	Unidentified []string            `json:"not_identified,omitempty"`
	ToIdentify   []int               `json:"to_identify,omitempty"` // rows to check for that, from 1
	Evidence     string              `json:"evidence,omitempty"`    // of auto, that labels are wrong
	Hypotheses   []umagpu.Hypothesis `json:"hypotheses,omitempty"`  // of auto
	Annotators   []umagpu.Annotator  `json:"annotators,omitempty"`
	Agreement    *crowd.Agreement    `json:"agreement,omitempty"`
	Prior        []float64           `json:"prior,omitempty"` // of the classes, by votes
	Contest      *crowd.Contest      `json:"contest,omitempty"`
	More         *crowd.More         `json:"more,omitempty"`
	*Votes                           // of labelling functions

	examples []int32 // which ToIdentify are
}

// Votes is what the report says of labelling functions.
type Votes struct {
	Examples  int              `json:"examples"`
	Voted     int              `json:"voted"`       // examples with a vote
	Known     bool             `json:"prior_known"` // by right labels; else it is uniform
	ByVote    bool             `json:"by_vote"`
	Functions []crowd.Function `json:"functions"`
}

func (r *Report) text(w io.Writer) error {
	what := ""
	if r.Error != nil {
		what = ", ± standard error"
	}
	fmt.Fprintf(w, "%s: P(noisy = row | true = column)%s\n", r.Method, what)
	if err := app.PrintEstimated(w, r.Classes, r.Confusion, r.Error); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nassumes that %s\n", r.Assumes)
	if r.Evidence != "" {
		fmt.Fprintf(w, "evidence: %s\n", r.Evidence)
	}
	if text := report.Identify(r.Unidentified, r.ToIdentify); text != "" {
		fmt.Fprintf(w, "not identified: %s\n", text)
	}
	if r.Hypotheses != nil {
		if err := app.Table(w, func(row app.Row) {
			row("\nhypothesis\tloss\tahead\tweight")
			for _, h := range r.Hypotheses {
				row("%s\t%.4f\t%.4f ± %.4f\t%.2f", h.Method, h.Loss, h.Ahead, h.Error, h.Weight)
			}
		}); err != nil {
			return err
		}
	}
	if a := r.Agreement; a != nil {
		fmt.Fprintf(w, "\nagreement beyond chance: Krippendorff's alpha %s, Fleiss' kappa %s\n",
			share(a.Alpha), share(a.Fleiss))
	}
	if r.More != nil && r.More.Open > 0 {
		fmt.Fprintf(w, "one further label of each item may change %d, and is expected to correct %.1f\n",
			r.More.Open, r.More.Gain)
	}
	if r.Votes != nil {
		return r.Votes.text(w)
	}
	if r.Annotators == nil {
		return nil
	}
	return app.PrintAnnotators(w, r.Annotators)
}

// share writes a share that nothing may tell.
func share(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.3f", *v)
}

func (v *Votes) text(w io.Writer) error {
	prior := "uniform, as nobody knows it"
	if v.Known {
		prior = "by right labels"
	}
	fmt.Fprintf(w, "\n%d of %d examples have a vote; class prior %s\n", v.Voted, v.Examples, prior)
	if v.ByVote {
		fmt.Fprintln(w, "the labels come from the vote: the model would overrule too many")
	}
	return app.Table(w, func(row app.Row) {
		row("\nfunction\tvotes\tcoverage\toverlap\tconflict\tright\t")
		for _, f := range v.Functions {
			copies := ""
			if f.Copies > 0 {
				copies = fmt.Sprintf("nearly the votes of %d more", f.Copies)
			}
			row("%s\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t%s", f.Name, f.Votes, 100*f.Coverage,
				100*f.Overlap, 100*f.Conflict, 100*f.Right, copies)
		}
	})
}

// writeVotes writes what the options ask for of the consensus on items; nil for rows.
func (o *Options) writeVotes(items []string, found *umagpu.ConsensusResult) error {
	q := len(found.Classes)
	if o.Output.Labels != "" {
		rows := [][]string{{"item", "label", "probability"}}
		if items == nil {
			rows[0][0] = "row" // from 1
		}
		for i, k := range found.Codes {
			if k < 0 {
				continue
			}
			p := strconv.FormatFloat(float64(found.Probabilities[i*q+int(k)]), 'g', -1, 32)
			name := strconv.Itoa(i + 1)
			if items != nil {
				name = items[i]
			}
			rows = append(rows, []string{name, found.Classes[k], p})
		}
		err := osfile.Write(o.Output.Labels, func(w io.Writer) error {
			return csv.NewWriter(w).WriteAll(rows)
		})
		if err != nil {
			return err
		}
	}
	if o.Output.Probabilities == "" {
		return nil
	}
	soft := slices.Clone(found.Probabilities)
	for i, k := range found.Codes {
		if k < 0 {
			copy(soft[i*q:], slices.Repeat([]float32{1}, q))
		}
	}
	return osfile.Write(o.Output.Probabilities, func(w io.Writer) error {
		if _, err := w.Write(npyfile.Header("<f4", len(found.Codes), q)); err != nil {
			return err
		}
		return npyfile.Write(w, soft)
	})
}
