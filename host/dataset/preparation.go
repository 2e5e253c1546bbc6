package dataset

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// DefaultSteps prepare dense data and tables unless others are asked for (clause 2).
const DefaultSteps = "standardize,bias,l2"

// DefaultStepsSparse keep zeros zero, of sparse data that are no table.
const DefaultStepsSparse = "l2"

// DefaultStepsText are for texts beside other columns, which get about the size of a text.
const DefaultStepsText = "maxabs,l2"

// DefaultStepsKernel is the preparation of dense data and tables before a kernel function unless
// another is asked for. It gives all features one range, does not blow up features that
// are nearly constant, and does not scale examples to one length (docs/kernel.md).
const DefaultStepsKernel = "maxabs"

// DefaultSteps returns the default for d.
func (d *Dataset) DefaultSteps() string {
	switch e := d.Encoding; {
	case e.HasText() && len(e.Columns) > 1 && d.Sparse():
		return DefaultStepsText
	case d.Sparse() && (e.Plain() || e.HasText()):
		return DefaultStepsSparse
	}
	return DefaultSteps
}

// Steps are the preparations asked for, in the order of application; text of them is a list.
type Steps struct {
	Standardize bool // columns to mean 0 and variance 1: of dense examples, or numbers of a table
	// columns to a largest absolute value of 1, except for texts; not with Standardize
	MaxAbs bool
	Bias   bool // a last column of value 1
	L2     bool // rows, the bias with them, to length 1
}

// ParseSteps reads a comma list of standardize, maxabs, bias and l2 in any order, or "none".
func ParseSteps(text string) (Steps, error) {
	var s Steps
	named := map[string]*bool{"standardize": &s.Standardize, "maxabs": &s.MaxAbs, "bias": &s.Bias,
		"l2": &s.L2}
	names := strings.Split(text, ",")
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "none" {
			if len(names) > 1 {
				return Steps{}, fmt.Errorf("normalization %s: found none together with other steps, "+
					"wanted one or the other", quote.Text(text))
			}
			return Steps{}, nil
		}
		step, known := named[name]
		if !known {
			return Steps{}, fmt.Errorf("normalization %s: found %s, wanted a comma list of standardize, "+
				"maxabs, bias, l2, or none", quote.Text(text), quote.Text(name))
		}
		if *step {
			return Steps{}, fmt.Errorf("normalization %s: found %s twice, wanted each step once",
				quote.Text(text), name)
		}
		*step = true
	}
	return s, s.check()
}

// check refuses two column maps.
func (s Steps) check() error {
	if s.Standardize && s.MaxAbs {
		return fmt.Errorf("normalization: found standardize together with maxabs, wanted at most one " +
			"of them")
	}
	return nil
}

// mapsColumns reports whether columns are mapped by v·a + b.
func (s Steps) mapsColumns() bool { return s.Standardize || s.MaxAbs }

// String returns the list in the order of application, "none" if it is empty.
func (s Steps) String() string {
	var names []string
	for _, step := range []struct {
		asked bool
		name  string
	}{{s.Standardize, "standardize"}, {s.MaxAbs, "maxabs"}, {s.Bias, "bias"}, {s.L2, "l2"}} {
		if step.asked {
			names = append(names, step.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ",")
}

// MarshalText returns String.
func (s Steps) MarshalText() ([]byte, error) { return []byte(s.String()), s.check() }

// UnmarshalText is ParseSteps.
func (s *Steps) UnmarshalText(text []byte) error {
	parsed, err := ParseSteps(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// Preparation is what was fitted to training examples and turns raw examples of the same width into
// what a learner sees (clause 2). As JSON it keeps its bits.
type Preparation struct {
	// Steps are not embedded: their text form would become that of the whole.
	Steps Steps `json:"steps"`
	// D is the number of raw features it was fitted to and takes.
	D int `json:"features"`
	// A and B map column j to fma(v, A[j], B[j]); nil if no step does, B zero with maxabs.
	A []float32 `json:"a,omitempty"`
	B []float32 `json:"b,omitempty"`
}

// Width returns the number of columns that Apply gives: D, one more with bias.
func (p *Preparation) Width() int {
	if p.Steps.Bias {
		return p.D + 1
	}
	return p.D
}

// Check returns an error unless the parts fit together.
func (p *Preparation) Check() error {
	if err := p.Steps.check(); err != nil {
		return err
	}
	want := 0
	if p.Steps.mapsColumns() {
		want = p.D
	}
	if p.D < 0 || len(p.A) != want || len(p.B) != want {
		return fmt.Errorf("normalization %s for %d features: found %d factors and %d offsets, wanted %d "+
			"of each", p.Steps, p.D, len(p.A), len(p.B), want)
	}
	for j := range p.A {
		if !decimal.Finite(p.A[j]) || !decimal.Finite(p.B[j]) {
			return fmt.Errorf("normalization %s: column %d (counted from 1) is too small or not finite: "+
				"found the map v·%v + %v, wanted finite factors; rescale the column", p.Steps, j+1, p.A[j],
				p.B[j])
		}
	}
	return nil
}

// Memory says how the memory of examples may be used while they are prepared or divided.
type Memory int

const (
	// InPlace lets the result be written over the values, which nobody needs any more, even after an
	// error: half the memory.
	InPlace Memory = iota + 1
)

// Fills reports whether dense storage is smaller, since p adds a number to many zeros.
func (p *Preparation) Fills() bool {
	return 8*lists.Count(p.B, func(b float32) bool { return b != 0 }) > p.D
}
