package dataset

import (
	"fmt"
	"math"
	"slices"
)

// Prepare fits the steps to the raw examples of d and puts the prepared ones in
// their place, as PrepareBy does. The errors are those of Fit and PrepareBy.
func (d *Dataset) Prepare(s Steps) error {
	if d.Prepared != nil {
		return fmt.Errorf("%s: found examples prepared by %s already, wanted raw ones", d.Path, d.Prepared.Steps)
	}
	p, err := Fit(s, d.Examples)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	if s.MaxAbs && d.Encoding.hasText() {
		d.Encoding.leaveTexts(p)
	}
	return d.PrepareBy(p)
}

// PrepareBy makes the examples of d those that p gives, and Prepared p. They stay
// where they are, in a mapped file for example, if they were prepared so before or
// if p has no step; else they are a copy, or what Overwrite lets them be, and d gives up the raw ones. It is an
// error if they were prepared in another way, and where Apply gives one.
func (d *Dataset) PrepareBy(p *Preparation) error {
	switch {
	case d.Prepared != nil:
		if why := p.differs(d.Prepared); why != "" {
			return fmt.Errorf("%s: found examples prepared otherwise than wanted: %s; take the original data", d.Path, why)
		}
		return nil
	case p.Steps == Steps{} && p.D == d.D && !d.KeepNarrow:
		// Apply would copy them and change nothing.
	default:
		x, err := p.apply(d.Examples, d.KeepNarrow, d.Overwrite && d.file == nil)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		d.Examples = x
	}
	d.Prepared = p
	return nil
}

// differs says in what p is not other, "" if both do the same to every bit.
func (p *Preparation) differs(other *Preparation) string {
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	switch {
	case p.Steps != other.Steps:
		return fmt.Sprintf("by %s, wanted %s", other.Steps, p.Steps)
	case p.D != other.D:
		return fmt.Sprintf("from %d features, wanted %d", other.D, p.D)
	case !slices.EqualFunc(p.A, other.A, same) || !slices.EqualFunc(p.B, other.B, same):
		return fmt.Sprintf("%s was fitted to other data", p.Steps)
	}
	return ""
}
