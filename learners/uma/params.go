package uma

import "github.com/uma-gpu/uma-gpu/learners"

// Rules by which the pair (p,q) of a step is chosen (section 3.5 of the paper, clause 7).
const (
	SelectError     = "error"     // largest ‖z_pq‖: the most errors
	SelectConfusion = "confusion" // largest ‖z_pq‖/π̂_q: the most errors for the size of the class
	SelectRandom    = "random"    // any pair with ‖z_pq‖ > Tol
)

// Steps: how many update vectors a step adds to the weights (clause 17).
const (
	StepPair   = "pair"   // the chosen z_pq: Algorithm 2
	StepRegion = "region" // those of the chosen pair's region p that are mistakes
	StepAll    = "all"    // all that are mistakes
)

// What α counts in.
const (
	UnitWeights = "weights" // root mean square length of the rows of W (clause 18)
	UnitScore   = "score"   // the score's own, which grows with W (clauses 4 and 8)
)

// Params are the parameters of UMA. Defaults returns those to start from.
type Params struct {
	Step      string  // StepPair, StepRegion or StepAll
	Select    string  // SelectError, SelectConfusion or SelectRandom
	Alpha     float32 // margin α ≥ 0 of the regions and of the error set, in AlphaUnit
	AlphaUnit string  // UnitWeights or UnitScore
	Tol       float64 // pairs with ‖z_pq‖ ≤ Tol are left alone; ≥ 0
	// Doubt is how many times as long as the wrong labels alone make it on average an update
	// vector must be, or it is left alone (clause 18); ≥ 0. It needs a confusion matrix.
	Doubt float64
}

// Defaults returns the default parameters, which docs/weights.md measures. An example of
// length 1 weighs 1/n in an update vector, so the default tolerance overlooks none.
func Defaults() *Params {
	return &Params{Step: StepAll, Select: SelectError, AlphaUnit: UnitWeights, Tol: 1e-9, Doubt: 1}
}

// Definition implements learners.Params. Files from before there were steps of several kinds,
// units, and doubts lack these: theirs were pair, score and 0.
func (p *Params) Definition() *learners.Definition {
	step := learners.OneOf("step", &p.Step, "the mistakes that a step corrects",
		StepAll, "every estimated mistake",
		StepRegion, "those of one predicted class",
		StepPair, "one, as in the paper")
	unit := learners.OneOf("alpha_unit", &p.AlphaUnit, "unit of alpha",
		UnitWeights, "length of the weights of a class, on average",
		UnitScore, "that of the score, which grows with the weights")
	doubt := learners.Float("doubt", &p.Doubt, learners.Range{},
		"update vectors are left alone that "+
			"are at most this many times as long as wrong labels alone would make them")
	step.Missing, unit.Missing, doubt.Missing = StepPair, UnitScore, "0"
	return &learners.Definition{
		Name: "uma",
		Summary: "a perceptron that unmixes the noisy classes by the inverse of C; with no C, the " +
			"batch perceptron",
		Paper: "Louche & Ralaivola, Unconfused ultraconservative multiclass algorithms, Machine " +
			"Learning 99 (2015), Algorithm 2",
		Step:     "an update of W by all mistakes, or by those of one kind",
		Shared:   true,
		MaxSteps: 512,
		Weights:  []learners.Rule{learners.BestAverage, learners.Best, learners.Average, learners.Last},
		New:      func() learners.Params { return Defaults() },

		Parameters: []learners.Parameter{
			step,
			learners.OneOf("select", &p.Select,
				"rule for the pair of classes to correct; steps that correct all have none",
				SelectError, "the largest estimated mistake",
				SelectConfusion, "the largest for the size of its class",
				SelectRandom, "any mistake"),
			learners.Float("alpha", &p.Alpha, learners.Range{},
				"margin that an example needs to count as predicted"),
			unit,
			learners.Float("tol", &p.Tol, learners.Range{},
				"length of an update vector up to which its mistake is left alone"),
			doubt,
		},
		Start: p.start,
	}
}
