package uma

import (
	"bytes"
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

// Policy says how many update vectors a step adds to the weights (clause 17).
type Policy string

const (
	StepPair   Policy = "pair"   // the chosen z_pq: Algorithm 2
	StepRegion Policy = "region" // those of the chosen pair's region p that are mistakes
	StepAll    Policy = "all"    // all that are mistakes
)

// Unit is what α counts in.
type Unit string

const (
	UnitWeights Unit = "weights" // root mean square length of the rows of W (clause 18)
	UnitScore   Unit = "score"   // the score's own, which grows with W (clauses 4 and 8)
)

// Params are the parameters of UMA. Defaults returns those to start from.
type Params struct {
	Step      Policy  `json:"step"`
	Select    Select  `json:"select"`
	Alpha     float32 `json:"alpha"` // margin α ≥ 0 of the regions and of the error set, in AlphaUnit
	AlphaUnit Unit    `json:"alpha_unit"`
	Tol       float64 `json:"tol"` // pairs with ‖z_pq‖ ≤ Tol are left alone; ≥ 0
	// Doubt is how many times as long as the wrong labels alone make it on average an update
	// vector must be, or it is left alone (clause 18); ≥ 0. It needs a confusion matrix.
	Doubt float64 `json:"doubt"`
}

// Defaults returns the default parameters, which docs/weights.md measures. An example of
// length 1 weighs 1/n in an update vector, so the default tolerance overlooks none.
func Defaults() *Params {
	return &Params{Step: StepAll, Select: SelectError, AlphaUnit: UnitWeights, Tol: 1e-9, Doubt: 1}
}

// UnmarshalJSON reads the parameters that a model file holds. Files of before there were
// steps of other kinds, other units, and doubts, do not name them: theirs were pair, score, 0.
func (p *Params) UnmarshalJSON(text []byte) error {
	type plain Params // without this method
	read := plain(*p)
	read.Step, read.AlphaUnit, read.Doubt = StepPair, UnitScore, 0
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&read); err != nil {
		return err
	}
	*p = Params(read)
	return nil
}

var definition = &learners.Definition{
	Name:    "uma",
	Summary: "a perceptron that unmixes the noisy classes by the inverse of C; with no C, the batch perceptron",
	Paper: "Louche & Ralaivola, Unconfused ultraconservative multiclass algorithms, Machine Learning 99 " +
		"(2015), Algorithm 2",
	Step:     "an update of W by all mistakes, or by those of one kind",
	Shared:   true,
	MaxSteps: 512,
	Weights:  []learners.Rule{learners.BestAverage, learners.Best, learners.Average, learners.Last},
	New:      func() learners.Params { return Defaults() },
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.StringVar((*string)(&p.Step), "step", string(p.Step), "`WHAT` a step corrects: all (every estimated mistake), "+
		"region (those of one predicted class) or pair (one, as in the paper)")
	fs.StringVar((*string)(&p.Select), "select", string(p.Select), "`RULE` for the pair of classes to correct: "+
		"error (largest estimated mistake), confusion (the same relative to the class's size) or random; "+
		"it makes no difference to steps that correct all")
	fs.Var((*float32Value)(&p.Alpha), "alpha", "margin `A` that an example needs to count as predicted, at least 0")
	fs.StringVar((*string)(&p.AlphaUnit), "alpha-unit", string(p.AlphaUnit), "`UNIT` of alpha: weights (their length, "+
		"a class's on average) or score")
	fs.Float64Var(&p.Doubt, "doubt", p.Doubt, "leave update vectors alone that are at most `D` times as long as "+
		"wrong labels alone would make them, at least 0")
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
	case !(p.Doubt >= 0) || math.IsInf(p.Doubt, 0):
		return fmt.Errorf("uma: doubt is %v; it must be a number of at least 0", p.Doubt)
	case !slices.Contains([]Policy{StepPair, StepRegion, StepAll}, p.Step):
		return fmt.Errorf("uma: step %q is not known; use all, region or pair", p.Step)
	case !slices.Contains([]Unit{UnitWeights, UnitScore}, p.AlphaUnit):
		return fmt.Errorf("uma: unit of alpha %q is not known; use weights or score", p.AlphaUnit)
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
