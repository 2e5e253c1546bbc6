package umagpu

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// ConsensusRequest asks for the likely true labels of examples with votes.
type ConsensusRequest struct {
	Labels   *Labels `json:"labels"` // Votes
	Examples int     `json:"examples"`
	Method   string  `json:"method,omitempty"`
	// Matrices of an earlier Consensus, which label the votes in one reading; nil estimates them.
	Matrices *AnnotatorMatrices `json:"matrices,omitempty"`
	Compute  Compute            `json:"-"` // only Note is used
}

// AnnotatorMatrices are what a Consensus found of annotators. Its JSON form is part of a
// ConsensusResult's.
type AnnotatorMatrices struct {
	Classes    []string    `json:"classes"`
	Prior      []float64   `json:"prior"` // of the classes
	Annotators []Annotator `json:"annotators"`
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
	Contest   *crowd.Contest   `json:"contest,omitempty"` // of models of annotators, unless told
	More      *crowd.More      `json:"more,omitempty"`    // by further votes of annotators
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
	if r.Matrices == nil { // which have the classes
		if err := confusion.CheckClasses(r.Labels.Classes); err != nil {
			return &Fault{Kind: Invalid, Option: "labels", Cause: err}
		}
	}
	methods := crowd.Methods
	if r.Labels.Votes.Functions {
		methods = []crowd.Method{crowd.ByFunctions}
	}
	if r.Method != "" && !slices.Contains(methods, crowd.Method(r.Method)) {
		return invalid("method", strconv.Quote(r.Method),
			quote.Or(methods)+" for these votes")
	}
	if r.Matrices == nil {
		return nil
	}
	if r.Labels.Votes.Functions || r.Method != "" {
		return conflict("matrices", "matrices of annotators beside a method or labelling functions",
			"votes of annotators alone")
	}
	_, err := r.Matrices.result()
	return err
}

// result returns the matrices as crowd has them.
func (m *AnnotatorMatrices) result() (*crowd.Result, error) {
	q := len(m.Classes)
	wrong := func(got, want string) error {
		return invalid("matrices", got, want)
	}
	if err := confusion.CheckClasses(m.Classes); err != nil {
		return nil, &Fault{Kind: Invalid, Option: "matrices", Cause: err}
	}
	if len(m.Prior) != q || !distribution(m.Prior) {
		return nil, wrong(fmt.Sprintf("the prior %v", m.Prior),
			fmt.Sprintf("%d probabilities that sum to 1", q))
	}
	if len(m.Annotators) == 0 {
		return nil, wrong("no annotator", "the annotators of an earlier consensus")
	}
	found := &crowd.Result{Classes: m.Classes, Prior: m.Prior}
	seen := make(map[string]bool)
	for _, one := range m.Annotators {
		p := slices.Concat(one.Confusion...)
		if len(one.Confusion) != q || len(p) != q*q || seen[one.Name] || one.Labels < 0 {
			return nil, wrong(fmt.Sprintf("annotator %q with %d rows of %d labels", one.Name,
				len(one.Confusion), one.Labels), fmt.Sprintf("each once, with %d×%d numbers", q, q))
		}
		seen[one.Name] = true
		column := make([]float64, q)
		for t := range q {
			for k := range q {
				column[k] = p[k*q+t]
			}
			if !distribution(column) {
				return nil, wrong(fmt.Sprintf("%v of annotator %q in class %q", column, one.Name,
					m.Classes[t]), "probabilities that sum to 1")
			}
		}
		found.Annotators = append(found.Annotators, confusion.Annotator{Name: one.Name,
			Labels: one.Labels, P: p, Error: slices.Concat(one.Errors...)})
	}
	return found, nil
}

// distribution says whether p are probabilities that sum to 1, but for rounding.
func distribution(p []float64) bool {
	sum := 0.0
	for _, v := range p {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return math.Abs(sum-1) < 1e-3
}

// Consensus estimates true labels from votes, how often each voter errs, and how far voters agree.
func Consensus(ctx context.Context, r *ConsensusRequest) (*ConsensusResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	a, c := r.Labels.Votes.annotations(r.Examples, r.Labels.Classes), &ConsensusResult{Request: *r}
	c.Request.Labels, c.Request.Matrices = nil, nil
	if r.Matrices != nil {
		if err := r.Matrices.rename(a); err != nil {
			return nil, err
		}
	}
	c.Classes = a.Classes
	q := len(c.Classes)
	var found *crowd.Result
	if a.Functions {
		l, err := crowd.FitFunctions(ctx, a)
		if err != nil {
			return nil, fault(ctx, err)
		}
		found, c.Functions, c.ByVote, c.PriorKnown = &l.Result, l.Functions, l.ByVote, l.Known
	} else if err := r.fit(ctx, a, &found); err != nil {
		return nil, fault(ctx, err)
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, fault(ctx, err)
	}
	said := notes{to: r.Compute.Note}
	if count := a.Repeats(); count > 0 {
		said.say("%d votes are further ones of a voter on the same example; all count", count)
	}
	for _, note := range noise.Notes {
		said.say("%s", note)
	}
	c.Method, c.Codes, c.Probabilities = string(found.Method), found.Consensus, found.Posterior
	c.Confusion, c.Errors, c.Prior = rows(noise.P, q), rows(noise.Error, q), found.Prior
	c.Assumes, c.Contest = noise.Assumes, found.Contest
	for k := range found.Annotators {
		c.Annotators = append(c.Annotators, newAnnotator(&found.Annotators[k], q))
	}
	if !a.Functions {
		c.judge(a, found, &said)
	}
	c.Agreement, c.Notes = crowd.Agree(a, c.Codes), said.all
	return c, nil
}

// AnnotatorsErrAlike is the code of the note that names annotators of whom one misleads.
const AnnotatorsErrAlike = "annotators-err-alike"

// judge says what the votes are worth: further ones, and each annotator's.
func (c *ConsensusResult) judge(a *dataset.Annotations, found *crowd.Result, said *notes) {
	more := found.More()
	if c.More = &more; more.Open == 0 {
		said.say("one further vote on each example would change no label")
	}
	var spare []string
	for k, gain := range found.Gains(a) {
		if a.Right != nil && a.Right[k] {
			continue
		}
		one := &c.Annotators[k]
		one.Gain = &gain
		if n := float64(one.Labels); gain < spareGain*n && 2*n >= float64(len(a.Labelled())) {
			spare = append(spare, a.Names[k])
		}
	}
	if spare != nil {
		said.say("the consensus is as good without any one of these annotators, whose labels correct "+
			"less than one in a thousand: %s", quote.List(spare))
	}
	if a.Right == nil {
		return
	}
	for _, is := range crowd.ErrAlike(a) {
		said.add(Note{Warning: true, Code: AnnotatorsErrAlike, Text: fmt.Sprintf("%s and %s give %d of "+
			"%d examples of known class the same wrong label, by chance %.1f: they count as independent, "+
			"and the consensus may be better without one", quote.Text(is.First), quote.Text(is.Second),
			is.Shared, is.Examples, is.Chance)})
	}
}

// spareGain is the least gain for each label of an annotator that the consensus needs, if it labels
// half of the examples, as programs do.
const spareGain = 0.001

// rename gives annotations the classes of the matrices.
func (m *AnnotatorMatrices) rename(a *dataset.Annotations) error {
	place := make([]int32, len(a.Classes))
	for k, name := range a.Classes {
		at := slices.Index(m.Classes, name)
		if at < 0 {
			return &Fault{Kind: Unfit, Option: "matrices", Got: "the classes " + quote.List(m.Classes),
				Want: fmt.Sprintf("class %s of the votes among them", quote.Text(name))}
		}
		place[k] = int32(at)
	}
	a.Classes, a.Label = m.Classes, lists.At(place, a.Label)
	return nil
}

// fit fits annotators to the examples that have a vote. The others get no class and the prior.
func (r *ConsensusRequest) fit(ctx context.Context, a *dataset.Annotations, into **crowd.Result,
) error {
	voted := a.Labelled()
	var found *crowd.Result
	var err error
	if matrices := r.Matrices; matrices != nil {
		if found, err = matrices.result(); err == nil {
			found, err = found.Label(a.Pick(voted))
		}
	} else {
		found, err = crowd.Fit(ctx, a.Pick(voted), crowd.Options{Method: crowd.Method(r.Method)})
	}
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
