package dataset

import (
	"fmt"
	"strings"
)

// DefaultSteps is the preparation of dense data unless another is asked for
// (clause 2).
const DefaultSteps = "standardize,bias,l2"

// DefaultStepsSparse is DefaultSteps for sparse data: standardize would fill
// them.
const DefaultStepsSparse = "l2"

// DefaultStepsText is DefaultSteps for texts with other columns beside them, so that these have
// about the size of a text, whose length is 1.
const DefaultStepsText = "maxabs,l2"

// DefaultSteps returns DefaultSteps or DefaultStepsSparse, by how d is stored, or
// DefaultStepsText.
func (d *Dataset) DefaultSteps() string {
	switch e := d.Encoding; {
	case e.hasText() && len(e.Columns) > 1 && d.Sparse():
		return DefaultStepsText
	case d.Sparse():
		return DefaultStepsSparse
	}
	return DefaultSteps
}

// Steps are the preparations asked for, applied in the order of the fields. The
// zero value asks for none. As text (also in JSON) it is the list ParseSteps
// takes.
type Steps struct {
	Standardize bool // columns to mean 0 and variance 1
	// columns to a largest absolute value of 1, except for texts; not with Standardize
	MaxAbs bool
	Bias   bool // a last column of value 1
	L2     bool // rows, the bias with them, to length 1
}

// ParseSteps reads a comma list of standardize, maxabs, bias and l2 in any
// order, or "none". Unknown or repeated names, standardize with maxabs, and
// none with others are errors.
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
					"wanted one or the other", quote(text))
			}
			return Steps{}, nil
		}
		step, known := named[name]
		if !known {
			return Steps{}, fmt.Errorf("normalization %s: found %s, wanted a comma list of standardize, "+
				"maxabs, bias, l2, or none", quote(text), quote(name))
		}
		if *step {
			return Steps{}, fmt.Errorf("normalization %s: found %s twice, wanted each step once",
				quote(text), name)
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

// NeedsDense reports whether only dense examples can be prepared so: data for a
// model that standardizes are to be read with the storage "dense".
func (s Steps) NeedsDense() bool { return s.Standardize }

// columnMap reports whether columns are mapped by v·a + b.
func (s Steps) columnMap() bool { return s.Standardize || s.MaxAbs }

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
