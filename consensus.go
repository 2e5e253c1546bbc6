package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// ConsensusRequest asks for the likely true labels of examples with votes.
type ConsensusRequest struct {
	Labels   *Labels `json:"labels"` // Votes
	Examples int     `json:"examples"`
	Method   string  `json:"method,omitempty"`
	Seed     uint64  `json:"seed,omitempty"` // breaks ties of majority
}

// ConsensusResult has a label for each example, and what the votes tell of the voters.
type ConsensusResult struct {
	Request       ConsensusRequest `json:"request" array:"-"`
	Classes       []string         `json:"classes"`
	Method        string           `json:"method"`
	Codes         []int32          `json:"-" array:"codes"`         // -1 without a vote
	Probabilities []float32        `json:"-" array:"probabilities"` // n×Q
	Confusion     [][]float64      `json:"confusion"`               // of the consensus, [noisy][true]
	Errors        [][]float64      `json:"standard_error,omitempty"`
	Annotators    []Annotator      `json:"annotators,omitempty"`
	Functions     []crowd.Function `json:"functions,omitempty"` // of labelling functions
	Assumes       string           `json:"assumes"`
	Prior         []float64        `json:"prior"`       // of the classes
	PriorKnown    bool             `json:"prior_known"` // of functions, by trusted labels
	// the model of functions would overrule too many
	ByVote    bool             `json:"by_vote,omitempty"`
	Agreement *crowd.Agreement `json:"agreement"`
	Notes     []Note           `json:"notes,omitempty"`
}

// Check returns the fault of options that no data could satisfy.
func (r *ConsensusRequest) Check() error {
	if r.Labels == nil || r.Labels.Votes == nil {
		return invalid("labels", "no votes", "votes of annotators or labelling functions")
	}
	if err := r.Labels.Check(r.Examples); err != nil {
		return err
	}
	if err := confusion.CheckClasses(r.Labels.Classes); err != nil {
		return &Fault{Kind: Invalid, Option: "labels", Cause: err}
	}
	methods := crowd.Methods
	if r.Labels.Votes.Functions {
		methods = []crowd.Method{crowd.ByFunctions}
	}
	if r.Method != "" && !slices.Contains(methods, crowd.Method(r.Method)) {
		return invalid("method", strconv.Quote(r.Method),
			fmt.Sprintf("one of %q for these votes", methods))
	}
	return nil
}

// Consensus estimates true labels from votes, how often each voter errs, and how far voters agree.
func Consensus(ctx context.Context, r *ConsensusRequest) (*ConsensusResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	a, q := r.Labels.Votes.annotations(r.Examples, r.Labels.Classes), len(r.Labels.Classes)
	c := &ConsensusResult{Request: *r, Classes: r.Labels.Classes}
	c.Request.Labels = nil
	var found *crowd.Result
	if a.Functions {
		l, err := crowd.FitFunctions(ctx, a)
		if err != nil {
			return nil, fault(ctx, err)
		}
		found, c.Functions, c.ByVote, c.PriorKnown = &l.Result, l.Functions, l.ByVote, l.Known
	} else if err := c.fit(ctx, a, &found); err != nil {
		return nil, fault(ctx, err)
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, fault(ctx, err)
	}
	var said notes
	if count := a.Repeats(); count > 0 {
		said.say("%d votes are further ones of a voter on the same example; all count", count)
	}
	for _, note := range noise.Notes {
		said.say("%s", note)
	}
	c.Method, c.Codes, c.Probabilities = string(found.Method), found.Consensus, found.Posterior
	c.Confusion, c.Errors, c.Prior = rows(noise.P, q), rows(noise.Error, q), found.Prior
	c.Assumes = noise.Assumes
	for k := range found.Annotators {
		c.Annotators = append(c.Annotators, newAnnotator(&found.Annotators[k], q))
	}
	c.Agreement, c.Notes = crowd.Agree(a, c.Codes), said.all
	return c, nil
}

// fit fits annotators to the examples that have a vote. The others get no class and the prior.
func (c *ConsensusResult) fit(ctx context.Context, a *dataset.Annotations, into **crowd.Result,
) error {
	voted := a.Labelled()
	found, err := crowd.Fit(ctx, a.Pick(voted), cmp.Or(c.Request.Seed, 1),
		crowd.Options{Method: crowd.Method(c.Request.Method)})
	if err != nil {
		return err
	}
	if *into = found; len(voted) == a.N() {
		return nil
	}
	q, n := len(a.Classes), a.N()
	codes, p := slices.Repeat([]int32{dataset.Unlabelled}, n), make([]float32, 0, n*q)
	for range n {
		p = append(p, lists.As[float32](found.Prior)...)
	}
	for k, i := range voted {
		codes[i] = found.Consensus[k]
		copy(p[i*q:], found.Posterior[k*q:(k+1)*q])
	}
	found.Consensus, found.Posterior = codes, p
	return nil
}
