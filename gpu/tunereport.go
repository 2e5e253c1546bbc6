package gpu

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Problem is what Tune measures on.
type Problem struct {
	X       dataset.Examples // prepared
	Y       []int32          // noisy labels, one for each example
	Classes int
	Inverse []float32 // B = float32(C⁻¹) of the noise, Classes×Classes row-major
	Repeat  int       // everything is measured so many times, at least once, or for as many tenths of a second

	Say func(format string, args ...any) // tells how it goes on, if not nil
}

func (p Problem) say(format string, args ...any) {
	if p.Say != nil {
		p.Say(format, args...)
	}
}

// Verdict is what became of a candidate.
type Verdict string

// The verdicts.
const (
	Faster   Verdict = "faster"
	AsFast   Verdict = "as fast"
	Slower   Verdict = "slower"
	Rejected Verdict = "REJECTED" // its results differ in some bit
	Failed   Verdict = "failed"   // it was not compiled, or did not run
)

// Candidate is a tuning that was measured beside the best until then, from which it
// differs in one parameter.
type Candidate struct {
	Parameter string  `json:"parameter"`
	Value     int     `json:"value"`
	Tuning    Tuning  `json:"tuning"`
	Verdict   Verdict `json:"verdict"`
	Reason    string  `json:"reason,omitempty"` // of Rejected and Failed

	Seconds *float64 `json:"seconds"` // of a step without bounds, median; nil if it was not measured
	Bounded *float64 `json:"bounded"` // of a step with bounds; nil also if such examples have none
	Ratio   *float64 `json:"ratio"`   // of its time and that of the best until then
}

// TuneReport is what Tune found.
type TuneReport struct {
	Device     engine.Device `json:"device"`
	Default    Tuning        `json:"default"`
	Best       Tuning        `json:"best"`  // Default, if nothing was faster
	Ratio      float64       `json:"ratio"` // of the times of Best and Default; 1 if they are the same
	Candidates []Candidate   `json:"candidates"`
}

// String is a line for people.
func (c Candidate) String() string {
	if c.Ratio == nil {
		return fmt.Sprintf("%s %d: %s: %s", c.Parameter, c.Value, c.Verdict, c.Reason)
	}
	return fmt.Sprintf("%s %d: %s, %.3f of the time", c.Parameter, c.Value, c.Verdict, *c.Ratio)
}
