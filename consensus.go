package umagpu

import "github.com/uma-gpu/uma-gpu/host/confusion/crowd"

// ConsensusRequest asks for the likely true labels of examples with votes.
type ConsensusRequest struct {
	Labels   *Labels `json:"labels"` // Votes
	Examples int     `json:"examples"`
	Method   string  `json:"method,omitempty"`
	Seed     uint64  `json:"seed,omitempty"`
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
	Prior         []float64        `json:"prior"`
	// the model of functions would overrule too many
	ByVote    bool       `json:"by_vote,omitempty"`
	Agreement *Agreement `json:"agreement,omitempty"`
	Notes     []Note     `json:"notes,omitempty"`
}

// Agreement is how far voters agree beyond chance, 1 for always.
type Agreement struct {
	Alpha  float64          `json:"krippendorff_alpha"`
	Fleiss *float64         `json:"fleiss_kappa"` // nil unless all examples have as many votes
	Pairs  []PairAgreement  `json:"pairs"`        // of voters with examples in common
	Voters []VoterAgreement `json:"voters"`
}

// PairAgreement is Cohen's kappa of two voters.
type PairAgreement struct {
	First    string  `json:"first"`
	Second   string  `json:"second"`
	Examples int     `json:"examples"` // in common
	Kappa    float64 `json:"cohen_kappa"`
}

// VoterAgreement is how often a voter agrees with the consensus.
type VoterAgreement struct {
	Name    string     `json:"name"`
	Votes   int        `json:"votes"`
	Right   float64    `json:"right"`    // share of its votes
	ByClass []*float64 `json:"by_class"` // by the class of the consensus; nil without a vote
}
