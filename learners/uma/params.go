package uma

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Select is the rule by which the pair (p,q) of a step is chosen (section 3.5
// of the paper, clause 7 of the contract).
type Select string

const (
	SelectError     Select = "error"     // largest ‖z_pq‖: the most errors
	SelectConfusion Select = "confusion" // largest ‖z_pq‖/π̂_q: the most errors for the size of the class
	SelectRandom    Select = "random"    // any pair with ‖z_pq‖ > Tol
)

// Params are the parameters of UMA. Defaults returns those to start from.
type Params struct {
	Select Select  `json:"select"`
	Alpha  float32 `json:"alpha"` // margin α ≥ 0 of the regions and of the error set, in units of the score
	Tol    float64 `json:"tol"`   // pairs with ‖z_pq‖ ≤ Tol are left alone; ≥ 0
}

// Defaults returns the default parameters. An example of length 1 weighs 1/n in an update
// vector, so the default tolerance overlooks none.
func Defaults() *Params { return &Params{Select: SelectError, Tol: 1e-9} }

var definition = &learners.Definition{
	Name:     "uma",
	Summary:  "a perceptron that unmixes the noisy classes by the inverse of C; with no C, the batch perceptron",
	Paper:    "Louche & Ralaivola, Unconfused ultraconservative multiclass algorithms, Machine Learning 99 (2015), Algorithm 2",
	Step:     "an update of two classes by all mistakes of one kind",
	MaxSteps: 1000,
	Weights:  []learners.Rule{learners.Best, learners.Average, learners.Last},
	New:      func() learners.Params { return Defaults() },
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.StringVar((*string)(&p.Select), "select", string(p.Select), "`RULE` for the pair of classes to correct: error (largest estimated mistake), confusion (the same relative to the class's size) or random")
	fs.Var((*float32Value)(&p.Alpha), "alpha", "margin `A` that an example needs to count as predicted, in units of the score, at least 0")
	fs.Float64Var(&p.Tol, "tol", p.Tol, "norm `T` of an update vector up to which its mistake is left alone, at least 0")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	switch {
	case !slices.Contains([]Select{SelectError, SelectConfusion, SelectRandom}, p.Select):
		return fmt.Errorf("uma: selection %q is not known; use error, confusion or random", p.Select)
	case !(p.Alpha >= 0) || math.IsInf(float64(p.Alpha), 0):
		return fmt.Errorf("uma: margin alpha is %v; it must be a number of at least 0", p.Alpha)
	case !(p.Tol >= 0) || math.IsInf(p.Tol, 0):
		return fmt.Errorf("uma: tolerance is %v; it must be a number of at least 0", p.Tol)
	}
	return nil
}

// float32Value is a flag of a float32.
type float32Value float32

func (v *float32Value) String() string {
	return strconv.FormatFloat(float64(*v), 'g', -1, 32)
}

func (v *float32Value) Get() any { return float32(*v) }

func (v *float32Value) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	*v = float32Value(f)
	return err
}

// saved is what a run keeps for Restore.
type saved struct {
	Begun  bool   `json:"begun"`
	Random []byte `json:"random"` // the state of the generator
}

// Save implements learners.Learner. The priors and all that lies on the engine follow
// from the labels and the weights.
func (l *run) Save() ([]byte, error) {
	random, err := l.pcg.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(saved{l.begun, random})
}

// Restore implements learners.Learner.
func (l *run) Restore(text []byte) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("uma: found a damaged state of a run: %w", err)
	}
	if err := l.pcg.UnmarshalBinary(s.Random); err != nil {
		return fmt.Errorf("uma: found a damaged state of random numbers: %w", err)
	}
	l.begun = s.Begun
	return nil
}
