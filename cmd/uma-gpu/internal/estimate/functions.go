package estimate

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Votes is what the report says of labelling functions.
type Votes struct {
	Examples  int              `json:"examples"`
	Voted     int              `json:"voted"` // examples with a vote
	Prior     []float64        `json:"prior"`
	Known     bool             `json:"prior_known"` // by right labels; else it is uniform
	ByVote    bool             `json:"by_vote"`
	Functions []crowd.Function `json:"functions"`
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

func (o *Options) byFunctions(ctx context.Context) (*Report, error) {
	a, err := training.ReadFunctions(ctx, &o.Options, o.Functions, nil)
	if err != nil {
		return nil, err
	}
	found, err := crowd.FitFunctions(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Functions, err)
	}
	m, err := estimate.FromCrowd(&found.Result, found.Consensus)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Functions, err)
	}
	r, q := newReport(m), m.Q()
	r.Method += ", of the labels by their votes"
	voted := lists.Count(found.Consensus, func(k int32) bool { return k != dataset.Unlabelled })
	r.Votes = &Votes{Examples: a.N(), Voted: voted, Prior: found.Prior, Known: found.Known,
		ByVote: found.ByVote, Functions: found.Functions}
	if o.WriteLabels != "" {
		if err := writeConsensus(o.WriteLabels, &found.Result); err != nil {
			return nil, err
		}
	}
	if o.WriteProbs == "" {
		return r, nil
	}
	soft := slices.Clone(found.Posterior)
	for i, k := range found.Consensus {
		if k == dataset.Unlabelled {
			copy(soft[i*q:], slices.Repeat([]float32{1}, q))
		}
	}
	return r, osfile.Write(o.WriteProbs, func(w io.Writer) error {
		if _, err := w.Write(npyfile.Header("<f4", a.N(), q)); err != nil {
			return err
		}
		return npyfile.Write(w, soft)
	})
}
